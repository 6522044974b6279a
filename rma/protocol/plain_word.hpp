// SPDX-License-Identifier: BSD-3-Clause
//
// The fastest path: eight aligned bytes to or from a slice that is mapped here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/counters.hpp"
#include "rma/engine/slice_cache.hpp"
#include "rma/kernels/copy.hpp"

namespace tessera::rma::detail {

/// The bytes of such a word; for callers to ask first.
inline constexpr std::size_t plain_word_bytes = 8;

/// Whether `bytes` at `offset` of a line's slice are such a word, but for how it is aligned. `line`
/// may be null.
[[gnu::always_inline]] inline bool is_plain_word(const CachedSlice* line, Op op,
                                                 std::uint64_t offset, const void* local,
                                                 std::size_t bytes) noexcept {
  return bytes == plain_word_bytes && line != nullptr && offset < line->word_offsets &&
         local != nullptr && (op == Op::get || line->start != nullptr);
}

/// Moves the word, which lies at `remote`, at once when it is aligned; else false, and nothing is
/// done. A path that calls nothing and so saves no registers, which is a third of the cost of such
/// an operation. Counting comes first: after a store whose address has yet to be found, the
/// processor (Zen 4) holds back the loads of the counters, which costs as much again.
[[gnu::always_inline]] inline bool move_plain_word(CachedSlice& line, kernels::Direction direction,
                                                   Op op, std::byte* remote, void* local) noexcept {
  constexpr std::size_t word = plain_word_bytes;
  if (!kernels::is_multiple<word>(kernels::address_of(remote) | kernels::address_of(local))) {
    return false;
  }
  line.count(op, word);
  if (direction == kernels::Direction::to_remote) {
    kernels::copy_aligned_word<word>(remote, local);
  } else {
    kernels::copy_aligned_word<word>(local, remote);
  }
  return true;
}

/// Both: true when it was such a word, and was moved.
[[gnu::always_inline]] inline bool word_plainly(CachedSlice* line, kernels::Direction direction,
                                                Op op, std::uint64_t offset, void* local,
                                                std::size_t bytes) noexcept {
  return is_plain_word(line, op, offset, local, bytes) &&
         move_plain_word(*line, direction, op, line->start_of(op) + offset, local);
}

}  // namespace tessera::rma::detail
