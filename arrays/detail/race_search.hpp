// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The search for races: members of a team compare what each of them did to arrays.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "arrays/detail/touch.hpp"
#include "rma/job.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::arrays::detail {

/// A touch, and of which array, by a number that is the same on all members.
struct LoggedTouch {
  std::uint64_t array = 0;
  bool is_strict = false;  ///< accumulates and atomic operations go together
  Touch touch;
};

/// Two touches that nothing orders.
struct Race {
  bool is_found = false;
  std::uint64_t array = 0;
  Touch first;
  Touch second;
  rma::WorldRank first_rank;
  rma::WorldRank second_rank;
  rma::WorldRank finder;
  Box common;
};

/// An array and two kinds of touches, in either order.
using RaceKind = std::pair<std::uint64_t, std::uint32_t>;

/// Collective. One race of each kind that is not `known`, the same on all members; they are known
/// then. Memory: 4 MiB at most, however many members have logged however much.
/// Errors: those of collectives.
rma::Result<std::vector<Race>> find_races(const rma::Job& job, rma::Team& team,
                                          std::span<const LoggedTouch> mine,
                                          std::set<RaceKind>& known);

}  // namespace tessera::arrays::detail
