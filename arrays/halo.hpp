// SPDX-License-Identifier: BSD-3-Clause
//
// Halo: the exchange of an array's ghost cells.
//
// Each rank puts its outer elements directly into the ghost cells of its neighbours, and behind
// them a flag: no packing, no message that a neighbour must receive, no meeting of others than
// neighbours. What goes where is worked out once (halo_plan.hpp).
//
//     Halo halo = Halo::create(u, {.periodic = PeriodicDims().set()}).value();
//     halo.update();                                  // blocking
//
//     HaloUpdate update = halo.start().value();       // or overlapped:
//     … work on what needs no ghost cells, and changes no own elements …
//     update.finish();
//
//     rank A                                    neighbour B
//     start():  "my ghosts may be written" ───►
//                                          ◄─── "my ghosts may be written"
//               own layers, then a flag    ───►
//                                          ◄─── own layers, then a flag
//     finish(): sleeps until B's flag           (nobody else takes part)
//
// Works for any widths and any blocks: a ghost layer may be wider than the neighbour's block (it is
// then sent by several), or than the whole array (periodic images repeat).
//
// What is exchanged are the elements as their owner sees them when its update starts. Elements that
// others have put need an ArrayBase::sync() before.
//
// A rank that finds a neighbour gone tells its other neighbours, and they theirs, so that all who
// exchange with each other learn of it; their ghost cells are unspecified then, and updates with
// this Halo fail from then on.
//
// Cost: two flags and the pieces a neighbour; memory O(neighbours).
// Threads: one at a time.
// Ownership: refers to its array, which must stay where it is and outlive it. The destructor gives
// memory back, collectively.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/halo_plan.hpp"
#include "rma/handle.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

class Halo;

/// An update under way. Until finish(), this rank neither touches its ghost cells nor changes its
/// own elements.
class [[nodiscard]] HaloUpdate {
 public:
  HaloUpdate(HaloUpdate&& other) noexcept
      : halo_(std::exchange(other.halo_, nullptr)), puts_(std::move(other.puts_)) {}
  HaloUpdate& operator=(HaloUpdate&&) = delete;
  /// An update that is dropped is finished.
  ~HaloUpdate();

  /// Returns when this rank's ghost cells are new and its own elements may change again; meets its
  /// neighbours only. Errors: peer_lost; see Halo.
  rma::Status finish();

 private:
  friend class Halo;
  HaloUpdate(Halo* halo, rma::Handle puts) : halo_(halo), puts_(std::move(puts)) {}
  Halo* halo_;  // null when finished
  rma::Handle puts_;
};

class Halo {
 public:
  /// Collective. Plans the exchange. Errors, on all members: invalid_argument (no ghosts, widths
  /// beyond them, options that differ among members), closed, no_memory.
  static rma::Result<Halo> create(ArrayBase& array, const HaloOptions& options = {});

  /// Collective. Makes all ghost cells equal to the elements they stand for; cells outside the
  /// array in dimensions that are not periodic keep their values. Errors: as start(), finish().
  rma::Status update();

  /// Collective. The same, started: waits only until the neighbours have started, too. Ghost cells
  /// in periodic dimensions that aren't cut are new at return, but for corners with others.
  /// The Halo must stay where it is until the update is finished.
  /// Errors: closed (the array was freed), peer_lost (see above); there is nothing to finish then.
  rma::Result<HaloUpdate> start();

  /// Collective. Gives the flags' memory back; the destructor does so, too. Idempotent.
  rma::Status free() { return control_.free(); }

  /// Bytes that one update brings to this rank from ranks elsewhere.
  [[nodiscard]] std::size_t bytes_from_others() const noexcept { return bytes_from_others_; }

 private:
  friend class HaloUpdate;

  /// What this rank sends to one other, and their flags.
  struct Neighbour {
    rma::TeamRank rank;
    std::int64_t place_there = 0;  ///< of this rank among the other's neighbours
    std::vector<GhostPiece> pieces;
  };

  Halo(ArrayBase& array, const HaloPlan& plan, rma::Region control);
  static std::vector<Neighbour> neighbours_of(const HaloPlan& plan, rma::TeamRank rank);

  /// The words of a neighbour in this rank's part of the control region. Each holds the number of
  /// the last round in which that was so; or, below zero, why the neighbour gave up.
  enum class Word : std::uint8_t { ready, came };
  [[nodiscard]] rma::RemoteAddress word(rma::TeamRank rank, std::int64_t place, Word which) const;
  rma::Status tell(const Neighbour& neighbour, Word which, std::int32_t value);
  rma::Status wait_for(std::size_t neighbour, Word which);
  void next_round() noexcept;
  rma::Status copy_own(std::span<const GhostPiece> pieces);
  rma::Status copy_in_turns(std::span<const GhostPiece> pieces);
  rma::Handle send_to(const Neighbour& neighbour);
  rma::Status exchange(rma::Handle& puts);
  rma::Status finish(rma::Handle puts);
  rma::Status give_up(rma::Status reason);

  ArrayBase* array_;
  rma::Region control_;
  std::vector<GhostPiece> wraps_;
  std::vector<GhostPiece> own_pieces_;
  std::vector<Neighbour> neighbours_;
  std::size_t bytes_from_others_ = 0;
  std::int32_t previous_round_ = 0;
  std::int32_t round_ = 0;  ///< of updates; what flags are raised to
  rma::Status given_up_;    ///< why, if so
};

}  // namespace tessera::arrays
