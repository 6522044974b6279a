// SPDX-License-Identifier: BSD-3-Clause
//
// Whether what ranks do to one target at the same time is all there afterwards: sums, what is
// counted under a lock, tickets of a counter. All are collective over `crew`, and say what is
// wrong, or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "bench/support/crew.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::bench {

/// Doubles that ranks add to one target.
struct Sums {
  rma::Region& region;
  rma::TeamRank target;
  std::byte* from = nullptr;  ///< this rank's numbers, written by the check
  std::size_t bytes = 0;      ///< of each rank
  bool are_apart = false;     ///< each rank's at `bytes` times its number, or all at 0
  int adders = 0;             ///< the first so many ranks add; the others watch
};

/// `add` adds this rank's numbers once; it is called on those that add.
std::string verify_sums(Crew& crew, rma::Job& job, const Sums& sums,
                        const std::function<void()>& add);

/// Whether no two ranks are between `lock` and `unlock`: all count there, in steps that would lose
/// each other's, in the word at `word`.
std::string verify_lock(Crew& crew, rma::Job& job, const rma::RemoteAddress& word,
                        const std::function<void()>& lock, const std::function<void()>& unlock);

/// Whether `draw` gives each number once, and leaves none out.
std::string verify_draws(Crew& crew, const std::function<std::int64_t()>& draw);

}  // namespace tessera::bench
