// SPDX-License-Identifier: BSD-3-Clause
//
// StagingWindow: memory of each member of a team, in which the others leave data for it.
//
// It has a *lane* for each sender: a word, and two halves for data. The word has the bytes that the
// sender announces. Exchanges alternate between the halves, as collectives do between slots: a
// sender writes a half again only after the receiver has read it and both have met. Lanes are
// written by stores on the same node, else by puts.
//
// The memory is a region of the team. It does not keep the team alive, and is released without the
// other members, when this member's team ends.
//
// Threads: one at a time. Cost: 1 MiB for each member, or 1 KiB for each pair of members if that is
// more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/region.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

class StagingWindow {
 public:
  /// Collective. Errors: those of Region::allocate.
  static Result<std::shared_ptr<StagingWindow>> create(TeamState& team);
  StagingWindow(const StagingWindow&) = delete;
  StagingWindow& operator=(const StagingWindow&) = delete;
  ~StagingWindow();

  /// Bytes of each half of a lane.
  [[nodiscard]] std::size_t half_bytes() const noexcept { return half_bytes_; }
  [[nodiscard]] std::uint64_t word_offset(TeamRank sender) const noexcept {
    return static_cast<std::uint64_t>(sender.value) * lane_bytes();
  }
  [[nodiscard]] std::uint64_t half_offset(TeamRank sender, std::uint64_t half) const noexcept {
    return word_offset(sender) + word_bytes + half * half_bytes_;
  }
  /// A place in a member's memory, and where it is mapped here; null if it is not.
  [[nodiscard]] RemoteAddress at(TeamRank member, std::uint64_t offset) const noexcept;
  [[nodiscard]] std::byte* direct(TeamRank member, std::uint64_t offset) const noexcept;

  /// Completes this rank's puts at their targets.
  Status fence();
  /// Around the reading of this rank's own memory.
  Status begin_access();
  Status end_access();
  [[nodiscard]] const std::byte* own(std::uint64_t offset) const noexcept;

 private:
  static constexpr std::size_t word_bytes = 64;  // a cache line, so that data are aligned

  StagingWindow(const TeamState& team, std::size_t half_bytes) noexcept
      : team_(team), half_bytes_(half_bytes) {}
  [[nodiscard]] std::size_t lane_bytes() const noexcept { return word_bytes + 2 * half_bytes_; }

  const TeamState& team_;
  std::shared_ptr<RegionState> region_;  ///< does not own its team
  std::size_t half_bytes_;
};

}  // namespace tessera::rma::detail
