// SPDX-License-Identifier: BSD-3-Clause
#include "rma/team.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fortran/detail/collective.hpp"
#include "fortran/python/buffers.hpp"
#include "fortran/python/element_types.hpp"
#include "fortran/python/gil.hpp"
#include "fortran/python/job.hpp"
#include "fortran/python/objects.hpp"
#include "fortran/python/options.hpp"

namespace tessera::python {

using rma::Reduction;
using rma::Status;

namespace {

/// A copy of a number or an array, for a reduction in place.
struct ReducedValue {
  py::array values;
  rma::ElementType type = rma::ElementType::f64;
  bool is_number = false;
};

ReducedValue operand_of(const py::object& given, Reduction reduction) {
  const auto numpy = py::module_::import("numpy");
  ReducedValue operand;
  operand.is_number = !py::isinstance<py::array>(given) && !py::isinstance<py::sequence>(given);
  py::object values = numpy.attr("array")(given, py::arg("order") = "C");
  if (!values.attr("dtype").attr("isnative").cast<bool>()) {
    values = values.attr("astype")(values.attr("dtype").attr("newbyteorder")("="));
  }
  if (values.attr("dtype").attr("kind").cast<std::string>() == "b") {
    values = values.attr("astype")("int64");  // the sum of bools counts the true ones
  }
  operand.values = values;
  const auto type = element_type(operand.values.dtype().num());
  if (!type) {
    refuse_type(fmt::format("{} of values of dtype {}", to_string(reduction),
                            text_of(operand.values.dtype())),
                "reductions take integers, floating point and complex numbers");
  }
  operand.type = *type;
  return operand;
}

py::object result_of(const ReducedValue& operand) {
  return operand.is_number ? operand.values.attr("item")() : py::object(operand.values);
}

py::object allreduce(Team& team, const py::object& given, Reduction reduction) {
  team.job->check_running();
  ReducedValue operand;
  const Status own = status_of([&] { operand = operand_of(given, reduction); });
  void* const values = own.ok() ? operand.values.mutable_data() : nullptr;
  const std::int64_t count = operand.values.size();
  checked_without_gil([&]() -> Status {
    TESSERA_RETURN_IF_ERROR(capi::report_to_team(team.team, own));
    return team.team.allreduce(values, count, operand.type, reduction);
  });
  return result_of(operand);
}

template <Reduction reduction>
py::object reduce_by(Team& team, const py::object& given) {
  return allreduce(team, given, reduction);
}

/// Whether all members, or any, give a true value.
template <Reduction reduction>
bool test_by(Team& team, const py::object& given) {
  team.job->check_running();
  std::int32_t truth = 0;
  const Status own = status_of([&] { truth = py::bool_(given).cast<bool>() ? 1 : 0; });
  return checked_without_gil([&]() -> rma::Result<bool> {
    TESSERA_RETURN_IF_ERROR(capi::report_to_team(team.team, own));
    TESSERA_ASSIGN_OR_RETURN(const std::int32_t all, team.team.allreduce(truth, reduction));
    return all != 0;
  });
}

std::shared_ptr<Team> split(Team& team, const py::object& color, std::int32_t key) {
  team.job->check_running();
  constexpr std::int32_t alone = -1;
  const std::int32_t chosen = color.is_none() ? alone : parse_int32(color, "color");
  return std::make_shared<Team>(
      Team{team.job, checked_without_gil([&] { return team.team.split(chosen, key); })});
}

py::list ranks_of(const Team& team) {
  py::list ranks;
  for (const rma::WorldRank rank : team.team.members()) {
    ranks.append(rank.value);
  }
  return ranks;
}

void define_reductions(py::class_<Team, std::shared_ptr<Team>>& team) {
  constexpr const char* text = R"(Combine the members' values, element by element. Collective.

value is a number, a list or a NumPy array of the same shape and dtype on all members. Returns the
result, a Python number or a NumPy array, on all of them: the same bits everywhere and in each run.)";
  team.def("sum", &reduce_by<Reduction::sum>, py::arg("value"), text)
      .def("prod", &reduce_by<Reduction::product>, py::arg("value"), text)
      .def("min", &reduce_by<Reduction::min>, py::arg("value"), text)
      .def("max", &reduce_by<Reduction::max>, py::arg("value"), text)
      .def("bit_and", &reduce_by<Reduction::bit_and>, py::arg("value"), text)
      .def("bit_or", &reduce_by<Reduction::bit_or>, py::arg("value"), text)
      .def("all", &test_by<Reduction::min>, py::arg("value"),
           "True if the value is true on all members. Collective.")
      .def("any", &test_by<Reduction::max>, py::arg("value"),
           "True if the value is true on some member. Collective.");
}

}  // namespace

rma::Team team_of(SharedJob& job, const py::object& given) {
  if (given.is_none()) {
    return job.rma().world();
  }
  if (!py::isinstance<Team>(given)) {
    refuse_type(fmt::format("team={} is not a tessera.Team", repr_of(given)),
                "make one with job.team(ranks) or team.split(color)");
  }
  const auto& team = given.cast<const Team&>();
  if (team.job.get() != &job) {
    refuse("the team belongs to another job");
  }
  return team.team;
}

std::shared_ptr<Team> make_team(const std::shared_ptr<SharedJob>& job, const py::object& given) {
  job->check_running();
  std::vector<rma::WorldRank> ranks;
  for (const rma::TeamRank rank : parse_ranks(given, "ranks")) {
    ranks.push_back(rma::WorldRank{rank.value});
  }
  return std::make_shared<Team>(
      Team{job, checked_without_gil([&] { return rma::Team::create(job->rma(), ranks); })});
}

void define_team(py::module_& module) {
  py::class_<Team, std::shared_ptr<Team>> team(
      module, "Team", R"(An ordered list of ranks, with the collective operations among them.

job.world has all ranks; job.team(ranks) and split() make others. Collective functions are called by all
members in the same order, from one thread at a time.)");
  team.def_property_readonly(
          "rank", [](const Team& self) { return self.team.rank().value; },
          "This rank's number in the team.")
      .def_property_readonly(
          "size", [](const Team& self) { return self.team.size(); }, "The number of members.")
      .def_property_readonly("ranks", &ranks_of, "The members' ranks in the job, in team order.")
      .def_readonly("job", &Team::job)
      .def("__len__", [](const Team& self) { return self.team.size(); })
      .def("__repr__",
           [](const Team& self) {
             return fmt::format("<tessera.Team: rank {} of {}>", self.team.rank().value,
                                self.team.size());
           })
      .def("split", &split, py::arg("color"), py::arg("key") = 0,
           R"(Divide the team. Collective. Returns the new Team of the members with the same color.

They are ordered by key, then by their rank here. color=None makes a team of the calling rank alone.)")
      .def(
          "barrier", [](Team& self) { checked_without_gil([&] { return self.team.barrier(); }); },
          "Wait until all members have called it. Completes no transfers; Job.barrier() does.")
      .def(
          "broadcast",
          [](Team& self, const py::object& value, std::int32_t root) {
            self.job->check_running();
            return broadcast(self.team, value, rma::TeamRank{root});
          },
          py::arg("value"), py::arg("root") = 0,
          R"(The root's object on all members. Collective. The others may give None.

Any object that pickle takes: numbers, texts, NumPy arrays, lists of them.)")
      .def(
          "allgather",
          [](Team& self, const py::object& value) {
            self.job->check_running();
            return allgather(self.team, value);
          },
          py::arg("value"), "A list of the objects of all members, in team order. Collective.");
  define_reductions(team);
}

}  // namespace tessera::python
