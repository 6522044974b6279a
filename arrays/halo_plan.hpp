// SPDX-License-Identifier: BSD-3-Clause
//
// HaloPlan: the copies of an update of ghost cells, with their sources and destinations. It follows
// from the distribution and the options alone, so each rank can compute what another one expects.
//
//     split in both dimensions            split in the first only, which is periodic
//     . . . . . .                         . . . . . .   2. whole rows to the neighbours,
//     .+-------+.   one piece for each    .+-------+.      corners included
//     .|  own  |.   neighbour and         .|  own  |.
//     .+-------+.   direction             .+-------+.   1. a copy within the slice fills the
//     . . . . . .                         . . . . . .      columns left and right
//
// A periodic dimension that isn't cut is *carried*. Its ghost cells are copies of own elements, so
// they are filled first, by a local copy; transfers to neighbours in the other dimensions then
// include them. That leaves fewer pieces and longer runs: whole planes instead of planes with a
// frame.
//
// Cost: O(pieces) for each function; only the parameters are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arrays/distribution.hpp"
#include "arrays/periodic.hpp"
#include "rma/shape.hpp"

namespace tessera::arrays {

/// What an update of ghost cells includes; all members give the same.
struct HaloOptions {
  PeriodicDims periodic = {};  ///< periodic dimensions; bits beyond ndims are ignored
  bool corners = true;         ///< false: only cells outside in one dimension (faces)
  Extents widths = {};         ///< layers to update; empty: all ghost cells of the array
  /// Dimensions in which the caller sets ghost cells itself: cells that lie outside this rank's box
  /// in only these dimensions keep their values. In those that are periodic and not cut, the caller
  /// must set them before an update begins, since corners may be copied from them.
  PeriodicDims left_out = {};

  friend bool operator==(const HaloOptions&, const HaloOptions&) = default;
};

/// One copy into ghost cells.
struct GhostPiece {
  rma::TeamRank source;    ///< the rank whose slice has the source cells
  std::uint64_t from = 0;  ///< bytes from the start of the source's slice
  std::uint64_t to = 0;    ///< bytes from the start of the slice that has the ghost cells
  rma::CopyShape shape;    ///< local: the source's slice; remote: the other
};

class HaloPlan {
 public:
  /// Requires: at most one block on each rank; widths within the distribution's ghost widths.
  HaloPlan(const Distribution& distribution, std::size_t element_bytes, const HaloOptions& options,
           const Extents& widths);

  /// Copies within a rank's own slice, to be made first and in this order.
  [[nodiscard]] std::vector<GhostPiece> wraps(rma::TeamRank rank) const;
  /// The other copies into a rank's ghost cells, in any order. Some may have the rank itself as
  /// source.
  [[nodiscard]] std::vector<GhostPiece> pieces(rma::TeamRank rank) const;
  /// True if some of these copies may have ghost cells of dimensions that are left out as sources.
  [[nodiscard]] bool copies_left_out() const noexcept;
  /// The same copies, but each from elements: nothing is carried, so wraps() are empty. Its
  /// neighbours are the same.
  [[nodiscard]] HaloPlan from_elements() const;
  /// The sources of pieces(rank) without the rank itself, ascending. The relation is symmetric,
  /// since ghost layers are equally wide at both ends of a dimension.
  [[nodiscard]] std::vector<rma::TeamRank> neighbours(rma::TeamRank rank) const;

 private:
  struct Slice {
    Box box;  ///< with ghost cells
    Strides strides;
  };
  [[nodiscard]] Slice slice_of(rma::TeamRank rank) const;
  [[nodiscard]] GhostPiece piece(rma::TeamRank source, const Box& from, rma::TeamRank rank,
                                 const Index& shift) const;
  void add_direction(rma::TeamRank rank, const Index& direction,
                     std::vector<GhostPiece>& pieces) const;
  [[nodiscard]] Box ghosts_in_direction(const Box& own, const Index& direction) const;
  [[nodiscard]] bool next_direction(Index& direction) const;
  [[nodiscard]] bool is_wanted(const Index& direction) const;
  [[nodiscard]] bool can_fill_locally(int dim) const;
  [[nodiscard]] bool carries(int dim) const noexcept;

  Distribution distribution_;
  std::size_t element_bytes_;
  HaloOptions options_;
  Extents widths_;
  Extents locally_filled_;  ///< ghost widths of the carried dimensions, zero in others
};

}  // namespace tessera::arrays
