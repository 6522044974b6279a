// SPDX-License-Identifier: BSD-3-Clause
//
// LockKeeper: takes the queue locks of this node for ranks of other nodes (the node-aware queue
// locks of [CLUSTERS02] §3). They stand in the same queues as this node's ranks.
//
// Nobody waits in here: whoever gets no lock at once has a turn, and learns by look() what came of
// it. The agent calls that when its bell was rung and in each of next_look().
//
// Threads: the agent's only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "rma/engine/node_link.hpp"
#include "rma/node/directory.hpp"
#include "rma/node/node.hpp"
#include "rma/node/queue_lock.hpp"
#include "rma/result.hpp"
#include "rma/server/wire.hpp"

namespace tessera::rma::server {

class LockKeeper {
 public:
  /// `lane`: of the directory.
  explicit LockKeeper(detail::Node& node, int lane = 0) noexcept
      : node_(node), directory_(node.arena(), node.lock_context(), lane) {}

  /// Receives what came of a request for a lock: a word as lock_word() gives it, or an error. An
  /// error of its own is its peer's end, which forget() is told of.
  using Answer = std::function<void(const FrameHeader& request, Result<std::uint64_t> word)>;

  /// Answers at once when the lock is free or is not to be waited for, else by a later look().
  /// Refused with limit_exceeded is who waits for very many at once.
  void lock(const FrameHeader& request, const Answer& answer);
  /// Errors: closed (no such locks), out_of_range (no such lock), invalid_argument (the origin does
  /// not hold it).
  Status unlock(const FrameHeader& request);
  /// Answers those who were told since.
  void look(const Answer& answer);

  /// How long the agent may sleep; max(): nobody waits.
  [[nodiscard]] std::chrono::milliseconds next_look() const;

  /// This rank of another node is gone: it waits no more.
  void forget(WorldRank guest);

 private:
  struct Waiting {
    FrameHeader request;
    detail::QueueLock::Turn turn;
  };
  /// Calls action(lock) with the lock that `request` names, which nobody frees meanwhile.
  template <class Action>
  Status visit(const FrameHeader& request, Action&& action) const;
  [[nodiscard]] Result<std::uint64_t> take_or_leave(const FrameHeader& request) const;
  /// True when it was answered.
  bool advance(Waiting& waiting, const Answer& answer);

  detail::Node& node_;
  detail::Directory directory_;
  std::vector<Waiting> waiting_;  ///< in the order in which they came
};

/// The first word of a `lock` request that is answered at once.
inline constexpr std::uint64_t lock_without_waiting = 1;

/// What `lock` is answered with: 0, the rank that died or left while it held the lock, or that
/// another has it.
[[nodiscard]] std::uint64_t lock_word(const detail::LockOutcome& outcome) noexcept;
[[nodiscard]] detail::LockOutcome lock_outcome(std::uint64_t word) noexcept;

}  // namespace tessera::rma::server
