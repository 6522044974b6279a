// SPDX-License-Identifier: BSD-3-Clause
//
// LockOutcome: what came of a queue lock, as ranks of any node are told of it.
#pragma once

#include "rma/node/node.hpp"
#include "rma/node/queue_lock.hpp"
#include "rma/rank.hpp"

namespace tessera::rma::detail {

/// What came of waiting for a lock, or of asking whether it is free.
struct LockOutcome {
  bool is_acquired = true;
  bool is_busy = false;  ///< else: another has it, who lives
  WorldRank holder{};    ///< else: who died or left while holding it; the lock is not taken
  bool holder_left = false;
};

/// `dead_place` is that of the holder, where it died.
inline LockOutcome lock_outcome_of(const Node& node, QueueLock::Outcome outcome, int dead_place) {
  if (outcome == QueueLock::Outcome::acquired) {
    return {};
  }
  return {.is_acquired = false,
          .holder = node.rank_at(dead_place),
          .holder_left = node.has_left(dead_place)};
}

}  // namespace tessera::rma::detail
