// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

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

Status copy_patch(char trans, const Part& from, const Part& to) {
  return copy_part(from, to, !is_plain(trans));
}

// The two functions below compare bounds only, so the order of dimensions doesn't matter.

Result<bool> comp_patch(std::int64_t ndims_a, const IntOut& lo_a, const IntOut& hi_a,
                        std::int64_t ndims_b, const IntOut& lo_b, const IntOut& hi_b) {
  const auto extent = [](std::int64_t ndims, const IntOut& lo, const IntOut& hi, std::int64_t dim) {
    return dim < ndims ? hi.get(dim) - lo.get(dim) : 0;
  };
  for (std::int64_t dim = 0; dim < std::max(ndims_a, ndims_b); ++dim) {
    if (extent(ndims_a, lo_a, hi_a, dim) != extent(ndims_b, lo_b, hi_b, dim)) {
      return false;
    }
  }
  return true;
}

Result<bool> patch_intersect(const IntOut& lo_a, const IntOut& hi_a, const IntOut& lo_b,
                             const IntOut& hi_b, std::int64_t ndims) {
  for (std::int64_t dim = 0; dim < ndims; ++dim) {
    if (std::min(hi_a.get(dim), hi_b.get(dim)) < std::max(lo_a.get(dim), lo_b.get(dim))) {
      return false;
    }
  }
  for (std::int64_t dim = 0; dim < ndims; ++dim) {
    lo_b.set(std::max(lo_a.get(dim), lo_b.get(dim)), dim);
    hi_b.set(std::min(hi_a.get(dim), hi_b.get(dim)), dim);
  }
  return true;
}

}  // namespace tessera::ga
