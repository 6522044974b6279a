// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/request_handlers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "rma/base/futex.hpp"
#include "rma/server/agent/server_connection.hpp"
#include "rma/transport/control_channel.hpp"

namespace tessera::rma::server {
namespace {

using Bytes = std::span<const std::byte>;

// Results of at most one word need no payload.
constexpr std::size_t max_inline_bytes = 8;

bool is_inline(const FrameHeader& header) noexcept {
  return (header.flags & flags::inline_data) != 0;
}

Status too_long(const RequestContext& context, const FrameHeader& header, std::uint64_t bytes,
                std::uint64_t most) {
  return Status::error(
      Code::protocol,
      fmt::format("{} from {} moves {} bytes in one request; the limit is {}",
                  to_string(header.kind), context.connection.peer_name(), bytes, most));
}

// --- Requests that access bytes of a rank's slice.

// Whether what the request accesses has a legal size and agrees with the size of its payload.
Status check_sizes(const RequestContext& context, const Request& request) {
  const FrameHeader& header = request.header;
  const std::uint64_t moved = total_bytes(request.accessed());
  const bool has_payload =
      !is_inline(header) && (header.kind == Kind::put || header.kind == Kind::accumulate);
  if (has_payload ? moved != header.payload_bytes : header.payload_bytes != 0) {
    return Status::error(
        Code::protocol,
        fmt::format("{} from {} moves {} bytes but carries {}", to_string(header.kind),
                    context.connection.peer_name(), moved, header.payload_bytes));
  }
  if (moved > max_direct_bytes || (is_inline(header) && moved > max_inline_bytes)) {
    return too_long(context, header, moved, max_direct_bytes);
  }
  return {};
}

// Of a put or get. Without a descriptor the transfer is contiguous, and the header has its size.
Status read_pattern(const RequestContext& context, Request& request, Bytes descriptor) {
  const FrameHeader& header = request.header;
  if (header.descriptor_bytes > 0) {
    TESSERA_ASSIGN_OR_RETURN(request.pattern, decode_pattern(descriptor));
  } else {
    const std::uint64_t bytes =
        header.kind == Kind::get || is_inline(header) ? header.words[1] : header.payload_bytes;
    const std::uint64_t most = is_inline(header) ? max_inline_bytes : max_direct_bytes;
    if (bytes > most) {
      return too_long(context, header, bytes, most);
    }
    request.pattern = CopyShape::contiguous(bytes);
  }
  return check_sizes(context, request);
}

Status put(RequestContext& context, Request& request) {
  if (request.is_stored) {
    return {};
  }
  return context.executor.visit(
      request.header, request.pattern, [&](const SliceLocation& location) {
        if (is_inline(request.header)) {
          alignas(8) const std::uint64_t word = request.header.words[0];
          return context.executor.put(location, request.pattern,
                                      reinterpret_cast<const std::byte*>(&word));
        }
        return request.header.payload_bytes > 0
                   ? context.executor.put(location, request.pattern, request.payload)
                   : Status();
      });
}

Status read_get(const RequestContext& context, Request& request, Bytes descriptor) {
  TESSERA_RETURN_IF_ERROR(read_pattern(context, request, descriptor));
  const std::uint64_t bytes = total_bytes(request.pattern);
  if (bytes > max_packed_bytes && !Executor::is_long(request.pattern)) {
    return Status::error(Code::protocol,
                         fmt::format("{} requests {} bytes of short rows at once; the limit is {}",
                                     context.connection.peer_name(), bytes, max_packed_bytes));
  }
  return {};
}

Status get_from(const RequestContext& context, const Request& request,
                const SliceLocation& location) {
  const Executor& executor = context.executor;
  const std::uint64_t bytes = total_bytes(request.pattern);
  if (bytes <= max_inline_bytes) {
    alignas(8) std::uint64_t word = 0;
    TESSERA_RETURN_IF_ERROR(
        executor.get(location, request.pattern, reinterpret_cast<std::byte*>(&word)));
    return context.connection.answer(request.header, Kind::value, word);
  }
  std::vector<iovec> pieces;
  if (executor.pieces_of(location, request.pattern, pieces)) {
    return context.connection.answer_data(request.header, pieces, bytes);
  }
  if (bytes > max_packed_bytes) {
    return Status::error(
        Code::limit_exceeded,
        fmt::format("a get of {} bytes in one request; the limit is {} for memory that was "
                    "attached",
                    bytes, max_packed_bytes));
  }
  std::vector<std::byte> packed(bytes);
  TESSERA_RETURN_IF_ERROR(executor.get(location, request.pattern, packed.data()));
  return context.connection.answer_data(request.header, std::move(packed));
}

Status get(RequestContext& context, Request& request) {
  return context.executor.visit(
      request.header, request.pattern,
      [&](const SliceLocation& location) { return get_from(context, request, location); });
}

Status read_accumulate(const RequestContext& context, Request& request, Bytes descriptor) {
  TESSERA_ASSIGN_OR_RETURN(request.terms, decode_accumulate(descriptor));
  return check_sizes(context, request);
}

Status accumulate(RequestContext& context, Request& request) {
  return context.executor.visit(
      request.header, request.terms->pattern, [&](const SliceLocation& location) {
        return request.header.payload_bytes > 0
                   ? context.executor.accumulate(location, *request.terms, request.payload)
                   : Status();
      });
}

Status read_atomic_list(const RequestContext& context, Request& request, Bytes descriptor) {
  TESSERA_ASSIGN_OR_RETURN(AtomicListTerms list, decode_atomics(descriptor));
  request.atomic = list.terms;
  request.atomics = std::move(list.items);
  std::vector<Fragment> words;
  words.reserve(request.atomics.size());
  for (const AtomicList::Item& each : request.atomics) {
    words.push_back({nullptr, each.offset, static_cast<std::size_t>(request.atomic.bytes)});
  }
  request.pattern = std::move(words);
  return check_sizes(context, request);
}

Status read_atomic(const RequestContext& context, Request& request, Bytes descriptor) {
  request.atomics.clear();
  if (descriptor.size() > atomic_terms_bytes) {
    return read_atomic_list(context, request, descriptor);
  }
  TESSERA_ASSIGN_OR_RETURN(request.atomic, decode_atomic(descriptor));
  request.pattern = CopyShape::contiguous(static_cast<std::size_t>(request.atomic.bytes));
  return check_sizes(context, request);
}

// Nothing is executed unless all words are aligned.
Status atomic_list(RequestContext& context, Request& request) {
  const FrameHeader& header = request.header;
  const auto bytes = static_cast<std::size_t>(request.atomic.bytes);
  return context.executor.visit(
      header, request.pattern, [&](const SliceLocation& location) -> Status {
        std::vector<std::byte> words(request.atomics.size() * bytes);
        std::byte* to = words.data();
        for (const AtomicList::Item& each : request.atomics) {
          SliceLocation word = location;
          word.offset += each.offset;
          TESSERA_ASSIGN_OR_RETURN(
              const std::int64_t previous,
              context.executor.atomic(word, request.atomic, each.operand, each.expected));
          std::memcpy(to, &previous, bytes);  // the low bytes: words are sent little-endian
          to += bytes;
        }
        if (words.size() <= max_inline_bytes) {
          std::uint64_t word = 0;
          std::memcpy(&word, words.data(), words.size());
          return context.connection.answer(header, Kind::value, word);
        }
        return context.connection.answer_data(header, std::move(words));
      });
}

Status atomic(RequestContext& context, Request& request) {
  if (!request.atomics.empty()) {
    return atomic_list(context, request);
  }
  const FrameHeader& header = request.header;
  return context.executor.visit(
      header, request.pattern, [&](const SliceLocation& location) -> Status {
        TESSERA_ASSIGN_OR_RETURN(
            const std::int64_t previous,
            context.executor.atomic(location, request.atomic,
                                    static_cast<std::int64_t>(header.words[0]),
                                    static_cast<std::int64_t>(header.words[1])));
        return context.connection.answer(header, Kind::value, static_cast<std::uint64_t>(previous));
      });
}

// --- Requests that wake or ask about a rank of this node.

Result<int> local_rank_of(const RequestContext& context, WorldRank rank) {
  const int local_rank = context.node.local_rank_of(rank);
  if (local_rank < 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("rank {} is not on this node", rank.value));
  }
  return local_rank;
}

Status read_flag(const RequestContext& context, Request& request, Bytes) {
  request.pattern = CopyShape::contiguous(sizeof(std::int32_t));
  return check_sizes(context, request);
}

Status flag(RequestContext& context, Request& request) {
  const FrameHeader& header = request.header;
  return context.executor.visit(
      header, request.pattern, [&](const SliceLocation& location) -> Status {
        TESSERA_ASSIGN_OR_RETURN(const int listener, local_rank_of(context, header.target));
        alignas(4) const auto value = static_cast<std::uint32_t>(header.words[0]);
        // The data that came before are visible before the flag is.
        if (location.start != nullptr && location.offset % sizeof value == 0) {
          auto& word = *reinterpret_cast<std::uint32_t*>(location.start + location.offset);
          std::atomic_ref(word).store(value, std::memory_order_release);
        } else {
          std::atomic_thread_fence(std::memory_order_release);
          TESSERA_RETURN_IF_ERROR(context.executor.put(location, request.pattern,
                                                       reinterpret_cast<const std::byte*>(&value)));
        }
        context.node.ring(listener);
        return {};
      });
}

Status notify(RequestContext& context, Request& request) {
  const FrameHeader& header = request.header;
  TESSERA_ASSIGN_OR_RETURN(const int listener, local_rank_of(context, header.target));
  if (context.node.is_gone(listener)) {
    return Status::error_at(
        header.target, Code::peer_lost,
        fmt::format("rank {} is gone and cannot be notified", header.target.value));
  }
  const std::uint64_t count =
      context.node.memory().remote_notices(listener, header.origin).fetch_add(1) + 1;
  context.node.ring(listener);
  return context.connection.answer(header, Kind::value, count);
}

// The agent serves other peers, too, and so does not wait for room in a rank's inbox: 0 means try
// again.
Status join(RequestContext& context, Request& request) {
  const FrameHeader& header = request.header;
  TESSERA_ASSIGN_OR_RETURN(const int receiver, local_rank_of(context, header.target));
  TESSERA_ASSIGN_OR_RETURN(const bool is_in,
                           context.node.try_send_join(receiver, {.key = header.words[0],
                                                                 .offset = header.offset,
                                                                 .sender = header.origin.value,
                                                                 .memory = header.region.value}));
  return context.connection.answer(header, Kind::value, is_in ? 1 : 0);
}

Status probe(RequestContext& context, Request& request) {
  const detail::Node& node = context.node;
  TESSERA_ASSIGN_OR_RETURN(const int asked, local_rank_of(context, request.header.target));
  const detail::PeerState state = !node.is_gone(asked)   ? detail::PeerState::alive
                                  : node.has_left(asked) ? detail::PeerState::left
                                                         : detail::PeerState::died;
  return context.connection.answer(request.header, Kind::value, static_cast<std::uint64_t>(state));
}

// --- Requests for the memory of teams, and for locks.

// Stores the flag after the data that it announces, and wakes the threads that wait on its low
// half.
void raise_flag(std::byte* at, std::uint64_t value) noexcept {
  auto* const flag = reinterpret_cast<std::atomic<std::uint64_t>*>(at);
  flag->store(value, std::memory_order_release);
  detail::futex_wake_all(*reinterpret_cast<detail::FutexWord*>(at));
}

Status deliver(RequestContext& context, Request& request) {
  const FrameHeader& header = request.header;
  return context.executor.visit_mail(header, [&](std::byte* memory) {
    if (!request.is_stored && header.payload_bytes > 0) {
      std::memcpy(memory + header.offset, request.payload, header.payload_bytes);
    }
    raise_flag(memory + header.words[0], header.words[1]);
  });
}

Status lock(RequestContext& context, Request& request) {
  context.locks.lock(request.header, [&](const FrameHeader& asked, Result<std::uint64_t> word) {
    context.connection.answer(asked, word).ignore("the loss is found at the next read");
  });
  return {};
}

Status unlock(RequestContext& context, Request& request) {
  return context.locks.unlock(request.header);
}

// --- Requests that concern the connection.

// Everything that came before on this stream has been executed.
Status fence(RequestContext& context, Request& request) {
  return context.connection.answer(request.header, Kind::done);
}

// As the end of the stream: nothing is read after it.
Status bye(RequestContext& context, Request&) {
  ServedPeer& peer = context.connection.peer();
  peer.is_over = peer.has_closed = true;
  return Status::error(Code::peer_lost, "the peer closed the connection");
}

Status introduce(RequestContext& context, Request& request) {
  ServerConnection& connection = context.connection;
  const FrameHeader& header = request.header;
  const ServerConnectionOptions& options = context.options;
  const auto use = static_cast<ConnectionUse>(header.words[0]);
  if (use == ConnectionUse::replies && options.replies != nullptr) {
    options.replies->add(connection.peer().origin, connection);
    return {};
  }
  const NodeId node{header.forwarder};
  if (use == ConnectionUse::agent && options.forwarder != nullptr &&
      options.forwarder->is_member(node, connection.peer().origin)) {
    connection.peer().trunk_of = node;
    return {};
  }
  return Status::error(
      Code::unsupported,
      fmt::format("this agent cannot use a connection of kind {} from {}, "
                  "as node {}: do all ranks have the same TESSERA_TUNE=server_cluster?",
                  header.words[0], connection.peer_name(), header.forwarder));
}

Status unknown(RequestContext&, Request& request) {
  return Status::error(Code::unsupported, fmt::format("this agent does not know requests of "
                                                      "kind {}",
                                                      to_string(request.header.kind)));
}

// --- Requests for networks other than TCP.

// The number of bytes from the start of a slice that a device may access. It would pin all pages of
// a sparse slice, so for those only the part in use counts. It cannot access other processes'
// memory.
std::uint64_t bytes_for_device(const detail::DirectorySlice& slice) noexcept {
  return slice.process != 0 ? 0 : slice.sparse ? slice.in_use : slice.bytes;
}

// `end`: the end of the accessed bytes, as an offset in the slice.
Status check_for_device(const SliceLocation& location, std::uint64_t end) {
  return end <= bytes_for_device(location.slice)
             ? Status()
             : Status::error(Code::unsupported,
                             "sparse or attached memory can be reached only by requests");
}

Status read_path(const RequestContext& context, Request& request, Bytes descriptor) {
  if (descriptor.size() != request.address.size()) {
    return Status::error(Code::protocol, fmt::format("{} sent an address of {} bytes; expected {}",
                                                     context.connection.peer_name(),
                                                     descriptor.size(), request.address.size()));
  }
  std::copy(descriptor.begin(), descriptor.end(), request.address.begin());
  return {};
}

Status path(RequestContext& context, Request& request) {
  return context.connection.open_connection(request.header, request.address);
}

Status read_locate(const RequestContext& context, Request& request, Bytes) {
  request.pattern = CopyShape::contiguous(0);
  return check_sizes(context, request);
}

Status locate(RequestContext& context, Request& request) {
  return context.executor.visit(
      request.header, request.pattern, [&](const SliceLocation& location) -> Status {
        detail::RdmaContext* const rdma = context.options.rdma;
        if (rdma == nullptr) {
          return Status::error(Code::unsupported,
                               "this node's agent has no network other than TCP");
        }
        if (location.offset >= location.slice.bytes) {
          return Status::error(Code::out_of_range,
                               fmt::format("there is no byte at offset {} of a slice of {} bytes",
                                           location.offset, location.slice.bytes));
        }
        TESSERA_RETURN_IF_ERROR(check_for_device(location, location.offset + 1));
        TESSERA_ASSIGN_OR_RETURN(const detail::RemoteSpan span,
                                 rdma->expose(location.start + location.offset,
                                              bytes_for_device(location.slice) - location.offset));
        const auto bytes = encode(span);
        return context.connection.answer_data(request.header,
                                              std::vector<std::byte>(bytes.begin(), bytes.end()));
      });
}

Status read_push(const RequestContext& context, Request& request, Bytes descriptor) {
  TESSERA_ASSIGN_OR_RETURN(request.pattern, decode_sides(descriptor));
  return check_sizes(context, request);
}

// The reply follows the bytes, so the path has to keep that order.
Status push(RequestContext& context, Request& request) {
  const FrameHeader& header = request.header;
  return context.executor.visit(
      header, request.pattern, [&](const SliceLocation& location) -> Status {
        detail::RdmaConnection* const way = context.connection.path();
        if (way == nullptr) {
          return Status::error(Code::unsupported,
                               "only a path can write into another node's memory");
        }
        if (!way->has_ordered_writes()) {
          return Status::error(
              Code::unsupported,
              "this path does not keep writes before the answer that follows them");
        }
        const auto& shape = std::get<CopyShape>(request.pattern);
        const auto reach = static_cast<std::uint64_t>(shape.remote_extent().highest);
        TESSERA_RETURN_IF_ERROR(check_for_device(location, location.offset + reach));
        TESSERA_RETURN_IF_ERROR(way->push(location.start + location.offset, shape,
                                          {.address = header.words[0], .key = header.words[1]}));
        return context.connection.answer(header, Kind::done);
      });
}

// --- Requests for other nodes.

Status read_forwarded(const RequestContext& context, Request& request, Bytes descriptor) {
  const FrameHeader& header = request.header;
  request.refusal = context.options.forwarder->check(header);
  if (header.payload_bytes > max_direct_bytes) {
    return Status::error(
        Code::protocol,
        fmt::format("{} from {} carries {} bytes; the limit is {}", to_string(header.kind),
                    context.connection.peer_name(), header.payload_bytes, max_direct_bytes));
  }
  if (request.refusal.ok()) {
    request.forwarded_descriptor.assign(descriptor.begin(), descriptor.end());
    request.forwarded_payload.resize(header.payload_bytes);
  }
  return {};
}

Status forward(RequestContext& context, Request& request) {
  context.options.forwarder->forward(request.header, request.forwarded_descriptor,
                                     std::exchange(request.forwarded_payload, {}),
                                     context.connection.descriptor());
  return {};
}

// By kind. The functions of a kind say what it needs; docs/wire-format.md has the same table.
constexpr std::array<RequestHandler, kind_count + 1> make_handlers() {
  std::array<RequestHandler, kind_count + 1> table{};
  for (RequestHandler& each : table) {
    each.execute = unknown;
  }
  const auto set = [&](Kind kind, const RequestHandler& handler) {
    table[static_cast<std::size_t>(kind)] = handler;
  };
  set(Kind::put, {.has_descriptor = true,
                  .has_payload = true,
                  .is_silent = true,
                  .read = read_pattern,
                  .execute = put});
  set(Kind::get, {.has_descriptor = true, .has_payload = true, .read = read_get, .execute = get});
  set(Kind::accumulate, {.has_descriptor = true,
                         .has_payload = true,
                         .is_silent = true,
                         .read = read_accumulate,
                         .execute = accumulate});
  set(Kind::atomic,
      {.has_descriptor = true, .has_payload = true, .read = read_atomic, .execute = atomic});
  set(Kind::flag, {.has_payload = true, .is_silent = true, .read = read_flag, .execute = flag});
  set(Kind::locate,
      {.has_payload = true, .is_for_own_node = true, .read = read_locate, .execute = locate});
  set(Kind::push,
      {.has_descriptor = true, .has_payload = true, .read = read_push, .execute = push});
  set(Kind::deliver, {.has_payload = true, .is_silent = true, .execute = deliver});
  set(Kind::unlock, {.is_silent = true, .execute = unlock});
  set(Kind::path,
      {.has_descriptor = true, .is_for_own_node = true, .read = read_path, .execute = path});
  set(Kind::bye, {.is_for_own_node = true, .execute = bye});
  set(Kind::fence, {.execute = fence});
  set(Kind::lock, {.execute = lock});
  set(Kind::notify, {.execute = notify});
  set(Kind::join, {.execute = join});
  set(Kind::probe, {.execute = probe});
  set(Kind::introduce, {.execute = introduce});
  return table;
}
constexpr std::array<RequestHandler, kind_count + 1> handlers = make_handlers();
constexpr RequestHandler forwarding{
    .has_descriptor = true, .has_payload = true, .read = read_forwarded, .execute = forward};

}  // namespace

const RequestHandler& handler_of(Kind kind) noexcept {
  return handlers[static_cast<std::size_t>(kind)];
}

const RequestHandler& forwarding_handler() noexcept {
  return forwarding;
}

}  // namespace tessera::rma::server
