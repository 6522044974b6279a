// SPDX-License-Identifier: BSD-3-Clause
//
// The smallest moves, all inline: words that never tear, and blocks of a size that the compiler
// knows.
//
// A word is 1, 2, 4 or 8 bytes. If its address is a multiple of its size, it is read and written by
// a relaxed atomic access: one instruction that can't tear, and no data race with other such
// accesses. Otherwise it is copied as plain bytes. Each side decides for itself: only the shared
// side of a transfer matters, and the caller's side may lie anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tessera::rma::kernels {

/// Runs up to this length are copied by copy_short(), longer ones by memcpy.
inline constexpr std::size_t short_run_bytes = 64;

/// The unsigned type of a word; it may alias an object of any type.
template <std::size_t Bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using type [[gnu::may_alias]] = std::uint8_t;
};
template <>
struct WordOf<2> {
  using type [[gnu::may_alias]] = std::uint16_t;
};
template <>
struct WordOf<4> {
  using type [[gnu::may_alias]] = std::uint32_t;
};
template <>
struct WordOf<8> {
  using type [[gnu::may_alias]] = std::uint64_t;
};

/// The address as a number; its low bits show the alignment.
inline std::uintptr_t address_of(const void* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at);
}

/// True when all bits below `Bytes`, a power of two, are zero.
template <std::size_t Bytes>
constexpr bool is_multiple(std::uintptr_t bits) noexcept {
  return (bits & (Bytes - 1)) == 0;
}

/// Moves one word. Requires: both addresses are multiples of `Bytes`.
template <std::size_t Bytes>
inline void copy_aligned_word(void* to, const void* from) noexcept {
  using Word = typename WordOf<Bytes>::type;
  __atomic_store_n(static_cast<Word*>(to),
                   __atomic_load_n(static_cast<const Word*>(from), __ATOMIC_RELAXED),
                   __ATOMIC_RELAXED);
}

/// Moves one word if one side or both are not aligned; the aligned side never tears.
template <std::size_t Bytes>
inline void copy_unaligned_word(void* to, const void* from) noexcept {
  using Word = typename WordOf<Bytes>::type;
  Word word;
  if (is_multiple<Bytes>(address_of(from))) {
    word = __atomic_load_n(static_cast<const Word*>(from), __ATOMIC_RELAXED);
  } else {
    std::memcpy(&word, from, Bytes);
  }
  if (is_multiple<Bytes>(address_of(to))) {
    __atomic_store_n(static_cast<Word*>(to), word, __ATOMIC_RELAXED);
  } else {
    std::memcpy(to, &word, Bytes);
  }
}

/// Moves one word; each side that is aligned is accessed without tearing.
template <std::size_t Bytes>
inline void copy_word(void* to, const void* from) noexcept {
  if (is_multiple<Bytes>(address_of(to) | address_of(from))) {
    copy_aligned_word<Bytes>(to, from);
  } else {
    copy_unaligned_word<Bytes>(to, from);
  }
}

/// Bytes of the vector registers in which blocks are moved. AVX-512 registers are not used: if
/// unaligned, each access would straddle two cache lines.
#if defined(__AVX__)
inline constexpr std::size_t register_bytes = 32;
#else
inline constexpr std::size_t register_bytes = 16;
#endif

/// `Bytes` bytes between their load and their store, in one register.
template <std::size_t Bytes>
struct Block {
  void load(const std::byte* from) noexcept { std::memcpy(bytes, from, Bytes); }
  void store(std::byte* to) const noexcept { std::memcpy(to, bytes, Bytes); }

  std::byte bytes[Bytes];
};

/// A block for several registers. It is made of two halves, since compilers keep memory in
/// registers only if it is loaded and stored in pieces of their size.
template <std::size_t Bytes>
requires(Bytes > register_bytes) struct Block<Bytes> {
  void load(const std::byte* from) noexcept {
    low.load(from);
    high.load(from + Bytes / 2);
  }
  void store(std::byte* to) const noexcept {
    low.store(to);
    high.store(to + Bytes / 2);
  }

  Block<Bytes / 2> low;
  Block<Bytes / 2> high;
};

/// Copies `Bytes` bytes, loading all of them before it stores any.
template <std::size_t Bytes>
inline void copy_block(std::byte* to, const std::byte* from) noexcept {
  Block<Bytes> block;
  block.load(from);
  block.store(to);
}

/// Copies `Half` … 2 × `Half` bytes as two blocks that may overlap, and loads both before it stores
/// either. One piece of code without branches serves all these lengths.
template <std::size_t Half>
inline void copy_ends(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  Block<Half> head;
  Block<Half> tail;
  head.load(from);
  tail.load(from + (bytes - Half));
  head.store(to);
  tail.store(to + (bytes - Half));
}

/// Copies up to short_run_bytes bytes; words don't tear. Loads everything before it stores
/// anything, so the two sides may overlap.
inline void copy_short(void* to_run, const void* from_run, std::size_t bytes) noexcept {
  auto* const to = static_cast<std::byte*>(to_run);
  const auto* const from = static_cast<const std::byte*>(from_run);
  if (bytes > 8) {
    if (bytes > 32) {
      copy_ends<32>(to, from, bytes);
    } else if (bytes >= 16) {
      copy_ends<16>(to, from, bytes);
    } else {
      copy_ends<8>(to, from, bytes);
    }
  } else if (bytes == 8) {
    copy_word<8>(to, from);
  } else if (bytes > 4) {
    copy_ends<4>(to, from, bytes);
  } else if (bytes == 4) {
    copy_word<4>(to, from);
  } else if (bytes == 3) {
    copy_ends<2>(to, from, bytes);
  } else if (bytes == 2) {
    copy_word<2>(to, from);
  } else if (bytes == 1) {
    copy_word<1>(to, from);
  }
}

}  // namespace tessera::rma::kernels
