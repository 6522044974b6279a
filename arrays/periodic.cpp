// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/periodic.hpp"

#include <fmt/format.h>

namespace tessera::arrays {
namespace {

std::int64_t floor_divide(std::int64_t n, std::int64_t d) {
  return n / d - (n % d < 0 ? 1 : 0);
}

}  // namespace

rma::Result<PeriodicPieces> PeriodicPieces::split(const Box& box, const Extents& extents,
                                                  PeriodicDims periodic) {
  if (box.ndims() != extents.ndims() || box.hi().ndims() != extents.ndims()) {
    return detail::explain_outside(box, extents);
  }
  // The part that must be inside: the box with its periodic dimensions replaced by whole ones.
  Index lo = box.lo();
  Index hi = box.hi();
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    if (periodic[static_cast<std::size_t>(dim)] && lo[dim] <= hi[dim]) {
      if (extents[dim] == 0 && !box.is_empty()) {
        return rma::Status::error(
            rma::Code::out_of_range,
            fmt::format("box {} cannot wrap around dimension {} of the array {}: it is empty",
                        to_string(box), dim, to_string(extents)));
      }
      lo[dim] = 0;
      hi[dim] = extents[dim];
    }
  }
  if (!is_inside(Box(lo, hi), extents)) {
    return detail::explain_outside(Box(lo, hi), extents)
        .context(fmt::format("wrapping box {}", to_string(box)));
  }
  return PeriodicPieces(box, extents, periodic);
}

PeriodicPieces::PeriodicPieces(const Box& box, const Extents& extents,
                               PeriodicDims periodic) noexcept
    : box_(box), extents_(extents), is_done_(box.is_empty()) {
  first_ = last_ = Index::zeros(box.ndims());
  if (is_done_) {
    return;
  }
  for (int dim = 0; dim < box.ndims(); ++dim) {
    if (periodic[static_cast<std::size_t>(dim)]) {
      first_[dim] = floor_divide(box.lo(dim), extents[dim]);
      last_[dim] = floor_divide(box.hi(dim) - 1, extents[dim]);
    }
  }
  period_ = first_;
  cut_piece();
}

void PeriodicPieces::advance() noexcept {
  for (int dim = box_.ndims() - 1; dim >= 0; --dim) {
    if (++period_[dim] <= last_[dim]) {
      cut_piece();
      return;
    }
    period_[dim] = first_[dim];
  }
  is_done_ = true;
}

void PeriodicPieces::cut_piece() noexcept {
  const int ndims = box_.ndims();
  Index lo = box_.lo();
  Index hi = box_.hi();
  piece_.shift = Index::zeros(ndims);
  for (int dim = 0; dim < ndims; ++dim) {
    const std::int64_t shift = period_[dim] * extents_[dim];
    piece_.shift[dim] = shift;
    lo[dim] = period_[dim] == first_[dim] ? lo[dim] - shift : 0;
    hi[dim] = period_[dim] == last_[dim] ? hi[dim] - shift : extents_[dim];
  }
  piece_.inside = Box(lo, hi);
}

}  // namespace tessera::arrays
