// SPDX-License-Identifier: BSD-3-Clause
//
// Allocator: MA's operations, for both languages. macdecls.h has their meaning.
//
// One allocator exists in a process, because its interface names none. Errors are returned; the
// entry points print them or end the program.
//
// Threads: one at a time. Cost: push() and pop() O(1), about 10 ns; the heap as Segment;
// verify() O(blocks).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fortran/ga/ma/blocks.hpp"
#include "fortran/ga/ma/segment.hpp"
#include "fortran/ga/ma/types.hpp"
#include "rma/base/result.hpp"

namespace tessera::ga::ma {

/// Blocks and bytes of one side, now and at most so far.
struct Usage {
  std::size_t blocks = 0;
  std::size_t most_blocks = 0;
  std::size_t bytes = 0;
  std::size_t max_bytes = 0;

  void add(std::size_t more) noexcept {
    most_blocks = ++blocks > most_blocks ? blocks : most_blocks;
    bytes += more;
    max_bytes = bytes > max_bytes ? bytes : max_bytes;
  }
  void remove(std::size_t less) noexcept {
    --blocks;
    bytes -= less;
  }
};

class Allocator {
 public:
  Allocator() noexcept { learn_kinds(); }

  /// Reads sizes and base arrays again. Requires: there is no block, if base arrays changed.
  void learn_kinds() noexcept;

  rma::Status initialize(Integer kind, Integer stack_elements, Integer heap_elements);
  [[nodiscard]] bool is_initialized() const noexcept { return segment_.is_open(); }

  /// The result is a handle.
  rma::Result<Integer> allocate(Integer kind, Integer elements, std::string_view name);
  rma::Status free(Integer handle);
  rma::Status free_last(Integer handle, Integer elements);
  rma::Result<Integer> push(Integer kind, Integer elements, std::string_view name);
  rma::Status pop(Integer handle);
  rma::Status chop(Integer handle);

  rma::Result<std::byte*> address_of(Integer handle) const;
  /// In elements from the base array of the block's type, the first of which has index 0.
  rma::Result<MA_AccessIndex> index_of(Integer handle) const;
  /// The handle of the first block whose record has this number or a higher one, and that number;
  /// 0 if there is none.
  struct Next {
    std::uint32_t number = 0;
    Integer handle = 0;
  };
  [[nodiscard]] Next next_block(std::uint32_t number) const noexcept;

  enum class Room : unsigned char {
    gap,
    heap,
    heap_both,
    heap_other,
    stack,
    stack_both,
    stack_other
  };
  rma::Result<Integer> room(Room which, Integer kind) const;
  static rma::Result<Integer> convert(Integer kind, Integer elements, Integer to);
  rma::Result<Integer> overhead(Integer kind) const;
  [[nodiscard]] Integer alignment_bits() const noexcept { return alignment_bits_; }
  rma::Status set_alignment_bits(Integer bits);

  /// A sentence for each damage.
  [[nodiscard]] std::vector<std::string> find_damage() const;
  [[nodiscard]] std::string describe_blocks() const;
  [[nodiscard]] std::string describe_usage() const;

 private:
  // What the hot path needs of a type.
  struct Known {
    std::size_t bytes = 0;
    BlockAlignment alignment;
    std::byte* base = nullptr;
  };

  rma::Status check_request(Integer kind, Integer elements, std::string_view name) const;
  [[nodiscard]] bool is_good_request(Integer kind, Integer elements) const noexcept {
    return is_known(kind) && elements >= 0 &&
           static_cast<std::size_t>(elements) <= segment_.bytes() / known(kind).bytes;
  }
  static bool is_known(Integer kind) noexcept { return kind >= MT_FIRST && kind <= MT_LAST; }
  [[nodiscard]] const Known& known(Integer kind) const noexcept {
    return known_[static_cast<std::size_t>(kind - MT_FIRST)];
  }

  Integer record(std::uint32_t number, const Extent& extent, Integer kind, std::size_t elements,
                 std::string_view name, Place place) noexcept;
  [[nodiscard]] rma::Status no_room(Integer kind, Integer elements, std::string_view name,
                                    Place place) const;
  [[nodiscard]] rma::Status no_block(Integer handle) const;
  /// 0 if no block of that place has this handle, or if it is damaged.
  [[nodiscard]] std::uint32_t find_intact(Integer handle, Place place) const noexcept {
    const std::uint32_t number = blocks_.number_of(handle);
    if (number == 0) {
      return 0;
    }
    const Block& block = blocks_[number];
    const bool is_intact = block.place == place && block.checksum == block.compute_checksum() &&
                           has_guard_before(number) && has_guard_after(number);
    return is_intact ? number : 0;
  }
  [[nodiscard]] rma::Status not_intact(Integer handle, Place place) const;

  [[nodiscard]] std::size_t bytes_of(const Block& block) const noexcept {
    return block.elements * known(block.kind).bytes;
  }
  [[nodiscard]] std::uint64_t guard(std::uint32_t number) const noexcept {
    return 0xa5c3f01e5a3c0fe1U ^ static_cast<std::uint64_t>(number) << 24;
  }
  void write_guards(std::uint32_t number) noexcept {
    const std::uint64_t word = guard(number);
    std::memcpy(guard_before(blocks_[number]), &word, guard_bytes);
    std::memcpy(guard_after(blocks_[number]), &word, guard_bytes);
  }
  [[nodiscard]] bool has_guard_before(std::uint32_t number) const noexcept {
    return load(guard_before(blocks_[number])) == guard(number);
  }
  [[nodiscard]] bool has_guard_after(std::uint32_t number) const noexcept {
    return load(guard_after(blocks_[number])) == guard(number);
  }
  [[nodiscard]] std::byte* guard_before(const Block& block) const noexcept {
    return segment_.at(block.extent.elements) - guard_bytes;
  }
  [[nodiscard]] std::byte* guard_after(const Block& block) const noexcept {
    return segment_.at(block.extent.elements) + bytes_of(block);
  }
  static std::uint64_t load(const std::byte* from) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
  void pop_top() noexcept;
  void add_damage(std::uint32_t number, std::vector<std::string>& damage) const;

  std::array<Known, MT_NUMTYPES> known_{};
  Integer alignment_bits_ = 6;
  Segment segment_;
  Blocks blocks_;
  std::vector<std::uint32_t> stack_;  ///< records, the newest last
  Usage heap_usage_;
  Usage stack_usage_;
};

}  // namespace tessera::ga::ma
