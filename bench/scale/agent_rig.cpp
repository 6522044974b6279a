// SPDX-License-Identifier: BSD-3-Clause
#include "bench/scale/agent_rig.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "rma/node/node_memory.hpp"
#include "rma/server/handshake.hpp"
#include "rma/server/wire.hpp"

namespace tessera::bench {
namespace {

using rma::NodeId;
using rma::WorldRank;
using rma::server::AgentOptions;
using rma::server::FrameHeader;
using rma::server::HandshakeClient;
using rma::server::Kind;

constexpr std::uint64_t job_number = 1;
// Little, since nothing is allocated in it.
constexpr std::uint64_t arena_bytes = std::uint64_t{256} << 20U;

std::vector<std::uint64_t> machines(std::int64_t processes, std::int32_t ranks_per_node) {
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(processes));
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    keys[rank] = rank / static_cast<std::size_t>(ranks_per_node) + 1;
  }
  return keys;
}

// An address of its own for each rig: ports of connections that were closed are taken for a minute.
rma::server::TcpListener listen() {
  static std::uint32_t host = 0x7f00'0001;
  return rma::server::TcpListener::create({host++, 0}).value();
}

std::shared_ptr<rma::detail::Node> first_node(std::int32_t ranks, std::int32_t world_ranks) {
  std::shared_ptr<rma::detail::NodeMemory> memory =
      rma::detail::NodeMemory::create(ranks, arena_bytes).value();
  std::vector<WorldRank> members;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    members.push_back(WorldRank{rank});
  }
  auto node = std::make_shared<rma::detail::Node>(std::move(memory), std::move(members), 0, true,
                                                  rma::detail::WaitPolicy{});
  rma::require(node->enter());
  rma::require(node->make_guest_book(world_ranks));
  return node;
}

// As is chosen for a job of that size; also for few nodes, where none are chosen.
rma::server::Clusters clusters_of(std::int32_t nodes, AgentBuffers buffers) {
  const bool are_clustered = buffers == AgentBuffers::clustered;
  return {nodes, are_clustered ? std::llround(std::sqrt(static_cast<double>(nodes))) : 1};
}

}  // namespace

AgentRig::AgentRig(std::int64_t processes, std::int32_t ranks_per_node, AgentBuffers buffers)
    : ranks_per_node_(ranks_per_node),
      nodes_(machines(processes, ranks_per_node), 0),
      node_(first_node(ranks_per_node, static_cast<std::int32_t>(processes))),
      secret_(rma::server::new_secret().value()),
      deaf_(listen()),
      clusters_(clusters_of(nodes_.count(), buffers)),
      next_client_(ranks_per_node) {
  AgentOptions options{.secret = secret_,
                       .job = job_number,
                       .ranks = static_cast<std::int32_t>(processes),
                       .node = NodeId{0},
                       .buffers_per_client = buffers == AgentBuffers::per_client,
                       .warn = [](const std::string&) {}};
  if (clusters_.are_on()) {
    rma::server::ForwardOptions forwards{.clusters = clusters_,
                                         .nodes = &nodes_,
                                         .ranks = static_cast<std::int32_t>(processes),
                                         .agents = {}};
    forwards.agents.assign(static_cast<std::size_t>(nodes_.count()), deaf_.address());
    options.forwards = std::make_shared<const rma::server::ForwardOptions>(std::move(forwards));
  }
  shared_ = std::make_unique<rma::server::AgentShared>(node_, listen(), std::move(options));
  rma::require(events_.open());
  conversations_ = std::make_unique<rma::server::Conversations>(*shared_, events_, 0);
}

AgentRig::~AgentRig() = default;

std::int64_t AgentRig::clients() const noexcept {
  std::int64_t count = 0;
  const std::int64_t ranks = std::int64_t{nodes_.count()} * ranks_per_node_;
  for (std::int64_t rank = ranks_per_node_; rank < ranks; ++rank) {
    const WorldRank origin{static_cast<std::int32_t>(rank)};
    const NodeId own = nodes_.node_of(origin);
    const bool is_own = !clusters_.are_on() ||
                        clusters_.intermediary(origin, own, NodeId{0}).value == 0;
    count += is_own ? 1 : 0;
  }
  return count;
}

std::int64_t AgentRig::agents() const noexcept {
  std::int64_t count = 0;
  for (std::int32_t node = 1; node < nodes_.count() && clusters_.are_on(); ++node) {
    count += clusters_.are_together(NodeId{0}, NodeId{node}) ? 1 : 0;
  }
  return count;
}

// The conversation that begins is served whenever this end has said something.
void AgentRig::introduce(WorldRank origin, std::span<const std::byte> frames) {
  constexpr std::chrono::seconds patience{10};
  auto channel = rma::server::connect_tcp(shared_->listener.address(), patience).value();
  pollfd calling{.fd = shared_->listener.descriptor(), .events = POLLIN, .revents = 0};
  poll(&calling, 1, 1000);
  auto accepted = shared_->listener.accept().value();
  const int served = accepted->descriptor();
  conversations_->announce();
  conversations_->begin(std::move(accepted));
  auto handshake = HandshakeClient::create(
                       secret_, {.job = job_number, .origin = origin, .node = NodeId{0}})
                       .value();
  bool is_finished = false;
  while (!is_finished || !handshake.outgoing().empty()) {
    if (const auto out = handshake.outgoing(); !out.empty()) {
      const iovec piece{const_cast<std::byte*>(out.data()), out.size()};
      handshake.sent(channel->send(std::span(&piece, 1)).value());
    }
    conversations_->serve(served);
    std::array<std::byte, rma::server::challenge_bytes> bytes;
    const iovec room{bytes.data(), bytes.size()};
    const std::size_t came = channel->receive(std::span(&room, 1)).value();
    is_finished =
        is_finished || handshake.feed(std::span<const std::byte>(bytes).first(came)).value().finished;
  }
  const iovec piece{const_cast<std::byte*>(frames.data()), frames.size()};
  const std::size_t sent = channel->send(std::span(&piece, 1)).value();
  for (int turn = 0; turn < 3; ++turn) {
    conversations_->serve(served);
  }
  if (sent != frames.size()) {
    throw std::runtime_error("a new connection takes less than a frame");
  }
}

void AgentRig::add_client() {
  WorldRank origin{next_client_};
  while (clusters_.are_on() &&
         clusters_.intermediary(origin, nodes_.node_of(origin), NodeId{0}).value != 0) {
    ++origin.value;
  }
  next_client_ = origin.value + 1;
  const auto fence = encode(
      FrameHeader{.kind = Kind::fence, .origin = origin, .target = WorldRank{0}, .operation = 1});
  introduce(origin, fence);
}

void AgentRig::add_agent() {
  while (!clusters_.are_together(NodeId{0}, NodeId{next_agent_})) {
    ++next_agent_;
  }
  const NodeId node{next_agent_++};
  const WorldRank carrier = nodes_.first_rank_of(node);
  const auto introduction = encode(FrameHeader{
      .kind = Kind::introduce,
      .origin = carrier,
      .forwarder = node.value,
      .words = {static_cast<std::uint64_t>(rma::server::ConnectionUse::agent), 0}});
  introduce(carrier, introduction);
  ask_for(node);
}

// A process of this agent asks for that node, so a trunk is made.
void AgentRig::ask_for(NodeId node) {
  WorldRank origin{next_client_ - 1};
  const auto fence = encode(FrameHeader{.kind = Kind::fence,
                                        .origin = origin,
                                        .target = nodes_.first_rank_of(node),
                                        .operation = 1});
  introduce(origin, fence);
}

}  // namespace tessera::bench
