// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/client_connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/server/client/client.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// Sending this much takes many times longer than waking the thread that it may be left to.
constexpr std::size_t min_deferred_bytes = std::size_t{1024} * 1024;

// The agent refuses a list as a whole even if only one of the gets is wrong.
void ask_one_by_one(ClientConnection& link, const BatchedGets& gets) {
  for (std::size_t i = 0; i < gets.fragments.size(); ++i) {
    const Fragment& each = gets.fragments[i];
    FrameHeader header = gets.request;
    header.offset = each.remote_offset;
    header.words[1] = each.bytes;
    PendingReply pending;
    pending.done = gets.done[i];
    pending.bytes = static_cast<std::byte*>(each.local);
    pending.size = each.bytes;
    if (Status status = link.owner_of(header).ask(header, {}, std::move(pending)); !status.ok()) {
      gets.done[i]->end(std::move(status));
    }
  }
}

}  // namespace

ClientConnection::ClientConnection(Client& client, NodeId node, std::unique_ptr<Channel> channel)
    : client_(client),
      node_(node),
      channel_(std::move(channel)),
      queue_(*this, *channel_),
      receiver_(*this),
      reader_(*channel_, receiver_),
      route_(*this),
      path_requests_(*this) {}

ClientConnection::~ClientConnection() {
  give_up(Status::error(Code::closed, "the job was stopped"));
}

Status ClientConnection::loss() const {
  const std::lock_guard guard(loss_mutex_);
  return loss_;
}

// A transient connection, and a link that is still being made, are asked only for themselves.
ClientConnection& ClientConnection::owner_of(const FrameHeader& header) noexcept {
  ClientConnection* const other = client_.links().clustered(header.target);
  return other != nullptr && client_.links().existing(node_) == this ? *other : *this;
}

// --- Requests.

Status ClientConnection::post(const PostedRequest& request, When when) {
  if (request.sent != nullptr && !request.is_body_copied && request.sent->is_in_background() &&
      request.header.payload_bytes >= min_deferred_bytes) {
    when = When::later;  // the progress thread or a waiting thread copies it to the socket
  }
  if (!channel_.has_ordered_writes()) [[unlikely]] {
    TESSERA_RETURN_IF_ERROR(channel_.path()->wait_for_writes(path_requests_));
  }
  return route_.is_shared() ? route_.post(request, when) : *queue_.post(*this, request, when);
}

Status ClientConnection::post_copy(const FrameHeader& header, std::span<const std::byte> body,
                                   When when) {
  Completion sent;
  sent.begin();
  const iovec piece{const_cast<std::byte*>(body.data()), body.size()};
  TESSERA_RETURN_IF_ERROR(
      post({.header = header, .body = std::span(&piece, 1), .sent = &sent, .is_body_copied = true},
           when));
  wait(sent);
  return sent.take_error();
}

Status ClientConnection::ask(FrameHeader header, std::span<const std::byte> descriptor,
                             PendingReply pending) {
  const bool is_long_in_background =
      pending.size >= min_stream_bytes && pending.done->is_in_background();
  if (route_.is_shared() && client_.options().direct_replies && !channel_.is_connected()) {
    TESSERA_RETURN_IF_ERROR(route_.connect());
  }
  ReplyTable::Entry entry = replies_.insert(pending, *this);
  header.operation = entry.operation();
  const When when = replies_.count() > 1 ? When::soon : When::now;
  Status status = post({.header = header, .descriptor = descriptor}, when);
  entry.keep();
  if (!status.ok()) {
    // If lose() was faster, it has ended the operation.
    return replies_.take(header.operation) ? std::move(status) : Status();
  }
  if (is_long_in_background) {
    client_.progress().wake_now();
  }
  return {};
}

void ClientConnection::wait(Completion& done) {
  detail::LongWait long_wait(client_.options().wait_warning);
  client_.progress().wait_until(done, [&] {
    client_.report_long_wait(long_wait, "a reply from", node_);
    return false;
  });
}

void ClientConnection::send_bye() {
  if (!channel_.is_connected()) {
    return;
  }
  Completion sent;
  sent.begin();
  // A lost peer needs no notice.
  if (post({.header = {.kind = Kind::bye, .origin = client_.options().rank}, .sent = &sent},
           When::now)
          .ok()) {
    wait(sent);
    sent.take_error().ignore("the connection ends in any case");
    // The frame was accepted, but may still wait for room.
    client_.progress().advance_until([&] { return !queue_.has_unsent() || is_lost(); },
                                     [] { return false; });
  }
}

// --- The channel.

// `channel`: null if there is no connection. Requires: both mutexes are locked, or no other thread
// has the link; nothing is being sent or received.
void ClientConnection::use(std::unique_ptr<Channel> channel) {
  const int descriptor_before = channel_.descriptor();
  const std::unique_ptr<Channel> before = channel_.replace(std::move(channel));
  begin_on_channel(descriptor_before);
}

void ClientConnection::begin_on_channel(int descriptor_before) {
  queue_.move_to(*channel_);
  reader_.move_to(*channel_);
  route_.record_use();
  client_.progress().stop_watching(*this, descriptor_before);
}

Status ClientConnection::connect_by(std::unique_ptr<Channel> channel, const FrameHeader& first) {
  const std::scoped_lock both(receiving_, queue_.mutex());
  use(std::move(channel));
  return queue_.post_own(first);
}

Status ClientConnection::move_to(std::unique_ptr<detail::RdmaConnection> path,
                                 Clock::time_point deadline) {
  const detail::RdmaAddressBytes mine = path->address();
  detail::RdmaAddressBytes other;
  Completion done;
  done.begin();
  PendingReply pending;
  pending.done = &done;
  pending.bytes = other.data();
  pending.size = other.size();
  TESSERA_RETURN_IF_ERROR(ask({.kind = Kind::path,
                               .descriptor_bytes = static_cast<std::uint32_t>(mine.size()),
                               .origin = client_.options().rank},
                              mine, std::move(pending)));
  // If this fails, the caller reconnects and then destroys this link. Until then the agent must see
  // a connection, or it treats this rank as lost.
  const auto is_over = [&] {
    if (!done.done()) {
      progress();
    }
    return done.done();
  };
  detail::Waiter waiter(client_.progress().wait_policy());
  if (!waiter.until(deadline).sleep(detail::OnDescriptor(channel_->descriptor(), POLLIN),
                                    is_over)) {
    give_up(Status::error(Code::timed_out, "the agent did not open a path in time"));
  }
  TESSERA_RETURN_IF_ERROR(done.take_error());
  if (Status connected = path->connect(other); !connected.ok()) {
    give_up(connected);  // the agent has already left this connection
    return connected;
  }
  const int descriptor_before = channel_.descriptor();
  channel_.move_to(std::move(path));
  begin_on_channel(descriptor_before);
  record_arrival();  // no thread was notified of data that came meanwhile
  return {};
}

// Closes its own connection if that was unused for long and requests have another route.
void ClientConnection::close_if_idle() {
  if (!route_.is_shared() || !channel_.is_connected() || channel_.path() != nullptr || is_lost()) {
    return;
  }
  const std::unique_lock choosing(route_.mutex(), std::try_to_lock);
  const std::unique_lock receiving(receiving_, std::try_to_lock);
  const std::unique_lock sending(queue_.mutex(), std::try_to_lock);
  if (!choosing.owns_lock() || !receiving.owns_lock() || !sending.owns_lock()) {
    return;
  }
  if (is_polled() || !route_.is_unused(client_.options().idle_connection) ||
      changes_.count() != changes_.fenced() || reader_.is_inside_frame()) {
    return;
  }
  const Status said = queue_.post_own({.kind = Kind::bye, .origin = client_.options().rank});
  if (said.ok() && queue_.is_empty()) {
    use(nullptr);
  }
}

void ClientConnection::on_readable() {
  if (is_lost()) {
    return;
  }
  Status status;
  {
    const std::lock_guard guard(receiving_);
    status = channel_->on_readable();
  }
  if (!status.ok()) {
    progress();  // the last data, which came before the end
    const std::lock_guard guard(receiving_);
    lose(status);
  }
}

int ClientConnection::progress() {
  if (is_lost()) {
    return 0;
  }
  const Status sent = queue_.try_flush();
  std::unique_lock guard(receiving_, std::try_to_lock);
  // Another thread may meanwhile have found that the link is lost, and have ended the operations
  // that own the destinations of the replies.
  if (!guard.owns_lock() || is_lost()) {
    return 0;
  }
  // If memory runs out elsewhere, the connection ends, because its next bytes would be mistaken for
  // a frame. Only the connection, not the call: destinations of other replies would otherwise
  // return to their callers too early.
  const auto advance = [&]() -> Result<bool> {
    return detail::catch_bad_alloc([this] { return reader_.advance(); },
                                   "this process has no memory for an answer");
  };
  receiver_.begin_count();
  has_arrived_.store(false);  // later arrivals are announced again
  auto came = advance();
  while (!sent.ok() && came.ok() && *came) {
    came = advance();  // everything: the peer may have sent the reason of its end
  }
  if (!came.ok() || !sent.ok()) {
    lose(came.ok() ? sent : came.status());
  } else if (*came) {
    record_arrival();  // there may be more
  }
  const int answers = receiver_.count();
  const auto failed = receiver_.take_failed_gets();
  guard.unlock();
  for (const auto& gets : failed) {
    ask_one_by_one(*this, *gets);
  }
  return answers;
}

void ClientConnection::maintain(bool releases) {
  if (!is_lost()) {
    const std::lock_guard guard(receiving_);
    if (const Status status = channel_->check(); !status.ok()) {
      lose(status);
    }
  }
  close_if_idle();
  if (!releases) {
    return;
  }
  if (const std::unique_lock guard(receiving_, std::try_to_lock);
      guard.owns_lock() && !reader_.is_inside_frame()) {
    receiver_.release_unused();
  }
  queue_.release_unused();
}

// --- Loss.

// Nothing more goes either way. The agent must know that, since it waits for its peers before it
// ends. A path notifies it by itself when it is lost or destroyed.
void ClientConnection::lose(const Status& reason) {
  give_up(reason);
  if (channel_.path() == nullptr && channel_.is_connected()) {
    shutdown(channel_->descriptor(), SHUT_RDWR);
  }
  client_.links().end_requests_over(*this, reason);
}

void ClientConnection::give_up(const Status& reason) {
  const Status described = client_.links().loss_of(node_, reason);
  // A sending thread has either entered its pending reply into the table by now, or finds the link
  // lost.
  const std::lock_guard sending(queue_.mutex());
  if (is_lost()) {
    return;
  }
  {
    // The reason first: a thread that finds the link lost returns it.
    const std::lock_guard guard(loss_mutex_);
    loss_ = described;
  }
  lost_.store(true, std::memory_order_release);
  replies_.end_all(*this, described);
  receiver_.end_arriving(described);
  // Kept bytes are never sent now; the threads that wait for them must be notified.
  queue_.fail(described);
}

}  // namespace tessera::rma::server
