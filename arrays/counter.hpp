// SPDX-License-Identifier: BSD-3-Clause
//
// Counter: a number that all ranks of a team draw from, for dynamic load balance (GA's read_inc).
//
//     for (;;) {
//       const std::int64_t task = counter.next(4).value();     // four tasks: task … task + 3
//       if (task >= tasks) break;
//       …
//     }
//
// Cost: one atomic fetch-and-add on the owner's memory a draw.
// Threads: next() from any thread. Ownership: move-only; the destructor frees, collectively.
#pragma once

#include <cstdint>

#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/result.hpp"

namespace tessera::arrays {

class Counter {
 public:
  /// Collective on `team`. Makes a counter at zero in the memory of its member `owner`.
  /// Errors: invalid_argument (no such member, or not the same on all members), no_memory.
  static rma::Result<Counter> create(const rma::Job& job, rma::Team& team,
                                     rma::TeamRank owner = {});

  /// One-sided. Returns the value and adds `count` to it. Errors: as rma::fetch_add; closed.
  rma::Result<std::int64_t> next(std::int64_t count = 1) const;

  /// Collective. Sets the value, of which all members give the same; nobody may draw meanwhile.
  /// Errors: those of any member, on all; invalid_argument for values that differ, and nothing is
  /// set then; also what a fence would find.
  rma::Status reset(std::int64_t value = 0);

  /// Collective. Idempotent.
  rma::Status free() { return region_.free(); }

 private:
  Counter(const rma::Job& job, rma::Region region, rma::TeamRank owner)
      : job_(job), region_(std::move(region)), owner_(owner) {}
  mutable rma::Job job_;
  rma::Region region_;
  rma::TeamRank owner_;
};

}  // namespace tessera::arrays
