// SPDX-License-Identifier: BSD-3-Clause
//
// LockOutcome: the result of a request for a queue lock, as ranks of all nodes get it.
#pragma once

#include "rma/base/rank.hpp"
#include "rma/node/node.hpp"
#include "rma/node/queue_lock.hpp"

namespace tessera::rma::detail {

/// The result of waiting for a lock, or of trying to take it.
struct LockOutcome {
  bool is_acquired = true;
  bool is_busy = false;  ///< not acquired: a rank that is alive holds it
  // neither: the rank that died or left while holding it; the lock is not taken
  WorldRank holder{};
  bool holder_left = false;
};

/// `dead_local_rank` is the local rank of the holder, if it died.
inline LockOutcome lock_outcome_of(const Node& node, QueueLock::Outcome outcome,
                                   int dead_local_rank) {
  if (outcome == QueueLock::Outcome::acquired) {
    return {};
  }
  return {.is_acquired = false,
          .holder = node.rank_at(dead_local_rank),
          .holder_left = node.has_left(dead_local_rank)};
}

}  // namespace tessera::rma::detail
