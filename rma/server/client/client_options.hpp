// SPDX-License-Identifier: BSD-3-Clause
//
// ClientOptions: what a client is given when it is made.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rma/base/log.hpp"
#include "rma/base/rank.hpp"
#include "rma/base/status.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/node/node.hpp"
#include "rma/server/client/packing_model.hpp"
#include "rma/server/connection/clusters.hpp"
#include "rma/server/wire/handshake.hpp"
#include "rma/server/wire/parts.hpp"
#include "rma/transport/rdma.hpp"
#include "rma/transport/tcp/tcp.hpp"

namespace tessera::rma::server {

struct ClientOptions {
  WorldRank rank;
  std::uint64_t job = 0;
  Secret secret;
  std::vector<TcpAddress> agents;  ///< by node
  std::vector<WorldRank>
      agent_hosts;                  ///< by node: the rank whose process hosts the agent; or empty
  std::string congestion = "auto";  ///< TESSERA_TUNE=tcp_congestion
  /// True if that node has left the job properly.
  std::function<bool(NodeId)> has_left = [](NodeId) { return false; };
  std::chrono::milliseconds connect_timeout{10'000};
  /// After a node could not be reached: the pause before the next attempt. It doubles each time, up
  /// to max_pause.
  std::chrono::milliseconds first_pause = longest_silence;
  std::chrono::milliseconds max_pause = 16 * longest_silence;
  /// Says how threads wait, and what they advance meanwhile; null: they sleep at once.
  std::shared_ptr<const detail::Node> node = nullptr;
  std::size_t kept_bytes = 4U << 20U;  ///< unsent copies at one link before a post waits
  PackingLimits limits{};
  PartSizes parts{};               ///< of packed transfers
  std::size_t gathered_bytes = 0;  ///< the largest operation that may travel in a list
  std::shared_ptr<detail::RdmaProvider> rdma_provider = nullptr;  ///< null: TCP only
  std::string required;  ///< TESSERA_TRANSPORT if it does not name TCP: a node that `rdma_provider`
                         ///< cannot reach is an error then, and otherwise goes over TCP
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  Log* log = nullptr;                         ///< receives the lines about long waits; null: none
  std::chrono::milliseconds wait_warning{0};  ///< before the first warning; 0: no warnings
  Clusters clusters;                          ///< the agents that share requests
  const detail::NodeMap* nodes = nullptr;     ///< of the job; null without clusters
  std::int32_t ranks = 0;                     ///< of the job
  /// Whether replies to forwarded requests use connections of their own.
  bool direct_replies = true;
  std::chrono::milliseconds idle_connection{30'000};  ///< such a connection is closed if unused
  std::function<void(Status)> stray_error;  ///< receives errors of requests without a reply
};

}  // namespace tessera::rma::server
