// SPDX-License-Identifier: BSD-3-Clause
//
// TeamControl: the words by which the members of a team on one node synchronise. It lies at the
// start of the team's memory on that node (team_memory.hpp).
//
// A *failure word* is a value of `broken`. It names the rank because of which a step was given up;
// 0 means that nothing failed. ConnectionLossWord has the form for ranks that cannot be reached.
//
// A step has the number that `generation` had when it began. Only the first member that arrives at
// a step, and one that called something else, write into the step's Check. Others read it after all
// members have arrived.
#pragma once

#include <atomic>
#include <cstdint>

#include "rma/base/futex.hpp"
#include "rma/base/rank.hpp"
#include "rma/node/node_memory.hpp"

namespace tessera::rma::detail {

struct TeamControl {
  struct alignas(cache_line) Check {
    /// Of the first member that arrived; it stores the other fields afterwards. 0: none has
    /// arrived.
    std::atomic<std::uint64_t> fingerprint{0};
    std::atomic<std::uint64_t> call{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::int32_t> first{-1};
    std::atomic<std::uint32_t> odd{0};  ///< a world rank that called something else, plus one
    std::atomic<std::uint64_t> odd_call{0};
    std::atomic<std::uint64_t> odd_fingerprint{0};
  };
  alignas(cache_line) FutexWord arrived{0};
  alignas(cache_line) FutexWord generation{0};
  std::atomic<std::uint32_t> sleepers{0};
  std::uint64_t slot_bytes = 0;
  /// The failure word: a world rank that is gone, plus one. With left_bit if it left, with
  /// no_memory_bit if it is alive but had no memory for the team, with both if it is alive but was
  /// interrupted. Or a ConnectionLossWord.
  std::atomic<std::uint32_t> broken{0};
  /// With several nodes: a leader sleeps on `arrived`.
  std::atomic<std::uint32_t> leader_sleeps{0};
  /// With several nodes: the last step for which all of this node's members had arrived and the
  /// leader began to exchange with the other leaders. Its generation plus one.
  std::atomic<std::uint32_t> entered{0};
  std::uint64_t bytes = 0;   ///< of the whole allocation
  std::uint32_t memory = 0;  ///< the number by which other nodes know it, or 0
  /// The memory for long data, if any: its number for other nodes, and where it is.
  std::uint32_t long_memory = 0;
  std::uint64_t long_offset = 0;
  std::uint64_t long_bytes = 0;
  Check check[2];
  static constexpr std::uint32_t left_bit = 0x8000'0000;
  static constexpr std::uint32_t no_memory_bit = 0x4000'0000;
  /// In `generation`: this step, and so every later one, is given up. One compare-and-swap of that
  /// word decides whether a step took place, so that all members return the same.
  static constexpr std::uint32_t given_up_bit = 0x8000'0000;

  /// The failure word for a rank that died.
  [[nodiscard]] static std::uint32_t died(WorldRank rank) noexcept {
    return static_cast<std::uint32_t>(rank.value) + 1;
  }
  [[nodiscard]] static std::uint32_t left(WorldRank rank) noexcept { return died(rank) | left_bit; }
  /// The failure word for a rank that had no memory for the team.
  [[nodiscard]] static std::uint32_t without_memory(WorldRank rank) noexcept {
    return died(rank) | no_memory_bit;
  }

  /// The failure word for a rank that gave up a collective (rma/interruption.hpp).
  [[nodiscard]] static std::uint32_t interrupted(WorldRank rank) noexcept {
    return died(rank) | left_bit | no_memory_bit;
  }

  /// The generation after that of a step.
  [[nodiscard]] static std::uint32_t after(std::uint32_t step) noexcept {
    return (step + 1) & ~given_up_bit;
  }

  /// Gives up the step of that generation, unless it took place meanwhile. The cause is `word`, or
  /// the failure that was in `broken` before.
  void give_up(std::uint32_t under_way, std::uint32_t word) noexcept {
    std::uint32_t whole = 0;
    broken.compare_exchange_strong(whole, word);
    // The rank that is gone may have arrived before it went, and the last one may arrive just now.
    std::uint32_t expected = under_way;
    generation.compare_exchange_strong(expected, under_way | given_up_bit);
    futex_wake_all(generation);
  }
};

}  // namespace tessera::rma::detail
