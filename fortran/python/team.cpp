// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/job.hpp"

namespace tessera::python {

void define_team(py::module_& module) {
  py::class_<Team, std::shared_ptr<Team>>(module, "Team")
      .def_property_readonly("rank", [](const Team& team) { return team.team.rank().value; })
      .def_property_readonly("size", [](const Team& team) { return team.team.size(); });
}

}  // namespace tessera::python
