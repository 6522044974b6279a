// SPDX-License-Identifier: BSD-3-Clause
//
// The fastest path: eight aligned bytes to or from a mapped slice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/counters.hpp"
#include "rma/engine/slice_cache.hpp"
#include "rma/kernels/copy.hpp"

namespace tessera::rma::detail {

/// The size of such a word; callers compare it first.
inline constexpr std::size_t word_bytes = 8;

/// Whether `bytes` at `offset` of an entry's slice are such a word, except for its alignment.
/// `slice` may be null.
[[gnu::always_inline]] inline bool is_mapped_word(const CachedSlice* slice, Op op,
                                                  std::uint64_t offset, const void* local,
                                                  std::size_t bytes) noexcept {
  return bytes == word_bytes && slice != nullptr && offset < slice->word_offsets &&
         local != nullptr && (op == Op::get || slice->start != nullptr);
}

/// Moves the word at `remote` if it is aligned; else returns false, and nothing is done. The path
/// calls nothing and so saves no registers, which would be a third of the cost. Counting comes
/// first: after a store whose address is not yet known, the processor (Zen 4) delays the loads of
/// the counters, which costs as much again.
[[gnu::always_inline]] inline bool move_mapped_word(CachedSlice& slice,
                                                    kernels::Direction direction, Op op,
                                                    std::byte* remote, void* local) noexcept {
  constexpr std::size_t word = word_bytes;
  if (!kernels::is_multiple<word>(kernels::address_of(remote) | kernels::address_of(local))) {
    return false;
  }
  slice.count(op, word);
  if (direction == kernels::Direction::to_remote) {
    kernels::copy_aligned_word<word>(remote, local);
  } else {
    kernels::copy_aligned_word<word>(local, remote);
  }
  return true;
}

/// Both steps: true if it was such a word and was moved.
[[gnu::always_inline]] inline bool try_word(CachedSlice* slice, kernels::Direction direction, Op op,
                                            std::uint64_t offset, void* local,
                                            std::size_t bytes) noexcept {
  return is_mapped_word(slice, op, offset, local, bytes) &&
         move_mapped_word(*slice, direction, op, slice->start_of(op) + offset, local);
}

}  // namespace tessera::rma::detail
