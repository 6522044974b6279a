// SPDX-License-Identifier: BSD-3-Clause
//
// Exchange: rounds in which each member of a team writes to all others, and all check that
// everything has arrived. All members run the same rounds, one after the other. If a member returns
// an error, the exchange is over.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"

namespace tessera::rma {

/// An error that quotes `claim`, if `condition` is false.
inline Status expect(bool condition, std::string_view claim) {
  return condition ? Status() : Status::error(Code::internal, fmt::format("not true: {}", claim));
}

class Exchange {
 public:
  /// Collective on `team`, which outlives this object.
  static Result<Exchange> create(Job& job, Team& team) {
    TESSERA_ASSIGN_OR_RETURN(Region region, Region::allocate(team, slice_bytes(team)));
    return Exchange(job, team, std::move(region));
  }

  [[nodiscard]] std::int64_t rounds() const noexcept { return round_; }

  /// Collective. Errors: those of the library; internal, if something is missing.
  Status run_rounds(std::int64_t count) {
    for (const std::int64_t last = round_ + count; round_ < last;) {
      TESSERA_RETURN_IF_ERROR(run_round());
    }
    return {};
  }

  /// Collective. One round.
  Status run_round() {
    ++round_;
    TESSERA_RETURN_IF_ERROR(write_to_all());
    TESSERA_RETURN_IF_ERROR(team_.barrier());
    TESSERA_RETURN_IF_ERROR(check_values());
    return team_.barrier();
  }

  /// One-sided. The first part of a round: all members have checked the previous round.
  Status write_to_all() {
    for (std::int32_t each = 1; each < team_.size(); ++each) {
      TESSERA_RETURN_IF_ERROR(write_to(TeamRank{(team_.rank().value + each) % team_.size()}));
    }
    return region_.fence();
  }

 private:
  static constexpr std::size_t block_words = std::size_t{8} << 10;
  static constexpr std::size_t block_bytes = block_words * sizeof(std::int64_t);

  Exchange(Job& job, Team& team, Region region)
      : job_(job), team_(team), region_(std::move(region)) {}

  // The sum of the additions, and a block from each member.
  static std::size_t slice_bytes(const Team& team) {
    return sum_bytes + block_bytes * static_cast<std::size_t>(team.size());
  }
  static constexpr std::size_t sum_bytes = 64;
  [[nodiscard]] RemoteAddress block_at(TeamRank rank, TeamRank writer) const {
    return region_.at(rank, sum_bytes + block_bytes * static_cast<std::size_t>(writer.value));
  }

  Status write_to(TeamRank rank) {
    const std::vector<std::int64_t> block(block_words, round_);
    const std::int64_t one = 1;
    TESSERA_RETURN_IF_ERROR(put(job_, block_at(rank, team_.rank()), block.data(), block_bytes));
    return accumulate(job_, region_.at(rank), &one, sizeof(one), Scale::of(one));
  }

  // Checks what the others wrote here, and this rank's block at the next member.
  Status check_values() {
    std::vector<std::int64_t> block(block_words);
    for (std::int32_t writer = 0; writer < team_.size(); ++writer) {
      if (writer != team_.rank().value) {
        TESSERA_RETURN_IF_ERROR(check_block(team_.rank(), TeamRank{writer}, block));
      }
    }
    if (team_.size() > 1) {
      const TeamRank next{(team_.rank().value + 1) % team_.size()};
      TESSERA_RETURN_IF_ERROR(check_block(next, team_.rank(), block));
    }
    TESSERA_ASSIGN_OR_RETURN(const auto sum,
                             get_value<std::int64_t>(job_, region_.at(team_.rank())));
    return expect(sum == round_ * (team_.size() - 1), "each member has added once in each round");
  }

  Status check_block(TeamRank rank, TeamRank writer, std::vector<std::int64_t>& block) {
    TESSERA_RETURN_IF_ERROR(get(job_, block_at(rank, writer), block.data(), block_bytes));
    const bool is_whole = std::all_of(block.begin(), block.end(),
                                      [this](std::int64_t word) { return word == round_; });
    return expect(is_whole, "the block is this round's");
  }

  Job& job_;
  Team& team_;
  Region region_;
  std::int64_t round_ = 0;
};

}  // namespace tessera::rma
