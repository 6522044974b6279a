// SPDX-License-Identifier: BSD-3-Clause
//
// Mirrored arrays: those of the mirror group, which is the team of the processes on this node
// (session.hpp). On one node it is the world, and arrays of it are ordinary ones.
#include "arrays/mirrored.hpp"

#include <array>

#include "arrays/elementwise.hpp"
#include "fortran/ga/dispatch.hpp"
#include "fortran/ga/operations.hpp"
#include "fortran/ga/session.hpp"

namespace tessera::ga {

namespace {

Status check_distributed(const Record& record) {
  return record.group().number == Group::world
             ? Status()
             : Status::error(Code::invalid_argument,
                             record.describe() + " is not distributed over all processes")
                   .hint("merge into an array of the world group");
}

}  // namespace

// As in GA, this has no effect on an array that is not mirrored.
Status merge_mirrored(Record& record) {
  TESSERA_ASSIGN_OR_RETURN(const bool has_copies, is_mirrored(record));
  rma::Team world = Session::current()->job().world();
  return has_copies ? arrays::merge_copies(world, record.array()) : sync();
}

Status merge_distr_patch(Record& from, const Box& from_box, Record& to, const Box& to_box) {
  TESSERA_ASSIGN_OR_RETURN(const bool has_copies, is_mirrored(from));
  if (has_copies) {
    TESSERA_RETURN_IF_ERROR(check_distributed(to));
    rma::Team world = Session::current()->job().world();
    return arrays::merge_copies_into(world, from.array(), from_box, to.array(), to_box);
  }
  if (Session::current()->job().node_count() > 1) {
    return Status::error(Code::invalid_argument, from.describe() + " is not mirrored")
        .hint("create it in the group of GA_Pgroup_get_mirror");
  }
  return on_parts(std::array{part_of(from, from_box), part_of(to, to_box)},
                  []<class T>(Tag<T>, const auto& of) -> Status {
                    return arrays::copy(of.template part<T>(0), of.template part<T>(1));
                  });
}

}  // namespace tessera::ga
