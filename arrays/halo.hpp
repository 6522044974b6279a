// SPDX-License-Identifier: BSD-3-Clause
//
// Halo: the exchange of an array's ghost cells.
//
// Each rank puts its outer elements directly into the ghost cells of its neighbours, and behind
// them a flag: no packing, no message that a neighbour must receive, no meeting of others than
// neighbours. What goes where is worked out once (halo_plan.hpp). Between nodes, where a flag takes
// long to come, few elements go as a letter instead: packed, with a flag, and at once
// (halo_mail.hpp; TESSERA_GHOST_LETTER).
//
//     Halo halo = Halo::create(u, {.periodic = PeriodicDims().set()}).value();
//     halo.update();                                  // blocking
//
//     HaloUpdate update = halo.start().value();       // or overlapped:
//     … work on what needs no ghost cells, and changes no own elements …
//     update.finish();
//
//     halo.post();                                    // or before: the ghost cells are not needed
//     … work that changes own elements …              // until the next update
//     HaloUpdate update = halo.start().value();       // waits for nobody who has posted
//
//     rank A                                    neighbour B
//     post():   "my ghosts may be written" ───►  (start() does it, if nothing else did)
//                                          ◄─── "my ghosts may be written"
//     start():  own layers, then a flag    ───►
//                                          ◄─── own layers, then a flag
//     finish(): sleeps until B's flag           (nobody else takes part)
//
//     rank A                                    neighbour B, on another node
//     start():  letter and flag         ───►
//                                          ◄─── letter and flag
//     finish(): sleeps until B's flag, unpacks B's letter
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
// Cost: two flags and the pieces a neighbour, or a letter, a flag and two copies; memory
// O(neighbours), and two letters for each that gets them.
// Threads: one at a time.
// Ownership: refers to its array's memory, which must outlive it; the array may be moved, so that
// both can be members of one structure. The destructor gives memory back, collectively.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/halo_mail.hpp"
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

  /// Collective. The same, started: waits only until the neighbours have started or posted, and not
  /// at all for those that get letters. Ghost cells
  /// in periodic dimensions that aren't cut are new at return, but for corners with others.
  /// The Halo must stay where it is until the update is finished.
  /// Errors: closed (the array or the Halo was freed or moved from), invalid_argument (an update is
  /// under way), peer_lost (see above); there is nothing to finish then.
  rma::Result<HaloUpdate> start();

  /// Tells the neighbours that they may write this rank's ghost cells for the next update; until
  /// that is finished, this rank doesn't touch them. Own elements may still change. Ranks that come
  /// to start() earlier than others needn't wait there then (as MPI_Win_post does for a window).
  /// Each rank may do so or leave it; again, it does nothing. Waits for nobody.
  /// Errors: closed, invalid_argument (an update is under way), peer_lost. Cost: a flag a
  /// neighbour.
  rma::Status post();

  /// Collective. Gives the flags' memory back; the destructor does so, too. Idempotent.
  rma::Status free();

  /// Bytes that one update brings to this rank from ranks elsewhere.
  [[nodiscard]] std::size_t bytes_from_others() const noexcept { return bytes_from_others_; }

 private:
  friend class HaloUpdate;

  /// A neighbour in both directions.
  struct Neighbour {
    HaloMail::Sender there;              ///< what this rank sends: the neighbour's view
    HaloMail::Sender here;               ///< what the neighbour sends
    std::vector<LetterPiece> packing;    ///< what is sent, if it goes as a letter; else none
    std::vector<LetterPiece> unpacking;  ///< what comes, if it comes as a letter; else none
    rma::TeamRank rank;
  };

  /// Another name for the array. Moving is copying, so that a Halo that was moved from can tell it.
  class KeptArray {
   public:
    explicit KeptArray(const ArrayBase& array)
        : alias_(std::make_shared<ArrayBase>(array.alias())) {}
    KeptArray(const KeptArray&) = default;
    KeptArray& operator=(const KeptArray&) = default;
    const ArrayBase& operator*() const noexcept { return *alias_; }
    const ArrayBase* operator->() const noexcept { return alias_.get(); }

   private:
    std::shared_ptr<const ArrayBase> alias_;
  };

  Halo(const ArrayBase& array, const HaloPlan& plan, const HaloMail& mail, rma::Region control);
  void add_neighbour(const HaloPlan& plan, const HaloMail::Sender& sender);

  /// The words of a neighbour in this rank's part of the control region. Each holds the number of
  /// the last round in which that was so; or, below zero, why the neighbour gave up.
  enum class Word : std::uint8_t { ready, came };
  [[nodiscard]] rma::RemoteAddress word(rma::TeamRank rank, const HaloMail::Sender& at,
                                        Word which) const;
  [[nodiscard]] std::uint64_t letter(const HaloMail::Sender& at) const;
  rma::Status tell(const Neighbour& neighbour, Word which, std::int32_t value);
  rma::Status wait_for(const Neighbour& neighbour, Word which);
  [[nodiscard]] rma::Status check_usable() const;
  [[nodiscard]] std::int32_t next_round() const noexcept;
  rma::Status tell_ready(std::int32_t round);
  rma::Status copy_own(std::span<const GhostPiece> pieces);
  rma::Status copy_in_turns(std::span<const GhostPiece> pieces);
  rma::Handle put_layers(const Neighbour& neighbour);
  rma::Status send_letter(const Neighbour& neighbour);
  rma::Status read_letter(const Neighbour& neighbour);
  rma::Status exchange(rma::Handle& puts);
  rma::Status finish(rma::Handle puts);
  rma::Status give_up(rma::Status reason);

  KeptArray array_;
  rma::Region control_;
  std::vector<GhostPiece> wraps_;
  std::vector<GhostPiece> own_pieces_;
  std::vector<Neighbour> neighbours_;
  std::vector<std::byte> letter_;  ///< that is being packed
  std::size_t bytes_from_others_ = 0;
  std::int32_t previous_round_ = 0;
  std::int32_t round_ = 0;  ///< of updates; what flags are raised to
  bool is_posted_ = false;  ///< the next one
  bool is_under_way_ = false;
  bool is_freed_ = false;
  rma::Status given_up_;  ///< why, if so
};

}  // namespace tessera::arrays
