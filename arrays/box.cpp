// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/box.hpp"

#include <fmt/format.h>

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Status;

Status wrong_ndims(std::string_view what, int ndims, const Extents& extents) {
  return Status::error(Code::invalid_argument,
                       fmt::format("{} has {} dimension{}, the array {} has {}", what, ndims,
                                   ndims == 1 ? "" : "s", to_string(extents), extents.ndims()));
}

}  // namespace

std::string to_string(const Box& box) {
  if (box.ndims() == 0) {
    return "()";
  }
  std::string text;
  for (int dim = 0; dim < std::min(box.ndims(), max_dims); ++dim) {
    text += fmt::format("{}[{},{})", dim == 0 ? "" : " x ", box.lo(dim), box.hi(dim));
  }
  return text;
}

namespace detail {

Status explain_outside(const Box& box, const Extents& extents) {
  const std::string name = fmt::format("box {}", to_string(box));
  if (box.lo().ndims() != box.hi().ndims()) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("a box has {} lower and {} upper bounds", box.lo().ndims(), box.hi().ndims()));
  }
  if (box.ndims() != extents.ndims()) {
    return wrong_ndims(name, box.ndims(), extents);
  }
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    if (box.hi(dim) < box.lo(dim)) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("{}: the upper bound {} of dimension {} is below its lower bound {}", name,
                      box.hi(dim), dim, box.lo(dim)));
    }
  }
  std::string where;
  std::string remedy;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    const char* separator = where.empty() ? "" : ", ";
    if (box.lo(dim) < 0) {
      where += fmt::format("{}dimension {} begins at {}", separator, dim, box.lo(dim));
      separator = ", ";
    }
    if (box.hi(dim) > extents[dim]) {
      // In unsigned arithmetic, since a bound may exceed the extent by more than 63 bits can hold.
      const auto excess =
          static_cast<std::uint64_t>(box.hi(dim)) - static_cast<std::uint64_t>(extents[dim]);
      where += fmt::format("{}dimension {} exceeds by {}", separator, dim, excess);
      if (remedy.empty() && extents[dim] > 0) {
        remedy = fmt::format(
            "bounds are half-open; the last index of dimension {} is {}, so use {} as its upper "
            "bound",
            dim, extents[dim] - 1, extents[dim]);
      }
    }
  }
  Status status = Status::error(Code::out_of_range, fmt::format("{} lies outside the array {}: {}",
                                                                name, to_string(extents), where));
  return remedy.empty() ? status : std::move(status).hint(remedy);
}

Status explain_outside(const Index& index, const Extents& extents) {
  const std::string name = fmt::format("index {}", to_string(index));
  if (index.ndims() != extents.ndims()) {
    return wrong_ndims(name, index.ndims(), extents);
  }
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    if (index[dim] < 0 || index[dim] >= extents[dim]) {
      return Status::error(
          Code::out_of_range,
          fmt::format("{} lies outside the array {}: {} is not in [0,{}) of dimension {}", name,
                      to_string(extents), index[dim], extents[dim], dim));
    }
  }
  return {};
}

}  // namespace detail

Status check_volume(const Box& box) {
  std::int64_t elements = 0;
  return box.checked_volume(elements)
             ? Status()
             : Status::error(Code::invalid_argument, "its number of elements does not fit 63 bits");
}

}  // namespace tessera::arrays
