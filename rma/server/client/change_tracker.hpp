// SPDX-License-Identifier: BSD-3-Clause
//
// ChangeTracker: records which changes of memory at a node a fence still has to cover.
//
// A stream keeps its order, so the answer to a fence covers everything sent before it, whatever its
// target. Whether a fence is needed is tracked per target rank, and per target rank and region.
// Each entry holds the number of its last change, counted over the whole stream. The entries are in
// small tables of fixed size. Two ranks, or two regions, that share an entry may cause an
// unnecessary fence, but never a missing one. Cost: 200 bytes a node.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rma/base/rank.hpp"
#include "rma/region_id.hpp"

namespace tessera::rma::server {

class ChangeTracker {
 public:
  /// Records a change that was sent. Requires: one caller at a time.
  void record(WorldRank target, RegionId region) noexcept {
    const std::uint64_t number = count_.load(std::memory_order_relaxed) + 1;
    by_rank_[rank_entry(target)].store(number);
    by_region_[region_entry(target, region)].store(number);
    count_.store(number);
  }

  /// The number of the last change; a fence that is sent now covers all changes up to it.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(); }

  /// The last change that is known to be in effect, with all changes before it.
  [[nodiscard]] std::uint64_t fenced() const noexcept { return fenced_.load(); }

  /// Records that a fence covering `count` changes was answered. Answers may arrive out of order.
  void record_fenced(std::uint64_t count) noexcept {
    std::uint64_t before = fenced_.load();
    while (before < count && !fenced_.compare_exchange_weak(before, count)) {
    }
  }

  /// True if all changes at a rank's region are covered; for any_region, those at all of its
  /// regions.
  [[nodiscard]] bool is_fenced(WorldRank target, RegionId region) const noexcept {
    const std::atomic<std::uint64_t>& last = region == any_region
                                                 ? by_rank_[rank_entry(target)]
                                                 : by_region_[region_entry(target, region)];
    return last.load() <= fenced_.load();
  }

 private:
  static constexpr std::size_t ranks = 8;
  static constexpr std::size_t regions = 15;

  static std::size_t rank_entry(WorldRank target) noexcept {
    return static_cast<std::uint32_t>(target.value) % ranks;
  }
  // Neighbouring ranks and neighbouring regions get different entries.
  static std::size_t region_entry(WorldRank target, RegionId region) noexcept {
    constexpr std::uint32_t spread = 4;
    return (static_cast<std::uint32_t>(target.value) * spread + region.value) % regions;
  }

  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> fenced_{0};
  std::array<std::atomic<std::uint64_t>, ranks> by_rank_{};
  std::array<std::atomic<std::uint64_t>, regions> by_region_{};
};

}  // namespace tessera::rma::server
