// SPDX-License-Identifier: BSD-3-Clause
//
// Internal, also for the layers above. Members of a team compare their arguments.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "rma/base/result.hpp"
#include "rma/team.hpp"

namespace tessera::arrays::detail {

/// Collective. Returns an error with `hint` on all members, if a member's value differs from the
/// first member's. `what` names the value. T can be compared and copied byte by byte. Cost: one
/// allgather. Errors: invalid_argument, and those of the allgather.
template <class T>
rma::Status check_same_on_all(
    rma::Team& team, const T& mine, std::string_view what,
    std::string_view hint = "all members must call it with the same arguments") {
  TESSERA_ASSIGN_OR_RETURN(const auto all, team.allgather_value(mine));
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] != all[0]) {
      return team.name_rank(
          rma::Status::error(rma::Code::invalid_argument,
                             fmt::format("rank {} gave another {} than rank {}",
                                         team.members()[i].value, what, team.members()[0].value))
              .hint(hint));
    }
  }
  return {};
}

}  // namespace tessera::arrays::detail
