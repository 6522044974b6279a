// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/halo_plan.hpp"

#include <algorithm>

namespace tessera::arrays {

namespace {

// Removes what is outside the array in dimensions that are not periodic.
Box clipped(const Box& box, const Extents& extents, PeriodicDims periodic) {
  Box result = box;
  for (int dim = 0; dim < box.ndims(); ++dim) {
    if (!periodic.test(static_cast<std::size_t>(dim))) {
      result.set(dim, std::max<std::int64_t>(box.lo(dim), 0), std::min(box.hi(dim), extents[dim]));
    }
  }
  return result;
}

bool has(PeriodicDims dims, int dim) {
  return dims.test(static_cast<std::size_t>(dim));
}

}  // namespace

HaloPlan::HaloPlan(const Distribution& distribution, std::size_t element_bytes,
                   const HaloOptions& options, const Extents& widths)
    : distribution_(distribution),
      element_bytes_(element_bytes),
      options_(options),
      widths_(widths),
      locally_filled_(Extents::filled(distribution.ndims(), 0)) {
  bool fills_omitted_locally = true;
  for (int dim = 0; dim < distribution.ndims(); ++dim) {
    locally_filled_[dim] = can_fill_locally(dim) ? widths[dim] : 0;
    fills_omitted_locally = fills_omitted_locally && (carries(dim) || !has(options.left_out, dim));
  }
  // Corners in a dimension that is left out but not carried would be missing.
  for (int dim = 0; dim < distribution.ndims() && !fills_omitted_locally; ++dim) {
    locally_filled_[dim] = has(options.left_out, dim) ? locally_filled_[dim] : 0;
  }
}

bool HaloPlan::can_fill_locally(int dim) const {
  // A layer that is wider than the array repeats it, so it isn't a plain copy of own elements.
  return options_.corners && has(options_.periodic, dim) &&
         distribution_.partition(dim).blocks() == 1 && widths_[dim] <= distribution_.extents()[dim];
}

bool HaloPlan::carries(int dim) const noexcept {
  return locally_filled_[dim] > 0;
}

bool HaloPlan::copies_left_out() const noexcept {
  for (int dim = 0; dim < distribution_.ndims(); ++dim) {
    if (carries(dim) && has(options_.left_out, dim)) {
      return true;
    }
  }
  return false;
}

HaloPlan HaloPlan::from_elements() const {
  HaloPlan plan = *this;
  plan.locally_filled_ = Extents::filled(distribution_.ndims(), 0);
  return plan;
}

HaloPlan::Slice HaloPlan::slice_of(rma::TeamRank rank) const {
  const Box box = distribution_.box_of(rank).grown(distribution_.ghosts());
  return {box, dense_strides(box.extents(), distribution_.order())};
}

// The copy of the cells `from` of one slice to the same cells of another one, moved by `shift`.
GhostPiece HaloPlan::piece(rma::TeamRank source, const Box& from, rma::TeamRank rank,
                           const Index& shift) const {
  const Slice there = slice_of(source);
  const Slice here = slice_of(rank);
  const auto bytes = [&](const Slice& slice, const Index& at) {
    return static_cast<std::uint64_t>(distance(slice.box.lo(), at, slice.strides)) * element_bytes_;
  };
  return {.source = source,
          .from = bytes(there, from.lo()),
          .to = bytes(here, from.shifted(shift).lo()),
          .shape = copy_shape(from.extents(), distribution_.order(), there.strides, here.strides,
                              element_bytes_)};
}

std::vector<GhostPiece> HaloPlan::wraps(rma::TeamRank rank) const {
  std::vector<GhostPiece> copies;
  const Box own = distribution_.box_of(rank);
  if (own.is_empty()) {
    return copies;
  }
  Box known = own;
  const auto grow = [&](int dim) {
    known.set(dim, own.lo(dim) - locally_filled_[dim], own.hi(dim) + locally_filled_[dim]);
  };
  for (int dim = 0; dim < own.ndims(); ++dim) {
    if (has(options_.left_out, dim)) {
      grow(dim);
    }
  }
  for (int dim = 0; dim < own.ndims(); ++dim) {
    if (!carries(dim) || has(options_.left_out, dim)) {
      continue;
    }
    Index up = Index::zeros(own.ndims());
    up[dim] = own.extent(dim);
    Index down = Index::zeros(own.ndims());
    down[dim] = -own.extent(dim);
    Box layers = known;
    layers.set(dim, own.lo(dim), own.lo(dim) + widths_[dim]);
    copies.push_back(piece(rank, layers, rank, up));
    layers.set(dim, own.hi(dim) - widths_[dim], own.hi(dim));
    copies.push_back(piece(rank, layers, rank, down));
    grow(dim);
  }
  return copies;
}

std::vector<GhostPiece> HaloPlan::pieces(rma::TeamRank rank) const {
  std::vector<GhostPiece> pieces;
  const int ndims = distribution_.ndims();
  if (distribution_.box_of(rank).is_empty()) {
    return pieces;
  }
  Index direction = Index::zeros(ndims);
  for (int dim = 0; dim < ndims; ++dim) {
    direction[dim] = carries(dim) ? 0 : -1;
  }
  do {
    if (is_wanted(direction)) {
      add_direction(rank, direction, pieces);
    }
  } while (next_direction(direction));
  return pieces;
}

// Ghost cells in one direction; the elements that they copy may have several owners.
void HaloPlan::add_direction(rma::TeamRank rank, const Index& direction,
                             std::vector<GhostPiece>& pieces) const {
  const Box ghosts = clipped(ghosts_in_direction(distribution_.box_of(rank), direction),
                             distribution_.extents(), options_.periodic);
  if (ghosts.is_empty()) {
    return;
  }
  // Clipped to the array in the other dimensions, so it can be split.
  auto parts = PeriodicPieces::split(ghosts, distribution_.extents(), options_.periodic);
  for (const PeriodicPiece& part : *parts) {
    for (const Patch& patch : distribution_.patches(part.inside)) {
      pieces.push_back(piece(patch.owner, patch.box.grown(locally_filled_), rank, part.shift));
    }
  }
}

// The part of the ghost layers in `direction` (−1, 0 or 1 in each dimension) from `own`.
Box HaloPlan::ghosts_in_direction(const Box& own, const Index& direction) const {
  Box ghosts = own;
  for (int dim = 0; dim < own.ndims(); ++dim) {
    if (direction[dim] < 0) {
      ghosts.set(dim, own.lo(dim) - widths_[dim], own.lo(dim));
    } else if (direction[dim] > 0) {
      ghosts.set(dim, own.hi(dim), own.hi(dim) + widths_[dim]);
    }
  }
  return ghosts;
}

// Steps through all directions, except those of carried dimensions; returns false after the last.
bool HaloPlan::next_direction(Index& direction) const {
  for (int dim = 0; dim < direction.ndims(); ++dim) {
    if (carries(dim)) {
      continue;
    }
    if (++direction[dim] <= 1) {
      return true;
    }
    direction[dim] = -1;
  }
  return false;
}

// True if an update with these options includes the cells in `direction`.
bool HaloPlan::is_wanted(const Index& direction) const {
  int leaves = 0;
  int counted = 0;
  for (int dim = 0; dim < direction.ndims(); ++dim) {
    if (direction[dim] != 0) {
      ++leaves;
      counted += has(options_.left_out, dim) ? 0 : 1;
    }
  }
  return counted > 0 && (leaves == 1 || options_.corners);
}

std::vector<rma::TeamRank> HaloPlan::neighbours(rma::TeamRank rank) const {
  std::vector<rma::TeamRank> others;
  for (const GhostPiece& each : pieces(rank)) {
    if (each.source != rank) {
      others.push_back(each.source);
    }
  }
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  return others;
}

}  // namespace tessera::arrays
