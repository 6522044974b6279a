// SPDX-License-Identifier: BSD-3-Clause
//
// Halo: the exchange of an array's ghost cells.
//
// Each rank puts its outer elements directly into the ghost cells of its neighbours, followed by a
// flag. Nothing is packed, no neighbour has to receive a message, and only neighbours synchronise.
// halo_plan.hpp computes the transfers once. Between nodes a flag has a long latency, so a few
// elements go as a packed message with a flag instead, without waiting for the neighbour
// (packed_halo_exchange.hpp; TESSERA_TUNE=halo_pack_bytes sets the limit in bytes).
//
//     Halo halo = Halo::create(u, {.periodic = PeriodicDims().set()}).value();
//     halo.update();                                  // blocking
//
//     HaloUpdate update = halo.start().value();       // or overlapped with computation:
//     … work that needs no ghost cells and changes no own elements …
//     update.finish();
//
//     halo.accumulate();                              // the reverse: ghost cells to their owners
//
//     halo.post();                                    // or earlier: the ghost cells are not needed
//     … work that changes own elements …              // until the next update
//     HaloUpdate update = halo.start().value();       // waits for no neighbour that has posted
//
//     rank A                                    neighbour B
//     post():   "my ghosts may be written" ───►  (start() does it, if post() was not called)
//                                          ◄─── "my ghosts may be written"
//     start():  own layers, then a flag    ───►
//                                          ◄─── own layers, then a flag
//     finish(): sleeps until B's flag           (no other rank takes part)
//
//     rank A                                    neighbour B, on another node
//     start():  packed message, flag    ───►
//                                       ◄─── packed message, flag
//     finish(): sleeps until B's flag, unpacks B's message
//
// Any widths and any blocks are supported: a ghost layer may be wider than the neighbour's block
// (several ranks then send it), or than the whole array (periodic images repeat).
//
// An update sends elements as their owner sees them when its update starts. Elements that other
// ranks have put need an ArrayBase::sync() before.
//
// A rank that loses a neighbour notifies its other neighbours, and these notify theirs, so that all
// ranks of the exchange get an error. Their ghost cells are unspecified then, and later updates
// with this Halo fail.
//
// Cost for each neighbour: two flags and its pieces, or a packed message, a flag and two copies.
// Memory: O(neighbours), and two message buffers for each neighbour that sends packed messages.
// Threads: one at a time. Ownership: the Halo refers to its array's memory, which must outlive it.
// The array may be moved, so that both can be members of one structure. The destructor frees the
// Halo's memory, collectively.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/halo_plan.hpp"
#include "arrays/packed_halo_exchange.hpp"
#include "rma/handle.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

class Halo;

/// An update in progress. Until finish(), this rank must neither touch its ghost cells nor change
/// its own elements.
class [[nodiscard]] HaloUpdate {
 public:
  HaloUpdate(HaloUpdate&& other) noexcept
      : halo_(std::exchange(other.halo_, nullptr)), puts_(std::move(other.puts_)) {}
  HaloUpdate& operator=(HaloUpdate&&) = delete;
  /// Finishes the update if finish() was not called.
  ~HaloUpdate();

  /// Returns when this rank's ghost cells are new and its own elements may change again.
  /// Synchronises with neighbours only. Errors: peer_lost; see Halo.
  rma::Status finish();

 private:
  friend class Halo;
  HaloUpdate(Halo* halo, rma::Handle puts) : halo_(halo), puts_(std::move(puts)) {}
  Halo* halo_;  // null after finish()
  rma::Handle puts_;
};

/// The exchange of an array's ghost cells; see above.
class Halo {
 public:
  /// Collective. Plans the exchange. Errors, on all members: invalid_argument (no ghost cells,
  /// widths beyond them, or options that differ among members), closed, no_memory.
  static rma::Result<Halo> create(ArrayBase& array, const HaloOptions& options = {});

  /// Collective. Makes all ghost cells equal to the elements that they copy. Cells outside the
  /// array in dimensions that are not periodic keep their values. Complete: at return. Errors: as
  /// start() and finish().
  rma::Status update();

  /// Collective. Starts an update. Waits only until the neighbours have started or posted; it
  /// doesn't wait for neighbours that get packed messages. Ghost cells in periodic dimensions that
  /// aren't cut are new at return, except the corners that they share with other dimensions. The
  /// Halo must not be moved until the update is finished. Errors: closed (the array or the Halo was
  /// freed or moved from), invalid_argument (an update is in progress), peer_lost (see above).
  /// After an error no update is in progress.
  rma::Result<HaloUpdate> start();

  /// Collective. The reverse of update(): adds each ghost cell to the element that it copies, and
  /// makes it zero. So contributions that ranks have computed into their ghost cells, such as
  /// charges of particles near a boundary, reach their owners; if several ghost cells copy the same
  /// element, all of them are added to it. Cells outside the array in dimensions that are not
  /// periodic, and those that an update leaves out, keep their values. An update may copy a corner
  /// from a cell that it leaves out; such a corner is added to the element that both copy.
  /// Complete: at return this rank's elements have all contributions. Synchronises with neighbours
  /// only. No rank may use its elements or ghost cells meanwhile. Errors: as start(); also
  /// unsupported (elements that are not numbers), invalid_argument (post() has already promised the
  /// ghost cells to an update). Cost for each neighbour: three flags and an accumulate of its
  /// pieces. Sums of floating-point numbers may differ in the last bits from run to run.
  rma::Status accumulate();

  /// Notifies the neighbours that they may write this rank's ghost cells for the next update. Until
  /// that update is finished, this rank must not touch them; own elements may still change. Ranks
  /// that reach start() earlier than others then need not wait there (as MPI_Win_post does for a
  /// window). Each rank may call it or not; a second call has no effect. Waits for no other rank.
  /// Errors: closed, invalid_argument (an update is in progress), peer_lost. Cost: one flag for
  /// each neighbour.
  rma::Status post();

  /// Collective. Frees the memory of flags and messages; the destructor does so too. Idempotent.
  rma::Status free();

  /// The number of bytes that one update brings to this rank from other ranks.
  [[nodiscard]] std::size_t bytes_from_others() const noexcept { return bytes_from_others_; }

 private:
  friend class HaloUpdate;

  /// A neighbour, which both sends and receives.
  struct Neighbour {
    PackedHaloExchange::Sender outgoing;  ///< what this rank sends, as the neighbour describes it
    PackedHaloExchange::Sender incoming;  ///< what the neighbour sends
    std::vector<GhostPiece> direct;       ///< what accumulate() adds, if it isn't `incoming`
    std::vector<PackedPiece> packing;     ///< how to pack what is sent; empty if it is not packed
    std::vector<PackedPiece> unpacking;   ///< how to unpack what arrives; empty if it is not packed
    rma::TeamRank rank;
  };

  /// A second handle of the array. Moving copies it, so that a Halo that was moved from can still
  /// name its array.
  class ArrayHandle {
   public:
    explicit ArrayHandle(const ArrayBase& array)
        : alias_(std::make_shared<ArrayBase>(array.alias())) {}
    ArrayHandle(const ArrayHandle&) = default;
    ArrayHandle& operator=(const ArrayHandle&) = default;
    const ArrayBase& operator*() const noexcept { return *alias_; }
    const ArrayBase* operator->() const noexcept { return alias_.get(); }

   private:
    std::shared_ptr<const ArrayBase> alias_;
  };

  Halo(const ArrayBase& array, const HaloPlan& plan, const PackedHaloExchange& packed,
       rma::Region control);
  void add_neighbour(const HaloPlan& plan, const PackedHaloExchange::Sender& sender);
  void note_reads() const noexcept;

  /// The flags that a neighbour raises in this rank's slice of the control region. Each has the
  /// number of the last round in which the neighbour was ready, or in which its data arrived. A
  /// value below zero is the reason why the neighbour gave up.
  enum class FlagKind : std::uint8_t { ready, arrived, may_add, added };
  [[nodiscard]] rma::RemoteAddress flag_address(rma::TeamRank rank,
                                                const PackedHaloExchange::Sender& at,
                                                FlagKind which) const;
  [[nodiscard]] std::uint64_t buffer_offset(const PackedHaloExchange::Sender& at) const;
  rma::Status set_flag(const Neighbour& neighbour, FlagKind which, std::int32_t value);
  rma::Status wait_for(const Neighbour& neighbour, FlagKind which, std::int32_t previous_round);
  [[nodiscard]] rma::Status check_usable() const;
  [[nodiscard]] static std::int32_t next_round(std::int32_t round) noexcept;
  rma::Status notify_ready(std::int32_t round);
  rma::Status copy_own(std::span<const GhostPiece> pieces);
  rma::Status copy_interleaved(std::span<const GhostPiece> pieces);
  rma::Handle put_layers(const Neighbour& neighbour);
  rma::Status send_packed(const Neighbour& neighbour);
  rma::Status unpack_message(const Neighbour& neighbour);
  rma::Status exchange(rma::Handle& puts);
  void plan_direct_adds(const HaloPlan& from_elements);
  rma::Status add_own(const GhostPiece& piece);
  rma::Status add_layers(const Neighbour& neighbour, std::int32_t round);
  rma::Status clear_ghosts(const GhostPiece& piece);
  rma::Status add_back();
  rma::Status finish(rma::Handle puts);
  rma::Status give_up(rma::Status reason);

  ArrayHandle array_;
  rma::Region control_;
  std::vector<GhostPiece> wraps_;
  std::vector<GhostPiece> own_pieces_;
  bool adds_directly_ = false;        ///< accumulate() can't reverse an update's copies: left_out
  std::vector<GhostPiece> own_adds_;  ///< what it adds within this slice then
  std::vector<Neighbour> neighbours_;
  std::vector<std::byte> message_;  ///< the message that is being packed
  std::vector<Box> sent_;           ///< own elements that are sent, for the race check, if it is on
  std::size_t bytes_from_others_ = 0;
  std::int32_t previous_round_ = 0;
  std::int32_t round_ = 0;             ///< number of the update; the value of the flags
  std::int32_t accumulate_round_ = 0;  ///< the same for accumulate(), whose flags are its own
  bool is_posted_ = false;             ///< post() was called for the next update
  bool is_in_progress_ = false;
  bool is_freed_ = false;
  rma::Status exchange_failure_;  ///< the error, if this rank gave up
};

}  // namespace tessera::arrays
