// SPDX-License-Identifier: BSD-3-Clause
//
// The slice cache: each thread's cache of the slices that it touched last, as a processor caches
// pages. A slice is one rank's part of one region.
//
// A one-sided operation needs to know where its target is mapped and where to count. Both are in
// one entry of a small table of the thread, direct-mapped by rank and region. So the common case
// costs two comparisons, and neither locks nor atomic operations. An entry is valid as long as the
// job's region table has the epoch under which it was filled; every removal of a region begins a
// new epoch. An entry's counts go to the job's store when the entry is filled again, when its
// thread asks for counts, and when its thread ends.
//
// Cost: 16 KiB for each thread that works; about 40 ns for a miss.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "rma/counters.hpp"
#include "rma/engine/counter_store.hpp"
#include "rma/engine/op_kind.hpp"
#include "rma/engine/region_table.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::detail {

struct Route;

/// Rank and region in one word.
inline std::uint64_t key_of(WorldRank rank, RegionId region) noexcept {
  return static_cast<std::uint32_t>(rank.value) | std::uint64_t{region.value} << 32U;
}

/// Where a slice is mapped. No start if it is not mapped, or not for all operations; its size is
/// always known.
struct MappedSlice {
  std::byte* start = nullptr;
  std::size_t bytes = 0;
  Atomics atomics = Atomics::separate;
  bool has_conflicts = true;       ///< accumulates need locks
  const std::byte* raw = nullptr;  ///< see CachedSlice::raw
  std::byte* readable = nullptr;   ///< where gets find it; not needed if there is a start
};

struct alignas(64) CachedSlice {
  const RegionEpoch* epoch = nullptr;  ///< null: an empty entry
  std::uint64_t key = 0;               ///< packed rank and region
  std::byte* start = nullptr;          ///< null if operations go another way
  std::size_t bytes = 0;
  std::uint64_t word_offsets = 0;  ///< of a mapped slice: how many offsets leave room for 8 bytes
  Atomics atomics = Atomics::separate;
  bool has_conflicts = true;      ///< see MappedSlice
  std::byte* readable = nullptr;  ///< the start for gets; some slices are readable only
  const std::byte* raw =
      nullptr;  ///< address that stands for its first byte in this process; null as above
  // Separate arrays: for a pair, the compiler would add both parts as one vector, which is slower.
  std::array<std::uint64_t, op_kinds> operations{};
  std::array<std::uint64_t, op_kinds> moved_bytes{};

  [[nodiscard]] RegionId region() const noexcept {
    return RegionId{static_cast<std::uint32_t>(key >> 32U)};
  }
  [[nodiscard]] WorldRank rank() const noexcept {
    return WorldRank{static_cast<std::int32_t>(static_cast<std::uint32_t>(key))};
  }
  /// Makes it the entry for `region` of the same rank.
  void retarget(RegionId region, const MappedSlice& slice) noexcept {
    constexpr std::size_t word = sizeof(std::uint64_t);
    key = key_of(rank(), region);
    start = slice.start;
    bytes = slice.bytes;
    readable = start == nullptr ? slice.readable : start;
    word_offsets = readable == nullptr || bytes < word ? 0 : bytes - word + 1;
    atomics = slice.atomics;
    has_conflicts = slice.has_conflicts;
    raw = slice.raw;
  }
  /// The start for that kind of operation.
  [[nodiscard]] std::byte* start_of(Op op) const noexcept {
    return op == Op::get ? readable : start;
  }
  /// The same if the slice has the `wanted` bytes from `offset` on, else null.
  [[nodiscard]] std::byte* start_for(Op op, std::uint64_t offset,
                                     std::size_t wanted) const noexcept {
    return wanted <= bytes && offset <= bytes - wanted ? start_of(op) : nullptr;
  }
  void count(Op op, std::size_t all_bytes, std::uint64_t how_many = 1,
             Form form = Form::contiguous) noexcept {
    operations[kind_of(op, form)] += how_many;
    moved_bytes[kind_of(op, form)] += all_bytes;
  }
};

inline constexpr std::uint32_t cached_slices = 64;

/// How to reach a slice that is not mapped; empty until it is needed.
struct RemoteSlice {
  Endpoint* endpoint = nullptr;
  Segment* segment = nullptr;
  TeamRank member;
  Route* route = nullptr;  ///< to the rank; known before the other members
};

/// The calling thread's table; at first a table that stays empty. Trivially destroyed, so that
/// access needs no guard.
extern constinit thread_local CachedSlice* thread_slices;
/// The same for slices that are not mapped, entry for entry. Separate, since few operations need
/// it.
extern constinit thread_local RemoteSlice* thread_remotes;

/// Requires: `entry` is of the calling thread's table.
inline RemoteSlice& remote_of(const CachedSlice& entry) noexcept {
  return thread_remotes[&entry - thread_slices];
}

/// The index of the entry for a slice: neighbouring ranks, and the regions of one rank, differ.
inline std::uint32_t cache_index(WorldRank rank, RegionId region) noexcept {
  constexpr std::uint32_t spread = 9;
  return (static_cast<std::uint32_t>(rank.value) + region.value * spread) % cached_slices;
}

/// The calling thread's entry for `rank`'s slice of `region`; null if it has none.
[[gnu::always_inline]] inline CachedSlice* find_cached(const RegionTable& regions, WorldRank rank,
                                                       RegionId region) noexcept {
  CachedSlice& entry = thread_slices[cache_index(rank, region)];
  const bool hit = entry.epoch == regions.epoch() && entry.key == key_of(rank, region);
  return hit ? &entry : nullptr;
}

/// The entry to which that slice maps, if it holds another slice of the same rank and epoch. Its
/// counts are counts of that rank, so it can be retargeted to this slice. Else null.
inline CachedSlice* find_to_retarget(const RegionTable& regions, WorldRank rank,
                                     RegionId region) noexcept {
  CachedSlice& entry = thread_slices[cache_index(rank, region)];
  const bool fits = entry.epoch == regions.epoch() && entry.rank() == rank;
  return fits ? &entry : nullptr;
}

/// Fills the entry for that slice and returns it; null if the thread is ending, or has no memory
/// for its table. Requires: `epoch` was read before the slice was looked up. If a region was
/// removed in between, the entry has an old epoch and is invalid.
CachedSlice* fill_cached(std::shared_ptr<const RegionEpoch> epoch,
                         std::shared_ptr<CounterStore> store, WorldRank rank, RegionId region,
                         const MappedSlice& slice) noexcept;

/// Stands for no region: operations on a rank but not on a slice (locks) are counted there.
inline constexpr RegionId no_region{0};

/// Moves the calling thread's counts to the stores of all jobs.
void flush_counts() noexcept;
/// The same for one entry of this thread.
void flush_counts(const CachedSlice& entry) noexcept;

}  // namespace tessera::rma::detail
