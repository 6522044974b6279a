// SPDX-License-Identifier: BSD-3-Clause
//
// AgentShared: what the threads of an agent share: how it is to work, the listener, and who of the
// other nodes has a conversation with any of them.
//
// Threads: any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "rma/engine/fabric.hpp"
#include "rma/node/node.hpp"
#include "rma/server/forwarder.hpp"
#include "rma/server/handshake.hpp"
#include "rma/server/parts.hpp"
#include "rma/server/relief.hpp"
#include "rma/server/routes.hpp"
#include "rma/server/stranger_log.hpp"
#include "rma/server/tcp.hpp"

namespace tessera::rma::server {

/// How long the agent stays awake after a request; max(): for ever.
using StayAwake = std::chrono::nanoseconds;

struct AgentOptions {
  Secret secret;
  std::uint64_t job = 0;
  std::int32_t ranks = 1;  ///< of the job
  NodeId node;
  StayAwake stay_awake{0};
  Naps naps{};
  int threads = 1;
  PackingLimits limits{};
  std::size_t answer_bytes = 1U << 20U;  ///< that may wait for a peer before it is heard no more
  bool buffers_per_client = false;       ///< each has its own all the time: for comparison only
  std::chrono::milliseconds patience{10'000};    ///< with those who do not introduce themselves
  StrangerLog::Limits stranger_lines{};          ///< of the log
  std::function<void(const std::string&)> warn;  ///< of what went wrong; called by the agent
  std::shared_ptr<detail::FabricSource> fabrics = nullptr;   ///< null: there is TCP only
  std::shared_ptr<const ForwardOptions> forwards = nullptr;  ///< null: the agent is in no cluster
};

class AgentThread;

/// What the threads of an agent share.
struct AgentShared {
  AgentShared(std::shared_ptr<detail::Node> its_node, TcpListener its_listener,
              AgentOptions its_options)
      : node(std::move(its_node)),
        listener(std::move(its_listener)),
        options(std::move(its_options)),
        stranger_log(options.stranger_lines, options.warn) {}

  /// A connection of `origin` has introduced itself.
  void enter(WorldRank origin);
  /// A connection of `origin` has ended. True when it was the rank's last one: it counts as gone
  /// until it comes back (visit.hpp), and its locks pass to others.
  bool leave(WorldRank origin, detail::GuestFate fate);
  /// The connection of `carrier` that entered is another agent's.
  void exclude(WorldRank carrier);
  /// The cleaning up behind a leave() is complete.
  void note_left();
  /// Returns when this was noted of all who entered.
  void wait_until_alone() const;

  std::shared_ptr<detail::Node> node;
  TcpListener listener;
  AgentOptions options;
  StrangerLog stranger_log;
  Routes routes;
  std::atomic<bool> is_ending{false};
  /// Of all threads; as they are when the first one starts.
  std::vector<AgentThread*> threads;

 private:
  std::mutex mutex_;
  std::unordered_map<std::int32_t, int> conversations_of_;
  std::atomic<int> conversations_{0};
};

}  // namespace tessera::rma::server
