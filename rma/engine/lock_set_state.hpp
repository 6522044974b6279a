// SPDX-License-Identifier: BSD-3-Clause
//
// LockSetState: the implementation of a LockSet: queue locks in the shared memory of their owners'
// nodes. For locks on other nodes the agents there enter the same queues.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/engine/held_locks.hpp"
#include "rma/engine/remote_locks.hpp"
#include "rma/node/queue_lock.hpp"
#include "rma/region_id.hpp"
#include "rma/team.hpp"
#include "rma/transport/control_channel.hpp"

namespace tessera::rma::detail {

class JobState;

class LockSetState {
 public:
  /// Collective on `team`.
  static Result<std::shared_ptr<LockSetState>> create(Team& team, std::int64_t count);
  /// Collective. `verb` is Label::free_by_exception or "free".
  Status free(std::string_view verb);
  [[nodiscard]] JobState& job() const noexcept;

  Status lock(TeamRank owner, std::int64_t index);
  Result<bool> try_lock(TeamRank owner, std::int64_t index);
  Status unlock(TeamRank owner, std::int64_t index);
  [[nodiscard]] std::int64_t count(TeamRank owner) const noexcept {
    return owners_[static_cast<std::size_t>(owner.value)].count;
  }

 private:
  /// The locks of one member, consecutive in its node's memory.
  struct OwnersLocks {
    std::int64_t count = 0;
    std::uint64_t lock_bytes = 0;  ///< of each lock with its queue
    // of the first lock: in this node's memory, or else in `memory`
    std::uint64_t offset = 0;
    RegionId memory;  ///< number 0: this node's; remote_memory: see there
    [[nodiscard]] std::uint64_t offset_of(std::int64_t index) const noexcept {
      return offset + static_cast<std::uint64_t>(index) * lock_bytes;
    }
  };
  /// What the first member on a node reports about the memory that it made for all members there.
  struct Offer {
    std::uint64_t offset = 0;  ///< in the node's memory; 0: none was needed
    std::uint64_t lock_bytes = 0;
    RegionId memory;
  };

  /// In place of a number: the locks are in remote_.
  static constexpr RegionId remote_memory{0xffff'ffff};

  explicit LockSetState(Team& team);
  Status make_locks(const std::vector<std::int64_t>& counts);
  Status make_remote_locks(const std::vector<std::int64_t>& counts);
  Result<Offer> make_own(const std::vector<std::int64_t>& counts);
  Status back_and_publish(Offer& offer, std::uint32_t capacity) const;
  /// Used while owners are found: the locks of a node, and how many of them are already assigned.
  struct NodesLocks {
    const Offer* offer = nullptr;
    std::uint64_t used = 0;
  };
  void find_owners(const std::vector<std::int64_t>& counts, const std::vector<Offer>& offers,
                   std::vector<NodesLocks>& by_node) noexcept;
  /// Returns when this rank's unlocks have arrived at the other nodes. Returns the first error of
  /// nodes that did not answer.
  Status wait_for_unlocks();
  void give_back() noexcept;
  /// The owner's locks if it has that lock, else null; missing() is the error then.
  [[nodiscard]] const OwnersLocks* find(TeamRank owner, std::int64_t index) const noexcept;
  [[nodiscard]] QueueLock& local_lock(const OwnersLocks& locks, std::int64_t index) const noexcept;
  [[nodiscard]] Status missing(TeamRank owner, std::int64_t index) const;
  Result<LockOutcome> try_lock_local(const OwnersLocks& locks, std::int64_t index) const;
  Status wait_for_lock(TeamRank owner, const OwnersLocks& locks, std::int64_t index);
  Result<LockOutcome> request_lock(TeamRank owner, const OwnersLocks& locks, std::int64_t index,
                                   const std::function<void()>& report_wait);
  Result<LockOutcome> request_try_lock(TeamRank owner, const OwnersLocks& locks,
                                       std::int64_t index);
  Status send_unlock(TeamRank owner, const OwnersLocks& locks, std::int64_t index);
  Status lock_remote(TeamRank owner, const OwnersLocks& locks, std::int64_t index);
  Status unlock_remote(TeamRank owner, const OwnersLocks& locks, std::int64_t index);

  std::shared_ptr<JobState> keep_job_;  ///< first, so that it is destroyed last
  Team team_;
  Node& node_;
  std::vector<OwnersLocks> owners_;  ///< by member
  std::atomic<bool> is_made_{false};
  std::uint64_t number_ = 0;  ///< of this lock set in its team
  std::uint64_t bytes_ = 0;   ///< of the memory of this node's locks
  Offer own_;                 ///< if this rank made the node's locks: what it made
  std::unique_ptr<RemoteLocks> remote_;
  HeldLocks held_remote_;
};

}  // namespace tessera::rma::detail
