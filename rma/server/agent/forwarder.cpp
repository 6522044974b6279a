// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/forwarder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// The pause after a node could not be reached.
constexpr std::chrono::milliseconds pause_after_failure{1000};

// The bytes of the request and of its reply, as far as the header shows that.
std::size_t cost_of(const FrameHeader& request) noexcept {
  const std::uint64_t answer = request.kind == Kind::get ? request.words[1] : 0;
  return header_bytes + request.descriptor_bytes + request.payload_bytes + answer;
}

}  // namespace

Forwarder::Forwarder(std::shared_ptr<const ForwardOptions> options, Identity identity,
                     const detail::Poller& events, ForwardRequesters& waiting_fds)
    : options_(std::move(options)),
      identity_(std::move(identity)),
      events_(events),
      requesters_(waiting_fds) {}

Forwarder::~Forwarder() = default;

Status Forwarder::check(const FrameHeader& request) const {
  const NodeId node = node_of(request);
  if (!options_->clusters.are_together(node, identity_.node)) {
    return Status::error_at(
        request.target, Code::invalid_argument,
        fmt::format("node {} passes no requests on to node {}, which is in another cluster",
                    identity_.node.value, node.value));
  }
  if (!is_forwardable(request.kind)) {
    return Status::error_at(request.target, Code::unsupported,
                            fmt::format("a request of kind {} is not passed on to another node",
                                        to_string(request.kind)));
  }
  return {};
}

bool Forwarder::is_member(NodeId peer, WorldRank agent_host) const noexcept {
  return peer.value >= 0 && peer.value < options_->nodes->count() && peer != identity_.node &&
         options_->clusters.are_together(peer, identity_.node) &&
         options_->nodes->first_rank_of(peer) == agent_host;
}

bool Forwarder::may_forward(const FrameHeader& request, int requester_fd) {
  Other& other = other_at(node_of(request));
  if (other.trunk == nullptr || other.trunk->has_room(cost_of(request))) {
    return true;
  }
  if (std::find(other.waiting_fds.begin(), other.waiting_fds.end(), requester_fd) ==
      other.waiting_fds.end()) {
    other.waiting_fds.push_back(requester_fd);
  }
  return false;
}

Status Forwarder::make_trunk(NodeId node, Other& other) {
  if (!other.failure.ok() && Clock::now() < other.again) {
    return other.failure;
  }
  const auto at = static_cast<std::size_t>(node.value);
  TrunkListener& listener = *this;
  auto trunk = std::make_unique<Trunk>(Trunk::Options{.own = identity_.node,
                                                      .agent_host = identity_.agent_host,
                                                      .other = node,
                                                      .address = options_->agents[at],
                                                      .job = identity_.job,
                                                      .secret = identity_.secret,
                                                      .congestion = options_->congestion,
                                                      .window = options_->window,
                                                      .bytes = options_->bytes,
                                                      .timeout = identity_.authentication_timeout,
                                                      .rdma = rdma_},
                                       buffers_, listener);
  TESSERA_RETURN_IF_ERROR(trunk->open());
  other.events = EPOLLIN | EPOLLOUT;
  TESSERA_RETURN_IF_ERROR(events_.watch(trunk->descriptor(), other.events));
  by_descriptor_.emplace(trunk->descriptor(), node);
  other.trunk = std::move(trunk);
  other.failure = Status();
  return {};
}

void Forwarder::forward(const FrameHeader& request, std::span<const std::byte> descriptor,
                        std::vector<std::byte> payload, int requester_fd) {
  const NodeId node = node_of(request);
  Other& other = other_at(node);
  const ForwardedRequest forwarded{
      .request = request, .requester_fd = requester_fd, .bytes = cost_of(request)};
  if (other.trunk == nullptr) {
    if (const Status made = make_trunk(node, other); !made.ok()) {
      refuse(forwarded, made);
      return;
    }
  }
  posted_.reserve(posted_.size() + 1);
  if (const Status passed = other.trunk->forward(forwarded, descriptor, std::move(payload));
      !passed.ok()) {
    lose(node, passed);
    return;
  }
  if (!std::exchange(other.is_posted_to, true)) {
    posted_.push_back(node);
  }
}

void Forwarder::flush() {
  for (const NodeId node : std::exchange(posted_, {})) {
    Other& other = other_at(node);
    if (!std::exchange(other.is_posted_to, false) || other.trunk == nullptr) {
      continue;  // lost meanwhile
    }
    if (const Status status = other.trunk->flush(); !status.ok()) {
      lose(node, status);
    } else {
      update_events(other);
    }
  }
}

void Forwarder::update_events(Other& other) {
  const std::uint32_t events =
      static_cast<std::uint32_t>(EPOLLIN) |
      (other.trunk->waits_for_room() ? static_cast<std::uint32_t>(EPOLLOUT) : std::uint32_t{0});
  if (events != other.events) {
    other.events = events;
    events_.change(other.trunk->descriptor(), events).ignore("check() follows within a second");
  }
}

void Forwarder::handle_event(int fd) {
  const NodeId node = by_descriptor_.at(fd);
  Other& other = other_at(node);
  has_room_ = false;
  const Status status = detail::catch_bad_alloc([&]() -> Status {
    TESSERA_RETURN_IF_ERROR(other.trunk->on_readable());
    return other.trunk->advance();
  });
  if (!status.ok()) {
    lose(node, status);
    return;
  }
  update_events(other);
  if (has_room_) {
    resume_all(other);
  }
}

// Resumes connections in the order in which they began to wait. Those that find no room again join
// the queue in that order.
void Forwarder::resume_all(Other& other) {
  for (const int requester_fd : std::exchange(other.waiting_fds, {})) {
    requesters_.resume(requester_fd);
  }
}

// Sends the error to the origin, if that is still connected.
void Forwarder::refuse(const ForwardedRequest& forwarded, const Status& why) {
  const FrameHeader& request = forwarded.request;
  const NodeId node = node_of(request);
  detail::catch_bad_alloc([&]() -> Status {
    std::vector<std::byte> payload;
    encode_failure(
        Status::error(why.code(), fmt::format("node {} could not pass a request on to node {}: {}",
                                              identity_.node.value, node.value, why.message())),
        payload);
    const FrameHeader answer{.kind = Kind::failed,
                             .payload_bytes = payload.size(),
                             .origin = request.origin,
                             .target = request.target,
                             .forwarder = identity_.node.value,
                             .operation = request.operation,
                             .route = request.route};
    requesters_.send_reply(forwarded.requester_fd, answer, std::move(payload));
    return {};
  }).ignore("the next request is answered with the reason");
}

void Forwarder::lose(NodeId node, const Status& why) {
  Other& other = other_at(node);
  const std::unique_ptr<Trunk> trunk = std::move(other.trunk);
  by_descriptor_.erase(trunk->descriptor());
  events_.leave(trunk->descriptor());
  other.failure = why;
  other.again = Clock::now() + pause_after_failure;
  other.is_posted_to = false;
  for (const ForwardedRequest& each : trunk->take_in_flight()) {
    refuse(each, why);
  }
  resume_all(other);
}

void Forwarder::send_reply(const ForwardedRequest& forwarded, FrameHeader answer,
                           std::vector<std::byte> payload) {
  answer.forwarder = -1;
  requesters_.send_reply(forwarded.requester_fd, answer, std::move(payload));
}

void Forwarder::maintain(TimePoint now) {
  buffers_.release_unused();
  for (const auto& [fd, node] : std::unordered_map(by_descriptor_)) {
    if (const Status status = other_at(node).trunk->check(now); !status.ok()) {
      lose(node, status);
    }
  }
}

void Forwarder::send_bye() {
  for (const auto& [fd, node] : by_descriptor_) {
    other_at(node).trunk->send_bye();
  }
}

}  // namespace tessera::rma::server
