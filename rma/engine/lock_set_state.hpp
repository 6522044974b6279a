// SPDX-License-Identifier: BSD-3-Clause
//
// LockSetState: what stands behind a LockSet; queue locks in the shared memory of the nodes of
// their owners. Those of other nodes are taken by the agents there, in the same queues.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/engine/node_link.hpp"
#include "rma/engine/remote_locks.hpp"
#include "rma/node/queue_lock.hpp"
#include "rma/region_id.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

class JobState;

class LockSetState {
 public:
  /// Those of the job itself do not keep it alive, and are not counted as the program's.
  enum class Use : std::uint8_t { of_the_program, of_the_job };

  /// Collective on `team`.
  static Result<std::shared_ptr<LockSetState>> create(Team& team, std::int64_t count,
                                                      Use use = Use::of_the_program);
  /// Collective. `verb` is Label::free_by_exception or "free".
  Status free(std::string_view verb);
  [[nodiscard]] JobState& job() const noexcept;

  Status lock(TeamRank owner, std::int64_t index);
  Result<bool> try_lock(TeamRank owner, std::int64_t index);
  Status unlock(TeamRank owner, std::int64_t index);
  /// Returns when this rank's unlocks have come to the other nodes; the first error of those that
  /// didn't answer.
  Status wait_for_unlocks();
  [[nodiscard]] std::int64_t count(TeamRank owner) const noexcept {
    return owners_[static_cast<std::size_t>(owner.value)].count;
  }

 private:
  /// The locks of one member, one behind the other in its node's memory.
  struct OwnersLocks {
    std::int64_t count = 0;
    std::uint64_t lock_bytes = 0;  ///< of each lock with its queue
    std::uint64_t offset = 0;      ///< of the first: in the node's memory; elsewhere, in `memory`
    RegionId memory;               ///< number 0: it is this node's; remote_memory: see there
    [[nodiscard]] std::uint64_t offset_of(std::int64_t index) const noexcept {
      return offset + static_cast<std::uint64_t>(index) * lock_bytes;
    }
  };
  /// What the first member on a node says of the memory that it made for all of them there.
  struct Offer {
    std::uint64_t offset = 0;  ///< in the node's memory; 0: none was needed
    std::uint64_t lock_bytes = 0;
    RegionId memory;
  };

  /// In place of a number: the locks are remote_'s.
  static constexpr RegionId remote_memory{0xffff'ffff};

  LockSetState(Team& team, Use use);
  Status make_locks(const std::vector<std::int64_t>& counts);
  /// Whether the network keeps the locks of this team: then all are elsewhere, also one's own.
  [[nodiscard]] bool has_remote_locks() const;
  Status make_remote_locks(const std::vector<std::int64_t>& counts);
  Result<Offer> make_own(const std::vector<std::int64_t>& counts);
  Status back_and_publish(Offer& offer, std::uint32_t capacity) const;
  /// While owners are found: the locks of a node, and how many of them are others' already.
  struct NodesLocks {
    const Offer* offer = nullptr;
    std::uint64_t used = 0;
  };
  void find_owners(const std::vector<std::int64_t>& counts, const std::vector<Offer>& offers,
                   std::vector<NodesLocks>& by_node) noexcept;
  void give_back() noexcept;
  /// The owner's locks if it has such a lock, else null: missing() says why.
  [[nodiscard]] const OwnersLocks* find(TeamRank owner, std::int64_t index) const noexcept;
  [[nodiscard]] QueueLock& lock_here(const OwnersLocks& locks, std::int64_t index) const noexcept;
  [[nodiscard]] Status missing(TeamRank owner, std::int64_t index) const;
  Result<LockOutcome> try_lock_here(const OwnersLocks& locks, std::int64_t index) const;
  /// Which thread holds the lock of that owner and index.
  using HeldLocks = std::map<std::pair<std::int32_t, std::int64_t>, std::uint64_t>;
  /// What is noted of a lock elsewhere that this rank holds.
  struct Held {
    HeldLocks lock;
    std::set<NodeId> node;
  };
  [[nodiscard]] Held to_be_held(TeamRank owner, std::int64_t index, NodeId node) const;
  void note(Held& held) noexcept;
  Status wait_for_lock(TeamRank owner, const OwnersLocks& locks, std::int64_t index);
  Result<LockOutcome> ask_for_lock(TeamRank owner, const OwnersLocks& locks, std::int64_t index,
                                   const std::function<void()>& look);
  Result<LockOutcome> ask_whether_free(TeamRank owner, const OwnersLocks& locks,
                                       std::int64_t index);
  Status send_unlock(TeamRank owner, const OwnersLocks& locks, std::int64_t index);
  Status lock_elsewhere(TeamRank owner, const OwnersLocks& locks, std::int64_t index);
  Status unlock_elsewhere(TeamRank owner, const OwnersLocks& locks, std::int64_t index);
  /// The thread of this rank that holds that lock; 0: none does.
  [[nodiscard]] std::uint64_t thread_elsewhere(TeamRank owner, std::int64_t index);
  [[nodiscard]] std::uint64_t this_thread() const noexcept;
  [[nodiscard]] std::string describe(TeamRank owner, std::int64_t index,
                                     std::optional<WorldRank> holder) const;
  [[nodiscard]] Status holder_gone(TeamRank owner, std::int64_t index,
                                   const LockOutcome& outcome) const;
  [[nodiscard]] Status recursive(TeamRank owner, std::int64_t index) const;
  [[nodiscard]] Status not_held(TeamRank owner, std::int64_t index) const;

  std::shared_ptr<JobState> keep_job_;  ///< first, so that it goes last
  Use use_;
  Team team_;
  Node& node_;
  std::vector<OwnersLocks> owners_;  ///< by member
  std::atomic<bool> is_made_{false};
  std::uint64_t number_ = 0;  ///< of this lock set in its team
  std::uint64_t bytes_ = 0;   ///< of the memory of this node's locks
  Offer own_;                 ///< where this rank made it: what it made
  std::unique_ptr<RemoteLocks> remote_;

  std::mutex elsewhere_mutex_;
  HeldLocks held_elsewhere_;
  std::set<NodeId> used_nodes_;  ///< where this rank took locks
};

}  // namespace tessera::rma::detail
