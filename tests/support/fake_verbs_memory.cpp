// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/fake_verbs_memory.hpp"

#include <cstdint>
#include <cstring>

#include "rma/kernels/words.hpp"

namespace tessera::rma::test {
namespace {

template <std::size_t Bytes>
using Word = typename kernels::WordOf<Bytes>::type;

template <std::size_t Bytes>
void read_word(std::byte* to, const std::byte* memory, WireOrder order) noexcept {
  const auto* const at = reinterpret_cast<const Word<Bytes>*>(memory);
  const Word<Bytes> word = order == WireOrder::none ? __atomic_load_n(at, __ATOMIC_RELAXED)
                                                    : __atomic_load_n(at, __ATOMIC_ACQUIRE);
  std::memcpy(to, &word, Bytes);
}

template <std::size_t Bytes>
void write_word(std::byte* memory, const std::byte* from, WireOrder order) noexcept {
  auto* const at = reinterpret_cast<Word<Bytes>*>(memory);
  Word<Bytes> word = 0;
  std::memcpy(&word, from, Bytes);
  if (order == WireOrder::none) {
    __atomic_store_n(at, word, __ATOMIC_RELAXED);
  } else {
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
  }
}

/// The widest word at this address with at most `left` bytes.
std::size_t word_at(const void* memory, std::size_t left) noexcept {
  const std::uintptr_t address = kernels::address_of(memory);
  if (left >= 8 && kernels::is_multiple<8>(address)) {
    return 8;
  }
  if (left >= 4 && kernels::is_multiple<4>(address)) {
    return 4;
  }
  return left >= 2 && kernels::is_multiple<2>(address) ? 2 : 1;
}

}  // namespace

void read_memory(std::byte* to, const void* memory, std::size_t bytes, WireOrder order) noexcept {
  const auto* from = static_cast<const std::byte*>(memory);
  while (bytes > 0) {
    const std::size_t width = word_at(from, bytes);
    switch (width) {
      case 8:
        read_word<8>(to, from, order);
        break;
      case 4:
        read_word<4>(to, from, order);
        break;
      case 2:
        read_word<2>(to, from, order);
        break;
      default:
        read_word<1>(to, from, order);
    }
    to += width;
    from += width;
    bytes -= width;
  }
}

void write_memory(void* memory, const std::byte* from, std::size_t bytes,
                  WireOrder order) noexcept {
  auto* to = static_cast<std::byte*>(memory);
  while (bytes > 0) {
    const std::size_t width = word_at(to, bytes);
    switch (width) {
      case 8:
        write_word<8>(to, from, order);
        break;
      case 4:
        write_word<4>(to, from, order);
        break;
      case 2:
        write_word<2>(to, from, order);
        break;
      default:
        write_word<1>(to, from, order);
    }
    to += width;
    from += width;
    bytes -= width;
  }
}

}  // namespace tessera::rma::test
