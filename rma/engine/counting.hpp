// SPDX-License-Identifier: BSD-3-Clause
//
// Counting: the four instructions that each operation spends on counters.
//
// A thread counts into a plain block of its own, which belongs to one slice (one rank's part of one
// region) at a time: compare the slice, add one, add the bytes. When the thread turns to another
// slice the block is emptied into the job's store. So one comparison stands for "same job, same
// region, same peer, same thread".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "rma/counters.hpp"

namespace tessera::rma::detail {

/// A job's counts by peer.
class CounterStore {
 public:
  void add(WorldRank peer, const OpTallies& tallies);
  [[nodiscard]] Traffic traffic() const;

 private:
  mutable std::mutex mutex_;
  std::map<WorldRank, OpTallies> by_peer_;
};

/// The block of the calling thread. Constant-initialised and trivially destroyed, so that reaching
/// it needs no guard; a second, private object empties it at the thread's end. Aligned, so that no
/// tally lies in two cache lines: each operation waits for what the one before stored there.
struct alignas(64) ThreadBlock {
  const void* slice = nullptr;  ///< what the counts belong to
  WorldRank peer;
  // Apart, since the compiler would add both parts of a Tally in one vector, which costs more.
  std::array<std::uint64_t, op_count> operations{};
  std::array<std::uint64_t, op_count> bytes{};
  std::array<std::uint64_t, op_count> words{};  ///< operations on 8 bytes, not in those above

  [[nodiscard]] OpTallies tallies() const noexcept;
};

// The one file-scope variable of the library: a cache of what each thread counted last.
extern constinit thread_local ThreadBlock thread_block;

/// Empties the calling thread's block and points it at `slice` of `peer` in `store`.
void turn_thread_block(const std::shared_ptr<CounterStore>& store, WorldRank peer,
                       const void* slice);

/// Empties the calling thread's block.
void flush_thread_block();

/// Whether the calling thread counts for `slice` already, so that count() will call nothing.
inline bool is_counting(const void* slice) {
  return thread_block.slice == slice;
}

/// Counts one operation (or several) of `bytes` altogether on the slice that starts at `slice` and
/// belongs to `peer`.
inline void count(const std::shared_ptr<CounterStore>& store, WorldRank peer, const void* slice,
                  Op op, std::size_t bytes, std::uint64_t operations = 1) {
  if (thread_block.slice != slice) [[unlikely]] {
    turn_thread_block(store, peer, slice);
  }
  thread_block.operations[static_cast<std::size_t>(op)] += operations;
  thread_block.bytes[static_cast<std::size_t>(op)] += bytes;
}

/// Counts one operation on 8 bytes, in an instruction less. Requires: is_counting(slice).
inline void count_word(Op op) {
  ++thread_block.words[static_cast<std::size_t>(op)];
}

}  // namespace tessera::rma::detail
