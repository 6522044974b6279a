// SPDX-License-Identifier: BSD-3-Clause
//
// LockSetState: what stands behind a LockSet; queue locks in the node's shared memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rma/node/queue_lock.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

class JobState;

class LockSetState {
 public:
  /// Collective on `team`.
  static Result<std::shared_ptr<LockSetState>> create(Team& team, std::int64_t count);
  /// Collective.
  Status free();

  Status lock(TeamRank owner, std::int64_t index);
  Status unlock(TeamRank owner, std::int64_t index);
  [[nodiscard]] std::int64_t count(TeamRank owner) const noexcept {
    return first_[static_cast<std::size_t>(owner.value) + 1] -
           first_[static_cast<std::size_t>(owner.value)];
  }

 private:
  explicit LockSetState(Team& team);
  Status make_locks();
  /// The lock, or null when there is none: missing() says why.
  [[nodiscard]] QueueLock* find(TeamRank owner, std::int64_t index) const noexcept;
  [[nodiscard]] Status missing(TeamRank owner, std::int64_t index) const;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

  std::shared_ptr<JobState> keep_job_;  ///< first, so that it goes last
  Team team_;
  Node& node_;
  std::vector<std::int64_t>
      first_;                   ///< number of the owner's first lock among all; one past the end
  std::uint32_t capacity_;      ///< of each lock's queue
  std::uint64_t offset_ = 0;    ///< in the node's memory; 0: none or freed
  std::byte* locks_ = nullptr;  ///< there; null: none or freed
  std::size_t lock_bytes_;      ///< of each lock with its queue
};

}  // namespace tessera::rma::detail
