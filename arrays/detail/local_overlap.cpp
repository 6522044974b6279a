// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/local_overlap.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <numeric>
#include <string>

namespace tessera::arrays::detail {

using rma::Code;
using rma::Status;

namespace {

// Users' strides may have any value: their products need more than 64 bits.
using Wide = __int128_t;

Status overlap(std::string how) {
  return Status::error(Code::invalid_argument,
                       "elements would overlap in local memory: " + std::move(how))
      .hint("a stride must be at least the length that the dimensions with smaller strides take");
}

std::int64_t magnitude(std::int64_t stride) noexcept {
  return stride < 0 ? -stride : stride;
}

// Two elements overlap if some number of steps along one dimension is as long as some number along
// the other, and both dimensions have that many elements.
Status check_pair(const Extents& extents, const Strides& strides, int a, int b) {
  const std::int64_t step_a = magnitude(strides[a]);
  const std::int64_t step_b = magnitude(strides[b]);
  // The usual case: a row of one dimension fits between two of the other; no division is needed.
  if (step_b >= Wide{step_a} * extents[a] || step_a >= Wide{step_b} * extents[b]) {
    return {};
  }
  const std::int64_t common = std::gcd(step_a, step_b);
  if (step_b / common >= extents[a] || step_a / common >= extents[b]) {
    return {};
  }
  const int row = step_a < step_b ? a : b;
  const int other = row == a ? b : a;
  return overlap(fmt::format(
      "a row of {} elements along dimension {} (stride {}), but stride {} along dimension {}",
      extents[row], row, strides[row], strides[other], other));
}

}  // namespace

Status check_apart(const Extents& extents, const Strides& strides) {
  if (volume(extents) == 0) {
    return {};
  }
  Wide elements = 1;
  Wide span = 1;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    if (extents[dim] == 1) {
      continue;
    }
    if (strides[dim] == 0) {
      return overlap(fmt::format("{} of them along dimension {}, but stride 0", extents[dim], dim));
    }
    for (int before = 0; before < dim; ++before) {
      if (extents[before] > 1) {
        TESSERA_RETURN_IF_ERROR(check_pair(extents, strides, before, dim));
      }
    }
    elements *= extents[dim];
    span += Wide{extents[dim] - 1} * magnitude(strides[dim]);
  }
  if (elements > span) {
    return overlap(fmt::format("{} of them in memory for {}", static_cast<std::int64_t>(elements),
                               static_cast<std::int64_t>(span)));
  }
  return {};
}

}  // namespace tessera::arrays::detail
