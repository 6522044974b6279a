// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Python objects between the members of a team, as bytes that pickle makes.
#pragma once

#include <pybind11/pybind11.h>

#include "rma/team.hpp"

namespace tessera::python {

namespace py = pybind11;

/// Throws OutOfRange if the team has no such member.
void check_root(const rma::Team& team, rma::TeamRank root);

/// Collective. The root's object on all members; the others' is not used. Call it with the GIL.
/// Throws the errors of pickle on the root, and InvalidArgument on the others then.
py::object broadcast(rma::Team& team, const py::object& object, rma::TeamRank root);
/// Collective. The objects of all members, in team order.
py::list allgather(rma::Team& team, const py::object& object);

}  // namespace tessera::python
