// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "fortran/ga/operands.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

Status copy(Record& from, Record& to) {
  if (from.extents() != to.extents()) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("{} is {}, but {} is {}", from.describe(), to_string(from.extents()),
                           to.describe(), to_string(to.extents())))
        .hint("copy arrays of different shapes by patches");
  }
  return copy_part(part_of(from), part_of(to));
}

Status copy_patch(char trans, Record& from, const Box& from_box, Record& to, const Box& to_box) {
  return copy_part(part_of(from, from_box), part_of(to, to_box), !is_plain(trans));
}

}  // namespace tessera::ga
