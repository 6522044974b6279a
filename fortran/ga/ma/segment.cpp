// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/ma/segment.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

#include <fmt/format.h>

namespace tessera::ga::ma {
namespace {

std::size_t first_at_or_after(std::size_t offset, BlockAlignment alignment) {
  return offset + ((alignment.remainder - offset) & (alignment.modulus - 1));
}

}  // namespace

Segment::~Segment() {
  if (is_open()) {
    munmap(bottom_, bytes_);
  }
}

rma::Status Segment::open(std::size_t heap_bytes, std::size_t stack_bytes) {
  const std::size_t bytes = heap_bytes + stack_bytes;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return rma::Status::error(rma::Code::no_memory,
                              fmt::format("no memory for {} bytes of heap and {} of stack: {}",
                                          heap_bytes, stack_bytes, std::strerror(errno)))
        .hint("ask for less, or raise the limit of the process's memory (ulimit -v)");
  }
  bottom_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  partition_ = heap_bytes;
  heap_end_ = 0;
  stack_end_ = bytes;
  return {};
}

std::optional<Extent> Segment::take_heap(std::size_t bytes, BlockAlignment alignment) {
  for (auto each = free_.begin(); each != free_.end(); ++each) {
    const auto [begin, end] = *each;
    const std::size_t elements = first_at_or_after(begin + guard_bytes, alignment);
    const std::size_t used_end = heap_extent_end(elements + bytes);
    if (used_end > end) {
      continue;
    }
    // The rest first: if there is no memory for its record, nothing has changed.
    if (used_end < end) {
      free_.emplace(used_end, end);
    }
    free_.erase(each);
    return Extent{begin, used_end, elements};
  }
  const std::size_t elements = first_at_or_after(heap_end_ + guard_bytes, alignment);
  const std::size_t end = heap_extent_end(elements + bytes);
  if (end > stack_end_) {
    return std::nullopt;
  }
  const Extent extent{heap_end_, end, elements};
  heap_end_ = end;
  return extent;
}

void Segment::release_heap(std::size_t begin, std::size_t end) {
  auto after = free_.lower_bound(begin);
  if (after != free_.end() && after->first == end) {
    end = after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->second == begin) {
      begin = before->first;
      free_.erase(before);
    }
  }
  if (end == heap_end_) {
    heap_end_ = begin;
  } else {
    free_.emplace(begin, end);
  }
}

std::size_t Segment::room(std::size_t begin, std::size_t end, std::size_t element_bytes,
                          BlockAlignment alignment) noexcept {
  const std::size_t elements = first_at_or_after(begin + guard_bytes, alignment);
  return end < elements + guard_bytes ? 0 : (end - guard_bytes - elements) / element_bytes;
}

std::size_t Segment::heap_room(std::size_t element_bytes, BlockAlignment alignment,
                               Limit limit) const noexcept {
  const std::size_t gap_end = limit == Limit::partition ? partition_
                              : limit == Limit::both    ? std::min(partition_, stack_end_)
                                                        : stack_end_;
  std::size_t most = room(heap_end_, gap_end & ~(extent_unit - 1), element_bytes, alignment);
  for (const auto& [begin, end] : free_) {
    most = std::max(most, room(begin, end, element_bytes, alignment));
  }
  return most;
}

std::size_t Segment::stack_room(std::size_t element_bytes, BlockAlignment alignment,
                                Limit limit) const noexcept {
  const std::size_t gap_begin = limit == Limit::partition ? partition_
                                : limit == Limit::both    ? std::max(partition_, heap_end_)
                                                          : heap_end_;
  return room(gap_begin, stack_end_, element_bytes, alignment);
}

std::size_t Segment::gap_room(std::size_t element_bytes, BlockAlignment alignment) const noexcept {
  return room(heap_end_, stack_end_, element_bytes, alignment);
}

std::size_t Segment::free_in_heap() const noexcept {
  std::size_t bytes = 0;
  for (const auto& [begin, end] : free_) {
    bytes += end - begin;
  }
  return bytes;
}

}  // namespace tessera::ga::ma
