// SPDX-License-Identifier: BSD-3-Clause
//
// Node: this rank's membership of its node: the shared memory, who else is there, and who has
// gone.
//
// Each rank has a *place* on its node, 0 … ranks − 1 in the order of world ranks. A rank is gone
// when it left the job or when its process ended; both are permanent.
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

#include "rma/node/arena.hpp"
#include "rma/node/linger.hpp"
#include "rma/node/node_memory.hpp"
#include "rma/rank.hpp"

namespace tessera::rma::detail {

/// How long waiters spin, and how often they look after their peers.
struct WaitPolicy {
  std::chrono::nanoseconds spin{1000};
  std::chrono::nanoseconds least_help{50'000};  ///< for how long at least who helps an agent spins
  Linger linger{};  ///< awake behind that, while nobody else needs the core
  std::chrono::nanoseconds look_period{100'000'000};
};

/// Work that a rank's thread does while it waits: that of an agent which has no core of its own.
class Helper {
 public:
  virtual ~Helper() = default;
  /// From now on, and until end(), this thread calls help() again and again.
  virtual void begin() noexcept = 0;
  virtual void help() noexcept = 0;
  virtual void end() noexcept = 0;
  /// Behind end(): this thread is about to sleep, so nobody knows when it helps again.
  virtual void hand_back() noexcept = 0;
  /// How long a waiting thread may sleep before it helps again; for ever where others do the work.
  [[nodiscard]] virtual std::chrono::nanoseconds longest_sleep() const noexcept {
    return std::chrono::nanoseconds::max();
  }
};

/// While one lives this thread helps nobody: it holds a lock that the work might take.
class NoHelp {
 public:
  NoHelp() noexcept { ++depth; }
  ~NoHelp() { --depth; }
  NoHelp(const NoHelp&) = delete;
  NoHelp& operator=(const NoHelp&) = delete;
  [[nodiscard]] static bool is_here() noexcept { return depth > 0; }

 private:
  static inline constinit thread_local int depth = 0;
};

/// begin() and end() of a scope; nothing where there is no helper.
class Helping {
 public:
  explicit Helping(Helper* helper) noexcept : helper_(helper) {
    if (helper_ != nullptr) {
      helper_->begin();
    }
  }
  ~Helping() {
    if (helper_ != nullptr) {
      helper_->end();
    }
  }
  Helping(const Helping&) = delete;
  Helping& operator=(const Helping&) = delete;
  void help() const noexcept {
    if (helper_ != nullptr) {
      helper_->help();
    }
  }

 private:
  Helper* helper_;
};

class Node final : public Liveness {
 public:
  /// `memory` is shared with the other ranks of this process when they are threads;
  /// `one_process` says that they are, and then only leaving counts as being gone.
  Node(std::shared_ptr<NodeMemory> memory, std::vector<WorldRank> ranks, int place,
       bool one_process, WaitPolicy policy);
  ~Node() override = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Takes this rank's place: others may rely on its liveness from now on. Errors: internal.
  Status enter();
  /// Makes room for what this node remembers of ranks of other nodes, of which the job has so many:
  /// their notifications, and whether they are gone. Called once, by whoever serves them, before it
  /// does. Errors: no_memory. Cost: address space; memory where it is used.
  Status make_guest_book(std::int32_t world_ranks);
  /// Gives it up; every peer that waits for this rank is woken by its next look.
  void leave() noexcept;

  [[nodiscard]] int place() const noexcept { return place_; }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] const std::vector<WorldRank>& ranks() const noexcept { return ranks_; }
  /// The place of a world rank on this node, or −1.
  [[nodiscard]] int place_of(WorldRank rank) const noexcept {
    const std::int64_t at = std::int64_t{rank.value} - ranks_.front().value;
    if (at < 0 || at >= hull_) {
      return -1;
    }
    return place_in_hull_.empty() ? static_cast<int>(at)
                                  : place_in_hull_[static_cast<std::size_t>(at)];
  }

  /// World ranks from the first to the last of this node; more than size() where others lie
  /// between.
  [[nodiscard]] std::int64_t hull() const noexcept { return hull_; }

  [[nodiscard]] Arena& arena() noexcept { return arena_; }
  [[nodiscard]] NodeMemory& memory() const noexcept { return *memory_; }
  [[nodiscard]] const LockContext& lock_context() const noexcept { return context_; }
  [[nodiscard]] const WaitPolicy& policy() const noexcept { return policy_; }
  [[nodiscard]] bool is_one_process() const noexcept { return one_process_; }

  /// Who is to be helped by this rank's threads, or null. It lives until it is replaced, and nobody
  /// waits while that happens.
  void set_helper(Helper* helper) noexcept { helper_.store(helper, std::memory_order_release); }
  [[nodiscard]] Helper* helper() const noexcept {
    return NoHelp::is_here() ? nullptr : helper_.load(std::memory_order_acquire);
  }

  /// Before this thread sleeps without having called spin() just now.
  void hand_back_help() const noexcept {
    if (Helper* const needy = helper()) {
      needy->hand_back();
    }
  }

  /// Sleeps while `word` is `expected`, until the next look is due at most; helps before, where
  /// nobody else does. May return early.
  void doze(FutexWord& word, std::uint32_t expected) const noexcept;

  /// Calls `ready` until it is true or the policy's time is over; tells which. Helps meanwhile, and
  /// hands the work back in the end if it isn't: the caller sleeps then.
  /// Requires: the caller holds no lock of this node's memory.
  template <class Ready>
  bool spin(Ready&& ready) const;

  /// Ranks of other nodes, for whom this node's agent waits in queues here, have places behind
  /// those of its own ranks.
  [[nodiscard]] int guest_place(WorldRank rank) const noexcept { return size() + rank.value; }
  [[nodiscard]] bool is_guest(int place) const noexcept { return place >= size(); }
  /// The rank at a place, be it a guest's or not.
  [[nodiscard]] WorldRank rank_at(int place) const noexcept {
    return is_guest(place) ? WorldRank{place - size()} : ranks_[static_cast<std::size_t>(place)];
  }

  /// True when the rank at `place` left the job or its process ended. Of a guest: when the agent's
  /// connection to it has ended.
  [[nodiscard]] bool is_gone(int place) const;
  /// True when it left in good order (the job was stopped there).
  [[nodiscard]] bool has_left(int place) const;

  /// True when no process carries the rank at `place` any more: nothing of it will touch the node's
  /// memory again. Before a rank has entered, its start-up deadline watches over it, not we.
  [[nodiscard]] bool has_ended(int place) const override;

  /// Wakes the threads of the rank at `place` that listen to its doorbell.
  void ring(int place) noexcept;

  /// Waits until `ready()`, which is looked at again whenever this rank's doorbell rings, or until
  /// `give_up()` says so, which is asked at each look period. Returns ready().
  template <class Ready, class GiveUp>
  bool listen_until(Ready&& ready, GiveUp&& give_up);

  /// Puts an invitation into the post box of `place`; waits while the box is full. It is from this
  /// rank unless it names a sender, which may be on another node.
  /// Errors: peer_lost when that rank is gone.
  Status invite(int place, Invitation invitation);
  /// The same without waiting: false when the box is full.
  Result<bool> try_invite(int place, Invitation invitation);
  /// Waits for an invitation with `key` from a rank of the job, which may be on another node;
  /// `is_gone` tells whether to wait in vain, at each look period. Errors: peer_lost when it is.
  Result<Invitation> accept(std::uint64_t key, WorldRank sender,
                            const std::function<bool()>& is_gone);

 private:
  template <class Ready>
  bool spin_helping(Helper& needy, Ready&& ready) const;
  [[nodiscard]] RankRecord& own() const noexcept { return memory_->record(place_); }
  void empty_box();
  std::optional<Invitation> take_invitation(std::uint64_t key, WorldRank sender) noexcept;
  std::optional<Invitation> take_out_of_box(std::uint64_t key, WorldRank sender) noexcept;

  std::shared_ptr<NodeMemory> memory_;
  std::vector<WorldRank> ranks_;
  std::int64_t hull_ = 0;           ///< world ranks from the first to the last of this node
  std::vector<int> place_in_hull_;  ///< only where the node's ranks are not consecutive
  int place_;
  bool one_process_;
  WaitPolicy policy_;
  LockContext context_;
  Arena arena_;
  std::atomic<Helper*> helper_{nullptr};
  std::mutex invitations_mutex_;
  std::vector<Invitation> invitations_;  ///< taken out of the box, oldest first
};

template <class Ready>
bool Node::spin(Ready&& ready) const {
  Helper* const needy = helper();
  if (needy == nullptr) {
    return spin_until(policy_.spin, ready) || linger_until(policy_.linger, ready);
  }
  const bool is_ready = spin_helping(*needy, ready);
  if (!is_ready) {
    needy->hand_back();
  }
  return is_ready;
}

template <class Ready>
bool Node::spin_helping(Helper& needy, Ready&& ready) const {
  const Helping helping(&needy);
  const auto look = [&] {
    const bool is_ready = ready();
    if (!is_ready) {
      helping.help();
    }
    return is_ready;
  };
  return spin_until(std::max(policy_.spin, policy_.least_help), look) ||
         linger_until(policy_.linger, look);
}

template <class Ready, class GiveUp>
bool Node::listen_until(Ready&& ready, GiveUp&& give_up) {
  if (spin(ready)) {
    return true;
  }
  RankRecord& record = own();
  record.listeners.fetch_add(1);
  auto looked = std::chrono::steady_clock::now();
  bool is_ready = false;
  while (true) {
    // Read the bell before looking: a ring between the look and the sleep ends the sleep at once.
    const std::uint32_t bell = record.doorbell.load();
    is_ready = ready();
    if (is_ready) {
      break;
    }
    doze(record.doorbell, bell);
    // By the clock and not by silence: the bell may ring all the time for others.
    const auto now = std::chrono::steady_clock::now();
    if (now - looked >= policy_.look_period) {
      looked = now;
      if (give_up()) {
        is_ready = ready();
        break;
      }
    }
  }
  record.listeners.fetch_sub(1);
  return is_ready;
}

}  // namespace tessera::rma::detail
