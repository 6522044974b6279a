// SPDX-License-Identifier: BSD-3-Clause
//
// Directory: where in a node's memory the slices of its ranks lie, by region and rank.
//
// The node's agent carries out requests that name memory as (region, rank, offset), for ranks that
// compute meanwhile; this is where it looks up, and all that it believes. The first member of a
// team on the node enters a region and takes it out again.
//
// A hash table in the arena with linear probing, at most half full. Visitors hold the lock of their
// lane, and the agent's threads have one each, so that they work side by side; who changes the
// table holds all. The locks are robust, and the table is valid after every store: an entry's key
// is stored last and cleared first, a larger table is complete before it takes the place of the
// other. A rank that dies inside leaks a table at most.
//
// Threads: all functions may be called from any thread of any rank of the node.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "rma/node/arena.hpp"
#include "rma/node/node_memory.hpp"
#include "rma/rank.hpp"
#include "rma/region.hpp"
#include "rma/result.hpp"

namespace tessera::rma::detail {

/// The slice of one rank.
struct DirectorySlice {
  /// Which requests it is for.
  enum class Use : std::uint8_t { transfers, mailboxes, locks };

  WorldRank owner;
  std::int32_t process = 0;  ///< 0: in the arena; else the owner's process, whose own memory it is
  std::uint64_t place = 0;   ///< offset in the arena, or address in that process
  std::uint64_t bytes = 0;
  bool strict = false;          ///< Atomics::strict
  bool device_atomics = false;  ///< Atomics::device: no processor may do them
  bool sparse = false;          ///< RegionOptions::sparse
  AccessMode access_mode = AccessMode::any;
  Conflicts conflicts = Conflicts::possible;
  std::uint64_t in_use = 0;  ///< of a sparse slice, from its start; devices may have these bytes
  Use use = Use::transfers;
  std::uint64_t unit = 1;  ///< locks: bytes of each

  friend bool operator==(const DirectorySlice&, const DirectorySlice&) = default;
};

class Directory {
 public:
  /// `lane`: of visitors, below DirectoryHeader::most_lanes.
  explicit Directory(Arena& arena, const LockContext& context, int lane = 0) noexcept
      : arena_(arena), context_(context), lane_(static_cast<std::size_t>(lane)) {}

  /// Enters the slices of `region` on this node, all or none. Errors: no_memory, limit_exceeded.
  Status insert(RegionId region, std::span<const DirectorySlice> slices);
  /// Takes out what insert() entered for these owners.
  void remove(RegionId region, std::span<const DirectorySlice> slices) noexcept;

  /// Calls action(slice), which may change all but the owner, when no visitor is there; false where
  /// there is no such slice.
  bool change(RegionId region, WorldRank owner,
              const std::function<void(DirectorySlice&)>& action) noexcept;

  /// Calls action(slice) if there is one, which nobody removes meanwhile; else false.
  template <class Action>
  bool visit(RegionId region, WorldRank owner, Action&& action) const {
    const RobustGuard guard(header().lanes[lane_].lock, context_);
    const DirectorySlice* const slice = look_up(region, owner);
    if (slice == nullptr) {
      return false;
    }
    action(*slice);
    return true;
  }
  /// Cost: a hash probe under an uncontended lock.
  [[nodiscard]] std::optional<DirectorySlice> find(RegionId region, WorldRank owner) const noexcept;

 private:
  struct Entry;
  class Change;
  [[nodiscard]] DirectoryHeader& header() const noexcept;
  [[nodiscard]] std::span<Entry> entries() const noexcept;
  [[nodiscard]] const DirectorySlice* look_up(RegionId region, WorldRank owner) const noexcept;
  static Entry& place_for(std::span<Entry> entries, std::uint64_t key) noexcept;
  Status make_room(std::size_t more);
  Status grow(std::uint64_t capacity);

  Arena& arena_;
  LockContext context_;
  std::size_t lane_;
};

}  // namespace tessera::rma::detail
