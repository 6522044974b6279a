// SPDX-License-Identifier: BSD-3-Clause
//
// RemoteLockServer: acquires the queue locks of this node for remote ranks (the node-aware queue
// locks of [CLUSTERS02] §3). Remote ranks are in the same queues as this node's ranks.
//
// No function waits. A request that does not get its lock at once receives a ticket, and
// answer_waiting() later reports the outcome. The agent calls it when its bell was rung and
// once in each max_delay() period.
//
// Threads: the agent's only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/engine/lock_outcome.hpp"
#include "rma/node/directory.hpp"
#include "rma/node/node.hpp"
#include "rma/node/queue_lock.hpp"
#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {

class RemoteLockServer {
 public:
  /// `shard`: of the directory of slices, which this thread locks.
  explicit RemoteLockServer(detail::Node& node, int shard = 0) noexcept
      : node_(node), directory_(node.arena(), node.lock_context(), shard) {}

  /// Receives the outcome of a lock request: a word as lock_word() returns it, or an error. An
  /// error that the callback itself has ends its peer's connection; forget() is called for that
  /// peer.
  using Answer = std::function<void(const FrameHeader& request, Result<std::uint64_t> word)>;

  /// Answers at once if the lock is free or the request does not wait; otherwise a later
  /// answer_waiting() answers. A rank that already waits for very many locks is refused with
  /// limit_exceeded.
  void lock(const FrameHeader& request, const Answer& answer);
  /// Errors: closed (no such locks), out_of_range (no such lock), invalid_argument (the origin does
  /// not hold it).
  Status unlock(const FrameHeader& request);
  /// Answers the requests whose outcome is known by now.
  void answer_waiting(const Answer& answer);

  /// How long answer_waiting() may be deferred; max(): no request waits.
  [[nodiscard]] std::chrono::milliseconds max_delay() const;

  /// This remote rank is gone: its requests no longer wait.
  void forget(WorldRank remote_rank);

 private:
  struct Waiting {
    FrameHeader request;
    detail::QueueLock::Ticket ticket;
  };
  /// Calls action(lock) with the lock that `request` names; the lock cannot be freed meanwhile.
  template <class Action>
  Status visit(const FrameHeader& request, Action&& action) const;
  [[nodiscard]] Result<std::uint64_t> try_lock(const FrameHeader& request) const;
  /// True when it was answered.
  bool advance(Waiting& waiting, const Answer& answer);

  detail::Node& node_;
  detail::Directory directory_;
  std::vector<Waiting> waiting_;  ///< in the order in which they came
};

}  // namespace tessera::rma::server
