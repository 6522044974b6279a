// SPDX-License-Identifier: BSD-3-Clause
//
// Communication among the members of a team that share a checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "arrays/array_base.hpp"
#include "rma/base/result.hpp"
#include "rma/team.hpp"

namespace tessera::arrays::detail {

/// The member that describes the arrays.
inline constexpr rma::TeamRank leader{0};

[[nodiscard]] inline bool is_leader(const rma::Team& team) noexcept {
  return team.rank() == leader;
}

/// Collective. Gives the leader's bytes to all members.
rma::Status share(rma::Team& team, std::vector<std::byte>& bytes);
rma::Status share(rma::Team& team, std::string& text);

/// Collective. Returns an error on all members if they call it with different `what`, `text` or
/// `number`.
rma::Status check_same_call(rma::Team& team, std::string_view what, std::string_view text,
                            std::uint64_t number = 0);

/// Local. Errors: closed; invalid_argument if the array's team has other members than `team`, or
/// its access mode forbids `transfer`.
rma::Status check_array(const ArrayBase& array, const rma::Team& team, const Transfer& transfer);

}  // namespace tessera::arrays::detail
