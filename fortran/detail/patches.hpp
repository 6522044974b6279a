// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Patches and indices in C's terms.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "arrays/box.hpp"
#include "arrays/distribution.hpp"
#include "arrays/gather.hpp"
#include "arrays/patch.hpp"
#include "fortran/detail/arguments.hpp"

namespace tessera::capi {

inline tessera_patch c_patch(const arrays::Patch& patch) {
  tessera_patch given = {};
  given.owner = patch.owner.value;
  given.offset = patch.offset;
  given.ndims = patch.box.ndims();
  copy_list(patch.box.lo(), given.lo);
  copy_list(patch.box.hi(), given.hi);
  copy_list(patch.strides, given.strides);
  return given;
}

/// Where the C caller wants patches.
struct PatchOutput {
  std::int64_t capacity;
  tessera_patch* patches;
  std::int64_t* count;
};
/// The parts of a box that each lie in one block. Errors: invalid_argument (null), out_of_range.
inline rma::Status write_patches(const arrays::Distribution& distribution, const std::int64_t* lo,
                                 const std::int64_t* hi, const PatchOutput& to) {
  TESSERA_RETURN_IF_ERROR(required(to.count, "result"));
  TESSERA_RETURN_IF_ERROR(check_count(to.capacity, "patches"));
  if (to.capacity > 0) {
    TESSERA_RETURN_IF_ERROR(required(to.patches, "patches"));
  }
  TESSERA_ASSIGN_OR_RETURN(const arrays::Box box, box_of(distribution.extents(), lo, hi));
  TESSERA_RETURN_IF_ERROR(check_inside(box, distribution.extents()));
  auto parts = distribution.patches(box);
  *to.count = parts.remaining();
  std::int64_t given = 0;
  for (auto patch = parts.begin(); patch != std::default_sentinel && given < to.capacity; ++patch) {
    to.patches[given++] = c_patch(*patch);
  }
  return {};
}

/// Errors: invalid_argument (null), out_of_range.
inline rma::Result<arrays::Index> index_of(const arrays::Extents& extents,
                                           const std::int64_t* numbers) {
  TESSERA_RETURN_IF_ERROR(required(numbers, "index"));
  const auto index = list_of<arrays::Index>(numbers, extents.ndims());
  TESSERA_RETURN_IF_ERROR(check_inside(index, extents));
  return index;
}

/// `count` listed indices, one after the other. Errors: invalid_argument (null, or too many).
inline rma::Result<arrays::IndexList> index_list(int ndims, std::int64_t count,
                                                 const std::int64_t* places) {
  TESSERA_RETURN_IF_ERROR(check_count(count, "places"));
  std::int64_t numbers = 0;
  if (__builtin_mul_overflow(count, std::int64_t{ndims}, &numbers)) {
    return rma::Status::error(
        rma::Code::invalid_argument,
        fmt::format("{} elements are too many: with {} indices each, at most {} are possible",
                    count, ndims, std::numeric_limits<std::int64_t>::max() / ndims));
  }
  if (count > 0) {
    TESSERA_RETURN_IF_ERROR(required(places, "places"));
  }
  return arrays::IndexList::flat({places, static_cast<std::size_t>(numbers)}, ndims);
}

}  // namespace tessera::capi
