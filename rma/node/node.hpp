// SPDX-License-Identifier: BSD-3-Clause
//
// Node: this rank's membership of its node: the shared memory, the other ranks on the node, and
// which of them are gone.
//
// Each rank has a *local rank* on its node, 0 … ranks − 1 in the order of world ranks. A rank is
// gone when it has left the job or its process has ended; both are permanent.
//
// Threads: all functions may be called from any thread of the rank.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/node/arena.hpp"
#include "rma/node/node_memory.hpp"
#include "rma/progress/progress_delegate.hpp"
#include "rma/progress/waiter.hpp"

namespace tessera::rma::detail {

class Node final : public Liveness {
 public:
  /// `memory` is shared with the other ranks of this process if they are threads; `one_process`
  /// says that they are, and then a rank is gone only after it has left.
  Node(std::shared_ptr<NodeMemory> memory, std::vector<WorldRank> ranks, int local_rank,
       bool one_process, WaitPolicy policy);
  ~Node() override = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Registers this rank: others may rely on its liveness from now on. Errors: internal.
  Status enter();
  /// Allocates the tables for ranks of other nodes, for `world_ranks` ranks: their notifications,
  /// and their peer states. Called once, by the rank that serves them, before it does.
  /// Errors: no_memory. Cost: address space; memory only where it is used.
  Status make_remote_rank_tables(std::int32_t world_ranks);
  /// Leaves the job; a peer that waits for this rank finds out at its next liveness check.
  void leave() noexcept;

  [[nodiscard]] int local_rank() const noexcept { return local_rank_; }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] const std::vector<WorldRank>& ranks() const noexcept { return ranks_; }
  /// The local rank of a world rank on this node, or −1.
  [[nodiscard]] int local_rank_of(WorldRank rank) const noexcept {
    const std::int64_t offset = std::int64_t{rank.value} - ranks_.front().value;
    if (offset < 0 || offset >= rank_span_) {
      return -1;
    }
    return local_rank_in_span_.empty() ? static_cast<int>(offset)
                                       : local_rank_in_span_[static_cast<std::size_t>(offset)];
  }

  /// The number of world ranks from the first to the last of this node; more than size() if ranks
  /// of other nodes lie between.
  [[nodiscard]] std::int64_t rank_span() const noexcept { return rank_span_; }

  [[nodiscard]] Arena& arena() noexcept { return arena_; }
  [[nodiscard]] NodeMemory& memory() const noexcept { return *memory_; }
  [[nodiscard]] const LockContext& lock_context() const noexcept { return context_; }
  [[nodiscard]] const WaitPolicy& policy() const noexcept { return policy_; }
  [[nodiscard]] bool is_one_process() const noexcept { return one_process_; }

  /// What this rank's threads advance while they wait, or null. It must live until it is replaced,
  /// and no thread may wait while that happens.
  void set_progress_delegate(ProgressDelegate* delegate) noexcept {
    progress_delegate_.store(delegate, std::memory_order_release);
  }
  [[nodiscard]] ProgressDelegate* progress_delegate() const noexcept {
    return NoProgressScope::is_active() ? nullptr
                                        : progress_delegate_.load(std::memory_order_acquire);
  }

  /// How this thread waits for other ranks.
  /// Requires: the caller holds no lock of this node's memory, until the wait is over.
  [[nodiscard]] Waiter waiter() const noexcept { return Waiter(policy_, progress_delegate()); }

  /// Ranks of other nodes, for which this node's agent waits in queues, have numbers after the
  /// local ranks.
  [[nodiscard]] int remote_rank_slot(WorldRank rank) const noexcept { return size() + rank.value; }
  [[nodiscard]] bool is_remote_rank(int local_rank) const noexcept { return local_rank >= size(); }
  /// The rank with a local number, on this node or a remote one.
  [[nodiscard]] WorldRank rank_at(int local_rank) const noexcept {
    return is_remote_rank(local_rank) ? WorldRank{local_rank - size()}
                                      : ranks_[static_cast<std::size_t>(local_rank)];
  }

  /// True if the rank `local_rank` left the job or its process ended. For a remote rank: if the
  /// agent's connection to it has ended.
  [[nodiscard]] bool is_gone(int local_rank) const;
  /// True if it left after Job::stop().
  [[nodiscard]] bool has_left(int local_rank) const;

  /// True if the process of the rank `local_rank` has ended: it will not access the node's memory
  /// again. Before a rank has entered, the start timeout of the job covers it, not this function.
  [[nodiscard]] bool has_ended(int local_rank) const override;

  /// Wakes the threads of the rank `local_rank` that listen to its doorbell.
  void ring(int local_rank) noexcept;

  /// Waits until `ready()`, which is polled whenever this rank's doorbell rings, or until
  /// `give_up()`, which is called once per liveness interval. Returns ready().
  template <class Ready, class GiveUp>
  bool listen_until(Ready&& ready, GiveUp&& give_up);

  /// Puts a join message into the inbox of the rank `local_rank`; waits while the inbox is full.
  /// The sender is this rank unless the message names one, which may be on another node. Errors:
  /// peer_lost if the receiver is gone.
  Status send_join(int local_rank, JoinMessage message);
  /// The same without waiting: false if the inbox is full.
  Result<bool> try_send_join(int local_rank, JoinMessage message);
  /// Waits for a join message with `key` from a rank of the job, which may be on another node.
  /// `is_gone` is called once per liveness interval and says whether the sender is gone.
  /// Errors: peer_lost if it is.
  Result<JoinMessage> receive_join(std::uint64_t key, WorldRank sender,
                                   const std::function<bool()>& is_gone);

 private:
  [[nodiscard]] RankRecord& own() const noexcept { return memory_->record(local_rank_); }
  void drain_inbox();
  std::optional<JoinMessage> take_join_message(std::uint64_t key, WorldRank sender) noexcept;
  std::optional<JoinMessage> take_from_inbox(std::uint64_t key, WorldRank sender) noexcept;

  std::shared_ptr<NodeMemory> memory_;
  std::vector<WorldRank> ranks_;
  std::int64_t rank_span_ = 0;  ///< number of world ranks from the first to the last of this
                                ///< node
  std::vector<int> local_rank_in_span_;  ///< used only if the node's ranks are not consecutive
  int local_rank_;
  bool one_process_;
  WaitPolicy policy_;
  LockContext context_;
  Arena arena_;
  std::atomic<ProgressDelegate*> progress_delegate_{nullptr};
  std::mutex join_messages_mutex_;
  std::vector<JoinMessage> join_messages_;  ///< taken out of the inbox, oldest first
};

template <class Ready, class GiveUp>
bool Node::listen_until(Ready&& ready, GiveUp&& give_up) {
  Waiter waiter = this->waiter();
  if (waiter.spin(ready)) {
    return true;
  }
  RankRecord& record = own();
  record.listeners.fetch_add(1);
  const bool is_ready = waiter.sleep(OnWord(record.doorbell), ready, give_up) || ready();
  record.listeners.fetch_sub(1);
  return is_ready;
}

}  // namespace tessera::rma::detail
