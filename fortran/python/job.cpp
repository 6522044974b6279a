// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fortran/python/active_calls.hpp"
#include "fortran/python/gil.hpp"
#include "rma/bootstrap.hpp"
#include "rma/label.hpp"

namespace tessera::python {

using rma::Result;
using rma::Status;

Releases::OfTeam& Releases::of(const rma::Team& team) {
  return teams_[TeamKey(team.shared_state())];
}

std::uint64_t Releases::enroll(const rma::Team& team) {
  const std::lock_guard guard(mutex_);
  std::erase_if(teams_, [](const auto& each) { return each.first.expired(); });
  return of(team).made++;
}

void Releases::drop(const rma::Team& team, std::uint64_t number, Free free) {
  const std::lock_guard guard(mutex_);
  of(team).dropped.emplace(number, std::move(free));
}

Status Releases::collect(rma::Team& team) {
  std::vector<std::uint64_t> own;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& each : of(team).dropped) {
      own.push_back(each.first);
    }
  }
  // Usually one of the members has nothing; then one exchange is enough.
  TESSERA_ASSIGN_OR_RETURN(const auto counts, team.allgather_value(std::uint64_t{own.size()}));
  if (std::find(counts.begin(), counts.end(), 0U) != counts.end()) {
    return {};
  }
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  const std::size_t own_count = own.size();
  own.resize(most);
  std::vector<std::uint64_t> all(most * counts.size());
  TESSERA_RETURN_IF_ERROR(
      team.allgather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all))));
  own.resize(own_count);
  std::vector<Free> ready;
  std::reverse(own.begin(), own.end());  // an object may refer to those that were made before it
  for (const std::uint64_t number : own) {
    bool is_dropped_by_all = true;
    for (std::size_t member = 0; member < counts.size(); ++member) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(member * most);
      is_dropped_by_all =
          is_dropped_by_all &&
          std::binary_search(first, first + static_cast<std::ptrdiff_t>(counts[member]), number);
    }
    if (is_dropped_by_all) {
      const std::lock_guard guard(mutex_);
      auto node = of(team).dropped.extract(number);
      ready.push_back(std::move(node.mapped()));
    }
  }
  Status first;
  for (const Free& free : ready) {
    Status freed = free();
    first = first.ok() ? std::move(freed) : std::move(first);
  }
  return first;
}

void Releases::clear() {
  std::map<TeamKey, OfTeam, std::owner_less<>> ended;
  const std::lock_guard guard(mutex_);
  teams_.swap(ended);
}

Status prepare_to_make(SharedJob& job, rma::Team& team, std::string_view kind,
                       std::string_view name, Status own) {
  TESSERA_RETURN_IF_ERROR(
      team.agree(own, {.hash = std::hash<std::string_view>()(kind),
                       .label = {.verb = "create", .kind = kind, .name = name}}));
  return job.releases().collect(team);
}

namespace {

/// The bootstrap of mpi4py's communicator.
Result<std::shared_ptr<rma::Bootstrap>> bootstrap_of(const py::object& communicator) {
  if (!py::hasattr(communicator, "py2f")) {
    refuse_type(fmt::format("{} is not a communicator of mpi4py", repr_of(communicator)),
                "give mpi4py.MPI.COMM_WORLD or a communicator made from it, or nothing");
  }
  const int handle = communicator.attr("py2f")().cast<int>();
  return without_gil([&] { return rma::mpi_bootstrap(handle); });
}

}  // namespace

std::shared_ptr<SharedJob> SharedJob::start(const py::object& communicator) {
  if (ActiveCalls::of_process().is_ending()) {
    check(Status::error(rma::Code::closed, "no job can start any more: the process ends"));
  }
  rma::JobOptions options;
  if (!communicator.is_none()) {
    options.bootstrap = take(bootstrap_of(communicator));
  }
  auto job = std::make_shared<SharedJob>(
      checked_without_gil([&] { return rma::Job::start(std::move(options)); }));
  return job;
}

SharedJob::~SharedJob() {
  stop_at_exit().ignore("no caller has this job any more");
}

void SharedJob::check_running() const {
  if (is_stopped_) {
    check(Status::error(rma::Code::closed, "the job was stopped"));
  }
}

Status SharedJob::stop() {
  if (is_stopped_) {
    return {};
  }
  const auto own = job_.transport_to(job_.rank());
  if (views_ > 0 && own.ok() && *own == "mpi") {
    return job_.name_rank(
        Status::error(rma::Code::invalid_argument,
                      fmt::format("{} NumPy arrays of Array.local exist, whose memory MPI frees at "
                                  "the stop",
                                  views_.load()))
            .hint("delete them, or copy them: x = A.local.copy()"));
  }
  return stop_at_exit();
}

Status SharedJob::stop_at_exit() {
  if (is_stopped_.exchange(true)) {
    return {};
  }
  Status stopped = job_.stop();
  releases_.clear();
  return stopped;
}

void SharedJob::leave_running() noexcept {
  if (!is_stopped_.exchange(true)) {
    job_.log().warning(
        "a thread is still in a call of the library, so the exit does not stop the job");
    new std::shared_ptr<SharedJob>(shared_from_this());  // kept for ever
  }
}

namespace {

/// The jobs of this process, also those that only their arrays keep.
class StartedJobs {
 public:
  void add(const std::shared_ptr<SharedJob>& job) {
    std::erase_if(jobs_, [](const auto& each) { return each.expired(); });
    jobs_.push_back(job);
  }
  /// At the end of the process, with the GIL. Throws what a handler of a signal raises meanwhile.
  void stop_all() {
    // Longer than most transfers; other waits are given up.
    constexpr std::chrono::seconds limit{5};
    if (!ActiveCalls::of_process().close_at_exit(limit)) {
      leave_all_running();
      if (PyErr_Occurred() != nullptr) {
        pass_python_error();
      }
      return;
    }
    without_gil([this] {
      for (const auto& each : jobs_) {
        if (const auto job = each.lock()) {
          job->stop_at_exit().ignore("the process ends");
        }
      }
    });
  }

 private:
  void leave_all_running() {
    for (const auto& each : jobs_) {
      if (const auto job = each.lock()) {
        job->leave_running();
      }
    }
  }

  std::vector<std::weak_ptr<SharedJob>> jobs_;
};

SharedJob& running(SharedJob& job) {
  job.check_running();
  return job;
}

std::string job_text(SharedJob& job) {
  if (job.is_stopped()) {
    return "<tessera.Job, stopped>";
  }
  return fmt::format("<tessera.Job: rank {} of {}, {} node{}, started by {}>",
                     job.rma().rank().value, job.rma().size(), job.rma().node_count(),
                     job.rma().node_count() == 1 ? "" : "s", job.rma().bootstrap().name());
}

void stop(SharedJob& job) {
  refuse_in_handler();
  if (!job.is_stopped()) {
    const OnlyCaller alone("job.stop()");
    checked_without_gil([&] { return job.stop(); });
  }
}

void barrier(SharedJob& job) {
  running(job);
  checked_without_gil([&]() -> Status {
    TESSERA_RETURN_IF_ERROR(job.rma().barrier());
    return job.releases().collect(job.rma().world());
  });
}

py::dict traffic(SharedJob& job) {
  const rma::Traffic counted = job.rma().traffic();
  py::dict all;
  for (std::size_t i = 0; i < rma::op_count; ++i) {
    const auto op = static_cast<rma::Op>(i);
    const rma::Tally total = counted.total(op);
    all[py::str(std::string(rma::to_string(op)))] = py::make_tuple(total.operations, total.bytes);
  }
  return all;
}

void define_queries(JobClass& job) {
  job.def_property_readonly(
         "rank", [](SharedJob& self) { return self.rma().rank().value; },
         "This rank's number, 0 to size - 1.")
      .def_property_readonly(
          "size", [](SharedJob& self) { return self.rma().size(); }, "The number of ranks.")
      .def_property_readonly(
          "world",
          [](const std::shared_ptr<SharedJob>& self) {
            return std::make_shared<Team>(Team{self, running(*self).rma().world()});
          },
          "The Team of all ranks.")
      .def_property_readonly(
          "node_count", [](SharedJob& self) { return self.rma().node_count(); },
          "The number of nodes.")
      .def(
          "node_of",
          [](SharedJob& self, std::int32_t rank) {
            if (rank < 0 || rank >= self.rma().size()) {
              refuse_index(
                  fmt::format("there is no rank {} in a job of {}", rank, self.rma().size()));
            }
            return self.rma().node_of(rma::WorldRank{rank}).value;
          },
          py::arg("rank"), "The number of a rank's node.")
      .def_property_readonly("is_stopped", &SharedJob::is_stopped, "True after stop().")
      .def("__repr__", &job_text);
}

}  // namespace

JobClass define_job(py::module_& module) {
  const auto started = std::make_shared<StartedJobs>();
  JobClass job(module, "Job", R"(This process's membership in the parallel run.

    job = tessera.Job()

starts it: alone, under tessera-run, or under mpirun and srun. tessera.Job(comm) takes the ranks of a
communicator of mpi4py. Collective. stop() ends it, and so do `with` and the end of the program.)");
  job.def(py::init([started](const py::object& communicator) {
            auto made = SharedJob::start(communicator);
            started->add(made);
            return made;
          }),
          py::arg("comm") = py::none(), "Start the job; see help(tessera.Job).");
  // MPI ends after this, and other ranks may wait for this one.
  py::module_::import("atexit").attr("register")(
      py::cpp_function([started] { started->stop_all(); }));
  define_queries(job);
  job.def("stop", &stop,
          R"(Complete this rank's operations and leave the job. Other ranks need not stop.

Waits until other threads' calls return. Objects of the job raise Closed afterwards; NumPy arrays
made by Array.local stay valid memory.)")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__", [](SharedJob& self, const py::args&) { stop(self); })
      .def("barrier", &barrier,
           R"(Complete this rank's operations at their targets; wait for all ranks. Collective.

Also frees arrays that all ranks have dropped.)")
      .def(
          "fence",
          [](SharedJob& self) { checked_without_gil([&] { return self.rma().fence_all(); }); },
          "Complete this rank's operations at their targets. One-sided.")
      .def(
          "wait_all",
          [](SharedJob& self) { checked_without_gil([&] { return self.rma().wait_all(); }); },
          "Wait until this rank's operations are complete here. One-sided.")
      .def("team", &make_team, py::arg("ranks"),
           "Make a Team of these ranks. Collective over them only; all give the same list.")
      .def("traffic", &traffic,
           "This rank's operations so far: a dict from their kind to (operations, bytes).");
  return job;
}

}  // namespace tessera::python
