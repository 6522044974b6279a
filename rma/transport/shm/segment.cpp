// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/shm/segment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "rma/base/memory.hpp"
#include "rma/base/page_placement.hpp"
#include "rma/base/rounding.hpp"

namespace tessera::rma::shm {
namespace {

using detail::granule_bytes;

constexpr std::uint64_t huge_page_bytes = 2ULL << 20;

}  // namespace

ArenaSegment::ArenaSegment(detail::Node& node, const Team& team) : node_(node), team_(team) {
  for (const WorldRank member : team_.members()) {
    if (node_.local_rank_of(member) < 0) {
      continue;
    }
    if (member == team_.world_rank(team_.rank())) {
      index_ = node_members_.size();
    }
    node_members_.push_back(member);
  }
}

bool ArenaSegment::is_on_one_node() const noexcept {
  return node_members_.size() == team_.members().size();
}

Result<std::unique_ptr<Segment>> ArenaSegment::create(detail::Node& node, Team& team,
                                                      std::size_t my_bytes,
                                                      const RegionOptions& options) {
  std::unique_ptr<ArenaSegment> segment(new ArenaSegment(node, team));
  TESSERA_ASSIGN_OR_RETURN(const auto sizes, team.allgather_value(std::uint64_t{my_bytes}));
  Status status = team.agree([&]() -> Status {
    TESSERA_RETURN_IF_ERROR(segment->plan(sizes, options));
    if (segment->index_ == 0) {
      TESSERA_ASSIGN_OR_RETURN(segment->offset_, segment->reserve_addresses(options));
    }
    return {};
  });
  if (status.ok()) {
    status = segment->share_addresses();
  }
  if (!status.ok()) {
    // Another node had no memory, or a rank died: then all members of this node give up.
    if (segment->index_ == 0 && segment->offset_ != 0) {
      segment->free_addresses();
    }
    return status;
  }

  segment->base_ = node.arena().at(segment->offset_);
  const std::size_t index = segment->index_;
  const std::uint64_t own_offset =
      segment->offset_ +
      (segment->offsets_.empty() ? index * segment->stride_ : segment->offsets_[index]);
  if (Status all = team.agree([&] { return segment->commit_own(my_bytes, options, own_offset); });
      !all.ok()) {
    const bool some_are_gone = all.code() == Code::peer_lost || all.code() == Code::closed;
    if (some_are_gone) {
      segment->abandon();
      return all;
    }
    TESSERA_RETURN_IF_ERROR(segment->free());
    return all;
  }
  segment->local_ = my_bytes == 0 ? nullptr : node.arena().at(own_offset);
  segment->team_ = Team();  // a region that its team owns must not keep it alive
  return std::unique_ptr<Segment>(std::move(segment));
}

// Lays out the slices: with a common stride if that wastes little address space, else each at its
// own offset.
Status ArenaSegment::plan(const std::vector<std::uint64_t>& all_sizes,
                          const RegionOptions& options) {
  is_interleaved_ = options.access_mode == AccessMode::no_local_access;
  const std::uint64_t align = options.huge_pages ? huge_page_bytes : granule_bytes;
  std::vector<std::uint64_t> sizes;
  for (std::size_t member = 0; member < all_sizes.size(); ++member) {
    if (node_.local_rank_of(team_.members()[member]) >= 0) {
      sizes.push_back(all_sizes[member]);
    }
  }
  std::uint64_t largest = 0;
  std::uint64_t sum = 0;
  for (const std::uint64_t size : sizes) {
    largest = std::max(largest, size);
    needed_ += size;
    if (size > node_.memory().size() || __builtin_add_overflow(sum, round_up(size, align), &sum)) {
      return Status::error(Code::no_memory,
                           fmt::format("{} on one rank is more than the node's arena of {}",
                                       human_bytes(size), human_bytes(node_.memory().size())))
          .hint("use more nodes, or " + node_.memory().hint_to_enlarge());
    }
  }
  stride_ = round_up(largest, align);
  std::uint64_t strided = 0;
  const bool fits = !__builtin_mul_overflow(stride_, sizes.size(), &strided);
  constexpr std::uint64_t tolerable_waste = 4;
  if (fits && (strided <= sum * tolerable_waste || strided <= (64ULL << 20))) {
    extent_ = strided;
    return {};
  }
  stride_ = 0;
  for (const std::uint64_t size : sizes) {
    offsets_.push_back(extent_);
    extent_ += round_up(size, align);
  }
  return {};
}

// Collective. Shares the offset at which the first member on the node placed the slices.
Status ArenaSegment::share_addresses() {
  if (is_on_one_node()) {
    return team_.broadcast_value(offset_, TeamRank{0});
  }
  TESSERA_ASSIGN_OR_RETURN(const auto offsets, team_.allgather_value(offset_));
  offset_ = offsets[static_cast<std::size_t>(team_.team_rank(node_members_.front()).value)];
  return {};
}

Result<std::uint64_t> ArenaSegment::reserve_addresses(const RegionOptions& options) {
  if (!options.sparse) {
    // Checks the sum for the node before any member takes its part, since the memory may not
    // suffice for all.
    TESSERA_RETURN_IF_ERROR(node_.arena().check_available(needed_));
  }
  detail::Arena& arena = node_.arena();
  TESSERA_ASSIGN_OR_RETURN(
      const std::uint64_t offset,
      arena.allocate(total_bytes(), options.huge_pages ? huge_page_bytes : granule_bytes));
  if (Status status =
          arena.back(offset + extent_, detail::SharedRefCount::bytes(node_members_.size()));
      !status.ok()) {
    arena.free(offset, total_bytes());
    return status;
  }
  if (is_interleaved_) {
    place_pages(arena.at(offset), extent_, PagePlacement::interleaved);
  }
  return offset;
}

// The slices, and after them a count of the members that still use them.
std::uint64_t ArenaSegment::total_bytes() const noexcept {
  return extent_ + detail::SharedRefCount::bytes(node_members_.size());
}

detail::SharedRefCount& ArenaSegment::ref_count() const noexcept {
  return *reinterpret_cast<detail::SharedRefCount*>(node_.arena().at(offset_ + extent_));
}

Status ArenaSegment::commit_own(std::size_t my_bytes, const RegionOptions& options,
                                std::uint64_t own_offset) {
  if (my_bytes == 0) {
    return {};
  }
  if (options.huge_pages) {
    node_.arena().advise_huge(own_offset, my_bytes);
  }
  return options.sparse ? Status() : node_.arena().back(own_offset, my_bytes);
}

Status ArenaSegment::free() {
  if (index_ == 0) {
    free_addresses();
  }
  return {};
}

void ArenaSegment::abandon() noexcept {
  if (ref_count().release(node_, node_members_, index_)) {
    free_addresses();
  }
}

void ArenaSegment::free_addresses() noexcept {
  if (is_interleaved_) {
    place_pages(node_.arena().at(offset_), extent_, PagePlacement::local);
  }
  node_.arena().free(offset_, total_bytes());
}

Result<std::unique_ptr<Segment>> AttachedSegment::create(Team& team, void* memory) {
  const Slice own{static_cast<std::byte*>(memory), getpid()};
  TESSERA_ASSIGN_OR_RETURN(std::vector<Slice> slices, team.allgather_value(own));
  return std::unique_ptr<Segment>(new AttachedSegment(std::move(slices), own.address));
}

}  // namespace tessera::rma::shm
