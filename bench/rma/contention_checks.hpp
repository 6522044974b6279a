// SPDX-License-Identifier: BSD-3-Clause
//
// Checks that nothing is lost when several ranks change one target at the same time: sums, a count
// under a lock, tickets of a counter. All are collective, and return an error message
// or an empty string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "bench/support/rank_group.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::bench {

/// Doubles that ranks add to one target.
struct Sums {
  rma::Region& region;
  rma::TeamRank target;
  std::byte* from = nullptr;  ///< this rank's numbers; the check writes them
  std::size_t bytes = 0;      ///< per rank
  bool are_apart = false;     ///< true: rank r's begin at r × `bytes`; false: all begin at 0
  int adders = 0;             ///< the first `adders` ranks add; the others only watch
};

/// `add` adds this rank's numbers once; it is called on the ranks that add.
std::string verify_sums(RankGroup& group, rma::Job& job, const Sums& sums,
                        const std::function<void()>& add);

/// Whether at most one rank at a time is between `lock` and `unlock`. All ranks count in the word
/// at `word`, in steps that would lose counts of other ranks.
std::string verify_lock(RankGroup& group, rma::Job& job, const rma::RemoteAddress& word,
                        const std::function<void()>& lock, const std::function<void()>& unlock);

/// Whether `draw` returns each number exactly once.
std::string verify_draws(RankGroup& group, const std::function<std::int64_t()>& draw);

}  // namespace tessera::bench
