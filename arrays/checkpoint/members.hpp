// SPDX-License-Identifier: BSD-3-Clause
//
// What members of a team that share a checkpoint tell each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "arrays/array_base.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::arrays::detail {

/// The member that describes the arrays.
inline constexpr rma::TeamRank leader{0};

[[nodiscard]] inline bool is_leader(const rma::Team& team) noexcept {
  return team.rank() == leader;
}

/// Collective. The leader's bytes are everybody's.
rma::Status share(rma::Team& team, std::vector<std::byte>& bytes);
rma::Status share(rma::Team& team, std::string& text);

/// Collective. Error on all members when one has called with another `what`.
rma::Status check_same_call(rma::Team& team, std::string_view what, std::string_view text,
                            std::uint64_t number = 0);

/// Local. Errors: closed; invalid_argument when the array's team has other members than `team`, or
/// its access mode forbids `transfer`.
rma::Status check_array(const ArrayBase& array, const rma::Team& team, const Transfer& transfer);

}  // namespace tessera::arrays::detail
