// SPDX-License-Identifier: BSD-3-Clause
//
// RemoteLocks: the locks of a team whose members reach each other by a network that has its own.
//
// Threads: all functions but free() may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>

#include "rma/engine/lock_outcome.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"

namespace tessera::rma::detail {

class RemoteLocks {
 public:
  virtual ~RemoteLocks() = default;

  /// Waits for a lock of a member; calls `look` now and then. Errors: peer_lost, unreachable.
  virtual Result<LockOutcome> lock(TeamRank owner, std::int64_t index,
                                   const std::function<void()>& look) = 0;
  /// The same without waiting for it: it may be busy.
  virtual Result<LockOutcome> try_lock(TeamRank owner, std::int64_t index) = 0;
  /// Gives it back, after all that this rank did before. Requires: this rank holds it.
  virtual Status unlock(TeamRank owner, std::int64_t index) = 0;
  /// Collective. Requires: no lock is held or waited for.
  virtual Status free() = 0;
};

}  // namespace tessera::rma::detail
