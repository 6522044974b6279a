// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/server_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "rma/catch_bad_alloc.hpp"
#include "rma/engine/node_control_channel.hpp"
#include "rma/node/futex.hpp"

namespace tessera::rma::server {
namespace {

// Results of at most one word need no payload.
constexpr std::size_t max_inline_bytes = 8;

// Stores the flag after the data that it announces, and wakes the threads that wait on its low
// half.
void raise_flag(std::byte* at, std::uint64_t value) noexcept {
  auto* const flag = reinterpret_cast<std::atomic<std::uint64_t>*>(at);
  flag->store(value, std::memory_order_release);
  detail::futex_wake_all(*reinterpret_cast<detail::FutexWord*>(at));
}

// Requests that access bytes of a rank's slice.
bool is_on_slice(Kind kind) noexcept {
  return kind == Kind::put || kind == Kind::get || kind == Kind::accumulate ||
         kind == Kind::atomic || kind == Kind::flag || kind == Kind::locate || kind == Kind::push;
}

// Ranks of this node access its memory without an agent. The offsets that they exchange there are
// trusted, and must not come from outside. From the agent they only need access to its device.
bool is_for_own_node(Kind kind) noexcept {
  return kind == Kind::path || kind == Kind::locate || kind == Kind::bye;
}

// Puts and flags without a reply concern only a rank of this node, if any, so the peer does not
// wait for them.
bool is_urgent(const FrameHeader& header) noexcept {
  const bool only_tells =
      header.kind == Kind::put || header.kind == Kind::accumulate || header.kind == Kind::flag;
  return !only_tells || (header.flags & flags::wants_answer) != 0;
}

FrameHeader answer_to(const FrameHeader& request, Kind kind) noexcept {
  return {.kind = kind,
          .origin = request.origin,
          .target = request.target,
          .operation = request.operation,
          .route = request.route};
}

}  // namespace

ServerConnection::ServerConnection(std::unique_ptr<Channel> channel, HandshakeServer handshake,
                                   detail::Node& node, RemoteLockServer& locks,
                                   ServerConnectionOptions options)
    : channel_(std::move(channel)),
      handshake_(std::make_unique<HandshakeServer>(std::move(handshake))),
      node_(node),
      locks_(locks),
      options_(options),
      executor_(node, options.lane, options.limits),
      writer_(*channel_),
      reader_(*channel_, *this, options.buffers) {}

std::string ServerConnection::peer() const {
  return is_authenticated_ ? fmt::format("rank {} at {}", origin_.value, channel_->peer())
                           : channel_->peer();
}

// The agent serves others, too: if memory runs out elsewhere, only this connection ends.
Result<bool> ServerConnection::advance() {
  try {
    return advance_unguarded();
  } catch (const std::bad_alloc&) {
    return Status::error(Code::no_memory, "the agent's process has no memory for a request");
  }
}

Result<bool> ServerConnection::advance_unguarded() {
  if (!is_authenticated_) {
    return shake_hands();
  }
  return reader_.advance();
}

std::string ServerConnection::unfinished() const {
  if (!is_authenticated_) {
    return has_begun_ ? "in the middle of its handshake" : "";
  }
  if (is_over_ || !reader_.is_inside_frame()) {
    return "";
  }
  // The bytes of an unfinished delivery are not read, because its flag was not stored.
  return is_in_place_ && current_.kind == Kind::put
             ? fmt::format(
                   "in the middle of a put to rank {}; some of its bytes may have been stored",
                   current_.target.value)
             : "in the middle of a request, which is not executed";
}

void ServerConnection::send_reason(const Status& reason) {
  if (is_authenticated_ && !is_over_) {
    answer_failure({.origin = origin_}, reason).ignore("the connection ends in any case");
    writer_.flush().ignore("the connection ends in any case");
  }
}

void ServerConnection::say_bye() {
  if (is_authenticated_) {
    const FrameHeader bye{.kind = Kind::bye, .origin = origin_};
    detail::catch_bad_alloc([&] {
      return writer_.post(encode(bye), {}, nullptr);
    }).ignore("a peer that is not notified finds that the agent is gone");
  }
}

Status ServerConnection::flush() {
  TESSERA_RETURN_IF_ERROR(writer_.flush());
  return next_ == nullptr ? Status() : move_to_path();
}

// The handshake sends only a few bytes, for which a new socket always has room.
Result<bool> ServerConnection::shake_hands() {
  std::array<std::byte, 512> bytes;
  const iovec room{bytes.data(), bytes.size()};
  TESSERA_ASSIGN_OR_RETURN(const std::size_t came, channel_->receive(std::span(&room, 1)));
  if (came == 0) {
    return false;
  }
  has_begun_ = true;
  const auto in = std::span<const std::byte>(bytes).first(came);
  const auto progress = handshake_->feed(in);
  const auto out = handshake_->outgoing();
  if (!out.empty()) {
    const iovec piece{const_cast<std::byte*>(out.data()), out.size()};
    TESSERA_ASSIGN_OR_RETURN(const std::size_t sent, channel_->send(std::span(&piece, 1)));
    handshake_->sent(sent);
  }
  TESSERA_RETURN_IF_ERROR(progress.status());
  if (progress->finished) {
    is_authenticated_ = true;
    origin_ = handshake_->origin();
    handshake_.reset();
    is_of_own_node_ = node_.local_rank_of(origin_) >= 0;
    TESSERA_RETURN_IF_ERROR(reader_.begin_with(in.subspan(progress->consumed)));
  }
  return true;
}

// --- Receiving a request.

// An error here ends the connection: no correct peer sends such a frame.
Status ServerConnection::check_peer(const FrameHeader& header) const {
  if (is_answer(header.kind)) {
    return Status::error(Code::protocol, fmt::format("{} sent an answer ({}) to an agent", peer(),
                                                     to_string(header.kind)));
  }
  if (is_trunk()) {
    return check_forwarded(header);
  }
  if (header.origin != origin_) {
    return Status::error(Code::protocol, fmt::format("{} sent a request in the name of rank {}",
                                                     peer(), header.origin.value));
  }
  if (is_of_own_node_ && !is_for_own_node(header.kind)) {
    return Status::error(Code::protocol, fmt::format("{} sent {} to the agent of its own node",
                                                     peer(), to_string(header.kind)));
  }
  return {};
}

// A kind has only the parts that docs/wire-format.md lists for it.
Status ServerConnection::check_form(const FrameHeader& header) const {
  const bool has_descriptor = header.kind == Kind::put || header.kind == Kind::get ||
                              header.kind == Kind::accumulate || header.kind == Kind::atomic ||
                              header.kind == Kind::path || header.kind == Kind::push;
  if (!has_descriptor && header.descriptor_bytes > 0) {
    return Status::error(Code::protocol,
                         fmt::format("{} from {} has a descriptor of {} bytes; its kind has none",
                                     to_string(header.kind), peer(), header.descriptor_bytes));
  }
  if (!is_on_slice(header.kind) && header.kind != Kind::deliver && header.payload_bytes > 0) {
    return Status::error(Code::protocol,
                         fmt::format("{} from {} carries {} bytes; its kind has no payload",
                                     to_string(header.kind), peer(), header.payload_bytes));
  }
  if (header.kind != Kind::put && (header.flags & flags::inline_data) != 0) {
    return Status::error(Code::protocol,
                         fmt::format("{} from {} has its data in the header; only a put may",
                                     to_string(header.kind), peer()));
  }
  return {};
}

// Without a descriptor the transfer is contiguous, and the header has its size.
Result<Pattern> ServerConnection::read_pattern(const FrameHeader& header,
                                               std::span<const std::byte> descriptor) const {
  if (header.descriptor_bytes > 0) {
    return decode_pattern(descriptor);
  }
  const bool is_inline = (header.flags & flags::inline_data) != 0;
  const std::uint64_t bytes =
      header.kind == Kind::get || is_inline ? header.words[1] : header.payload_bytes;
  const std::uint64_t most = is_inline ? max_inline_bytes : max_direct_bytes;
  if (bytes > most) {
    return Status::error(Code::protocol,
                         fmt::format("{} from {} moves {} bytes in one request; the limit is {}",
                                     to_string(header.kind), peer(), bytes, most));
  }
  return Pattern(CopyShape::contiguous(bytes));
}

Status ServerConnection::check_sizes(const FrameHeader& header, std::uint64_t moved) const {
  const bool is_inline = (header.flags & flags::inline_data) != 0;
  const bool has_payload =
      !is_inline && (header.kind == Kind::put || header.kind == Kind::accumulate);
  if (has_payload ? moved != header.payload_bytes : header.payload_bytes != 0) {
    return Status::error(Code::protocol,
                         fmt::format("{} from {} moves {} bytes but carries {}",
                                     to_string(header.kind), peer(), moved, header.payload_bytes));
  }
  if (moved > max_direct_bytes || (is_inline && moved > max_inline_bytes)) {
    return Status::error(Code::protocol,
                         fmt::format("{} from {} moves {} bytes in one request; the limit is {}",
                                     to_string(header.kind), peer(), moved, max_direct_bytes));
  }
  return {};
}

const Pattern& ServerConnection::pattern() const {
  return current_.kind == Kind::accumulate ? accumulate_->pattern : pattern_;
}

// Decodes the descriptor as the request's kind requires.
Status ServerConnection::read_terms(const FrameHeader& header,
                                    std::span<const std::byte> descriptor) {
  if (header.kind == Kind::accumulate) {
    TESSERA_ASSIGN_OR_RETURN(accumulate_, decode_accumulate(descriptor));
  } else if (header.kind == Kind::atomic) {
    TESSERA_ASSIGN_OR_RETURN(atomic_, decode_atomic(descriptor));
    pattern_ = CopyShape::contiguous(static_cast<std::size_t>(atomic_.bytes));
  } else if (header.kind == Kind::flag) {
    pattern_ = CopyShape::contiguous(sizeof(std::int32_t));
  } else if (header.kind == Kind::locate) {
    pattern_ = CopyShape::contiguous(0);
  } else if (header.kind == Kind::push) {
    TESSERA_ASSIGN_OR_RETURN(pattern_, decode_sides(descriptor));
  } else {
    TESSERA_ASSIGN_OR_RETURN(pattern_, read_pattern(header, descriptor));
  }
  const std::uint64_t moved = total_bytes(pattern());
  TESSERA_RETURN_IF_ERROR(check_sizes(header, moved));
  if (header.kind == Kind::get && moved > max_packed_bytes && !Executor::is_long(pattern_)) {
    return Status::error(Code::protocol,
                         fmt::format("{} requests {} bytes of short rows at once; the limit is {}",
                                     peer(), moved, max_packed_bytes));
  }
  return {};
}

// A request for which memory runs out is refused.
Status ServerConnection::begin(const FrameHeader& header, std::span<const std::byte> descriptor,
                               std::vector<iovec>& into) {
  try {
    TESSERA_RETURN_IF_ERROR(begin_request(header, descriptor, into));
    into.reserve(into.size() + 1);
  } catch (const std::bad_alloc&) {
    into.clear();
    is_in_place_ = false;
    refusal_ = Status::no_memory("the agent's process has no memory for a request");
  }
  return {};
}

Status ServerConnection::begin_request(const FrameHeader& header,
                                       std::span<const std::byte> descriptor,
                                       std::vector<iovec>& into) {
  current_ = header;
  refusal_ = Status();
  is_in_place_ = false;
  is_passed_on_ = false;
  is_stale_ = false;
  TESSERA_RETURN_IF_ERROR(check_peer(header));
  TESSERA_RETURN_IF_ERROR(check_form(header));
  if (is_for_other(header)) {
    return begin_passing_on(header, descriptor, into);
  }
  if (header.forwarder >= 0 || header.kind == Kind::introduce) {
    is_stale_ = options_.routes != nullptr && options_.routes->is_stale(header);
    if (is_stale_) {
      return {};  // its payload is discarded
    }
  }
  if (is_on_slice(header.kind)) {
    TESSERA_RETURN_IF_ERROR(read_terms(header, descriptor));
  } else if (header.kind == Kind::path) {
    TESSERA_RETURN_IF_ERROR(read_address(descriptor));
  }
  return header.payload_bytes == 0 ? Status() : take_payload(header, into);
}

// Long rows of mapped memory and long deliveries go directly to their target.
void ServerConnection::find_places(const FrameHeader& header, std::vector<iovec>& into) {
  if (header.kind == Kind::put && executor_.goes_direct(pattern_)) {
    const Result<Place> place = executor_.find(header, pattern_);
    refusal_ = place.status();
    is_in_place_ = place.ok() && executor_.pieces_of(*place, pattern_, into);
  } else if (header.kind == Kind::deliver && header.payload_bytes <= max_packed_bytes &&
             executor_.goes_direct(CopyShape::contiguous(header.payload_bytes))) {
    refusal_ = executor_.visit_mail(header, [&](std::byte* memory) {
      into.push_back({memory + header.offset, header.payload_bytes});
    });
    is_in_place_ = refusal_.ok();
  }
}

Status ServerConnection::take_payload(const FrameHeader& header, std::vector<iovec>& into) {
  find_places(header, into);
  if (is_in_place_) {
    return {};
  }
  if (header.payload_bytes > max_packed_bytes && refusal_.ok()) {
    return Status::error(Code::protocol, fmt::format("{} from {} carries {} bytes; the limit is {}",
                                                     to_string(header.kind), peer(),
                                                     header.payload_bytes, max_packed_bytes));
  }
  // A refused payload has to be read from the stream, too; it may be longer than the buffer, which
  // is then reused.
  const std::size_t room = std::min<std::uint64_t>(header.payload_bytes, max_packed_bytes);
  std::byte* const memory = packed_.take(room);
  for (std::uint64_t left = header.payload_bytes; left > 0;) {
    const std::size_t some = std::min<std::uint64_t>(left, room);
    into.push_back({memory, some});
    left -= some;
  }
  return {};
}

// The target memory cannot be freed while bytes are stored into it. If a slice was freed meanwhile,
// the sender made a mistake or died; a mailbox is freed with its team, which may have been given
// up. The rest of the payload is discarded.
template <class Store>
void ServerConnection::store_in_place(Store&& store) {
  if (!refusal_.ok()) {
    return;
  }
  refusal_ = current_.kind == Kind::deliver
                 ? executor_.visit_mail(current_, [&](std::byte*) { store(); })
                 : executor_.visit(current_, pattern_, [&](const Place&) {
                     store();
                     return Status();
                   });
}

void ServerConnection::store_payload(std::span<const iovec> places,
                                     std::span<const std::byte> bytes) {
  if (!is_in_place_) {
    FrameSink::store_payload(places, bytes);
    return;
  }
  store_in_place([&] { FrameSink::store_payload(places, bytes); });
}

Result<std::size_t> ServerConnection::receive_payload(Channel& channel, std::vector<iovec>& places,
                                                      std::size_t next, iovec rest) {
  if (!is_in_place_) {
    return FrameSink::receive_payload(channel, places, next, rest);
  }
  Result<std::size_t> came = std::size_t{0};
  store_in_place([&] { came = FrameSink::receive_payload(channel, places, next, rest); });
  if (refusal_.ok()) {
    return came;
  }
  std::size_t left = 0;
  for (std::size_t i = next; i < places.size(); ++i) {
    left += places[i].iov_len;
  }
  return discard(channel, left);
}

Result<std::size_t> ServerConnection::discard(Channel& channel, std::size_t bytes) {
  const std::size_t room = std::min(bytes, max_packed_bytes);
  const iovec place{packed_.take(room), room};
  return channel.receive(std::span(&place, 1));
}

// --- Executing a request.

Status ServerConnection::end(const FrameHeader& header) {
  was_urgent_ = was_urgent_ || is_urgent(header);
  const bool is_stored = std::exchange(is_in_place_, false);
  executed_ += is_trunk() && is_forwardable(header.kind) ? 1U : 0U;
  if (!refusal_.ok()) {
    return answer_failure(header, refusal_);
  }
  if (is_stale_) {
    return {};
  }
  if (std::exchange(is_passed_on_, false)) {
    options_.forwarder->pass_on(header, descriptor_, std::exchange(payload_, {}),
                                channel_->descriptor());
    return {};
  }
  Status done = detail::catch_bad_alloc(
      [&] {
        return header.kind == Kind::deliver ? execute_deliver(header, is_stored)
               : is_stored                  ? Status()
                                            : execute(header);
      },
      "the agent's process has no memory to carry out a request");
  if (is_over_) {
    return done;
  }
  const bool is_silent = header.kind == Kind::put || header.kind == Kind::accumulate ||
                         header.kind == Kind::flag || header.kind == Kind::deliver ||
                         header.kind == Kind::unlock;
  if (done.ok() && is_silent && (header.flags & flags::wants_answer) != 0) {
    return answer(header, Kind::done);
  }
  return done.ok() ? std::move(done) : answer_failure(header, done);
}

Status ServerConnection::execute(const FrameHeader& header) {
  switch (header.kind) {
    case Kind::put:
    case Kind::get:
    case Kind::accumulate:
    case Kind::atomic:
    case Kind::flag:
    case Kind::locate:
    case Kind::push:
      return execute_on_slice(header);
    case Kind::invite:
      return execute_join(header);
    case Kind::probe:
      return execute_probe(header);
    case Kind::lock:
      locks_.lock(header, [this](const FrameHeader& request, Result<std::uint64_t> word) {
        answer_lock(request, std::move(word)).ignore("the loss is found at the next read");
      });
      return {};
    case Kind::unlock:
      return locks_.unlock(header);
    case Kind::notify:
      return execute_notify(header);
    case Kind::path:
      return execute_path(header);
    case Kind::introduce:
      return execute_registration(header);
    case Kind::fence:
      // Everything that came before on this stream has been executed.
      return answer(header, Kind::done);
    case Kind::bye:
      // As the end of the stream: nothing is read after it.
      closed_gracefully_ = true;
      is_over_ = true;
      return Status::error(Code::peer_lost, "the peer closed the connection");
    default:
      return Status::error(Code::unsupported, fmt::format("this agent does not know requests of "
                                                          "kind {}",
                                                          to_string(header.kind)));
  }
}

Status ServerConnection::execute_on_slice(const FrameHeader& header) {
  return executor_.visit(header, pattern(), [&](const Place& place) {
    switch (header.kind) {
      case Kind::put:
        return execute_put(header, place);
      case Kind::get:
        return execute_get(header, place);
      case Kind::accumulate:
        return execute_accumulate(header, place);
      case Kind::atomic:
        return execute_atomic(header, place);
      case Kind::locate:
        return execute_locate(header, place);
      case Kind::push:
        return execute_push(header, place);
      default:
        return execute_flag(header, place);
    }
  });
}

Status ServerConnection::execute_put(const FrameHeader& header, const Place& place) {
  if ((header.flags & flags::inline_data) != 0) {
    alignas(8) const std::uint64_t word = header.words[0];
    return executor_.put(place, pattern_, reinterpret_cast<const std::byte*>(&word));
  }
  return header.payload_bytes > 0 ? executor_.put(place, pattern_, packed_.data()) : Status();
}

Status ServerConnection::execute_get(const FrameHeader& header, const Place& place) {
  const std::uint64_t bytes = total_bytes(pattern_);
  if (bytes <= max_inline_bytes) {
    alignas(8) std::uint64_t word = 0;
    TESSERA_RETURN_IF_ERROR(executor_.get(place, pattern_, reinterpret_cast<std::byte*>(&word)));
    return answer(header, Kind::value, word);
  }
  std::vector<iovec> pieces;
  if (executor_.pieces_of(place, pattern_, pieces)) {
    FrameHeader data = answer_to(header, Kind::data);
    data.payload_bytes = bytes;
    return sent(header,
                writer_for(header).post(encode(data), pieces, nullptr, FrameWriter::When::soon));
  }
  if (bytes > max_packed_bytes) {
    return Status::error(
        Code::limit_exceeded,
        fmt::format("a get of {} bytes in one request; the limit is {} for memory that was "
                    "attached",
                    bytes, max_packed_bytes));
  }
  std::vector<std::byte> packed(bytes);
  TESSERA_RETURN_IF_ERROR(executor_.get(place, pattern_, packed.data()));
  return answer_data(header, std::move(packed));
}

Status ServerConnection::execute_accumulate(const FrameHeader& header, const Place& place) {
  return header.payload_bytes > 0 ? executor_.accumulate(place, *accumulate_, packed_.data())
                                  : Status();
}

Status ServerConnection::execute_atomic(const FrameHeader& header, const Place& place) {
  TESSERA_ASSIGN_OR_RETURN(
      const std::int64_t previous,
      executor_.atomic(place, atomic_, static_cast<std::int64_t>(header.words[0]),
                       static_cast<std::int64_t>(header.words[1])));
  return answer(header, Kind::value, static_cast<std::uint64_t>(previous));
}

Status ServerConnection::execute_deliver(const FrameHeader& header, bool is_stored) {
  return executor_.visit_mail(header, [&](std::byte* memory) {
    if (!is_stored && header.payload_bytes > 0) {
      std::memcpy(memory + header.offset, packed_.data(), header.payload_bytes);
    }
    raise_flag(memory + header.words[0], header.words[1]);
  });
}

Result<int> ServerConnection::local_rank_of(WorldRank rank) const {
  const int place = node_.local_rank_of(rank);
  if (place < 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("rank {} is not on this node", rank.value));
  }
  return place;
}

Status ServerConnection::execute_flag(const FrameHeader& header, const Place& place) {
  TESSERA_ASSIGN_OR_RETURN(const int listener, local_rank_of(header.target));
  alignas(4) const auto value = static_cast<std::uint32_t>(header.words[0]);
  // The data that came before are visible before the flag is.
  if (place.start != nullptr && place.offset % sizeof value == 0) {
    auto& flag = *reinterpret_cast<std::uint32_t*>(place.start + place.offset);
    std::atomic_ref(flag).store(value, std::memory_order_release);
  } else {
    std::atomic_thread_fence(std::memory_order_release);
    TESSERA_RETURN_IF_ERROR(
        executor_.put(place, pattern_, reinterpret_cast<const std::byte*>(&value)));
  }
  node_.ring(listener);
  return {};
}

Status ServerConnection::execute_notify(const FrameHeader& header) {
  TESSERA_ASSIGN_OR_RETURN(const int place, local_rank_of(header.target));
  if (node_.is_gone(place)) {
    return Status::error_at(
        header.target, Code::peer_lost,
        fmt::format("rank {} is gone and cannot be notified", header.target.value));
  }
  const std::uint64_t count = node_.memory().remote_notices(place, header.origin).fetch_add(1) + 1;
  node_.ring(place);
  return answer(header, Kind::value, count);
}

// The agent serves other peers, too, and so does not wait for room in a rank's inbox: 0 means try
// again.
Status ServerConnection::execute_join(const FrameHeader& header) {
  TESSERA_ASSIGN_OR_RETURN(const int place, local_rank_of(header.target));
  TESSERA_ASSIGN_OR_RETURN(const bool is_in,
                           node_.try_send_join(place, {.key = header.words[0],
                                                       .offset = header.offset,
                                                       .sender = header.origin.value,
                                                       .memory = header.region.value}));
  return answer(header, Kind::value, is_in ? 1 : 0);
}

Status ServerConnection::execute_probe(const FrameHeader& header) {
  TESSERA_ASSIGN_OR_RETURN(const int place, local_rank_of(header.target));
  const detail::PeerState fate = !node_.is_gone(place)   ? detail::PeerState::here
                                 : node_.has_left(place) ? detail::PeerState::left
                                                         : detail::PeerState::died;
  return answer(header, Kind::value, static_cast<std::uint64_t>(fate));
}

Status ServerConnection::answer_lock(const FrameHeader& request, Result<std::uint64_t> word) {
  return word.ok() ? answer(request, Kind::value, *word) : answer_failure(request, word.status());
}

Status ServerConnection::answer(const FrameHeader& request, Kind kind, std::uint64_t word) {
  FrameHeader header = answer_to(request, kind);
  header.words[0] = word;
  return sent(request, detail::catch_bad_alloc([&] {
                return writer_for(request).post(encode(header), {}, nullptr,
                                                FrameWriter::When::soon);
              }));
}

Status ServerConnection::answer_data(const FrameHeader& request, std::vector<std::byte> packed) {
  FrameHeader header = answer_to(request, Kind::data);
  header.payload_bytes = packed.size();
  return sent(request,
              writer_for(request).post(encode(header), std::move(packed), FrameWriter::When::soon));
}

Status ServerConnection::answer_failure(const FrameHeader& request, const Status& failure) {
  return sent(request, detail::catch_bad_alloc([&] {
                FrameHeader header = answer_to(request, Kind::failed);
                std::vector<std::byte> text;
                encode_failure(failure, text);
                header.payload_bytes = text.size();
                return writer_for(request).post(encode(header), std::move(text),
                                                FrameWriter::When::soon);
              }));
}

// A peer that cannot be sent its reply is lost. Errors that a reply carries are not of this kind.
Status ServerConnection::sent(Status posted) {
  is_over_ = is_over_ || !posted.ok();
  return posted;
}

// If the reply uses another connection, its loss is found when that connection is read.
Status ServerConnection::sent(const FrameHeader& request, Status posted) {
  return request.forwarder >= 0 && request.reply_to >= 0 ? Status() : sent(std::move(posted));
}

}  // namespace tessera::rma::server
