// SPDX-License-Identifier: BSD-3-Clause
//
// RemoteLocks: a team's locks, if its members communicate over a network that has locks of its own.
//
// Threads: all functions except free() may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/engine/lock_outcome.hpp"

namespace tessera::rma::detail {

class RemoteLocks {
 public:
  virtual ~RemoteLocks() = default;

  /// Waits for a lock of a member; calls `report_wait` at intervals meanwhile. Errors: peer_lost,
  /// unreachable.
  virtual Result<LockOutcome> lock(TeamRank owner, std::int64_t index,
                                   const std::function<void()>& report_wait) = 0;
  /// The same without waiting: the outcome may be "busy".
  virtual Result<LockOutcome> try_lock(TeamRank owner, std::int64_t index) = 0;
  /// Releases it, after all that this rank did before. Requires: this rank holds it.
  virtual Status unlock(TeamRank owner, std::int64_t index) = 0;
  /// Collective. Requires: no lock is held or waited for.
  virtual Status free() = 0;
};

}  // namespace tessera::rma::detail
