// SPDX-License-Identifier: BSD-3-Clause
//
// The part of Allocator that checks blocks and describes them.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fortran/ga/ma/allocator.hpp"

namespace tessera::ga::ma {
namespace {

std::string_view side(Place place) {
  return place == Place::heap ? "heap" : "stack";
}

}  // namespace

void Allocator::add_damage(std::uint32_t number, std::vector<std::string>& damage) const {
  const Block& block = blocks_[number];
  const Integer handle = blocks_.handle_of(number);
  if (block.checksum != block.compute_checksum()) {
    // Its places can't be trusted, so the guards are not looked for.
    damage.push_back(fmt::format("the record of the block with handle {} was overwritten", handle));
    return;
  }
  const std::string which =
      fmt::format("{} block '{}', handle {}, {} elements of {} at {}", side(block.place),
                  block.shown_name(), handle, block.elements, find_kind(block.kind)->name,
                  fmt::ptr(segment_.at(block.extent.elements)));
  if (!has_guard_before(number)) {
    damage.push_back(which + ": the bytes before its first element were overwritten");
  }
  if (!has_guard_after(number)) {
    damage.push_back(which + ": the bytes after its last element were overwritten");
  }
}

std::vector<std::string> Allocator::find_damage() const {
  std::vector<std::string> damage;
  std::size_t heap = 0;
  for (std::uint32_t number = 1; number < blocks_.end(); ++number) {
    const Block& block = blocks_[number];
    if (block.place == Place::none) {
      continue;
    }
    add_damage(number, damage);
    heap += block.place == Place::heap ? block.extent.end - block.extent.begin : 0;
  }
  std::size_t top = segment_.bytes();
  for (const std::uint32_t number : stack_) {
    if (blocks_[number].extent.end != top) {
      damage.push_back(
          fmt::format("the stack has a hole below handle {}", blocks_.handle_of(number)));
    }
    top = blocks_[number].extent.begin;
  }
  if (top != segment_.stack_end()) {
    damage.emplace_back("the stack's blocks do not reach its end");
  }
  if (heap + segment_.free_in_heap() != segment_.heap_end()) {
    damage.push_back(fmt::format("the heap of {} bytes has {} in blocks and {} free",
                                 segment_.heap_end(), heap, segment_.free_in_heap()));
  }
  return damage;
}

std::string Allocator::describe_blocks() const {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 1; number < blocks_.end(); ++number) {
    if (blocks_[number].place != Place::none) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
    return blocks_[a].extent.begin < blocks_[b].extent.begin;
  });
  std::string text = fmt::format("MA: {} blocks in {} bytes\n", numbers.size(), segment_.bytes());
  text += fmt::format("  {:<5} {:<31} {:>9} {:<12} {:>14} {:>18}\n", "where", "name", "handle",
                      "type", "elements", "address");
  for (const std::uint32_t number : numbers) {
    const Block& block = blocks_[number];
    text += fmt::format("  {:<5} {:<31} {:>9} {:<12} {:>14} {:>18}\n", side(block.place),
                        block.shown_name(), blocks_.handle_of(number), find_kind(block.kind)->name,
                        block.elements, fmt::ptr(segment_.at(block.extent.elements)));
  }
  return text;
}

std::string Allocator::describe_usage() const {
  std::string text = fmt::format("MA usage\n  {:<16} {:>16} {:>16}\n", "", "heap", "stack");
  const auto row = [&](std::string_view what, std::size_t heap, std::size_t stack) {
    text += fmt::format("  {:<16} {:>16} {:>16}\n", what, heap, stack);
  };
  row("blocks now", heap_usage_.blocks, stack_usage_.blocks);
  row("blocks at most", heap_usage_.most_blocks, stack_usage_.most_blocks);
  row("bytes now", heap_usage_.bytes, stack_usage_.bytes);
  row("bytes at most", heap_usage_.max_bytes, stack_usage_.max_bytes);
  row("MiB at most", heap_usage_.max_bytes >> 20, stack_usage_.max_bytes >> 20);
  return text;
}

}  // namespace tessera::ga::ma
