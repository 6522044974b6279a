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
#include "arrays/detail/packed_access.hpp"
#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::arrays::detail {

/// What this member logged of one array.
struct ArrayLog {
  std::uint64_t array = 0;
  bool is_strict = false;
  std::uint32_t epoch = 0;  ///< of the log, now
  std::vector<AccessRecord> accesses;
};

/// What this member logged.
struct MemberLog {
  std::vector<ArrayLog> arrays;
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
/// adds these kinds to `known`. Cost: one allgather of some 200 bytes, which mostly shows that no
/// accesses conflict; otherwise several more, of all accesses. Memory: at most 4 MiB for
/// accesses, and as much for ordering calls, for any number of members. Errors: those of
/// collectives.
rma::Result<std::vector<Race>> find_races(const rma::Job& job, rma::Team& team,
                                          const MemberLog& mine, std::set<RaceKind>& known);

}  // namespace tessera::arrays::detail
