// SPDX-License-Identifier: BSD-3-Clause
//
// Changes: which of the requests that change memory at a node a fence still has to cover.
//
// A stream keeps order, so the answer to a fence covers all that was sent before it, whomever that
// concerned. Whether there is anything to ask for is told apart by target rank, and by target rank
// and region: for each there is the number of the last change, of all on this stream. The numbers
// lie in small tables of fixed size; two ranks, or two regions, that share a place in one are
// fenced once too often, and never too seldom. 200 bytes a node.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rma/rank.hpp"
#include "rma/region_id.hpp"

namespace tessera::rma::server {

class Changes {
 public:
  /// A change that was sent. Callers take turns.
  void note(WorldRank target, RegionId region) noexcept {
    const std::uint64_t number = count_.load(std::memory_order_relaxed) + 1;
    by_rank_[rank_place(target)].store(number);
    by_region_[region_place(target, region)].store(number);
    count_.store(number);
  }

  /// What a fence covers that is asked for now.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(); }

  /// The last one that is known to be in effect, with all before it.
  [[nodiscard]] std::uint64_t fenced() const noexcept { return fenced_.load(); }

  /// The answer to a fence that covers `count`. An earlier one's may come later.
  void note_fenced(std::uint64_t count) noexcept {
    std::uint64_t before = fenced_.load();
    while (before < count && !fenced_.compare_exchange_weak(before, count)) {
    }
  }

  /// True when all changes at a rank are covered; for any_region, at all of its regions.
  [[nodiscard]] bool is_fenced(WorldRank target, RegionId region) const noexcept {
    const std::atomic<std::uint64_t>& last = region == any_region
                                                 ? by_rank_[rank_place(target)]
                                                 : by_region_[region_place(target, region)];
    return last.load() <= fenced_.load();
  }

 private:
  static constexpr std::size_t ranks = 8;
  static constexpr std::size_t regions = 15;

  static std::size_t rank_place(WorldRank target) noexcept {
    return static_cast<std::uint32_t>(target.value) % ranks;
  }
  // Neighbouring ranks and neighbouring regions are apart.
  static std::size_t region_place(WorldRank target, RegionId region) noexcept {
    constexpr std::uint32_t spread = 4;
    return (static_cast<std::uint32_t>(target.value) * spread + region.value) % regions;
  }

  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> fenced_{0};
  std::array<std::atomic<std::uint64_t>, ranks> by_rank_{};
  std::array<std::atomic<std::uint64_t>, regions> by_region_{};
};

}  // namespace tessera::rma::server
