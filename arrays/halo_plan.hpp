// SPDX-License-Identifier: BSD-3-Clause
//
// HaloPlan: which cells an update of ghost cells moves, from where to where. It follows from the
// distribution and the options alone, so each rank can work out what any other one expects.
//
//     split in both dimensions            split in the first only, which closes on itself
//     . . . . . .                         . . . . . .   2. whole rows to the neighbours:
//     .+-------+.   one piece for each    .+-------+.      corners ride along
//     .|  own  |.   neighbour and         .|  own  |.
//     .+-------+.   direction             .+-------+.   1. a copy within the slice fills the
//     . . . . . .                         . . . . . .      columns left and right
//
// A periodic dimension that isn't cut is *carried*: its ghost cells are copies of own elements, so
// they are made here first, and what goes to neighbours in the other dimensions takes them along.
// That leaves fewer pieces, and longer runs: whole planes instead of planes with a frame.
//
// Cost: O(pieces) each; nothing is kept but the parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arrays/distribution.hpp"
#include "arrays/periodic.hpp"
#include "rma/shape.hpp"

namespace tessera::arrays {

struct HaloOptions {
  PeriodicDims periodic = {};  ///< dimensions in which the array closes on itself; more don't count
  bool corners = true;         ///< false: only cells that differ in one dimension (faces)
  Extents widths = {};         ///< layers to update; none: all ghosts that the array has
  /// Dimensions in which the caller sets ghost cells itself: cells that lie outside this rank's box
  /// in these dimensions only are left alone. In those that are periodic and not cut they must be
  /// new when an update begins, since corners may be taken from them.
  PeriodicDims left_out = {};

  friend bool operator==(const HaloOptions&, const HaloOptions&) = default;
};

/// One copy into ghost cells.
struct GhostPiece {
  rma::TeamRank source;    ///< in whose slice the cells lie that are copied
  std::uint64_t from = 0;  ///< bytes from the start of the source's slice
  std::uint64_t to = 0;    ///< bytes from the start of the slice that has the ghost cells
  rma::CopyShape shape;    ///< local: the source's slice; remote: the other
};

class HaloPlan {
 public:
  /// Requires: at most one block a rank; widths within the ghosts that the distribution has.
  HaloPlan(const Distribution& distribution, std::size_t element_bytes, const HaloOptions& options,
           const Extents& widths);

  /// Copies within a rank's own slice, to be done first and in this order.
  [[nodiscard]] std::vector<GhostPiece> wraps(rma::TeamRank rank) const;
  /// The other copies into a rank's ghost cells, in any order. Some may be its own.
  [[nodiscard]] std::vector<GhostPiece> pieces(rma::TeamRank rank) const;
  /// The sources of pieces(rank) but itself, ascending. A rank is among its neighbours' neighbours:
  /// ghost layers are as wide at both ends of a dimension.
  [[nodiscard]] std::vector<rma::TeamRank> neighbours(rma::TeamRank rank) const;

 private:
  struct Slice {
    Box box;  ///< ghost cells included
    Strides strides;
  };
  [[nodiscard]] Slice slice_of(rma::TeamRank rank) const;
  [[nodiscard]] GhostPiece piece(rma::TeamRank source, const Box& from, rma::TeamRank rank,
                                 const Index& shift) const;
  void add_towards(rma::TeamRank rank, const Index& direction,
                   std::vector<GhostPiece>& pieces) const;
  [[nodiscard]] Box ghosts_towards(const Box& own, const Index& direction) const;
  [[nodiscard]] bool next_direction(Index& direction) const;
  [[nodiscard]] bool is_wanted(const Index& direction) const;
  [[nodiscard]] bool may_carry(int dim) const;
  [[nodiscard]] bool carries(int dim) const noexcept;

  Distribution distribution_;
  std::size_t element_bytes_;
  HaloOptions options_;
  Extents widths_;
  Extents carried_;  ///< the widths of the dimensions that are carried, zero in others
};

}  // namespace tessera::arrays
