// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/client_connection.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "rma/catch_bad_alloc.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/node/backoff.hpp"
#include "rma/server/client/client.hpp"
#include "rma/server/client/coalesced_messages.hpp"
#include "rma/server/wire/parts.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;
using detail::Backoff;
using detail::catch_bad_alloc;
using detail::LongWait;
using detail::max_timed_wait;

// Sending this much takes many times longer than waking the thread that it may be left to.
constexpr std::size_t min_deferred_bytes = std::size_t{1024} * 1024;

// Stands for the connection while there is none: nothing arrives and nothing is sent.
class NullChannel final : public Channel {
 public:
  Result<std::size_t> send(std::span<const iovec>) override { return std::size_t{0}; }
  Result<std::size_t> receive(std::span<const iovec>) override { return std::size_t{0}; }
  [[nodiscard]] Status check() const override { return {}; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] std::string peer() const override { return "an agent without a connection"; }
};

}  // namespace

void Awaited::end(const Status& status) const {
  if (gets == nullptr) {
    done->end(status);
    return;
  }
  for (Completion* const each : gets->done) {
    each->end(status);
  }
}

ClientConnection::ClientConnection(Client& client, NodeId node, std::unique_ptr<Channel> channel)
    : client_(client),
      node_(node),
      is_connected_(channel != nullptr),
      channel_(channel != nullptr ? std::move(channel) : no_channel()),
      descriptor_(channel_->descriptor()),
      shows_room_(channel_->shows_room()),
      writer_(*channel_),
      reader_(*channel_, *this) {}

std::unique_ptr<Channel> ClientConnection::no_channel() {
  return std::make_unique<NullChannel>();
}

ClientConnection::~ClientConnection() {
  end_all(Status::error(Code::closed, "the job was stopped"));
}

Status ClientConnection::loss() const {
  const std::lock_guard guard(table_);
  return reason_;
}

Status ClientConnection::post(const FrameHeader& header, std::span<const std::byte> descriptor,
                              std::span<const iovec> body, Completion* sent, When when) {
  if (sent != nullptr && sent->is_in_background() && header.payload_bytes >= min_deferred_bytes) {
    when = When::later;  // the progress thread or a waiting thread copies it to the socket
  }
  return post_by_route(
      header, when, [&](ClientConnection& way, const FrameHeader& head, When then) {
        return descriptor.empty() ? way.writer_.post(encode(head), body, sent, then)
                                  : way.writer_.post(encode(head, descriptor), body, sent, then);
      });
}

Status ClientConnection::post(const FrameHeader& header, std::span<const std::byte> descriptor,
                              std::vector<std::byte> body, When when) {
  return post_by_route(header, when,
                       [&](ClientConnection& way, const FrameHeader& head, When then) {
                         return way.writer_.post(encode(head, descriptor), std::move(body), then);
                       });
}

Status ClientConnection::post_copy(const FrameHeader& header, std::span<const std::byte> body,
                                   When when) {
  Completion sent;
  sent.begin();
  Status posted =
      post_by_route(header, when, [&](ClientConnection& way, const FrameHeader& head, When then) {
        return way.writer_.post_copy(encode(head), body, sent, then);
      });
  TESSERA_RETURN_IF_ERROR(posted);
  wait(sent);
  return sent.take_error();
}

const PackingLimits& ClientConnection::limits() const noexcept {
  return client_.options().limits;
}

const PartSizes& ClientConnection::parts() const noexcept {
  return client_.options().parts;
}

bool ClientConnection::may_batch(std::uint64_t offset, std::size_t bytes) const noexcept {
  return bytes <= client_.options().gathered_bytes && offset < Gather::max_offset;
}

Status ClientConnection::gather(const FrameHeader& request, const Scale* scale, std::byte* local,
                                std::size_t bytes, Completion* done) {
  return post_by_route(
      request, When::soon,
      [&](ClientConnection& way, const FrameHeader& head, When) -> Status {
        if (!way.operation_batch_.takes(head, scale)) {
          TESSERA_RETURN_IF_ERROR(way.send_batched(When::now));
        }
        way.operation_batch_.add(head, scale, local, bytes, done);
        return {};
      },
      false);
}

// Requires: sending_ is locked. An error means that the link will be lost, which ends the pending
// replies. If memory runs out, the error goes to the gets that needed it, or else to the next
// fence.
Status ClientConnection::send_batched(When when) {
  if (operation_batch_.is_empty()) {
    return {};
  }
  const bool are_gets = operation_batch_.has_gets();
  std::optional<Gather::List> list;
  Status sent = catch_bad_alloc([&]() -> Status {
    list.emplace(operation_batch_.take());
    return are_gets
               ? send_gets(*list, when)
               : writer_.post(encode(list->header, list->descriptor), std::move(list->body), when);
  });
  if (!is_lack(sent)) {
    return sent;
  }
  if (!list) {
    operation_batch_.fail(sent);
  }
  if (!are_gets) {
    client_.options().stray_error(std::move(sent));
  }
  return {};
}

// Nothing of this was sent, and other requests still can be.
bool ClientConnection::is_lack(const Status& status) const noexcept {
  return status.code() == Code::no_memory && !writer_.is_cut();
}

// Sends the gathered gets. If memory runs out, they have ended at return.
Status ClientConnection::send_gets(Gather::List& list, When when) {
  Awaited awaited;
  awaited.size = list.bytes;
  awaited.gets = std::move(list.gets);
  ClientConnection& table = table_of(list.header);
  const auto operation = table.enter(awaited, *this);
  if (!operation.ok()) {
    awaited.end(operation.status());
    return {};
  }
  list.header.operation = *operation;
  Status sent = catch_bad_alloc([&] {
    return writer_.post(encode(list.header, list.descriptor), std::move(list.body), when);
  });
  if (is_lack(sent)) {
    if (const auto mine = table.take(*operation); mine.ok()) {
      mine->end(sent);
    }
    return {};
  }
  return sent;
}

// The agent refuses a list as a whole even if only one of the gets is wrong.
void ClientConnection::send_again(const BatchedGets& gets) {
  for (std::size_t i = 0; i < gets.fragments.size(); ++i) {
    const Fragment& each = gets.fragments[i];
    FrameHeader header = gets.request;
    header.offset = each.remote_offset;
    header.words[1] = each.bytes;
    Awaited awaited;
    awaited.done = gets.done[i];
    awaited.bytes = static_cast<std::byte*>(each.local);
    awaited.size = each.bytes;
    if (Status status = table_of(header).ask(header, {}, std::move(awaited)); !status.ok()) {
      gets.done[i]->end(std::move(status));
    }
  }
}

ClientConnection::When ClientConnection::when() {
  constexpr std::int64_t pause_ns = 60'000;  // longer than a put with its fence
  constexpr int least_burst = 4;
  if (is_polled()) {
    return When::soon;
  }
  const std::int64_t now = Clock::now().time_since_epoch().count();
  const std::int64_t before = last_request_.exchange(now, std::memory_order_relaxed);
  if (now - before > pause_ns) {
    burst_.store(0, std::memory_order_relaxed);
    return When::now;
  }
  return burst_.fetch_add(1, std::memory_order_relaxed) < least_burst ? When::now : When::soon;
}

// Requires: sending_ is locked.
void ClientConnection::note_unsent() {
  unsent_ = !writer_.is_empty() || !operation_batch_.is_empty();
  held_up_.store(writer_.is_held_up(), std::memory_order_relaxed);
  // A batch bounds itself, and the next thread that polls sends it.
  crowded_.store(writer_.is_held_up() && writer_.own_bytes() >= client_.options().kept_bytes,
                 std::memory_order_relaxed);
}

// The gathered operations are sent first, unless this one is gathered, too. The route's connection
// may be closed at any time because it was unused; it is then opened again.
template <class Post>
Status ClientConnection::post_by_route(FrameHeader header, When when, Post&& post_frame,
                                       bool goes_behind) {
  if (is_clustered_) {
    TESSERA_RETURN_IF_ERROR(order_before(header.kind));
  }
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(ClientConnection* const way, route_for(header));
    if (is_clustered_) {
      header.route = route_.load(std::memory_order_relaxed);
      header.reply_to =
          client_.options().direct_replies && is_connected() ? client_.own_node().value : -1;
      note_route(header.operation, *way);
    }
    auto posted = way->post_with(*this, header, when, [&](When then) -> Status {
      if (goes_behind) {
        TESSERA_RETURN_IF_ERROR(way->send_batched(When::soon));
      }
      return post_frame(*way, header, then);
    });
    if (posted) {
      return std::move(*posted);
    }
  }
}

// Posts on this connection, for the link `owner`. Returns nothing if there is no connection at
// present.
template <class Post>
std::optional<Status> ClientConnection::post_with(ClientConnection& owner,
                                                  const FrameHeader& header, When when,
                                                  Post&& post_frame) {
  wait_for_room();
  const bool is_held = CoalescedMessages::takes(*this, header);
  if (is_held && when != When::later) {
    when = When::together;
  }
  Status status;
  bool is_left_behind = false;
  bool is_held_up = false;
  {
    const std::lock_guard guard(sending_);
    if (is_lost()) {
      return loss();
    }
    if (!is_connected()) {
      return std::nullopt;
    }
    const bool is_looked_after = has_unsent() && !is_held_;
    status = catch_bad_alloc([&] { return post_frame(when); },
                             "this process has no memory for a request");
    if (is_change(header.kind)) {
      owner.changes_.note(header.target, header.region);
    }
    note_unsent();
    is_held_ = is_held && !is_looked_after;
    is_left_behind = has_unsent() && !is_held && !is_looked_after;
    is_held_up = is_left_behind && writer_.is_held_up();
  }
  if (is_held_up) {
    client_.wake_now();
  } else if (is_left_behind) {
    client_.wake_progress();  // no other thread may poll this link soon
  }
  if (status.ok()) {
    return status;
  }
  // The reason may have come already: an agent notifies its peers when it shuts down.
  progress();
  return is_lost() ? loss() : client_.loss_of(node_, status);
}

void ClientConnection::wait_for_room() {
  if (!crowded_.load(std::memory_order_relaxed)) {
    return;
  }
  Backoff nap(max_sleep, max_timed_wait);
  LongWait long_wait(client_.options().wait_warning);
  while (crowded_.load(std::memory_order_relaxed) && !is_lost()) {
    wait_briefly(nap.next());
    client_.tell_of(long_wait, "room to send to", node_);
  }
}

void ClientConnection::wait_briefly() {
  wait_briefly(max_sleep);
}

void ClientConnection::wait_briefly(std::chrono::nanoseconds period) {
  Completion never;
  never.begin();
  client_.wait(never, period);
  never.end({});
}

Status ClientConnection::loss_of(const Status& reason) const {
  return client_.loss_of(node_, reason);
}

// `done` ends when the reply, of exactly as many bytes, is in `answer`.
Status ClientConnection::request_bytes(std::span<std::byte> answer, const FrameHeader& header,
                                       std::span<const std::byte> descriptor, Completion& done) {
  Awaited awaited;
  awaited.done = &done;
  awaited.bytes = answer.data();
  awaited.size = answer.size();
  done.begin();
  return ask(header, descriptor, std::move(awaited));
}

Result<detail::RemoteSpan> ClientConnection::locate(WorldRank rank, RegionId region,
                                                    std::uint64_t offset,
                                                    const std::function<void()>& meanwhile) {
  const FrameHeader header{.kind = Kind::locate,
                           .origin = client_.options().rank,
                           .target = rank,
                           .region = region,
                           .offset = offset};
  std::array<std::byte, remote_span_bytes> bytes;
  Completion done;
  TESSERA_RETURN_IF_ERROR(request_bytes(bytes, header, {}, done));
  meanwhile();
  wait(done);
  TESSERA_RETURN_IF_ERROR(done.take_error());
  return decode_span(bytes);
}

Status ClientConnection::request_assisted_get(const detail::AssistedGetRequest& request,
                                              Completion& done, std::shared_ptr<const void> held) {
  std::vector<std::byte> sides;
  encode_sides(request.shape, sides);
  const FrameHeader header{.kind = Kind::push,
                           .descriptor_bytes = static_cast<std::uint32_t>(sides.size()),
                           .origin = client_.options().rank,
                           .target = request.rank,
                           .region = request.region,
                           .offset = request.offset,
                           .words = {request.address, request.key}};
  Awaited awaited;
  awaited.done = &done;
  awaited.held = std::move(held);
  done.begin();
  Status asked = ask(header, sides, std::move(awaited));
  if (!asked.ok()) {
    done.end(asked);
  }
  return asked;
}

Status ClientConnection::move_to(std::unique_ptr<detail::RdmaConnection> path,
                                 Clock::time_point deadline) {
  const detail::RdmaAddressBytes mine = path->address();
  const FrameHeader header{.kind = Kind::path,
                           .descriptor_bytes = static_cast<std::uint32_t>(mine.size()),
                           .origin = client_.options().rank};
  detail::RdmaAddressBytes other;
  Completion done;
  TESSERA_RETURN_IF_ERROR(request_bytes(other, header, mine, done));
  // If this fails, the caller reconnects and then destroys this link. Until then the agent must see
  // a connection, or it treats this rank as lost.
  while (!done.done()) {
    if (Clock::now() > deadline) {
      end_all(Status::error(Code::timed_out, "the agent did not open a path in time"));
    }
    pollfd waiting{.fd = channel_->descriptor(), .events = POLLIN, .revents = 0};
    poll(&waiting, 1, 100);
    progress();
  }
  TESSERA_RETURN_IF_ERROR(done.take_error());
  if (Status connected = path->connect(other); !connected.ok()) {
    end_all(connected);  // the agent has already left this connection
    return connected;
  }
  path->watch(std::move(channel_));
  path_ = path.get();
  put_channel(std::move(path));
  note_arrival();  // no thread was notified of data that came meanwhile
  return {};
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

Status ClientConnection::ask(FrameHeader header, std::span<const std::byte> descriptor,
                             Awaited awaited) {
  const bool is_long_in_background =
      awaited.size >= min_stream_bytes && awaited.done->is_in_background();
  if (is_clustered_ && client_.options().direct_replies && !is_connected()) {
    TESSERA_RETURN_IF_ERROR(connect());
  }
  TESSERA_ASSIGN_OR_RETURN(header.operation, enter(awaited, *this));
  const When when = pending_replies_.load() > 1 ? When::soon : When::now;
  Status status = post(header, descriptor, {}, nullptr, when);
  if (!status.ok()) {
    // Unless lose() was faster and has ended it.
    auto mine = take(header.operation);
    return mine.ok() ? std::move(status) : Status();
  }
  if (is_long_in_background) {
    client_.wake_now();
  }
  return {};
}

void ClientConnection::wait(Completion& done) {
  Backoff nap(max_sleep, max_timed_wait);
  LongWait long_wait(client_.options().wait_warning);
  while (!done.done()) {
    client_.wait(done, nap.next());
    client_.tell_of(long_wait, "a reply from", node_);
  }
}

void ClientConnection::say_bye() {
  if (!is_connected()) {
    return;
  }
  const FrameHeader bye{.kind = Kind::bye, .origin = client_.options().rank};
  Completion sent;
  sent.begin();
  // A lost peer needs no notice.
  if (post(bye, {}, {}, &sent, When::now).ok()) {
    wait(sent);
    sent.take_error().ignore("the connection ends in any case");
    // The frame was accepted, but may still wait for room.
    Backoff nap(max_sleep, max_timed_wait);
    while (has_unsent() && !is_lost()) {
      wait_briefly(nap.next());
    }
  }
}

// Requires: sending_ is locked. An error means that nothing can be sent any longer; progress()
// finds the same error.
Status ClientConnection::send_kept() {
  Status gathered = send_batched(When::soon);
  Status flushed = catch_bad_alloc([&] { return writer_.flush(); });
  note_unsent();
  return gathered.ok() ? std::move(flushed) : std::move(gathered);
}

// Bytes that had no room are left to other threads from now on, as long puts in the background
// already are.
void ClientConnection::send_held() noexcept {
  bool is_held_up = false;
  {
    const std::lock_guard guard(sending_);
    if (!is_lost() && !writer_.is_left()) {
      send_kept().ignore("progress() finds it, and has the peer's reason");
    }
    is_held_up = writer_.is_held_up();
  }
  if (is_held_up) {
    client_.wake_now();
  }
}

void ClientConnection::flush() {
  if (has_unsent() && !is_lost()) {
    const std::lock_guard guard(sending_);
    send_kept().ignore("progress() finds it, and has the peer's reason");
  }
}

// If memory runs out elsewhere, the connection ends, because its next bytes would be mistaken for a
// frame. Only the connection, not the call: destinations of other replies would otherwise return to
// their callers too early.
Result<bool> ClientConnection::advance() {
  try {
    return reader_.advance();
  } catch (const std::bad_alloc&) {
    return Status::error(Code::no_memory, "this process has no memory for an answer");
  }
}

int ClientConnection::progress() {
  if (is_lost()) {
    return 0;
  }
  Status sent;
  if (has_unsent()) {
    const std::unique_lock guard(sending_, std::try_to_lock);
    if (guard.owns_lock()) {
      sent = send_kept();
    }
  }
  std::unique_lock guard(receiving_, std::try_to_lock);
  // Another thread may meanwhile have found that the link is lost, and have ended the operations
  // that own the destinations of the replies.
  if (!guard.owns_lock() || is_lost()) {
    return 0;
  }
  answers_ = 0;
  has_arrived_.store(false);  // later arrivals are announced again
  auto came = advance();
  while (!sent.ok() && came.ok() && *came) {
    came = advance();  // everything: the peer may have sent the reason of its end
  }
  if (!came.ok() || !sent.ok()) {
    lose(came.ok() ? sent : came.status());
  } else if (*came) {
    note_arrival();  // there may be more
  }
  const int answers = answers_;
  const auto again = std::exchange(failed_batches_, {});
  guard.unlock();
  for (const auto& gets : again) {
    send_again(*gets);
  }
  return answers;
}

void ClientConnection::release_memory() {
  if (const std::unique_lock guard(receiving_, std::try_to_lock);
      guard.owns_lock() && !reader_.is_inside_frame()) {
    packed_.look();
  }
  if (const std::unique_lock guard(sending_, std::try_to_lock); guard.owns_lock()) {
    writer_.look();
  }
}

void ClientConnection::check_host() {
  if (!is_lost()) {
    const std::lock_guard guard(receiving_);
    if (const Status status = channel_->check(); !status.ok()) {
      lose(status);
    }
  }
}

// Nothing more goes either way. The agent must know that, since it waits for its peers before it
// ends. A path notifies it by itself when it is lost or destroyed.
void ClientConnection::lose(const Status& reason) {
  end_all(reason);
  if (path_ == nullptr && is_connected()) {
    shutdown(channel_->descriptor(), SHUT_RDWR);
  }
  client_.note_lost_way(*this, reason);
}

void ClientConnection::end_all(const Status& reason) {
  const Status told = client_.loss_of(node_, reason);
  // A sending thread has either entered its pending reply into the table by now, or finds the link
  // lost.
  const std::lock_guard sending(sending_);
  {
    const std::lock_guard guard(table_);
    if (is_lost()) {
      return;
    }
    // The reason first: a thread that finds the link lost returns it.
    reason_ = told;
    lost_.store(true, std::memory_order_release);
    // A reply whose bytes are arriving by another link is ended by that link.
    for (std::size_t at = 0; at < slots_.size(); ++at) {
      Slot& slot = slots_[at];
      if (slot.receiver == nullptr || slot.receiver == this) {
        end_pending(at, told);
      }
    }
  }
  if (arriving_ != 0) {
    if (const auto foreign = reply_owner_->take(std::exchange(arriving_, 0)); foreign.ok()) {
      foreign->end(told);
    }
  }
  // Kept bytes are never sent now; the threads that wait for them must be notified.
  operation_batch_.fail(told);
  writer_.fail(told);
  note_unsent();
}

}  // namespace tessera::rma::server
