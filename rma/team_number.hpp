// SPDX-License-Identifier: BSD-3-Clause
//
// The number of a team as an object of OrderCall: a collective of one team also orders members of
// other teams.
#pragma once

#include <cstdint>
#include <span>

#include "rma/base/rank.hpp"
#include "rma/label.hpp"

namespace tessera::rma::detail {

/// Local. The same for teams of the same ranks in the same order. Cost: grows with the team.
[[nodiscard]] inline std::uint64_t number_of_team(std::span<const WorldRank> members) noexcept {
  // Above 32 bits: mix() of equal numbers is 0, which stands for an unknown object.
  constexpr std::uint64_t teams = std::uint64_t{4} << 32U;
  std::uint64_t number = teams;
  for (const WorldRank member : members) {
    number = Label::mix(number, static_cast<std::uint32_t>(member.value));
  }
  return number;
}

}  // namespace tessera::rma::detail
