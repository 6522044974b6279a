// SPDX-License-Identifier: BSD-3-Clause
//
// AgentControlChannel: the NodeControlChannel of a job whose nodes have agents; it sends requests
// to those agents.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>

#include "rma/engine/node_map.hpp"
#include "rma/node/directory.hpp"
#include "rma/node/node.hpp"
#include "rma/server/client/client.hpp"
#include "rma/server/client/request_queue.hpp"
#include "rma/server/client/shutdown_notices.hpp"
#include "rma/transport/control_channel.hpp"

namespace tessera::rma::server {

class AgentControlChannel final : public detail::NodeControlChannel {
 public:
  AgentControlChannel(std::shared_ptr<Client> client, std::shared_ptr<detail::Node> node,
                      const detail::NodeMap& nodes,
                      std::shared_ptr<const ShutdownNotices> notices) noexcept;

  Status publish(RegionId memory, const detail::PublishedMemory& piece) override;
  void withdraw(RegionId memory) noexcept override;
  Status deliver(NodeId node, RegionId memory, std::uint64_t offset,
                 std::span<const std::byte> bytes, std::uint64_t flag_offset,
                 std::uint64_t flag) override;
  Status send_join(WorldRank rank, const detail::JoinMessage& message) override;
  Status raise_flag(WorldRank rank, RegionId region, std::uint64_t offset,
                    std::int32_t value) override;
  Status connect(NodeId node) override;
  void hold() noexcept override { CoalescedMessages::begin(); }
  void release() noexcept override { CoalescedMessages::end(); }
  void send_held() noexcept override { CoalescedMessages::send(); }
  Result<std::uint64_t> notify(WorldRank rank) override;
  Result<detail::LockOutcome> lock(NodeId node, RegionId memory, std::uint64_t offset,
                                   const std::function<void()>& check) override;
  Result<detail::LockOutcome> try_lock(NodeId node, RegionId memory, std::uint64_t offset) override;
  Status unlock(NodeId node, RegionId memory, std::uint64_t offset) override;
  Result<detail::PeerState> peer_state_of(WorldRank rank) override;
  [[nodiscard]] detail::ConnectionLoss contact(NodeId node) noexcept override {
    return client_->links().contact(node);
  }
  void record_loss(WorldRank rank, bool has_died) noexcept override;
  Result<std::optional<std::uint32_t>> read_word(NodeId node, RegionId memory,
                                                 std::uint64_t offset) override;

 private:
  [[nodiscard]] FrameHeader lock_request(Kind kind, NodeId node, RegionId memory,
                                         std::uint64_t offset) const;
  // The memory that teams publish belongs to the node, and requests name the node's first rank.
  [[nodiscard]] WorldRank first_rank_of(NodeId node) const noexcept;
  Result<detail::PeerState> query_state_of(WorldRank rank);
  [[nodiscard]] std::chrono::milliseconds query_timeout() const;
  Result<std::uint64_t> query_word(NodeId node, const FrameHeader& header);
  Result<std::uint64_t> query_briefly(NodeId node, const FrameHeader& header);
  Result<std::uint64_t> query_until(std::chrono::steady_clock::time_point deadline,
                                    ClientConnection& link, const FrameHeader& header);
  Result<detail::PeerState> state_of_unreachable(WorldRank rank, const Status& failure);

  std::shared_ptr<Client> client_;
  std::shared_ptr<detail::Node> node_;
  const detail::NodeMap& nodes_;
  std::shared_ptr<const ShutdownNotices> shutdown_notices_;
  detail::Directory directory_;
  // Losses that were reported by record_loss().
  std::mutex losses_mutex_;
  std::map<WorldRank, bool> losses_;  // true: it has died
};

}  // namespace tessera::rma::server
