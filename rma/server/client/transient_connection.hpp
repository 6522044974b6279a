// SPDX-License-Identifier: BSD-3-Clause
//
// TransientConnection: a transient connection to a node's agent for one exchange; it closes after
// the reply. For rare messages to nodes with which this rank has no other communication: a
// permanent link would use a descriptor at both ends for the life of the job.
//
// Threads: only the thread that opened it; no other thread drives it.
#pragma once

#include <chrono>
#include <memory>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/server/client/client_connection.hpp"
#include "rma/transport/completion.hpp"

namespace tessera::rma::server {

class Client;

class TransientConnection {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Connects. Errors: as Client::link_to().
  static Result<TransientConnection> open(Client& client, NodeId node,
                                          std::chrono::milliseconds timeout);
  /// Sends `bye` first: the agent treats a connection that closes without it as a lost rank.
  ~TransientConnection();
  TransientConnection(TransientConnection&&) noexcept = default;
  TransientConnection& operator=(TransientConnection&&) = delete;

  [[nodiscard]] ClientConnection& link() noexcept { return *link_; }
  /// Waits until the request or delivery has ended, with the reply or with the connection. At
  /// `deadline` the connection ends as timed_out.
  void wait(Completion& done, TimePoint deadline = TimePoint::max());

 private:
  TransientConnection(std::unique_ptr<ClientConnection> link, WorldRank self) noexcept
      : link_(std::move(link)), self_(self) {}

  std::unique_ptr<ClientConnection> link_;
  WorldRank self_;
};

}  // namespace tessera::rma::server
