// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/trunk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/server/wire/parts.hpp"

namespace tessera::rma::server {
Trunk::Trunk(Options options, BufferPool& pool, TrunkListener& listener)
    : options_(std::move(options)), listener_(listener), pool_(pool) {}

Trunk::~Trunk() = default;

Status Trunk::open() {
  TESSERA_ASSIGN_OR_RETURN(channel_, begin_to_connect(options_.address, options_.congestion));
  TESSERA_ASSIGN_OR_RETURN(auto handshake,
                           HandshakeClient::create(options_.secret, {.job = options_.job,
                                                                     .origin = options_.agent_host,
                                                                     .node = options_.other}));
  handshake_.emplace(std::move(handshake));
  queue_.emplace(*channel_);
  reader_.emplace(*channel_, static_cast<FrameSink&>(*this), &pool_);
  begun_ = std::chrono::steady_clock::now();
  return {};
}

Status Trunk::forward(const ForwardedRequest& forwarded, std::span<const std::byte> descriptor,
                      std::vector<std::byte> payload) {
  FrameHeader request = forwarded.request;
  request.forwarder = options_.own.value;
  in_flight_.push_back(forwarded);
  bytes_in_flight_ += forwarded.bytes;
  // If memory runs out here, the caller refuses the request, which then is not in flight.
  struct Undo {
    ~Undo() {
      if (trunk != nullptr) {
        trunk->bytes_in_flight_ -= trunk->in_flight_.back().bytes;
        trunk->in_flight_.pop_back();
      }
    }
    Trunk* trunk;
  } undo{this};
  Status passed;
  if (state_ == State::open) {
    passed = post(request, descriptor, std::move(payload));
  } else {
    waiting_.push_back({request, {descriptor.begin(), descriptor.end()}, std::move(payload)});
  }
  undo.trunk = nullptr;
  return passed;
}

Status Trunk::post(const FrameHeader& request, std::span<const std::byte> descriptor,
                   std::vector<std::byte> payload) {
  return queue_->post(encode(request, descriptor), std::move(payload), SendQueue::When::soon);
}

Status Trunk::advance() {
  if (state_ < State::requesting_rdma) {
    TESSERA_RETURN_IF_ERROR(continue_handshake());
  }
  if (state_ >= State::requesting_rdma) {
    TESSERA_RETURN_IF_ERROR(reader_->advance().status());
  }
  return flush();
}

Status Trunk::flush() {
  return state_ >= State::requesting_rdma ? queue_->flush() : Status();
}

// A socket that is still connecting accepts no bytes; if connecting failed, send() reports it.
Status Trunk::send_handshake() {
  while (!handshake_->outgoing().empty()) {
    const auto out = handshake_->outgoing();
    const iovec piece{const_cast<std::byte*>(out.data()), out.size()};
    TESSERA_ASSIGN_OR_RETURN(const std::size_t sent, channel_->send(std::span(&piece, 1)));
    if (sent == 0) {
      return {};
    }
    handshake_->sent(sent);
    state_ = State::handshake;
  }
  return {};
}

// The other agent only answers, so these bytes contain no frames.
Status Trunk::continue_handshake() {
  TESSERA_RETURN_IF_ERROR(send_handshake());
  if (state_ == State::connecting) {
    return {};
  }
  std::array<std::byte, challenge_bytes> bytes;
  const iovec room{bytes.data(), bytes.size()};
  TESSERA_ASSIGN_OR_RETURN(const std::size_t came, channel_->receive(std::span(&room, 1)));
  if (came == 0) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const HandshakeProgress progress,
                           handshake_->feed(std::span<const std::byte>(bytes).first(came)));
  TESSERA_RETURN_IF_ERROR(send_handshake());
  return progress.finished ? send_introduction() : Status();
}

// A new socket has room for the end of a handshake.
Status Trunk::send_introduction() {
  if (!handshake_->outgoing().empty()) {
    return Status::error(Code::internal, "a new connection has no room for a handshake");
  }
  handshake_.reset();
  const FrameHeader introduction{.kind = Kind::introduce,
                                 .origin = options_.agent_host,
                                 .forwarder = options_.own.value,
                                 .words = {static_cast<std::uint64_t>(ConnectionUse::agent), 0}};
  TESSERA_RETURN_IF_ERROR(queue_->post(encode(introduction), {}, nullptr));
  return options_.rdma != nullptr ? request_rdma() : send_waiting();
}

// Requests to forward wait for the reply.
Status Trunk::request_rdma() {
  auto path = options_.rdma->open_connection();
  if (!path.ok()) {
    return send_waiting();
  }
  path_ = std::move(path).take();
  const detail::RdmaAddressBytes mine = path_->address();
  const FrameHeader request{.kind = Kind::path,
                            .descriptor_bytes = static_cast<std::uint32_t>(mine.size()),
                            .origin = options_.agent_host,
                            .forwarder = options_.own.value,
                            .operation = 1};
  state_ = State::requesting_rdma;
  return queue_->post(encode(request, mine), {}, nullptr);
}

// The other agent has already moved to RDMA, or it refused and stays with TCP.
Status Trunk::move_to_rdma(std::span<const std::byte> address) {
  if (address.size() == detail::rdma_address_bytes) {
    detail::RdmaAddressBytes other;
    std::copy(address.begin(), address.end(), other.begin());
    TESSERA_RETURN_IF_ERROR(path_->connect(other));
    path_->watch(std::move(channel_));
    channel_ = std::move(path_);
    queue_->move_to(*channel_);
    reader_->move_to(*channel_);
  }
  path_.reset();
  return send_waiting();
}

Status Trunk::send_waiting() {
  state_ = State::open;
  while (!waiting_.empty()) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    TESSERA_RETURN_IF_ERROR(post(next.request, next.descriptor, std::move(next.payload)));
  }
  return {};
}

Status Trunk::check(TimePoint now) const {
  if (state_ != State::open && now - begun_ > options_.timeout) {
    return Status::error(Code::timed_out,
                         fmt::format("the agent at {} did not answer within {} ms",
                                     to_string(options_.address), options_.timeout.count()));
  }
  return channel_->check();
}

void Trunk::send_bye() {
  if (state_ >= State::requesting_rdma) {
    const FrameHeader bye{.kind = Kind::bye, .origin = options_.agent_host};
    detail::catch_bad_alloc([&] {
      return queue_->post(encode(bye), {}, nullptr);
    }).ignore("an agent that is not notified finds that this one is gone");
  }
}

const ForwardedRequest* Trunk::find(const FrameHeader& answer) const {
  const auto found =
      std::find_if(in_flight_.begin(), in_flight_.end(), [&](const ForwardedRequest& each) {
        return each.request.operation == answer.operation && each.request.origin == answer.origin &&
               each.request.target == answer.target;
      });
  return found == in_flight_.end() ? nullptr : &*found;
}

Status Trunk::begin(const FrameHeader& header, std::span<const std::byte>,
                    std::span<const std::byte>, std::vector<iovec>& into) {
  const bool is_known =
      is_answer(header.kind) || header.kind == Kind::acknowledge || header.kind == Kind::bye;
  if (!is_known || header.descriptor_bytes > 0 || header.payload_bytes > max_direct_bytes) {
    return Status::error(
        Code::protocol,
        fmt::format("the agent of node {} sent {} of {} bytes to another agent",
                    options_.other.value, to_string(header.kind), header.payload_bytes));
  }
  payload_.clear();
  if (header.payload_bytes > 0) {
    payload_.resize(header.payload_bytes);
    into.push_back({payload_.data(), payload_.size()});
  }
  return {};
}

Status Trunk::end(const FrameHeader& header) {
  if (header.kind == Kind::bye) {
    return Status::error(Code::closed, "it has left the job");
  }
  if (header.kind == Kind::acknowledge) {
    if (header.words[0] > in_flight_.size()) {
      return Status::error(Code::protocol,
                           fmt::format("the agent of node {} acknowledged {} requests of {}",
                                       options_.other.value, header.words[0], in_flight_.size()));
    }
    record_acknowledged(header.words[0]);
    return {};
  }
  if (state_ == State::requesting_rdma && header.operation == 1) {
    return move_to_rdma(header.kind == Kind::data ? payload_ : std::vector<std::byte>());
  }
  if (header.kind == Kind::failed && header.operation == 0 &&
      header.origin == options_.agent_host) {
    return decode_failure(payload_);  // the reason why it ends this connection
  }
  if (const ForwardedRequest* const forwarded = find(header)) {
    listener_.send_reply(*forwarded, header, std::exchange(payload_, {}));
  }
  return {};
}

void Trunk::record_acknowledged(std::uint64_t count) {
  for (; count > 0; --count) {
    bytes_in_flight_ -= in_flight_.front().bytes;
    in_flight_.pop_front();
  }
  listener_.notify_room();
}

}  // namespace tessera::rma::server
