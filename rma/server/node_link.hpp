// SPDX-License-Identifier: BSD-3-Clause
//
// ServerLink: the NodeLink of a job whose nodes have agents; it sends requests to those agents.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>

#include "rma/engine/node_link.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/node/directory.hpp"
#include "rma/node/node.hpp"
#include "rma/server/client.hpp"
#include "rma/server/farewells.hpp"
#include "rma/server/holding.hpp"

namespace tessera::rma::server {

class ServerLink final : public detail::NodeLink {
 public:
  ServerLink(std::shared_ptr<Client> client, std::shared_ptr<detail::Node> node,
             const detail::NodeMap& nodes, std::shared_ptr<const Farewells> farewells) noexcept;

  Status publish(RegionId memory, const detail::PublishedMemory& piece) override;
  void withdraw(RegionId memory) noexcept override;
  Status deliver(NodeId node, RegionId memory, std::uint64_t offset,
                 std::span<const std::byte> bytes, std::uint64_t flag_offset,
                 std::uint64_t flag) override;
  Status invite(WorldRank rank, const detail::Invitation& invitation) override;
  Status raise_flag(WorldRank rank, RegionId region, std::uint64_t offset,
                    std::int32_t value) override;
  Status connect(NodeId node) override;
  void hold() noexcept override { Holding::begin(); }
  void release() noexcept override { Holding::end(); }
  void send_held() noexcept override { Holding::send(); }
  Result<std::uint64_t> notify(WorldRank rank) override;
  Result<detail::LockOutcome> lock(NodeId node, RegionId memory, std::uint64_t offset,
                                   const std::function<void()>& look) override;
  Result<detail::LockOutcome> try_lock(NodeId node, RegionId memory, std::uint64_t offset) override;
  Status unlock(NodeId node, RegionId memory, std::uint64_t offset) override;
  Result<detail::Fate> fate_of(WorldRank rank) override;
  [[nodiscard]] detail::Contact contact(NodeId node) noexcept override {
    return client_->contact(node);
  }
  void note_loss(WorldRank rank, bool has_died) noexcept override;
  Result<std::optional<std::uint32_t>> read_word(NodeId node, RegionId memory,
                                                 std::uint64_t offset) override;

 private:
  [[nodiscard]] FrameHeader lock_request(Kind kind, NodeId node, RegionId memory,
                                         std::uint64_t offset) const;
  // The memory that teams publish belongs to the node, and requests name the node's first rank.
  [[nodiscard]] WorldRank first_rank_of(NodeId node) const noexcept;
  Result<detail::Fate> ask_fate_of(WorldRank rank);
  [[nodiscard]] std::chrono::milliseconds patience_of_query() const;
  Result<std::uint64_t> ask_word(NodeId node, const FrameHeader& header);
  Result<std::uint64_t> ask_in_passing(NodeId node, const FrameHeader& header);
  Result<std::uint64_t> ask_until(std::chrono::steady_clock::time_point deadline, Link& link,
                                  const FrameHeader& header);
  Result<detail::Fate> fate_of_silent(WorldRank rank, const Status& failure);

  std::shared_ptr<Client> client_;
  std::shared_ptr<detail::Node> node_;
  const detail::NodeMap& nodes_;
  std::shared_ptr<const Farewells> farewells_;
  detail::Directory directory_;
  // Losses that were reported by note_loss().
  std::mutex losses_mutex_;
  std::map<WorldRank, bool> losses_;  // true: it has died
};

}  // namespace tessera::rma::server
