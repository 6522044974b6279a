// SPDX-License-Identifier: BSD-3-Clause
//
// ClientConnection: a process's link to the agent of another node: the bytes of its connection, and
// when it is lost. Its parts are the requests to send (RequestQueue), the pending replies
// (ReplyTable), the replies that come (ReplyReceiver), and the route of the requests if agents
// share them (RequestRoute). client.hpp says which thread reads the replies.
//
// Threads: all functions may be called from any thread, if nothing else is said.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/server/client/change_tracker.hpp"
#include "rma/server/client/link_channel.hpp"
#include "rma/server/client/path_requests.hpp"
#include "rma/server/client/reply_receiver.hpp"
#include "rma/server/client/reply_table.hpp"
#include "rma/server/client/request_queue.hpp"
#include "rma/server/client/request_route.hpp"
#include "rma/server/connection/frame_reader.hpp"
#include "rma/transport/channel.hpp"
#include "rma/transport/completion.hpp"
#include "rma/transport/rdma.hpp"

namespace tessera::rma::server {

using detail::Channel;

class Client;

class ClientConnection {
 public:
  using When = RequestQueue::When;

  /// `channel`: null for a link that connects when it needs to.
  ClientConnection(Client& client, NodeId node, std::unique_ptr<Channel> channel);
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  /// Posts a request on its route. Waits until the queue has room. Errors: peer_lost,
  /// no_memory; the completion of the request does not end then.
  Status post(const PostedRequest& request, When when);
  /// The same with a body that may be reused at return.
  Status post_copy(const FrameHeader& header, std::span<const std::byte> body, When when);
  /// Sends a request that gets a reply: its completion ends exactly once, unless this returns an
  /// error.
  Status ask(FrameHeader header, std::span<const std::byte> descriptor, PendingReply pending);
  /// Waits until `done` has ended.
  void wait(Completion& done);
  /// Sends the frame `bye` after everything that is still unsent: no further requests follow.
  void send_bye();

  /// Asks the agent to continue over `path` and switches to it; waits until `deadline` at most.
  /// Requires: no other thread has this link yet. Errors: if the agent refuses, its error, and the
  /// link stays as it was; if this end fails or the connection ends, that error, and the link is
  /// lost.
  Status move_to(std::unique_ptr<detail::RdmaConnection> path,
                 std::chrono::steady_clock::time_point deadline);
  /// What a path needs from the link.
  [[nodiscard]] detail::Requests& requests() noexcept { return path_requests_; }

  /// Reads what has come and sends as much as fits, unless another thread is doing so.
  /// Returns the number of replies that came.
  int progress();
  /// As Channel::on_readable.
  void on_readable();
  /// Something has come over the path: progress() finds it.
  void record_arrival() noexcept { has_arrived_.store(true); }
  [[nodiscard]] bool needs_progress() const noexcept {
    return has_arrived_.load() || queue_.has_unsent();
  }
  /// Checks whether the agent's machine still responds, and closes its own connection if that is
  /// idle. To be called about once a second. `releases`: frees memory that was not used since the
  /// last such call.
  void maintain(bool releases);

  /// Uses `channel` from now on, and sends `first` over it. Requires: it has no connection. Errors:
  /// as post().
  Status connect_by(std::unique_ptr<Channel> channel, const FrameHeader& first);
  /// It changes only with the mutexes of sending and receiving locked.
  [[nodiscard]] LinkChannel& channel() noexcept { return channel_; }
  [[nodiscard]] const LinkChannel& channel() const noexcept { return channel_; }
  /// A thread polls this link in any case, so a new small request may wait for others.
  [[nodiscard]] bool is_polled() const noexcept {
    return replies_.count() > 0 || queue_.has_unsent();
  }
  [[nodiscard]] bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  /// The error that ended it, or OK.
  [[nodiscard]] Status loss() const;
  /// Ends all pending replies with `reason`; the link is unusable afterwards.
  void give_up(const Status& reason);

  [[nodiscard]] Client& client() noexcept { return client_; }
  [[nodiscard]] NodeId node() const noexcept { return node_; }
  [[nodiscard]] RequestQueue& queue() noexcept { return queue_; }
  [[nodiscard]] ReplyTable& replies() noexcept { return replies_; }
  [[nodiscard]] RequestRoute& route() noexcept { return route_; }
  /// The changes that were sent, or gathered for sending, and have to be fenced.
  [[nodiscard]] ChangeTracker& changes() noexcept { return changes_; }
  /// The link whose request or reply this connection carries.
  [[nodiscard]] ClientConnection& owner_of(const FrameHeader& header) noexcept;

 private:
  void use(std::unique_ptr<Channel> channel);
  void begin_on_channel(int descriptor_before);
  void close_if_idle();
  void lose(const Status& reason);

  Client& client_;
  const NodeId node_;
  LinkChannel channel_;
  ChangeTracker changes_;
  ReplyTable replies_;
  RequestQueue queue_;
  std::mutex receiving_;
  ReplyReceiver receiver_;
  FrameReader reader_;
  std::atomic<bool> has_arrived_{true};  // on the path, and not yet read
  RequestRoute route_;
  PathRequests path_requests_;
  std::atomic<bool> lost_{false};
  mutable std::mutex loss_mutex_;
  Status loss_;
};

}  // namespace tessera::rma::server
