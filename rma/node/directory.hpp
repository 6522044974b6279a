// SPDX-License-Identifier: BSD-3-Clause
//
// Directory: where the slices of a node's ranks lie in its memory, by region and rank.
//
// The node's agent executes requests that name memory as (region, rank, offset), for ranks that
// compute meanwhile. It finds the memory here, and trusts nothing else. The first member of a team
// on the node inserts a region and removes it.
//
// A hash table in the arena with linear probing, at most half full. A reader holds the lock of its
// shard. The agent's threads have one shard each, so that they do not wait for each other. A rank
// that changes the table holds the locks of all shards. The locks are robust, and the table is
// valid after every store: an entry's key is stored last and cleared first, and a larger table is
// complete before it replaces the old one. A rank that dies inside leaks at most a table.
//
// Threads: all functions may be called from any thread of any rank of the node.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/node/arena.hpp"
#include "rma/node/node_memory.hpp"
#include "rma/region.hpp"

namespace tessera::rma::detail {

/// The slice of one rank.
struct DirectorySlice {
  /// The requests that it is for.
  enum class Use : std::uint8_t { transfers, mailboxes, locks };

  WorldRank owner;
  std::int32_t process = 0;    ///< 0: in the arena; else the owner's process, which has the memory
  std::uint64_t location = 0;  ///< offset in the arena, or address in that process
  std::uint64_t bytes = 0;
  bool strict = false;          ///< Atomics::strict
  bool device_atomics = false;  ///< Atomics::device: no processor may do them
  bool sparse = false;          ///< RegionOptions::sparse
  AccessMode access_mode = AccessMode::any;
  Conflicts conflicts = Conflicts::possible;
  std::uint64_t in_use = 0;  ///< of a sparse slice, from its start: bytes that RDMA devices may
                             ///< access
  Use use = Use::transfers;
  std::uint64_t unit = 1;  ///< locks: bytes of each

  friend bool operator==(const DirectorySlice&, const DirectorySlice&) = default;
};

class Directory {
 public:
  /// `shard`: the reader's shard, less than DirectoryHeader::shard_count.
  explicit Directory(Arena& arena, const LockContext& context, int shard = 0) noexcept
      : arena_(arena), context_(context), shard_(static_cast<std::size_t>(shard)) {}

  /// Inserts the slices of `region` on this node, all or none. Errors: no_memory, limit_exceeded.
  Status insert(RegionId region, std::span<const DirectorySlice> slices);
  /// Removes what insert() inserted for these owners.
  void remove(RegionId region, std::span<const DirectorySlice> slices) noexcept;

  /// Calls action(slice), which may change everything except the owner, while no reader is active.
  /// False if there is no such slice.
  bool change(RegionId region, WorldRank owner,
              const std::function<void(DirectorySlice&)>& action) noexcept;

  /// Calls action(slice), during which the slice is not removed; false if there is no such slice.
  template <class Action>
  bool visit(RegionId region, WorldRank owner, Action&& action) const {
    const RobustGuard guard(header().shards[shard_].lock, context_);
    const DirectorySlice* const slice = find_locked(region, owner);
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
  class WriteLock;
  [[nodiscard]] DirectoryHeader& header() const noexcept;
  [[nodiscard]] std::span<Entry> entries() const noexcept;
  [[nodiscard]] const DirectorySlice* find_locked(RegionId region, WorldRank owner) const noexcept;
  static Entry& slot_for(std::span<Entry> entries, std::uint64_t key) noexcept;
  Status make_room(std::size_t more);
  Status grow(std::uint64_t capacity);

  Arena& arena_;
  LockContext context_;
  std::size_t shard_;
};

}  // namespace tessera::rma::detail
