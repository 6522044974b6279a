// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. An exchange of lists of different lengths among many ranks. First each rank announces
// to each other one how many elements it will send. Then each rank lays out one receive buffer, by
// origin, and the origins read their offsets in it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::linalg::detail {

/// The offsets of exchanged elements in the receive buffers, in elements.
struct Placement {
  std::vector<std::int64_t> offsets;  ///< of this rank's first element in each rank's buffer
  std::vector<std::int64_t> begins;   ///< of each rank's part of this rank's buffer, then the end
};

/// Collective. `counts` has the number of elements from this rank to each rank. Errors: that of any
/// member's counts; no_memory, peer_lost. Memory: 24 bytes for each rank.
rma::Result<Placement> offsets_by_origin(
    rma::Job& job, rma::Team& team,
    const std::function<rma::Result<std::vector<std::int64_t>>()>& count);

/// One rank's list for another rank.
struct RankList {
  rma::TeamRank rank;
  std::vector<std::int64_t> numbers;
};

/// Collective. Gives each rank the lists that others have for it, by origin; empty lists are
/// omitted. Requires: `given` has each rank at most once. Errors: that of any member's lists;
/// no_memory, peer_lost.
rma::Result<std::vector<RankList>> exchange_lists(
    rma::Job& job, rma::Team& team,
    const std::function<rma::Result<std::vector<RankList>>()>& make);

}  // namespace tessera::linalg::detail
