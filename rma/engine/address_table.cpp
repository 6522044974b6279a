// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/address_table.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "rma/base/memory.hpp"
#include "rma/base/rounding.hpp"
#include "rma/node/node_memory.hpp"

namespace tessera::rma::detail {
namespace {

constexpr std::uint64_t max_foreign_bytes = 4ULL << 40;
constexpr std::uint64_t min_foreign_bytes = 1ULL << 30;

void* reserve(std::uint64_t bytes, int protection) {
  return mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace

Result<std::unique_ptr<GranuleTable>> GranuleTable::create(const std::byte* base,
                                                           std::uint64_t bytes) {
  // Fresh anonymous pages read as zero, which means "no region". So the table takes memory only for
  // addresses that have regions.
  const std::uint64_t table_bytes =
      (bytes / granule_bytes + 1) * sizeof(std::atomic<std::uint32_t>);
  void* entries = reserve(table_bytes, PROT_READ | PROT_WRITE);
  if (entries == MAP_FAILED) {
    return Status::error(Code::no_memory,
                         fmt::format("cannot reserve a table of {}: {}{}", human_bytes(table_bytes),
                                     std::strerror(errno), address_space_note()));
  }
  return std::unique_ptr<GranuleTable>(
      new GranuleTable(reinterpret_cast<std::uintptr_t>(base), bytes,
                       static_cast<std::atomic<std::uint32_t>*>(entries)));
}

GranuleTable::~GranuleTable() {
  munmap(entries_, (bytes_ / granule_bytes + 1) * sizeof(std::atomic<std::uint32_t>));
}

void GranuleTable::assign(const std::byte* from, std::uint64_t bytes, RegionId region) noexcept {
  const std::uint64_t first = (reinterpret_cast<std::uintptr_t>(from) - base_) / granule_bytes;
  const std::uint64_t count = round_up(bytes, granule_bytes) / granule_bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    entries_[first + i].store(region.value, std::memory_order_release);
  }
}

RegionId AddressTable::find_outside_arena(const void* pointer) const {
  const GranuleTable* foreign = foreign_view_.load(std::memory_order_acquire);
  if (foreign != nullptr && foreign->covers(pointer)) {
    return foreign->find(pointer);
  }
  return find_in_map(pointer);
}

Result<std::unique_ptr<AddressTable>> AddressTable::create(const std::byte* arena,
                                                           std::uint64_t bytes) {
  TESSERA_ASSIGN_OR_RETURN(auto table, GranuleTable::create(arena, bytes));
  return std::unique_ptr<AddressTable>(new AddressTable(std::move(table)));
}

AddressTable::~AddressTable() {
  if (foreign_base_ != nullptr) {
    munmap(foreign_base_, foreign_bytes_);
  }
}

void AddressTable::assign(const std::byte* from, std::uint64_t bytes, RegionId region) {
  if (bytes > 0 && arena_->covers(from)) {
    arena_->assign(from, bytes, region);
  } else {
    attach(from, bytes, region);
  }
}

void AddressTable::withdraw(const std::byte* from, std::uint64_t bytes, RegionId region) {
  if (bytes > 0 && arena_->covers(from)) {
    arena_->assign(from, bytes, RegionId{0});
  } else {
    detach(from, region);
  }
}

void AddressTable::attach(const std::byte* from, std::uint64_t bytes, RegionId region) {
  if (from == nullptr || bytes == 0) {
    return;
  }
  const std::lock_guard guard(mutex_);
  unmapped_pieces_.emplace(reinterpret_cast<std::uintptr_t>(from), Piece{bytes, region});
  max_piece_bytes_ = std::max(max_piece_bytes_, bytes);
}

void AddressTable::detach(const std::byte* from, RegionId region) {
  const std::lock_guard guard(mutex_);
  const auto [first, last] = unmapped_pieces_.equal_range(reinterpret_cast<std::uintptr_t>(from));
  const auto piece =
      std::find_if(first, last, [&](const auto& each) { return each.second.region == region; });
  if (piece != last) {
    unmapped_pieces_.erase(piece);
  }
}

Status AddressTable::make_foreign_range() {
  if (foreign_base_ != nullptr) {
    return {};
  }
  std::uint64_t bytes = max_foreign_bytes;
  void* base = MAP_FAILED;
  while (bytes >= min_foreign_bytes && (base = reserve(bytes, PROT_NONE)) == MAP_FAILED) {
    bytes /= 2;
  }
  if (base == MAP_FAILED) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("cannot reserve {} of address space for remote pointers: {}{}",
                                     human_bytes(min_foreign_bytes), std::strerror(errno),
                                     address_space_note()))
        .hint("raise the limit on address space (ulimit -v unlimited)");
  }
  TESSERA_ASSIGN_OR_RETURN(foreign_, GranuleTable::create(static_cast<std::byte*>(base), bytes));
  foreign_base_ = static_cast<std::byte*>(base);
  foreign_bytes_ = bytes;
  foreign_free_[0] = bytes;
  foreign_view_.store(foreign_.get(), std::memory_order_release);
  return {};
}

Result<std::byte*> AddressTable::reserve_foreign(std::uint64_t bytes, RegionId region) {
  const std::lock_guard guard(mutex_);
  TESSERA_RETURN_IF_ERROR(make_foreign_range());
  const std::uint64_t wanted = round_up(bytes, granule_bytes);
  const auto gap = std::find_if(foreign_free_.begin(), foreign_free_.end(),
                                [&](const auto& each) { return each.second >= wanted; });
  if (gap == foreign_free_.end()) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("no contiguous {} are left in the {} of address space that "
                                     "are reserved for remote pointers",
                                     human_bytes(wanted), human_bytes(foreign_bytes_)));
  }
  const std::uint64_t offset = gap->first;
  auto taken = foreign_free_.extract(gap);
  if (taken.mapped() > wanted) {
    taken.key() = offset + wanted;
    taken.mapped() -= wanted;
    foreign_free_.insert(std::move(taken));
  }
  foreign_->assign(foreign_base_ + offset, wanted, region);
  return foreign_base_ + offset;
}

void AddressTable::release_foreign(std::byte* from, std::uint64_t bytes) noexcept {
  const std::lock_guard guard(mutex_);
  const std::uint64_t size = round_up(bytes, granule_bytes);
  foreign_->assign(from, size, RegionId{0});
  const auto offset = static_cast<std::uint64_t>(from - foreign_base_);
  try {
    join_gaps_at(foreign_free_.emplace(offset, size).first);
  } catch (const std::bad_alloc&) {
    // There are terabytes of addresses, so these can be lost.
  }
}

void AddressTable::join_gaps_at(std::map<std::uint64_t, std::uint64_t>::iterator gap) noexcept {
  const auto next = std::next(gap);
  if (next != foreign_free_.end() && gap->first + gap->second == next->first) {
    gap->second += next->second;
    foreign_free_.erase(next);
  }
  if (gap != foreign_free_.begin()) {
    const auto before = std::prev(gap);
    if (before->first + before->second == gap->first) {
      before->second += gap->second;
      foreign_free_.erase(gap);
    }
  }
}

// Pieces may overlap, so an earlier piece may still be the right one. It begins at most the longest
// piece's length before the pointer.
RegionId AddressTable::find_in_map(const void* pointer) const {
  const std::lock_guard guard(mutex_);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto piece = unmapped_pieces_.upper_bound(address);
  while (piece != unmapped_pieces_.begin()) {
    --piece;
    const std::uint64_t distance = address - piece->first;
    if (distance < piece->second.bytes) {
      return piece->second.region;
    }
    if (distance >= max_piece_bytes_) {
      break;
    }
  }
  return RegionId{0};
}

}  // namespace tessera::rma::detail
