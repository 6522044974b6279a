// SPDX-License-Identifier: BSD-3-Clause
//
// Blocks: MA's records of its blocks, and the handles that name them.
//
// Records are apart from the blocks' memory, so that a program that writes beyond a block damages
// guards only. Each record has a checksum of all but its name. A handle has the record's number in
// the lower 20 bits and how often it was used in 11 bits above: a handle of a freed block is
// recognised.
//
// Threads: one at a time. Cost: O(1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "fortran/ga/ma/segment.hpp"
#include "fortran/ga/ma/types.hpp"

namespace tessera::ga::ma {

enum class Place : std::uint32_t { none, heap, stack };

struct Block {
  Extent extent;
  std::size_t elements = 0;
  std::array<char, MA_NAMESIZE> name{};
  std::int32_t kind = 0;  ///< MA's code of the elements' type
  Place place = Place::none;
  std::uint32_t uses = 0;
  std::uint32_t checksum = 0;

  [[nodiscard]] std::uint32_t compute_checksum() const noexcept;
  [[nodiscard]] std::string_view shown_name() const noexcept {
    return {name.data(), strnlen(name.data(), name.size())};
  }
};

class Blocks {
 public:
  static constexpr std::uint32_t number_bits = 20;
  static constexpr std::uint32_t max_blocks = (1U << number_bits) - 1;
  static constexpr std::uint32_t use_bits = 11;

  /// The number of a record that is not in use; 0 if there are max_blocks.
  std::uint32_t reserve() {
    if (!unused_.empty()) {
      return unused_.back();
    }
    return add();
  }
  /// Requires: `number` is what reserve() returned.
  Block& begin_use(std::uint32_t number) noexcept {
    unused_.pop_back();
    return records_[number];
  }
  void end_use(std::uint32_t number) noexcept {
    Block& block = records_[number];
    block.place = Place::none;
    block.uses = (block.uses + 1) & ((1U << use_bits) - 1);
    unused_.push_back(number);  // has the capacity
  }

  [[nodiscard]] Integer handle_of(std::uint32_t number) const noexcept {
    return static_cast<Integer>(records_[number].uses << number_bits | number);
  }
  /// 0 if no block has this handle.
  [[nodiscard]] std::uint32_t number_of(Integer handle) const noexcept {
    const auto bits = static_cast<std::uint64_t>(handle);
    const std::uint64_t number = bits & max_blocks;
    if (number == 0 || number >= records_.size()) {
      return 0;
    }
    const Block& block = records_[number];
    return block.place != Place::none && bits >> number_bits == block.uses
               ? static_cast<std::uint32_t>(number)
               : 0;
  }

  [[nodiscard]] Block& operator[](std::uint32_t number) noexcept { return records_[number]; }
  [[nodiscard]] const Block& operator[](std::uint32_t number) const noexcept {
    return records_[number];
  }
  /// Records are numbered from 1 to this, exclusive.
  [[nodiscard]] std::uint32_t end() const noexcept {
    return static_cast<std::uint32_t>(records_.size());
  }

 private:
  std::uint32_t add();

  std::vector<Block> records_;
  std::vector<std::uint32_t> unused_;
};

inline std::uint32_t Block::compute_checksum() const noexcept {
  const std::uint64_t first = (extent.begin ^ extent.end << 21) * 0x9e3779b97f4a7c15U;
  const std::uint64_t second = (extent.elements ^ elements << 21) * 0xff51afd7ed558ccdU;
  const std::uint64_t third = static_cast<std::uint64_t>(static_cast<std::uint32_t>(place)) << 32 |
                              static_cast<std::uint32_t>(kind);
  const std::uint64_t sum = first ^ (second << 7 | second >> 57) ^ third;
  return static_cast<std::uint32_t>(sum ^ sum >> 32);
}

}  // namespace tessera::ga::ma
