// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The race check: members of a team compare their accesses to arrays.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "arrays/detail/access_record.hpp"
#include "arrays/detail/order_graph.hpp"
#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::arrays::detail {

/// An access, and its array, by a number that is the same on all members.
struct LoggedAccess {
  std::uint64_t array = 0;
  bool is_strict = false;  ///< accumulates and atomic operations don't conflict
  AccessRecord access;
  std::uint64_t age = 0;  ///< how many collectives of the team followed
};

/// What this member logged.
struct MemberLog {
  std::vector<LoggedAccess> accesses;
  std::vector<OrderEntry> orders;
  bool has_all_orders = true;
};

/// Two accesses without an order between them.
struct Race {
  bool is_found = false;
  std::uint64_t array = 0;
  AccessRecord first;
  AccessRecord second;
  rma::WorldRank first_rank;
  rma::WorldRank second_rank;
  rma::WorldRank finder;
  Box common;
};

/// An array and two kinds of accesses, in either order.
using RaceKind = std::pair<std::uint64_t, std::uint32_t>;

/// Collective. Returns one race of each kind that is not in `known`, the same on all members, and
/// adds these kinds to `known`. Memory: at most 4 MiB for accesses, and as much for ordering calls,
/// for any number of members. Errors: those of collectives.
rma::Result<std::vector<Race>> find_races(const rma::Job& job, rma::Team& team,
                                          const MemberLog& mine, std::set<RaceKind>& known);

}  // namespace tessera::arrays::detail
