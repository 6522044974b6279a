// SPDX-License-Identifier: BSD-3-Clause
//
// The slice cache: what each thread remembers of the slices that it touched last, as a processor
// does of pages. A slice is one rank's part of one region.
//
// A one-sided operation needs two things of its target: where it is mapped, and where to count.
// Both are in one line of a small table of the thread's own, direct-mapped by rank and region, so
// that the common case is two comparisons, and needs neither locks nor atomic operations. A line
// holds as long as the job's region table has the epoch under which it was filled; every removal of
// a region begins a new one. What a line has counted is handed over to the job's store when the
// line is filled anew, when its thread asks for counts, and when its thread ends.
//
// Cost: 16 KiB for each thread that works; a line that misses, about 40 ns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "rma/counters.hpp"
#include "rma/engine/counter_store.hpp"
#include "rma/engine/op_kind.hpp"
#include "rma/engine/region_table.hpp"
#include "rma/transport.hpp"

namespace tessera::rma::detail {

struct Route;

/// Rank and region in one word.
inline std::uint64_t place_of(WorldRank rank, RegionId region) noexcept {
  return static_cast<std::uint32_t>(rank.value) | std::uint64_t{region.value} << 32U;
}

/// Where a slice is mapped; no start where it isn't, or not for everything. It has its bytes all
/// the same.
struct MappedSlice {
  std::byte* start = nullptr;
  std::size_t bytes = 0;
  Atomics atomics = Atomics::separate;
  bool has_conflicts = true;       ///< accumulates need locks
  const std::byte* raw = nullptr;  ///< see CachedSlice::raw
  std::byte* readable = nullptr;   ///< where gets find it; what has a start needs none
};

struct alignas(64) CachedSlice {
  const RegionEpoch* epoch = nullptr;  ///< null: an empty line
  std::uint64_t place = 0;             ///< rank and region
  std::byte* start = nullptr;          ///< null where operations go another way
  std::size_t bytes = 0;
  std::uint64_t word_offsets = 0;  ///< of a mapped slice: how many leave room for 8 bytes
  Atomics atomics = Atomics::separate;
  bool has_conflicts = true;      ///< see MappedSlice
  std::byte* readable = nullptr;  ///< the start, for gets: there are slices that only they find
  const std::byte* raw =
      nullptr;  ///< what stands for its first byte in this process; null as above
  // Apart, since the compiler would add both parts of a Tally in one vector, which costs more.
  std::array<std::uint64_t, op_kinds> operations{};
  std::array<std::uint64_t, op_kinds> moved_bytes{};

  [[nodiscard]] RegionId region() const noexcept {
    return RegionId{static_cast<std::uint32_t>(place >> 32U)};
  }
  [[nodiscard]] WorldRank rank() const noexcept {
    return WorldRank{static_cast<std::int32_t>(static_cast<std::uint32_t>(place))};
  }
  /// Makes it a line of that region of the same rank.
  void turn_to(RegionId region, const MappedSlice& slice) noexcept {
    constexpr std::size_t word = sizeof(std::uint64_t);
    place = place_of(rank(), region);
    start = slice.start;
    bytes = slice.bytes;
    readable = start == nullptr ? slice.readable : start;
    word_offsets = readable == nullptr || bytes < word ? 0 : bytes - word + 1;
    atomics = slice.atomics;
    has_conflicts = slice.has_conflicts;
    raw = slice.raw;
  }
  /// The start for operations of that kind.
  [[nodiscard]] std::byte* start_of(Op op) const noexcept {
    return op == Op::get ? readable : start;
  }
  /// The same when the slice has the `wanted` bytes from `offset` on, else null.
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

/// The way to a slice that is not mapped; empty until it was needed.
struct RemoteSlice {
  Endpoint* endpoint = nullptr;
  Segment* segment = nullptr;
  TeamRank member;
  Route* route = nullptr;  ///< to the rank; known before the others
};

/// The calling thread's table; until it has one, a table that stays empty. Trivially destroyed, so
/// that reaching it needs no guard.
extern constinit thread_local CachedSlice* thread_slices;
/// The same of slices that are not mapped, line for line: apart, for few need it.
extern constinit thread_local RemoteSlice* thread_remotes;

/// Requires: `line` is of the calling thread's table.
inline RemoteSlice& remote_of(const CachedSlice& line) noexcept {
  return thread_remotes[&line - thread_slices];
}

/// Which line is for that slice: neighbouring ranks, and the regions of one rank, are apart.
inline std::uint32_t cache_index(WorldRank rank, RegionId region) noexcept {
  constexpr std::uint32_t spread = 9;
  return (static_cast<std::uint32_t>(rank.value) + region.value * spread) % cached_slices;
}

/// The calling thread's line for `rank`'s slice of `region`; null when it has none.
[[gnu::always_inline]] inline CachedSlice* find_cached(const RegionTable& regions, WorldRank rank,
                                                       RegionId region) noexcept {
  CachedSlice& line = thread_slices[cache_index(rank, region)];
  const bool hit = line.epoch == regions.epoch() && line.place == place_of(rank, region);
  return hit ? &line : nullptr;
}

/// The line in which that slice belongs, when it holds another slice of the same rank and time:
/// what it has counted is counted for the rank, so it can be turned to this one. Else null.
inline CachedSlice* find_to_turn(const RegionTable& regions, WorldRank rank,
                                 RegionId region) noexcept {
  CachedSlice& line = thread_slices[cache_index(rank, region)];
  const bool fits = line.epoch == regions.epoch() && line.rank() == rank;
  return fits ? &line : nullptr;
}

/// Fills the line for that slice and returns it; null when the thread is ending, or has no memory
/// for lines. `epoch` must have
/// been asked for before the slice was looked up: a region that is removed in between leaves a line
/// of an epoch that is over.
CachedSlice* fill_cached(std::shared_ptr<const RegionEpoch> epoch,
                         std::shared_ptr<CounterStore> store, WorldRank rank, RegionId region,
                         const MappedSlice& slice) noexcept;

/// Stands for no region: what is done to a rank but not to a slice (locks) is counted there.
inline constexpr RegionId no_region{0};

/// Hands over what the calling thread has counted, for all jobs.
void hand_over_counts() noexcept;
/// The same of one line of its.
void hand_over_counts(const CachedSlice& line) noexcept;

}  // namespace tessera::rma::detail
