// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. How collectives of this layer agree.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rma/region.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::linalg::detail {

/// Collective on the region's team. All that anybody wrote to the region is complete at return.
/// An error of any member's own work, `mine`, goes before those of the fences.
inline rma::Status meet(rma::Region& region, const rma::Status& mine) {
  rma::Status fenced = region.fence();
  return region.team().agree(mine.ok() ? fenced : mine);
}

/// Collective. Errors, on all members: invalid_argument when one was asked for another `what` than
/// the first.
template <class T>
rma::Status check_same_on_all(rma::Team& team, const T& mine, std::string_view what) {
  TESSERA_ASSIGN_OR_RETURN(const auto all, team.allgather_value(mine));
  const auto other =
      std::find_if(all.begin(), all.end(), [&](const T& each) { return !(each == all.front()); });
  if (other == all.end()) {
    return {};
  }
  return rma::Status::error(
      rma::Code::invalid_argument,
      fmt::format("rank {} asked for another {} than rank {}",
                  team.members()[static_cast<std::size_t>(other - all.begin())].value, what,
                  team.members()[0].value));
}

/// True when both teams have the same ranks in the same places.
inline bool same_members(const rma::Team& a, const rma::Team& b) {
  return std::equal(a.members().begin(), a.members().end(), b.members().begin(), b.members().end());
}

}  // namespace tessera::linalg::detail
