// SPDX-License-Identifier: BSD-3-Clause
//
// Counter: a shared number that all ranks of a team draw from, for dynamic load balance (GA's
// read_inc).
//
//     for (;;) {
//       const std::int64_t task = counter.next(4).value();     // four tasks: task … task + 3
//       if (task >= tasks) break;
//       …
//     }
//
// Cost of a draw: one atomic fetch-and-add in the owner's memory. Threads: next() from any thread.
// Ownership: move-only; the destructor frees the counter, collectively.
#pragma once

#include <cstdint>

#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

class Counter {
 public:
  /// Collective on `team`. Makes a counter with value 0 in the memory of its member `owner`.
  /// Errors: invalid_argument (no such member, or members give different ones), no_memory.
  static rma::Result<Counter> create(const rma::Job& job, rma::Team& team,
                                     rma::TeamRank owner = {});

  /// One-sided. Returns the value and then adds `count` to it. Errors: as rma::fetch_add; closed.
  rma::Result<std::int64_t> next(std::int64_t count = 1) const;

  /// Collective. Sets the value; all members give the same one. No rank may draw at the same time.
  /// Errors: those of any member, on all; invalid_argument if the values differ, and nothing is set
  /// then; those that a fence would find.
  rma::Status reset(std::int64_t value = 0);

  /// Collective. Frees the memory. Idempotent.
  rma::Status free() { return region_.free(); }

 private:
  Counter(const rma::Job& job, rma::Region region, rma::TeamRank owner)
      : job_(job), region_(std::move(region)), owner_(owner) {}
  mutable rma::Job job_;
  rma::Region region_;
  rma::TeamRank owner_;
};

}  // namespace tessera::arrays
