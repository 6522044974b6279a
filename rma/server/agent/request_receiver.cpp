// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/request_receiver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/server/agent/server_connection.hpp"
#include "rma/server/connection/pieces.hpp"

namespace tessera::rma::server {

RequestReceiver::RequestReceiver(ServerConnection& connection, detail::Node& node,
                                 RemoteLockServer& locks, const ServerConnectionOptions& options)
    : context_{connection, node, locks, options, Executor(node, options.shard, options.limits)} {}

// --- Checks. An error here ends the connection: no correct peer sends such a frame.

Status RequestReceiver::check_peer(const FrameHeader& header) const {
  const ServerConnection& connection = context_.connection;
  const ServedPeer& peer = connection.peer();
  if (is_answer(header.kind)) {
    return Status::error(Code::protocol,
                         fmt::format("{} sent an answer ({}) to an agent", connection.peer_name(),
                                     to_string(header.kind)));
  }
  if (peer.is_trunk()) {
    return check_forwarded(header);
  }
  if (header.origin != peer.origin) {
    return Status::error(Code::protocol, fmt::format("{} sent a request in the name of rank {}",
                                                     connection.peer_name(), header.origin.value));
  }
  if (peer.is_of_own_node && !handler_of(header.kind).is_for_own_node) {
    return Status::error(Code::protocol,
                         fmt::format("{} sent {} to the agent of its own node",
                                     connection.peer_name(), to_string(header.kind)));
  }
  return {};
}

// Another agent passes on requests of processes, and sends only `bye` and `path` for itself.
Status RequestReceiver::check_forwarded(const FrameHeader& header) const {
  const ServedPeer& peer = context_.connection.peer();
  const bool is_its_own =
      (header.kind == Kind::bye || header.kind == Kind::path) && header.origin == peer.origin;
  if (!is_its_own && (header.forwarder != peer.trunk_of.value || !is_forwardable(header.kind) ||
                      context_.options.forwarder->is_elsewhere(header))) {
    return Status::error(
        Code::protocol,
        fmt::format("the agent of node {} passed on {} from rank {} to rank {} in the name of "
                    "node {}",
                    peer.trunk_of.value, to_string(header.kind), header.origin.value,
                    header.target.value, header.forwarder));
  }
  return {};
}

// A kind has only the parts that docs/wire-format.md lists for it.
Status RequestReceiver::check_form(const FrameHeader& header) const {
  const RequestHandler& handler = handler_of(header.kind);
  const bool is_inline = (header.flags & flags::inline_data) != 0;
  if ((handler.has_descriptor || header.descriptor_bytes == 0) &&
      (handler.has_payload || header.payload_bytes == 0) &&
      (header.kind == Kind::put || !is_inline)) {
    return {};
  }
  const std::string peer = context_.connection.peer_name();
  if (!handler.has_descriptor && header.descriptor_bytes > 0) {
    return Status::error(Code::protocol,
                         fmt::format("{} from {} has a descriptor of {} bytes; its kind has none",
                                     to_string(header.kind), peer, header.descriptor_bytes));
  }
  if (!handler.has_payload && header.payload_bytes > 0) {
    return Status::error(Code::protocol,
                         fmt::format("{} from {} carries {} bytes; its kind has no payload",
                                     to_string(header.kind), peer, header.payload_bytes));
  }
  return Status::error(Code::protocol,
                       fmt::format("{} from {} has its data in the header; only a put may",
                                   to_string(header.kind), peer));
}

// --- Receiving.

bool RequestReceiver::is_for_other(const FrameHeader& header) const {
  const ServedPeer& peer = context_.connection.peer();
  return context_.options.forwarder != nullptr && !peer.is_trunk() && is_forwardable(header.kind) &&
         context_.options.forwarder->is_elsewhere(header);
}

// A full window of a trunk stops only this connection, until resume().
bool RequestReceiver::takes(const FrameHeader& header) {
  if (!context_.connection.has_room_for_replies()) {
    return false;
  }
  waits_for_trunk_ =
      context_.options.forwarder != nullptr && is_for_other(header) &&
      !context_.options.forwarder->may_forward(header, context_.connection.descriptor());
  return !waits_for_trunk_;
}

// The rank that waits for it may be the thread that reads here. A path announces arrivals only
// once, so everything on it is read.
bool RequestReceiver::is_latency_critical(const FrameHeader& header) const {
  return (header.kind == Kind::flag || header.kind == Kind::notify) &&
         context_.connection.path() == nullptr;
}

// A request for which memory runs out is refused.
Status RequestReceiver::begin(const FrameHeader& header, std::span<const std::byte> descriptor,
                              std::span<const std::byte> payload, std::vector<iovec>& into) {
  current_.header = header;
  current_.refusal = Status();
  current_.payload = nullptr;
  is_in_place_ = false;
  is_stale_ = false;
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(check_peer(header));
    TESSERA_RETURN_IF_ERROR(check_form(header));
    const bool is_elsewhere = is_for_other(header);
    current_.handler = is_elsewhere ? &forwarding_handler() : &handler_of(header.kind);
    if (!is_elsewhere && (header.forwarder >= 0 || header.kind == Kind::introduce)) {
      is_stale_ = context_.options.routes != nullptr && context_.options.routes->is_stale(header);
      if (is_stale_) {
        return {};  // its payload is discarded
      }
    }
    if (current_.handler->read != nullptr) {
      TESSERA_RETURN_IF_ERROR(current_.handler->read(context_, current_, descriptor));
    }
    if (header.payload_bytes > 0) {
      TESSERA_RETURN_IF_ERROR(place_payload(payload, into));
      into.reserve(into.size() + 1);
    }
    return {};
  };
  return detail::catch_bad_alloc(prepare, [&] {
    into.clear();
    is_in_place_ = false;
    current_.refusal = Status::no_memory("the agent's process has no memory for a request");
    return Status();
  });
}

// `payload`: all of it, if it has come; it stays where it is then.
Status RequestReceiver::place_payload(std::span<const std::byte> payload,
                                      std::vector<iovec>& into) {
  const FrameHeader& header = current_.header;
  if (current_.handler == &forwarding_handler()) {
    if (current_.refusal.ok()) {
      into.push_back({current_.forwarded_payload.data(), current_.forwarded_payload.size()});
    }
    return {};
  }
  if (!payload.empty()) {
    current_.payload = payload.data();
    return {};
  }
  find_destinations(into);
  if (is_in_place_) {
    return {};
  }
  if (header.payload_bytes > max_packed_bytes && current_.refusal.ok()) {
    return Status::error(
        Code::protocol,
        fmt::format("{} from {} carries {} bytes; the limit is {}", to_string(header.kind),
                    context_.connection.peer_name(), header.payload_bytes, max_packed_bytes));
  }
  if (!current_.refusal.ok()) {
    return {};  // its payload is discarded
  }
  std::byte* const memory = packed_.take(header.payload_bytes);
  current_.payload = memory;
  into.push_back({memory, header.payload_bytes});
  return {};
}

// Long rows of mapped memory and long deliveries go directly to their target.
void RequestReceiver::find_destinations(std::vector<iovec>& into) {
  const FrameHeader& header = current_.header;
  const Executor& executor = context_.executor;
  if (header.kind == Kind::put && executor.goes_direct(current_.pattern)) {
    const Result<SliceLocation> location = executor.find(header, current_.pattern);
    current_.refusal = location.status();
    is_in_place_ = location.ok() && executor.pieces_of(*location, current_.pattern, into);
  } else if (header.kind == Kind::deliver && header.payload_bytes <= max_packed_bytes &&
             executor.goes_direct(CopyShape::contiguous(header.payload_bytes))) {
    current_.refusal = executor.visit_mail(header, [&](std::byte* memory) {
      into.push_back({memory + header.offset, header.payload_bytes});
    });
    is_in_place_ = current_.refusal.ok();
  }
}

// The target memory cannot be freed while bytes are stored into it. If a slice was freed meanwhile,
// the sender made a mistake or died; a mailbox is freed with its team, which may have been given
// up. The rest of the payload is discarded.
template <class Store>
void RequestReceiver::store_in_place(Store&& store) {
  Status& refusal = current_.refusal;
  if (!refusal.ok()) {
    return;
  }
  refusal =
      current_.header.kind == Kind::deliver
          ? context_.executor.visit_mail(current_.header, [&](std::byte*) { store(); })
          : context_.executor.visit(current_.header, current_.pattern, [&](const SliceLocation&) {
              store();
              return Status();
            });
}

void RequestReceiver::store_payload(std::span<const iovec> destinations,
                                    std::span<const std::byte> bytes) {
  if (!is_in_place_) {
    FrameSink::store_payload(destinations, bytes);
    return;
  }
  store_in_place([&] { FrameSink::store_payload(destinations, bytes); });
}

Result<std::size_t> RequestReceiver::receive_payload(Channel& channel,
                                                     std::vector<iovec>& destinations,
                                                     std::size_t next, iovec rest) {
  if (!is_in_place_) {
    return FrameSink::receive_payload(channel, destinations, next, rest);
  }
  Result<std::size_t> came = std::size_t{0};
  store_in_place([&] { came = FrameSink::receive_payload(channel, destinations, next, rest); });
  if (current_.refusal.ok()) {
    return came;
  }
  const std::size_t room =
      std::min(total_bytes(std::span(std::as_const(destinations)).subspan(next)), max_packed_bytes);
  const iovec piece{packed_.take(room), room};
  return channel.receive(std::span(&piece, 1));
}

// The bytes of an unfinished delivery are not read, because its flag was not stored.
std::string RequestReceiver::unfinished() const {
  return is_in_place_ && current_.header.kind == Kind::put
             ? fmt::format(
                   "in the middle of a put to rank {}; some of its bytes may have been stored",
                   current_.header.target.value)
             : "in the middle of a request, which is not executed";
}

// --- Executing.

// Puts and flags without a reply concern only a rank of this node, if any, so the peer does not
// wait for them.
Status RequestReceiver::end(const FrameHeader& header) {
  const bool wants_answer = (header.flags & flags::wants_answer) != 0;
  was_urgent_ = was_urgent_ || !is_change(header.kind) || wants_answer;
  executed_ += context_.connection.peer().is_trunk() && is_forwardable(header.kind) ? 1U : 0U;
  current_.is_stored = std::exchange(is_in_place_, false);
  if (!current_.refusal.ok()) {
    return context_.connection.answer_failure(header, current_.refusal);
  }
  if (is_stale_) {
    return {};
  }
  Status done =
      detail::catch_bad_alloc([&] { return current_.handler->execute(context_, current_); },
                              "the agent's process has no memory to carry out a request");
  if (context_.connection.peer().is_over) {
    return done;
  }
  if (!done.ok()) {
    return context_.connection.answer_failure(header, done);
  }
  return wants_answer && current_.handler->is_silent
             ? context_.connection.answer(header, Kind::done)
             : Status();
}

// Replies to requests that came together are sent together, and so are acknowledgements.
Status RequestReceiver::caught_up() {
  ServerConnection& connection = context_.connection;
  if (executed_ > 0) {
    TESSERA_RETURN_IF_ERROR(connection.send({.kind = Kind::acknowledge,
                                             .origin = connection.peer().origin,
                                             .words = {std::exchange(executed_, 0), 0}}));
  }
  if (context_.options.forwarder != nullptr) {
    context_.options.forwarder->flush();
  }
  Status flushed = connection.flush();
  if (!flushed.ok()) {
    connection.peer().is_over = true;
  }
  return flushed;
}

}  // namespace tessera::rma::server
