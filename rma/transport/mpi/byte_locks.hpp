// SPDX-License-Identifier: BSD-3-Clause
//
// ByteLocks: queue locks made of puts and gets only, which MPI-2 has ([ARMCIMPI12] §V.D).
//
//     a lock   [ 0 | 1 | 0 | … ]   one byte a member: it holds the lock, or waits for it
//
// To lock, a member sets its byte and gets all others, in one exclusive epoch. It has the lock if
// they are 0; otherwise it waits for a message. To unlock, it clears its byte, gets the others, and
// sends the message to the next member that waits, searching from its own byte on, so that every
// member gets the lock eventually. The threads of a member first queue within the process, since
// they share its byte. A rank that leaves the job unlocks what it holds.
//
// Limits today: try_lock() may wait if other members request a free lock at the same moment.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "rma/engine/remote_locks.hpp"
#include "rma/node/node.hpp"
#include "rma/team.hpp"
#include "rma/transport/mpi/segment.hpp"
#include "rma/transport/mpi/window_locks.hpp"

namespace tessera::rma::mpi {

class ByteLocks final : public detail::RemoteLocks {
 public:
  /// Collective on `team`. Errors: as WindowPool::allocate().
  static Result<std::unique_ptr<detail::RemoteLocks>> create(
      WindowLockContext context, WindowPool& pool, Team& team,
      const std::vector<std::int64_t>& counts);
  ~ByteLocks() override { context_.exit_releaser->remove(this); }
  ByteLocks(const ByteLocks&) = delete;
  ByteLocks& operator=(const ByteLocks&) = delete;

  Result<detail::LockOutcome> lock(TeamRank owner, std::int64_t index,
                                   const std::function<void()>& on_liveness_check) override;
  Result<detail::LockOutcome> try_lock(TeamRank owner, std::int64_t index) override;
  Status unlock(TeamRank owner, std::int64_t index) override;
  Status free() override { return segment_->free(); }

 private:
  using Key = std::pair<std::int32_t, std::int64_t>;
  ByteLocks(WindowLockContext context, const Team& team, std::uint64_t set,
            std::unique_ptr<WindowSegment> segment)
      : context_(std::move(context)), team_(team), set_(set), segment_(std::move(segment)) {
    context_.exit_releaser->add(this, [this] { release_all(); });
  }

  using Bytes = std::vector<std::uint8_t>;
  [[nodiscard]] std::uint64_t offset_of(const Key& key, std::size_t member) const noexcept;
  /// All bytes of a lock, this member's as 0. In the same epoch sets this member's byte to
  /// `own_byte`, if given.
  Result<Bytes> get_others(const Key& key, std::optional<std::uint8_t> own_byte);
  Status get_bytes(const Key& key, std::size_t from, std::span<std::uint8_t> into) const;
  Status put_byte(const Key& key, const std::uint8_t& own_byte) const;
  Status take(const Key& key, const std::function<void()>& on_liveness_check);
  bool enter(const Key& key);
  void wait_to_enter(const Key& key, const std::function<void()>& on_liveness_check);
  void leave(const Key& key);
  void release_all();
  void wait_for_message(const Key& key, const std::function<void()>& on_liveness_check);
  Status hand_over(const Key& key, const Bytes& others);
  [[nodiscard]] LockName name_of(const Key& key) const noexcept {
    return {set_, key.first, key.second};
  }

  WindowLockContext context_;
  Team team_;
  std::uint64_t set_;
  std::unique_ptr<WindowSegment> segment_;
  std::mutex mutex_;
  std::condition_variable left_;
  std::set<Key> entered_;  ///< one thread of this process is at each of these locks
};

}  // namespace tessera::rma::mpi
