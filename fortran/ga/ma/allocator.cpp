// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/ma/allocator.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace tessera::ga::ma {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

// What MA_init takes for a negative size, in bytes.
constexpr std::size_t default_bytes = std::size_t{64} << 20;
constexpr std::size_t max_bytes = std::size_t{1} << 46;

Status wrong(std::string what) {
  return Status::error(Code::invalid_argument, std::move(what));
}

Status unknown_kind(Integer kind) {
  return wrong(fmt::format("{} is not the code of a type", kind))
      .hint("use a code from macdecls.h or mafdecls.fh, as MT_DBL");
}

Status not_initialized() {
  return Status::error(Code::closed, "MA has no memory yet").hint("call MA_init first");
}

std::string_view place_name(Place place) {
  return place == Place::heap ? "heap" : "stack";
}

constexpr std::size_t rounded_up(std::size_t bytes) {
  return (bytes + extent_unit - 1) & ~(extent_unit - 1);
}

// The bytes of one side, with the overhead of one block. None: more than max_bytes.
std::size_t side_bytes(Integer elements, std::size_t element_bytes, std::size_t overhead) {
  if (elements < 0) {
    return default_bytes;
  }
  const auto count = static_cast<std::size_t>(elements);
  return count > max_bytes / element_bytes ? max_bytes + 1
                                           : rounded_up(count * element_bytes + overhead);
}

}  // namespace

void Allocator::learn_kinds() noexcept {
  for (Integer code = MT_FIRST; code <= MT_LAST; ++code) {
    const ElementKind& kind = *find_kind(code);
    const auto base = reinterpret_cast<std::uintptr_t>(kind.base);
    const std::size_t wanted =
        std::max(std::size_t{1} << static_cast<std::size_t>(alignment_bits_), kind.bytes);
    // An index needs whole elements between base and block. So a base array that the program's
    // compiler did not align takes the alignment from the blocks.
    const bool is_aligned = base % kind.bytes == 0;
    const std::size_t modulus = is_aligned ? wanted : kind.bytes;
    const auto bottom = reinterpret_cast<std::uintptr_t>(segment_.at(0));
    const std::size_t remainder = ((is_aligned ? 0 : base) - bottom) & (modulus - 1);
    known_[static_cast<std::size_t>(code - MT_FIRST)] = {
        kind.bytes, {modulus, remainder}, kind.base};
  }
}

Status Allocator::initialize(Integer kind, Integer stack_elements, Integer heap_elements) {
  if (is_initialized()) {
    return wrong("MA has its memory already").hint("call MA_init once");
  }
  if (!is_known(kind)) {
    return unknown_kind(kind);
  }
  const std::size_t element_bytes = known(kind).bytes;
  TESSERA_ASSIGN_OR_RETURN(const Integer per_block, overhead(MT_C_CHAR));
  const auto extra = static_cast<std::size_t>(per_block);
  const std::size_t stack = side_bytes(stack_elements, element_bytes, extra);
  const std::size_t heap = side_bytes(heap_elements, element_bytes, extra);
  if (stack > max_bytes || heap > max_bytes) {
    return Status::error(Code::no_memory,
                         fmt::format("{} elements of stack and {} of heap of {} bytes each are "
                                     "more than a process can have",
                                     stack_elements, heap_elements, element_bytes));
  }
  TESSERA_RETURN_IF_ERROR(segment_.open(heap, stack));
  learn_kinds();
  return {};
}

// ---- Requests -----------------------------------------------------------------------------------

Status Allocator::check_request(Integer kind, Integer elements, std::string_view name) const {
  if (!is_initialized()) {
    return not_initialized();
  }
  if (!is_known(kind)) {
    return unknown_kind(kind).context(fmt::format("block '{}'", name));
  }
  if (elements < 0) {
    return wrong(fmt::format("block '{}' would have {} elements", name, elements));
  }
  return {};
}

Status Allocator::no_room(Integer kind, Integer elements, std::string_view name,
                          Place place) const {
  TESSERA_RETURN_IF_ERROR(check_request(kind, elements, name));
  if (heap_usage_.blocks + stack_usage_.blocks >= Blocks::max_blocks) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("no record for block '{}': there are {} blocks", name,
                                     Blocks::max_blocks))
        .hint("free blocks that are not needed");
  }
  const auto most = room(place == Place::heap ? Room::heap_other : Room::stack_other, kind);
  return Status::error(
             Code::no_memory,
             fmt::format("no room in the {} for block '{}' of {} elements of {}: the largest could "
                         "have {}; heap {} bytes in {} blocks, stack {} bytes in {} blocks, all {} "
                         "bytes",
                         place_name(place), name, elements, find_kind(kind)->name,
                         most.ok() ? *most : 0, heap_usage_.bytes, heap_usage_.blocks,
                         stack_usage_.bytes, stack_usage_.blocks, segment_.bytes()))
      .hint("give MA_init more memory");
}

Integer Allocator::record(std::uint32_t number, const Extent& extent, Integer kind,
                          std::size_t elements, std::string_view name, Place place) noexcept {
  Block& block = blocks_.begin_use(number);
  block.extent = extent;
  block.elements = elements;
  block.kind = static_cast<std::int32_t>(kind);
  block.place = place;
  block.name = {};
  std::memcpy(block.name.data(), name.data(), std::min(name.size(), block.name.size() - 1));
  block.checksum = block.compute_checksum();
  write_guards(number);
  return blocks_.handle_of(number);
}

Result<Integer> Allocator::allocate(Integer kind, Integer elements, std::string_view name) {
  if (!is_good_request(kind, elements)) [[unlikely]] {
    return no_room(kind, elements, name, Place::heap);
  }
  const std::uint32_t number = blocks_.reserve();
  const auto count = static_cast<std::size_t>(elements);
  const std::size_t bytes = count * known(kind).bytes;
  const auto extent = number == 0 ? std::nullopt : segment_.take_heap(bytes, known(kind).alignment);
  if (!extent) {
    return no_room(kind, elements, name, Place::heap);
  }
  heap_usage_.add(bytes);
  return record(number, *extent, kind, count, name, Place::heap);
}

Result<Integer> Allocator::push(Integer kind, Integer elements, std::string_view name) {
  if (!is_good_request(kind, elements)) [[unlikely]] {
    return no_room(kind, elements, name, Place::stack);
  }
  const std::uint32_t number = blocks_.reserve();
  stack_.push_back(number);
  const auto count = static_cast<std::size_t>(elements);
  const std::size_t bytes = count * known(kind).bytes;
  const auto extent =
      number == 0 ? std::nullopt : segment_.take_stack(bytes, known(kind).alignment);
  if (!extent) [[unlikely]] {
    stack_.pop_back();
    return no_room(kind, elements, name, Place::stack);
  }
  stack_usage_.add(bytes);
  return record(number, *extent, kind, count, name, Place::stack);
}

// ---- Releases -----------------------------------------------------------------------------------

Status Allocator::no_block(Integer handle) const {
  if (!is_initialized()) {
    return not_initialized();
  }
  return wrong(fmt::format("{} is not the handle of a block", handle))
      .hint("it may have been freed already");
}

Status Allocator::not_intact(Integer handle, Place place) const {
  const std::uint32_t number = blocks_.number_of(handle);
  if (number == 0) {
    return no_block(handle);
  }
  const Block& block = blocks_[number];
  if (block.checksum == block.compute_checksum() && block.place != place) {
    return wrong(fmt::format("block '{}' with handle {} is in the {}, not in the {}",
                             block.shown_name(), handle, place_name(block.place),
                             place_name(place)));
  }
  std::vector<std::string> damage;
  add_damage(number, damage);
  return wrong(fmt::format("{}", fmt::join(damage, "; ")))
      .hint("the program writes outside of its blocks; look for an index that is too large");
}

Status Allocator::free(Integer handle) {
  const std::uint32_t number = find_intact(handle, Place::heap);
  if (number == 0) [[unlikely]] {
    return not_intact(handle, Place::heap);
  }
  const Block& block = blocks_[number];
  segment_.release_heap(block.extent.begin, block.extent.end);
  heap_usage_.remove(bytes_of(block));
  blocks_.end_use(number);
  return {};
}

Status Allocator::free_last(Integer handle, Integer elements) {
  const std::uint32_t number = find_intact(handle, Place::heap);
  if (number == 0) [[unlikely]] {
    return not_intact(handle, Place::heap);
  }
  Block& block = blocks_[number];
  if (elements < 0) {
    return wrong(
        fmt::format("{} elements of block '{}' can't be freed", elements, block.shown_name()));
  }
  const auto count = static_cast<std::size_t>(elements);
  if (count >= block.elements) {
    return free(handle);
  }
  const std::size_t element_bytes = known(block.kind).bytes;
  const std::size_t kept = block.elements - count;
  const std::size_t end = Segment::heap_extent_end(block.extent.elements + kept * element_bytes);
  if (end < block.extent.end) {
    segment_.release_heap(end, block.extent.end);
  }
  heap_usage_.bytes -= count * element_bytes;
  block.extent.end = end;
  block.elements = kept;
  block.checksum = block.compute_checksum();
  write_guards(number);
  return {};
}

void Allocator::pop_top() noexcept {
  const std::uint32_t number = stack_.back();
  const Block& block = blocks_[number];
  segment_.release_stack(block.extent);
  stack_usage_.remove(bytes_of(block));
  blocks_.end_use(number);
  stack_.pop_back();
}

Status Allocator::pop(Integer handle) {
  const std::uint32_t number = find_intact(handle, Place::stack);
  if (number == 0) [[unlikely]] {
    return not_intact(handle, Place::stack);
  }
  if (number != stack_.back()) [[unlikely]] {
    return wrong(fmt::format("block '{}' is not on top of the stack: '{}' is",
                             blocks_[number].shown_name(), blocks_[stack_.back()].shown_name()))
        .hint("pop blocks in the opposite order, or call MA_chop_stack");
  }
  pop_top();
  return {};
}

Status Allocator::chop(Integer handle) {
  const std::uint32_t number = find_intact(handle, Place::stack);
  if (number == 0) [[unlikely]] {
    return not_intact(handle, Place::stack);
  }
  const auto at = std::find(stack_.rbegin(), stack_.rend(), number);
  // Only the records of the blocks above must be intact: as in MA, their guards are not looked at.
  for (auto each = stack_.rbegin(); each != at; ++each) {
    if (blocks_[*each].checksum != blocks_[*each].compute_checksum()) {
      return not_intact(blocks_.handle_of(*each), Place::stack);
    }
  }
  while (stack_.back() != number) {
    pop_top();
  }
  pop_top();
  return {};
}

// ---- Questions ----------------------------------------------------------------------------------

Result<std::byte*> Allocator::address_of(Integer handle) const {
  const std::uint32_t number = blocks_.number_of(handle);
  if (number == 0) [[unlikely]] {
    return no_block(handle);
  }
  return segment_.at(blocks_[number].extent.elements);
}

Result<MA_AccessIndex> Allocator::index_of(Integer handle) const {
  const std::uint32_t number = blocks_.number_of(handle);
  if (number == 0) [[unlikely]] {
    return no_block(handle);
  }
  const Block& block = blocks_[number];
  const Known& kind = known(block.kind);
  const auto from_base = static_cast<std::int64_t>(
      reinterpret_cast<std::uintptr_t>(segment_.at(block.extent.elements)) -
      reinterpret_cast<std::uintptr_t>(kind.base));
  return static_cast<MA_AccessIndex>(from_base / static_cast<std::int64_t>(kind.bytes));
}

Allocator::Next Allocator::next_block(std::uint32_t number) const noexcept {
  for (number = std::max(number, 1U); number < blocks_.end(); ++number) {
    if (blocks_[number].place != Place::none) {
      return {number, blocks_.handle_of(number)};
    }
  }
  return {};
}

Result<Integer> Allocator::room(Room which, Integer kind) const {
  if (!is_initialized()) {
    return not_initialized();
  }
  if (!is_known(kind)) {
    return unknown_kind(kind);
  }
  using Limit = Segment::Limit;
  const Known& element = known(kind);
  const auto heap = [&](Limit limit) {
    return segment_.heap_room(element.bytes, element.alignment, limit);
  };
  const auto stack = [&](Limit limit) {
    return segment_.stack_room(element.bytes, element.alignment, limit);
  };
  std::size_t most = 0;
  switch (which) {
    case Room::gap:
      most = segment_.gap_room(element.bytes, element.alignment);
      break;
    case Room::heap:
      most = heap(Limit::partition);
      break;
    case Room::heap_both:
      most = heap(Limit::both);
      break;
    case Room::heap_other:
      most = heap(Limit::other);
      break;
    case Room::stack:
      most = stack(Limit::partition);
      break;
    case Room::stack_both:
      most = stack(Limit::both);
      break;
    case Room::stack_other:
      most = stack(Limit::other);
      break;
  }
  return static_cast<Integer>(std::min<std::size_t>(most, std::numeric_limits<Integer>::max()));
}

Result<Integer> Allocator::convert(Integer kind, Integer elements, Integer to) {
  const ElementKind* const from = find_kind(kind);
  const ElementKind* const target = find_kind(to);
  if (from == nullptr || target == nullptr) {
    return unknown_kind(from == nullptr ? kind : to);
  }
  if (elements < 0) {
    return wrong(fmt::format("{} elements have no size", elements));
  }
  // All sizes are powers of two.
  const auto count = static_cast<std::size_t>(elements);
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Integer>::max());
  if (from->bytes < target->bytes) {
    const std::size_t fit = target->bytes / from->bytes;
    return static_cast<Integer>(count / fit + (count % fit != 0 ? 1 : 0));
  }
  const std::size_t each = from->bytes / target->bytes;
  if (count > most / each) {
    return wrong(fmt::format("the size of {} elements of {} is not an integer of {} bytes",
                             elements, from->name, sizeof(Integer)));
  }
  return static_cast<Integer>(count * each);
}

// Guards, alignment, and the rounding of the extent.
Result<Integer> Allocator::overhead(Integer kind) const {
  if (!is_known(kind)) {
    return unknown_kind(kind);
  }
  std::size_t largest = 0;
  for (const Known& each : known_) {
    largest = std::max(largest, each.alignment.modulus);
  }
  const auto bytes = static_cast<Integer>(2 * guard_bytes + largest + extent_unit);
  return convert(MT_C_CHAR, bytes, kind);
}

Status Allocator::set_alignment_bits(Integer bits) {
  if (bits < 0 || bits > 30) {
    return wrong(fmt::format("blocks can't begin at multiples of 2^{} bytes", bits))
        .hint("use 0 to 30");
  }
  alignment_bits_ = bits;
  learn_kinds();
  return {};
}

}  // namespace tessera::ga::ma
