// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fortran/python/gil.hpp"
#include "rma/bootstrap.hpp"
#include "rma/label.hpp"

namespace tessera::python {

using rma::Result;
using rma::Status;

std::uint64_t Releases::enroll(const rma::Team& team) {
  const std::lock_guard guard(mutex_);
  return teams_[team.shared_state().get()].made++;
}

void Releases::drop(const rma::Team& team, std::uint64_t number, Free free) {
  const std::lock_guard guard(mutex_);
  teams_[team.shared_state().get()].dropped.emplace(number, std::move(free));
}

Status Releases::collect(rma::Team& team) {
  std::vector<std::uint64_t> own;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& each : teams_[team.shared_state().get()].dropped) {
      own.push_back(each.first);
    }
  }
  // Usually one of the members has nothing, which one exchange tells.
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
  for (const std::uint64_t number : own) {
    bool is_dropped_by_all = true;
    for (std::size_t member = 0; member < counts.size(); ++member) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(member * most);
      is_dropped_by_all = is_dropped_by_all &&
                          std::binary_search(first, first + static_cast<std::ptrdiff_t>(counts[member]), number);
    }
    if (is_dropped_by_all) {
      const std::lock_guard guard(mutex_);
      auto node = teams_[team.shared_state().get()].dropped.extract(number);
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
  std::map<const rma::detail::TeamState*, OfTeam> ended;
  const std::lock_guard guard(mutex_);
  teams_.swap(ended);
}

Status prepare_to_make(Job& job, rma::Team& team, std::string_view kind, std::string_view name) {
  TESSERA_RETURN_IF_ERROR(
      team.agree(Status(), {.label = {.verb = "create", .kind = kind, .name = name}}));
  return job.releases().collect(team);
}

namespace {

/// The bootstrap of mpi4py's communicator.
Result<std::shared_ptr<rma::Bootstrap>> bootstrap_of(const py::object& communicator) {
  if (!py::hasattr(communicator, "py2f")) {
    refuse_type(fmt::format("{} is not a communicator of mpi4py",
                            py::repr(communicator).cast<std::string>()),
                "give mpi4py.MPI.COMM_WORLD or a communicator made from it, or nothing");
  }
  const int handle = communicator.attr("py2f")().cast<int>();
  return without_gil([&] { return rma::mpi_bootstrap(handle); });
}

}  // namespace

std::shared_ptr<Job> Job::start(const py::object& communicator) {
  rma::JobOptions options;
  if (!communicator.is_none()) {
    options.bootstrap = take(bootstrap_of(communicator));
  }
  auto job = std::make_shared<Job>(
      checked_without_gil([&] { return rma::Job::start(std::move(options)); }));
  return job;
}

Job::~Job() {
  stop().ignore("a job that nobody has any more has nobody to report to");
}

void Job::check_running() const {
  if (is_stopped_) {
    check(Status::error(rma::Code::closed, "the job was stopped"));
  }
}

Status Job::stop() {
  if (is_stopped_) {
    return {};
  }
  is_stopped_ = true;
  Status stopped = job_.stop();
  releases_.clear();
  return stopped;
}

rma::Team team_of(Job& job, const py::object& given) {
  if (given.is_none()) {
    return job.rma().world();
  }
  if (!py::isinstance<Team>(given)) {
    refuse_type(fmt::format("team={} is not a tessera.Team", py::repr(given).cast<std::string>()),
                "make one with job.team(ranks) or team.split(color)");
  }
  const auto& team = given.cast<const Team&>();
  if (team.job.get() != &job) {
    refuse("the team belongs to another job");
  }
  return team.team;
}

void define_job(py::module_& module) {
  py::class_<Job, std::shared_ptr<Job>>(module, "Job")
      .def(py::init(&Job::start), py::arg("comm") = py::none())
      .def_property_readonly("rank", [](Job& job) { return job.rma().rank().value; })
      .def_property_readonly("size", [](Job& job) { return job.rma().size(); })
      .def("stop", [](Job& job) { checked_without_gil([&] { return job.stop(); }); });
}

}  // namespace tessera::python
