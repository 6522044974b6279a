// SPDX-License-Identifier: BSD-3-Clause
//
// MpiControlChannel: the NodeControlChannel of a job whose nodes are connected by MPI. Messages go
// to the first rank of each node, and locks are in windows.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "rma/engine/node_map.hpp"
#include "rma/node/directory.hpp"
#include "rma/node/node.hpp"
#include "rma/transport/control_channel.hpp"
#include "rma/transport/mpi/progress.hpp"
#include "rma/transport/mpi/segment.hpp"
#include "rma/transport/mpi/window_locks.hpp"

namespace tessera::rma::mpi {

class MpiControlChannel final : public detail::NodeControlChannel {
 public:
  /// `fence` completes this rank's operations at one rank, or at all ranks.
  MpiControlChannel(std::shared_ptr<Progress> progress, std::shared_ptr<WindowPool> pool,
                    std::shared_ptr<detail::Node> node, const detail::NodeMap& nodes,
                    bool locks_by_bytes, std::shared_ptr<ExitLockReleaser> exit_releaser,
                    std::function<Status(std::optional<WorldRank>)> fence);

  Status publish(RegionId memory, const detail::PublishedMemory& piece) override;
  void withdraw(RegionId memory) noexcept override;
  Status deliver(NodeId node, RegionId memory, std::uint64_t offset,
                 std::span<const std::byte> bytes, std::uint64_t flag_offset,
                 std::uint64_t flag) override;
  Status send_join(WorldRank rank, const detail::JoinMessage& message) override;
  Status raise_flag(WorldRank rank, RegionId region, std::uint64_t offset,
                    std::int32_t value) override;
  [[nodiscard]] bool can_raise_flags() const noexcept override { return false; }
  // With a lower thread level, calls must not overlap with the program's.
  [[nodiscard]] bool allows_background_threads() const noexcept override {
    return progress_->has_thread();
  }
  Status ring(WorldRank rank) override;
  Result<std::uint64_t> notify(WorldRank rank) override;
  Result<std::unique_ptr<detail::RemoteLocks>> make_locks(
      Team& team, const std::vector<std::int64_t>& counts) override;
  [[nodiscard]] bool has_network_locks() const noexcept override { return true; }
  Result<detail::LockOutcome> lock(NodeId node, RegionId memory, std::uint64_t offset,
                                   const std::function<void()>& on_liveness_check) override;
  Result<detail::LockOutcome> try_lock(NodeId node, RegionId memory, std::uint64_t offset) override;
  Status unlock(NodeId node, RegionId memory, std::uint64_t offset) override;
  Result<detail::PeerState> peer_state_of(WorldRank rank) override;
  Status connect(NodeId /*node*/) override { return {}; }
  Result<std::optional<std::uint32_t>> read_word(NodeId node, RegionId memory,
                                                 std::uint64_t offset) override;

 private:
  Status wake(WorldRank rank);
  Status hand_over(WorldRank rank, const LockName& lock);
  Status send(WorldRank to, const MessageHeader& header, std::span<const std::byte> bytes = {});
  [[nodiscard]] bool has_left(WorldRank rank) const noexcept;

  std::shared_ptr<Progress> progress_;
  std::shared_ptr<WindowPool> pool_;
  std::shared_ptr<detail::Node> node_;
  const detail::NodeMap& nodes_;
  bool locks_by_bytes_;
  std::shared_ptr<ExitLockReleaser> exit_releaser_;
  std::function<Status(std::optional<WorldRank>)> fence_;
  detail::Directory directory_;
  std::mutex notified_mutex_;
  std::map<WorldRank, std::uint64_t> notified_;  ///< number of notifications, by rank
};

}  // namespace tessera::rma::mpi
