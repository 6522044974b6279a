// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/link.hpp"

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

#include "rma/kernels/copy.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/node/growing_nap.hpp"
#include "rma/server/client.hpp"
#include "rma/server/holding.hpp"
#include "rma/server/parts.hpp"
#include "rma/within_memory.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;
using detail::GrowingNap;
using detail::longest_nap;
using detail::LongWait;
using detail::within_memory;

// A reply that may fill the socket's buffers before a sleeping thread polls it.
constexpr std::size_t least_stream_bytes = std::size_t{64} * 1024;

// Sending this much takes many times longer than waking the thread that it may be left to.
constexpr std::size_t least_left_bytes = std::size_t{1024} * 1024;

// Stands for the connection while there is none: nothing arrives and nothing is sent.
class NoChannel final : public Channel {
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

Link::Link(Client& client, NodeId node, std::unique_ptr<Channel> channel)
    : client_(client),
      node_(node),
      is_connected_(channel != nullptr),
      channel_(channel != nullptr ? std::move(channel) : no_channel()),
      descriptor_(channel_->descriptor()),
      shows_room_(channel_->shows_room()),
      writer_(*channel_),
      reader_(*channel_, *this) {}

std::unique_ptr<Channel> Link::no_channel() {
  return std::make_unique<NoChannel>();
}

Link::~Link() {
  end_all(Status::error(Code::closed, "the job was stopped"));
}

Status Link::loss() const {
  const std::lock_guard guard(table_);
  return reason_;
}

Status Link::post(const FrameHeader& header, std::span<const std::byte> descriptor,
                  std::span<const iovec> body, Completion* sent, When when) {
  if (sent != nullptr && sent->is_in_background() && header.payload_bytes >= least_left_bytes) {
    when = When::later;  // the progress thread or a waiting thread copies it to the socket
  }
  return post_by_way(header, when, [&](Link& way, const FrameHeader& head, When then) {
    return descriptor.empty() ? way.writer_.post(encode(head), body, sent, then)
                              : way.writer_.post(encode(head, descriptor), body, sent, then);
  });
}

Status Link::post(const FrameHeader& header, std::span<const std::byte> descriptor,
                  std::vector<std::byte> body, When when) {
  return post_by_way(header, when, [&](Link& way, const FrameHeader& head, When then) {
    return way.writer_.post(encode(head, descriptor), std::move(body), then);
  });
}

Status Link::post_copy(const FrameHeader& header, std::span<const std::byte> body, When when) {
  Completion sent;
  sent.begin();
  Status posted = post_by_way(header, when, [&](Link& way, const FrameHeader& head, When then) {
    return way.writer_.post_copy(encode(head), body, sent, then);
  });
  TESSERA_RETURN_IF_ERROR(posted);
  wait(sent);
  return sent.take_error();
}

const PackingLimits& Link::limits() const noexcept {
  return client_.options().limits;
}

const PartSizes& Link::parts() const noexcept {
  return client_.options().parts;
}

bool Link::may_gather(std::uint64_t offset, std::size_t bytes) const noexcept {
  return bytes <= client_.options().gathered_bytes && offset < Gather::most_offset;
}

Status Link::gather(const FrameHeader& request, const Scale* scale, std::byte* local,
                    std::size_t bytes, Completion* done) {
  return post_by_way(
      request, When::soon,
      [&](Link& way, const FrameHeader& head, When) -> Status {
        if (!way.gather_.takes(head, scale)) {
          TESSERA_RETURN_IF_ERROR(way.send_gathered(When::now));
        }
        way.gather_.add(head, scale, local, bytes, done);
        return {};
      },
      false);
}

// Requires: sending_ is locked. An error means that the link will be lost, which ends the pending
// replies. If memory runs out, the error goes to the gets that needed it, or else to the next
// fence.
Status Link::send_gathered(When when) {
  if (gather_.is_empty()) {
    return {};
  }
  const bool are_gets = gather_.has_gets();
  std::optional<Gather::List> list;
  Status sent = within_memory([&]() -> Status {
    list.emplace(gather_.take());
    return are_gets
               ? send_gets(*list, when)
               : writer_.post(encode(list->header, list->descriptor), std::move(list->body), when);
  });
  if (!is_lack(sent)) {
    return sent;
  }
  if (!list) {
    gather_.fail(sent);
  }
  if (!are_gets) {
    client_.options().stray_error(std::move(sent));
  }
  return {};
}

// Nothing of this was sent, and other requests still can be.
bool Link::is_lack(const Status& status) const noexcept {
  return status.code() == Code::no_memory && !writer_.is_cut();
}

// Sends the gathered gets. If memory runs out, they have ended at return.
Status Link::send_gets(Gather::List& list, When when) {
  Awaited awaited;
  awaited.size = list.bytes;
  awaited.gets = std::move(list.gets);
  Link& table = table_of(list.header);
  const auto operation = table.enter(awaited, *this);
  if (!operation.ok()) {
    awaited.end(operation.status());
    return {};
  }
  list.header.operation = *operation;
  Status sent = within_memory([&] {
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
void Link::ask_again(const GatheredGets& gets) {
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

Link::When Link::when() {
  constexpr std::int64_t pause_ns = 60'000;  // longer than a put with its fence
  constexpr int least_burst = 4;
  if (has_company()) {
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
void Link::note_unsent() {
  unsent_ = !writer_.is_empty() || !gather_.is_empty();
  held_up_.store(writer_.is_held_up(), std::memory_order_relaxed);
  // A batch bounds itself, and the next thread that polls sends it.
  crowded_.store(writer_.is_held_up() && writer_.own_bytes() >= client_.options().kept_bytes,
                 std::memory_order_relaxed);
}

// The gathered operations are sent first, unless this one is gathered, too. The route's connection
// may be closed at any time because it was unused; it is then opened again.
template <class Post>
Status Link::post_by_way(FrameHeader header, When when, Post&& post_frame, bool goes_behind) {
  if (is_clustered_) {
    TESSERA_RETURN_IF_ERROR(settle_before(header.kind));
  }
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(Link* const way, way_of(header));
    if (is_clustered_) {
      header.route = route_.load(std::memory_order_relaxed);
      header.reply_to =
          client_.options().direct_replies && is_connected() ? client_.own_node().value : -1;
      note_way(header.operation, *way);
    }
    auto posted = way->post_with(*this, header, when, [&](When then) -> Status {
      if (goes_behind) {
        TESSERA_RETURN_IF_ERROR(way->send_gathered(When::soon));
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
std::optional<Status> Link::post_with(Link& owner, const FrameHeader& header, When when,
                                      Post&& post_frame) {
  wait_for_room();
  const bool is_held = Holding::takes(*this, header);
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
    const bool is_looked_after = has_unsent() && !is_held_back_;
    status =
        within_memory([&] { return post_frame(when); }, "this process has no memory for a request");
    if (is_change(header.kind)) {
      owner.changes_.note(header.target, header.region);
    }
    note_unsent();
    is_held_back_ = is_held && !is_looked_after;
    is_left_behind = has_unsent() && !is_held && !is_looked_after;
    is_held_up = is_left_behind && writer_.is_held_up();
  }
  if (is_held_up) {
    client_.bring_on();
  } else if (is_left_behind) {
    client_.stir();  // no other thread may poll this link soon
  }
  if (status.ok()) {
    return status;
  }
  // The reason may have come already: an agent notifies its peers when it shuts down.
  progress();
  return is_lost() ? loss() : client_.loss_of(node_, status);
}

void Link::wait_for_room() {
  if (!crowded_.load(std::memory_order_relaxed)) {
    return;
  }
  GrowingNap nap(longest_sleep, longest_nap);
  LongWait long_wait(client_.options().wait_warning);
  while (crowded_.load(std::memory_order_relaxed) && !is_lost()) {
    wait_a_little(nap.next());
    client_.tell_of(long_wait, "room to send to", node_);
  }
}

void Link::wait_a_little() {
  wait_a_little(longest_sleep);
}

void Link::wait_a_little(std::chrono::nanoseconds period) {
  Completion never;
  never.begin();
  client_.wait(never, period);
  never.end({});
}

Status Link::loss_of(const Status& reason) const {
  return client_.loss_of(node_, reason);
}

// `done` ends when the reply, of exactly as many bytes, is in `answer`.
Status Link::ask_for(std::span<std::byte> answer, const FrameHeader& header,
                     std::span<const std::byte> descriptor, Completion& done) {
  Awaited awaited;
  awaited.done = &done;
  awaited.bytes = answer.data();
  awaited.size = answer.size();
  done.begin();
  return ask(header, descriptor, std::move(awaited));
}

Result<detail::RemoteSpan> Link::locate(WorldRank rank, RegionId region, std::uint64_t offset,
                                        const std::function<void()>& meanwhile) {
  const FrameHeader header{.kind = Kind::locate,
                           .origin = client_.options().rank,
                           .target = rank,
                           .region = region,
                           .offset = offset};
  std::array<std::byte, remote_span_bytes> bytes;
  Completion done;
  TESSERA_RETURN_IF_ERROR(ask_for(bytes, header, {}, done));
  meanwhile();
  wait(done);
  TESSERA_RETURN_IF_ERROR(done.take_error());
  return decode_span(bytes);
}

Status Link::ask_to_push(const detail::PushRequest& request, Completion& done,
                         std::shared_ptr<const void> held) {
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

Status Link::move_to(std::unique_ptr<detail::Path> path, Clock::time_point deadline) {
  const detail::PathAddressBytes mine = path->address();
  const FrameHeader header{.kind = Kind::path,
                           .descriptor_bytes = static_cast<std::uint32_t>(mine.size()),
                           .origin = client_.options().rank};
  detail::PathAddressBytes other;
  Completion done;
  TESSERA_RETURN_IF_ERROR(ask_for(other, header, mine, done));
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

void Link::heed_descriptor() {
  if (is_lost()) {
    return;
  }
  Status status;
  {
    const std::lock_guard guard(receiving_);
    status = channel_->heed_descriptor();
  }
  if (!status.ok()) {
    progress();  // the last data, which came before the end
    const std::lock_guard guard(receiving_);
    lose(status);
  }
}

Status Link::ask(FrameHeader header, std::span<const std::byte> descriptor, Awaited awaited) {
  const bool is_long_in_background =
      awaited.size >= least_stream_bytes && awaited.done->is_in_background();
  if (is_clustered_ && client_.options().direct_replies && !is_connected()) {
    TESSERA_RETURN_IF_ERROR(connect());
  }
  TESSERA_ASSIGN_OR_RETURN(header.operation, enter(awaited, *this));
  const When when = awaiting_.load() > 1 ? When::soon : When::now;
  Status status = post(header, descriptor, {}, nullptr, when);
  if (!status.ok()) {
    // Unless lose() was faster and has ended it.
    auto mine = take(header.operation);
    return mine.ok() ? std::move(status) : Status();
  }
  if (is_long_in_background) {
    client_.bring_on();
  }
  return {};
}

// Reserves memory so that freeing a slot needs none.
Status Link::add_slot() {
  return within_memory([&]() -> Status {
    if (free_slots_.capacity() <= slots_.size()) {
      free_slots_.reserve(2 * slots_.size() + 1);
    }
    slots_.emplace_back();
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    return {};
  });
}

// Moves the pending reply into a slot, unless there is no memory for another slot.
Result<std::uint64_t> Link::enter(Awaited& awaited, const Link& way) {
  const std::lock_guard guard(table_);
  if (free_slots_.empty()) {
    TESSERA_RETURN_IF_ERROR(add_slot());
  }
  const std::uint32_t at = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[at];
  streams_.fetch_add(awaited.size >= least_stream_bytes ? 1 : 0, std::memory_order_relaxed);
  slot.awaited = std::move(awaited);
  slot.is_used = true;
  slot.way = &way;
  slot.receiver = nullptr;
  // Never 0, which is the operation of requests without a reply on success.
  slot.generation = std::max(slot.generation + 1, std::uint32_t{1});
  awaiting_.fetch_add(1);
  return std::uint64_t{slot.generation} << 32U | at;
}

// Requires: table_ is locked.
Result<Awaited*> Link::find(std::uint64_t operation) {
  const std::size_t at = operation & 0xffff'ffffU;
  if (at >= slots_.size() || !slots_[at].is_used || slots_[at].generation != operation >> 32U) {
    return Status::error(
        Code::protocol, fmt::format("{} answered operation {:#x}, which is not pending",
                                    is_clustered_ ? fmt::format("the agent of node {}", node_.value)
                                                  : channel_->peer(),
                                    operation));
  }
  return &slots_[at].awaited;  // elements of a deque do not move
}

// The reply's bytes come by `receiver` now: until they are complete only that link may end the
// operation.
Result<Awaited*> Link::look_at(std::uint64_t operation, const Link& receiver) {
  const std::lock_guard guard(table_);
  auto found = find(operation);
  if (found.ok()) {
    slots_[operation & 0xffff'ffffU].receiver = &receiver;
  }
  return found;
}

// Requires: table_ is locked.
void Link::end_slot(std::size_t at, const Status& reason) {
  Slot& slot = slots_[at];
  if (!std::exchange(slot.is_used, false)) {
    return;
  }
  slot.receiver = nullptr;
  free_slots_.push_back(static_cast<std::uint32_t>(at));
  awaiting_.fetch_sub(1);
  streams_.fetch_sub(slot.awaited.size >= least_stream_bytes ? 1 : 0, std::memory_order_relaxed);
  std::exchange(slot.awaited, {}).end(reason);
}

Result<Awaited> Link::take(std::uint64_t operation) {
  const std::lock_guard guard(table_);
  TESSERA_ASSIGN_OR_RETURN(Awaited* const awaited, find(operation));
  const std::size_t at = operation & 0xffff'ffffU;
  slots_[at].is_used = false;
  slots_[at].receiver = nullptr;
  free_slots_.push_back(static_cast<std::uint32_t>(at));
  awaiting_.fetch_sub(1);
  streams_.fetch_sub(awaited->size >= least_stream_bytes ? 1 : 0, std::memory_order_relaxed);
  return std::exchange(*awaited, {});
}

void Link::wait(Completion& done) {
  GrowingNap nap(longest_sleep, longest_nap);
  LongWait long_wait(client_.options().wait_warning);
  while (!done.done()) {
    client_.wait(done, nap.next());
    client_.tell_of(long_wait, "a reply from", node_);
  }
}

void Link::say_bye() {
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
    GrowingNap nap(longest_sleep, longest_nap);
    while (has_unsent() && !is_lost()) {
      wait_a_little(nap.next());
    }
  }
}

// Requires: sending_ is locked. An error means that nothing can be sent any longer; progress()
// finds the same error.
Status Link::send_kept() {
  Status gathered = send_gathered(When::soon);
  Status flushed = within_memory([&] { return writer_.flush(); });
  note_unsent();
  return gathered.ok() ? std::move(flushed) : std::move(gathered);
}

// Bytes that had no room are left to other threads from now on, as long puts in the background
// already are.
void Link::send_held() noexcept {
  bool is_held_up = false;
  {
    const std::lock_guard guard(sending_);
    if (!is_lost() && !writer_.is_left()) {
      send_kept().ignore("progress() finds it, and has the peer's reason");
    }
    is_held_up = writer_.is_held_up();
  }
  if (is_held_up) {
    client_.bring_on();
  }
}

void Link::flush() {
  if (has_unsent() && !is_lost()) {
    const std::lock_guard guard(sending_);
    send_kept().ignore("progress() finds it, and has the peer's reason");
  }
}

// If memory runs out elsewhere, the connection ends, because its next bytes would be mistaken for a
// frame. Only the connection, not the call: destinations of other replies would otherwise return to
// their callers too early.
Result<bool> Link::advance() {
  try {
    return reader_.advance();
  } catch (const std::bad_alloc&) {
    return Status::error(Code::no_memory, "this process has no memory for an answer");
  }
}

int Link::progress() {
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
  const auto again = std::exchange(again_, {});
  guard.unlock();
  for (const auto& gets : again) {
    ask_again(*gets);
  }
  return answers;
}

void Link::release_memory() {
  if (const std::unique_lock guard(receiving_, std::try_to_lock);
      guard.owns_lock() && !reader_.is_inside_frame()) {
    packed_.look();
  }
  if (const std::unique_lock guard(sending_, std::try_to_lock); guard.owns_lock()) {
    writer_.look();
  }
}

void Link::check_host() {
  if (!is_lost()) {
    const std::lock_guard guard(receiving_);
    if (const Status status = channel_->check(); !status.ok()) {
      lose(status);
    }
  }
}

// Nothing more goes either way. The agent must know that, since it waits for its peers before it
// ends. A path notifies it by itself when it is lost or destroyed.
void Link::lose(const Status& reason) {
  end_all(reason);
  if (path_ == nullptr && is_connected()) {
    shutdown(channel_->descriptor(), SHUT_RDWR);
  }
  client_.note_lost_way(*this, reason);
}

void Link::end_all(const Status& reason) {
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
        end_slot(at, told);
      }
    }
  }
  if (arriving_ != 0) {
    if (const auto foreign = table_link_->take(std::exchange(arriving_, 0)); foreign.ok()) {
      foreign->end(told);
    }
  }
  // Kept bytes are never sent now; the threads that wait for them must be notified.
  gather_.fail(told);
  writer_.fail(told);
  note_unsent();
}

}  // namespace tessera::rma::server
