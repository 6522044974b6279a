// SPDX-License-Identifier: BSD-3-Clause
//
// Segment: the memory of MA, from which blocks are cut: the heap from below, the stack from above.
//
//     bottom ......... heap_end            stack_end ......... top
//     | heap, with free extents |   gap    |       stack        |
//                          partition
//
// An extent is what a block uses: slack for the alignment, a guard, the elements, a guard. Extents
// begin and end at multiples of 8. A guard is 8 bytes directly before the first element or directly
// after the last.
//
// The heap takes the first free extent that fits, else the gap. Adjacent free extents are joined;
// one that reaches heap_end becomes part of the gap. The partition only concerns room().
//
// Threads: one at a time. Cost: the stack O(1); the heap O(free extents).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "rma/base/status.hpp"

namespace tessera::ga::ma {

inline constexpr std::size_t guard_bytes = 8;
inline constexpr std::size_t extent_unit = 8;

/// Offsets in the segment.
struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t elements = 0;  ///< where the first element is
};

/// The offset of the first element is `remainder` modulo `modulus`, which is a power of two.
struct BlockAlignment {
  std::size_t modulus = 1;
  std::size_t remainder = 0;
};

class Segment {
 public:
  Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();

  /// Gets the memory. Errors: no_memory.
  rma::Status open(std::size_t heap_bytes, std::size_t stack_bytes);
  [[nodiscard]] bool is_open() const noexcept { return bottom_ != nullptr; }
  [[nodiscard]] std::byte* at(std::size_t offset) const noexcept { return bottom_ + offset; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// An extent for that number of bytes of elements; none if it does not fit. Requires: `bytes` is
  /// at most bytes().
  std::optional<Extent> take_heap(std::size_t bytes, BlockAlignment alignment);
  std::optional<Extent> take_stack(std::size_t bytes, BlockAlignment alignment) noexcept {
    if (stack_end_ < bytes + 2 * guard_bytes) {
      return std::nullopt;
    }
    const std::size_t last = stack_end_ - guard_bytes - bytes;
    const std::size_t elements = last - ((last - alignment.remainder) & (alignment.modulus - 1));
    if (elements > last || elements < heap_end_ + guard_bytes) {
      return std::nullopt;
    }
    const Extent extent{(elements - guard_bytes) & ~(extent_unit - 1), stack_end_, elements};
    stack_end_ = extent.begin;
    return extent;
  }

  void release_heap(std::size_t begin, std::size_t end);
  /// Requires: the extent is the last that take_stack() returned and that was not released.
  void release_stack(const Extent& extent) noexcept { stack_end_ = extent.end; }

  /// The end of an extent in the heap whose elements end there.
  static std::size_t heap_extent_end(std::size_t elements_end) noexcept {
    return (elements_end + guard_bytes + extent_unit - 1) & ~(extent_unit - 1);
  }

  enum class Limit : unsigned char { partition, both, other };
  /// The most elements that a block could have: up to the partition, up to the partition and what
  /// the other side uses, or only up to what the other side uses. A take ignores the partition.
  [[nodiscard]] std::size_t heap_room(std::size_t element_bytes, BlockAlignment,
                                      Limit) const noexcept;
  [[nodiscard]] std::size_t stack_room(std::size_t element_bytes, BlockAlignment,
                                       Limit) const noexcept;
  /// The same for the gap alone.
  [[nodiscard]] std::size_t gap_room(std::size_t element_bytes, BlockAlignment) const noexcept;

  [[nodiscard]] std::size_t free_in_heap() const noexcept;
  [[nodiscard]] std::size_t heap_end() const noexcept { return heap_end_; }
  [[nodiscard]] std::size_t stack_end() const noexcept { return stack_end_; }

 private:
  static std::size_t room(std::size_t begin, std::size_t end, std::size_t element_bytes,
                          BlockAlignment alignment) noexcept;

  std::byte* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t partition_ = 0;
  std::size_t heap_end_ = 0;
  std::size_t stack_end_ = 0;
  std::map<std::size_t, std::size_t> free_;  ///< in the heap: begin and end
};

}  // namespace tessera::ga::ma
