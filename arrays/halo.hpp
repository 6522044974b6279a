// SPDX-License-Identifier: BSD-3-Clause
//
// Halo: the exchange of an array's ghost cells.
//
// Each rank reads what it needs from the owners, directly into its ghost cells: one strided get a
// neighbour and direction, no packing, no message that a neighbour must receive. Which pieces those
// are is worked out once.
//
//     Halo halo = Halo::create(u, {.periodic = PeriodicDims().set()}).value();
//     halo.update();                                  // blocking
//
//     HaloUpdate update = halo.start().value();       // or overlapped:
//     … work on the interior, which nobody changes …
//     update.finish();
//
// Works for any widths and any blocks: a ghost layer may be wider than the neighbour's block (it is
// then read from several), or than the whole array (periodic images repeat).
//
// Cost: one barrier to begin, one to end, and O(neighbours) gets; memory O(neighbours).
// Ownership: refers to its array, which must stay where it is and outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/periodic.hpp"
#include "rma/handle.hpp"

namespace tessera::arrays {

struct HaloOptions {
  PeriodicDims periodic = {};  ///< dimensions in which the array closes on itself; more don't count
  bool corners = true;         ///< false: only cells that differ in one dimension (faces)
  Extents widths = {};         ///< layers to update; none: all ghosts that the array has
  /// Dimensions in which the caller sets ghost cells itself: cells that lie outside this rank's box
  /// in these dimensions only are left alone.
  PeriodicDims left_out = {};
};

class Halo;

/// An update under way. Until finish(), this rank neither touches its ghost cells nor changes its
/// own elements.
class [[nodiscard]] HaloUpdate {
 public:
  HaloUpdate(HaloUpdate&&) noexcept = default;
  HaloUpdate& operator=(HaloUpdate&&) = delete;
  /// A dropped update waits for its gets; the others are told by the next collective.
  ~HaloUpdate() = default;

  /// Collective. Returns when this rank's ghost cells are new and everybody has read from it, so
  /// that own elements may change again. Errors: as the gets of any member; peer_lost.
  rma::Status finish();

 private:
  friend class Halo;
  HaloUpdate(const ArrayBase& array, rma::Handle gets)
      : array_(&array), team_(array.team()), gets_(std::move(gets)) {}
  const ArrayBase* array_;
  rma::Team team_;
  rma::Handle gets_;
};

class Halo {
 public:
  /// Local. Plans the exchange. Errors: invalid_argument (no ghosts, or widths beyond them),
  /// closed.
  static rma::Result<Halo> create(ArrayBase& array, const HaloOptions& options = {});

  /// Collective. Makes all ghost cells equal to the elements they stand for; cells outside the
  /// array in dimensions that are not periodic keep their values.
  rma::Status update();

  /// Collective. The same, started: waits only until everybody's elements may be read.
  rma::Result<HaloUpdate> start();

  /// Bytes that one update brings to this rank from ranks elsewhere.
  [[nodiscard]] std::size_t bytes_from_others() const noexcept;

 private:
  explicit Halo(ArrayBase& array) : array_(&array) {}
  void plan(const HaloOptions& options, const Extents& widths);
  void plan_piece(const Box& ghosts, PeriodicDims periodic);

  /// One get: from where to which byte of this rank's slice.
  struct Piece {
    rma::RemoteAddress from;
    std::uint64_t to = 0;
    rma::CopyShape shape;
  };

  ArrayBase* array_;
  std::vector<Piece> pieces_;
};

}  // namespace tessera::arrays
