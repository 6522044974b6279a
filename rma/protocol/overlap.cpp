// SPDX-License-Identifier: BSD-3-Clause
#include "rma/protocol/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string_view>
#include <vector>

namespace tessera::rma::detail {
namespace {

Status overlap_error(std::size_t first, std::size_t second, std::string_view where) {
  return Status::error(Code::invalid_argument,
                       fmt::format("fragments {} and {} overlap {}", std::min(first, second),
                                   std::max(first, second), where))
      .hint("give each byte once; TESSERA_TUNE=check_overlap=0 skips this check");
}

// The bytes that a list writes, as a bitmap with one bit per unit. The unit is the largest power of
// two that divides all starts and lengths.
class WrittenUnits {
 public:
  /// For bytes [first, end), with starts and lengths that are multiples of `unit`.
  WrittenUnits(std::uint64_t first, std::uint64_t end, std::uint64_t unit)
      : first_(first),
        shift_(std::countr_zero(unit)),
        words_(((end - first) >> shift_) / word_bits + 1) {}

  /// Marks the units of one fragment; false if one of them was marked before.
  bool mark(std::uint64_t start, std::uint64_t bytes) {
    std::uint64_t at = (start - first_) >> shift_;
    std::uint64_t left = bytes >> shift_;
    while (left > 0) {
      const std::uint64_t bit = at % word_bits;
      const std::uint64_t here = std::min(left, word_bits - bit);
      const std::uint64_t mask = (~std::uint64_t{0} >> (word_bits - here)) << bit;
      std::uint64_t& word = words_[at / word_bits];
      if ((word & mask) != 0) {
        return false;
      }
      word |= mask;
      at += here;
      left -= here;
    }
    return true;
  }

  /// If the bitmap needs more than this for each fragment, sorting is as fast.
  static constexpr std::uint64_t max_bytes_per_fragment = 256;

 private:
  static constexpr std::uint64_t word_bits = 64;
  std::uint64_t first_;
  int shift_;
  std::vector<std::uint64_t> words_;
};

// True if a scan in linear time shows that no two fragments overlap.
template <class Start>
bool is_disjoint_by_bitmap(Fragments fragments, Start&& start) {
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t end = 0;
  std::uint64_t bits = 0;
  for (const Fragment& each : fragments) {
    if (each.bytes > 0) {
      if (start(each) + each.bytes < start(each)) {
        return false;  // past the end of the address space
      }
      first = std::min(first, start(each));
      end = std::max(end, start(each) + each.bytes);
      bits |= start(each) | each.bytes;
    }
  }
  if (bits == 0) {
    return true;  // nothing is written
  }
  const std::uint64_t unit = bits & (~bits + 1);
  const std::uint64_t bitmap_bytes = (end - first) / unit / 8;
  if (bitmap_bytes / fragments.size() > WrittenUnits::max_bytes_per_fragment) {
    return false;
  }
  WrittenUnits written(first, end, unit);
  return std::all_of(fragments.begin(), fragments.end(),
                     [&](const Fragment& each) { return written.mark(start(each), each.bytes); });
}

// True if each fragment begins at or after the end of the one before.
template <class Start>
bool is_in_order(Fragments fragments, Start&& start) {
  std::uint64_t end = 0;
  for (const Fragment& each : fragments) {
    if (each.bytes > 0) {
      if (start(each) < end) {
        return false;
      }
      end = start(each) + each.bytes;
    }
  }
  return true;
}

template <class Start>
Status check_overlap(Fragments fragments, Start&& start, std::string_view where) {
  if (is_in_order(fragments, start) || is_disjoint_by_bitmap(fragments, start)) {
    return {};
  }
  std::vector<std::size_t> order(fragments.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return fragments[i].bytes == 0; });
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return start(fragments[a]) < start(fragments[b]);
  });
  const auto pair =
      std::adjacent_find(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return start(fragments[a]) + fragments[a].bytes > start(fragments[b]);
      });
  return pair == order.end() ? Status() : overlap_error(pair[0], pair[1], where);
}

// True if each run begins at or after the end of the one before.
bool are_ascending(std::span<void* const> runs, std::size_t bytes) noexcept {
  std::uintptr_t end = 1;
  for (const void* const each : runs) {
    const auto start = reinterpret_cast<std::uintptr_t>(each);
    if (start < end) {
      return false;
    }
    end = start + bytes;
  }
  return true;
}

// The address range of some runs, and the bits that are set in any of their addresses.
struct AddressRange {
  std::uintptr_t lowest = ~std::uintptr_t{0};
  std::uintptr_t highest = 0;
  std::uintptr_t bits = 0;
};

AddressRange address_range_of(std::span<void* const> runs) noexcept {
  AddressRange all;
  for (const void* const each : runs) {
    const auto start = reinterpret_cast<std::uintptr_t>(each);
    all.lowest = std::min(all.lowest, start);
    all.highest = std::max(all.highest, start);
    all.bits |= start;
  }
  return all;
}

}  // namespace

// Aligned runs whose length is a power of two overlap only if they are equal. One bit per possible
// run records which were seen.
bool are_surely_disjoint(std::span<void* const> runs, std::size_t bytes) noexcept {
  if (are_ascending(runs, bytes)) {
    return true;
  }
  constexpr std::size_t word_bits = 64;
  constexpr std::size_t max_words = 1024;
  const AddressRange range = address_range_of(runs);
  const bool is_aligned = std::has_single_bit(bytes) && (range.bits & (bytes - 1)) == 0;
  const int shift = std::countr_zero(bytes);
  const std::size_t slot_count = is_aligned ? ((range.highest - range.lowest) >> shift) + 1 : 0;
  if (slot_count == 0 || slot_count > max_words * word_bits || range.lowest == 0) {
    return false;
  }
  std::array<std::uint64_t, max_words> seen;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::fill_n(seen.begin(), (slot_count + word_bits - 1) / word_bits, 0);
  std::uint64_t twice = 0;
  for (const void* const each : runs) {
    const std::size_t index = (reinterpret_cast<std::uintptr_t>(each) - range.lowest) >> shift;
    const std::uint64_t bit = std::uint64_t{1} << index % word_bits;
    std::uint64_t& word = seen[index / word_bits];
    twice |= word & bit;
    word |= bit;
  }
  return twice == 0;
}

Status check_remote_overlap(Fragments fragments) {
  return check_overlap(
      fragments, [](const Fragment& each) { return each.remote_offset; }, "at the target");
}

Status check_local_overlap(Fragments fragments) {
  return check_overlap(
      fragments, [](const Fragment& each) { return reinterpret_cast<std::uintptr_t>(each.local); },
      "in local memory");
}

}  // namespace tessera::rma::detail
