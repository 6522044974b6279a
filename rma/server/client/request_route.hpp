// SPDX-License-Identifier: BSD-3-Clause
//
// RequestRoute: the connection that carries a link's requests, if agents share requests
// (clusters.hpp).
//
// The requests travel over the connection of another link, to the agent that passes them on. The
// link opens a connection of its own only when it needs one: for requests that are not passed on,
// and for direct replies. If the agent on the route is lost, the operations in flight there end
// with peer_lost. The link then takes another route: by another agent of the cluster, or finally
// direct.
//
// Threads: all functions may be called from any thread, if nothing else is said.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/server/client/request_queue.hpp"
#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {

class ClientConnection;

class RequestRoute {
 public:
  /// Of the link that contains it.
  explicit RequestRoute(ClientConnection& link) noexcept : link_(link) {}

  /// From now on requests use the route that the client finds. Requires: no other thread has the
  /// link yet. Errors: peer_lost.
  Status share();
  /// Whether other agents pass on the link's requests.
  [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }
  /// Posts a request on the route. Errors: as ClientConnection::post().
  Status post(PostedRequest request, RequestQueue::When when);
  /// Opens the link's own connection if there is none. Errors: as Client::link_to().
  Status connect();

  /// A reply to one of the link's requests arrived.
  void record_reply(const FrameHeader& header) noexcept;
  /// Ends the link's operations that use `next_hop`, which is lost, with `reason`.
  void end_requests_over(const ClientConnection& next_hop, const Status& reason);
  /// This process acquired (1) or released (−1) a lock of that node.
  void record_locks(int change) noexcept { locks_held_ += change; }
  /// The link's own connection is in use.
  void record_use() noexcept;
  /// Whether the link's own connection was unused for `longest` and can be closed. A lock whose
  /// holder's connection ends is given to others, so a connection with held locks stays open.
  [[nodiscard]] bool is_unused(std::chrono::steady_clock::duration longest) const noexcept;
  /// Locked while the link connects or a route is chosen.
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }

 private:
  Result<ClientConnection*> find(const FrameHeader& header);
  Result<ClientConnection*> choose();
  Status connect_now();
  [[nodiscard]] FrameHeader introduction() const;
  Status order_before(Kind kind);

  ClientConnection& link_;
  bool is_shared_ = false;
  std::mutex mutex_;
  std::atomic<ClientConnection*> next_hop_{nullptr};  // carries the requests; null: not known
  std::atomic<std::int32_t> choice_{0};   // its number among the possible intermediaries
  std::atomic<std::uint64_t> number_{0};  // how often the route has changed
  std::atomic<bool> is_bad_{false};       // it failed to pass something on
  std::atomic<int> locks_held_{0};
  // Nanoseconds of the steady clock: last use of the link's own connection.
  std::atomic<std::int64_t> last_used_{0};
};

}  // namespace tessera::rma::server
