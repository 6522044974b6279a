// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. How many ranks give each other different amounts: first each tells each other one how
// much will come from it, then each lays out one receive buffer, by origin, and tells the origins
// their places in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rma/job.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::linalg::detail {

/// Where what ranks give each other lies in their receive buffers, in elements.
struct Placement {
  std::vector<std::int64_t> places;  ///< of this rank's first in each rank's buffer
  std::vector<std::int64_t> begins;  ///< of each rank's in this rank's buffer, then the end of all
};

/// Collective. For `counts` elements from this rank to each. Errors: that of any member's counts;
/// no_memory, peer_lost.
/// Memory: 24 bytes a rank.
rma::Result<Placement> place_by_origin(rma::Job& job, rma::Team& team,
                                       const rma::Result<std::vector<std::int64_t>>& counts);

/// What one rank has for another.
struct RankList {
  rma::TeamRank rank;
  std::vector<std::int64_t> numbers;
};

/// Collective. Gives each rank the lists that others have for it, by origin; empty ones don't come.
/// Requires: `given` has each rank once at most. Errors: that of any member's lists; no_memory,
/// peer_lost.
rma::Result<std::vector<RankList>> exchange_lists(rma::Job& job, rma::Team& team,
                                                  const rma::Result<std::vector<RankList>>& given);

}  // namespace tessera::linalg::detail
