// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/memory_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "rma/base/memory.hpp"
#include "rma/base/rounding.hpp"

namespace tessera::rma::armci {
namespace {

constexpr std::uint64_t alignment = 64;

}  // namespace

MemoryPool& MemoryPool::operator=(MemoryPool&& other) noexcept {
  region_ = std::move(other.region_);
  bytes_ = other.bytes_;
  in_use_ = other.in_use_;
  free_ = std::move(other.free_);
  taken_ = std::move(other.taken_);
  return *this;
}

Result<MemoryPool> MemoryPool::create(Job& job) {
  MemoryPool pool;
  const auto bytes = static_cast<std::uint64_t>(job.settings().armci_memget_mib) << 20U;
  if (bytes > 0) {
    TESSERA_ASSIGN_OR_RETURN(
        pool.region_,
        Region::allocate(job.world(), bytes, {.sparse = true, .name = "ARMCI_Memget"}));
    pool.bytes_ = bytes;
    pool.free_[0] = bytes;
  }
  return pool;
}

Result<std::uint64_t> MemoryPool::take(std::uint64_t bytes) {
  if (bytes == 0) {
    return Status::error(Code::invalid_argument, "0 bytes of memory").hint("ask for 1 or more");
  }
  const std::uint64_t wanted = round_up(bytes, alignment);
  const std::lock_guard guard(mutex_);
  const auto gap = std::find_if(free_.begin(), free_.end(),
                                [&](const auto& each) { return each.second >= wanted; });
  if (wanted < bytes || gap == free_.end()) {
    return Status::error(
               Code::limit_exceeded,
               fmt::format("{} do not fit the free part of the memory set aside for ARMCI_Memget",
                           human_bytes(bytes)))
        .hint("raise TESSERA_TUNE=armci_memget, the MiB that each process sets aside");
  }
  const auto [offset, available] = *gap;
  free_.erase(gap);
  if (available > wanted) {
    free_[offset + wanted] = available - wanted;
  }
  taken_[offset] = wanted;
  if (offset + wanted > in_use_) {
    in_use_ = offset + wanted;
    region_.set_in_use_bytes(in_use_);
  }
  return offset;
}

Status MemoryPool::give_back(std::uint64_t offset, std::uint64_t bytes) {
  const std::lock_guard guard(mutex_);
  const auto taken = taken_.find(offset);
  if (taken == taken_.end() || taken->second != round_up(bytes, alignment)) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("the {} bytes at offset {} were already freed, or never allocated",
                           bytes, offset))
        .hint("call ARMCI_Memctl once for each ARMCI_Memget");
  }
  auto gap = free_.emplace(*taken).first;
  taken_.erase(taken);
  const auto next = std::next(gap);
  if (next != free_.end() && gap->first + gap->second == next->first) {
    gap->second += next->second;
    free_.erase(next);
  }
  if (gap != free_.begin()) {
    const auto before = std::prev(gap);
    if (before->first + before->second == gap->first) {
      before->second += gap->second;
      free_.erase(gap);
    }
  }
  return {};
}

}  // namespace tessera::rma::armci
