// SPDX-License-Identifier: BSD-3-Clause
#include "rma/agent_memory.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/job.hpp"
#include "rma/node/node_memory.hpp"
#include "rma/progress/poller.hpp"
#include "rma/server/agent/agent_state.hpp"
#include "rma/server/agent/connection_table.hpp"
#include "rma/server/agent/forwarder.hpp"
#include "rma/server/wire/handshake.hpp"
#include "rma/server/wire/wire.hpp"
#include "rma/transport/tcp/tcp.hpp"

namespace tessera::rma {
namespace {

using server::AgentOptions;
using server::Clusters;
using server::ConnectionUse;
using server::FrameHeader;
using server::HandshakeClient;
using server::Kind;
using server::TcpListener;

constexpr std::uint64_t job_number = 1;
// Small, since nothing is allocated in it.
constexpr std::uint64_t arena_bytes = std::uint64_t{256} << 20U;
constexpr std::chrono::seconds connect_timeout{10};

std::vector<std::uint64_t> machines(std::int64_t processes, std::int32_t ranks_per_node) {
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(processes));
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    keys[rank] = rank / static_cast<std::size_t>(ranks_per_node) + 1;
  }
  return keys;
}

// Listens at an address that differs for each process: the ports of closed connections stay
// occupied for a minute.
Result<TcpListener> listen() {
  constexpr std::uint32_t loopback_network = 0x7f00'0000;
  constexpr std::uint32_t subnets = 0xffff;
  const std::uint32_t own = (static_cast<std::uint32_t>(getpid()) & subnets) << 8U;
  return TcpListener::create({loopback_network | own | 1U, 0});
}

Result<std::shared_ptr<detail::Node>> first_node(std::int32_t ranks, std::int32_t world_ranks) {
  TESSERA_ASSIGN_OR_RETURN(auto made, detail::NodeMemory::create(ranks, arena_bytes));
  std::shared_ptr<detail::NodeMemory> memory = std::move(made);
  std::vector<WorldRank> members;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    members.push_back(WorldRank{rank});
  }
  auto node = std::make_shared<detail::Node>(std::move(memory), std::move(members), 0, true,
                                             detail::WaitPolicy{});
  TESSERA_RETURN_IF_ERROR(node->enter());
  TESSERA_RETURN_IF_ERROR(node->make_remote_rank_tables(world_ranks));
  return node;
}

// The cluster size that a job of that size would get; used even for few nodes, where a job would
// have no clusters.
Clusters clusters_of(std::int32_t nodes, AgentBuffers buffers) {
  const bool are_clustered = buffers == AgentBuffers::clustered;
  return {nodes, are_clustered ? std::llround(std::sqrt(static_cast<double>(nodes))) : 1};
}

}  // namespace

class AgentMemory::AgentHarness {
 public:
  AgentHarness(std::int64_t processes, std::int32_t ranks_per_node, AgentBuffers buffers,
               std::shared_ptr<detail::Node> node, server::Secret secret, TcpListener deaf)
      : ranks_per_node_(ranks_per_node),
        ranks_(static_cast<std::int32_t>(processes)),
        nodes_(machines(processes, ranks_per_node), 0),
        node_(std::move(node)),
        secret_(secret),
        silent_listener_(std::move(deaf)),
        clusters_(clusters_of(nodes_.count(), buffers)),
        next_client_(ranks_per_node) {}

  Status open(TcpListener listener, AgentBuffers buffers) {
    AgentOptions options{.secret = secret_,
                         .job = job_number,
                         .ranks = ranks_,
                         .node = NodeId{0},
                         .buffers_per_client = buffers == AgentBuffers::per_client,
                         .warn = [](const std::string&) {}};
    if (clusters_.are_on()) {
      server::ForwardOptions forwards{
          .clusters = clusters_, .nodes = &nodes_, .ranks = ranks_, .agents = {}};
      forwards.agents.assign(static_cast<std::size_t>(nodes_.count()), silent_listener_.address());
      options.forwards = std::make_shared<const server::ForwardOptions>(std::move(forwards));
    }
    shared_ = std::make_unique<server::AgentState>(node_, std::move(listener), std::move(options));
    TESSERA_RETURN_IF_ERROR(events_.open("the agent's event queue"));
    connections_ = std::make_unique<server::ConnectionTable>(*shared_, events_, 0);
    return {};
  }

  [[nodiscard]] std::int64_t clients() const noexcept {
    std::int64_t count = 0;
    for (WorldRank rank{ranks_per_node_}; rank.value < ranks_; ++rank.value) {
      count += is_client(rank) ? 1 : 0;
    }
    return count;
  }
  [[nodiscard]] std::int64_t agents() const noexcept {
    std::int64_t count = 0;
    for (std::int32_t node = 1; node < nodes_.count() && clusters_.are_on(); ++node) {
      count += clusters_.are_together(NodeId{0}, NodeId{node}) ? 1 : 0;
    }
    return count;
  }

  Status add_client() {
    while (!is_client(WorldRank{next_client_})) {
      ++next_client_;
    }
    return ask(WorldRank{next_client_++}, WorldRank{0});
  }

  Status add_agent() {
    while (!clusters_.are_together(NodeId{0}, NodeId{next_agent_})) {
      ++next_agent_;
    }
    const NodeId node{next_agent_++};
    const WorldRank agent_host = nodes_.first_rank_of(node);
    const FrameHeader introduction{.kind = Kind::introduce,
                                   .origin = agent_host,
                                   .forwarder = node.value,
                                   .words = {static_cast<std::uint64_t>(ConnectionUse::agent), 0}};
    TESSERA_RETURN_IF_ERROR(say(agent_host, introduction));
    // A process of this agent requests something from that node, so that a trunk is created.
    return ask(WorldRank{next_client_ - 1}, agent_host);
  }

 private:
  [[nodiscard]] bool is_client(WorldRank rank) const noexcept {
    return !clusters_.are_on() ||
           clusters_.intermediary(rank, nodes_.node_of(rank), NodeId{0}).value == 0;
  }
  Status ask(WorldRank origin, WorldRank target) {
    return say(origin, {.kind = Kind::fence, .origin = origin, .target = target, .operation = 1});
  }

  // The new connection is served each time after this end has sent something.
  Status say(WorldRank origin, const FrameHeader& frame) {
    TESSERA_ASSIGN_OR_RETURN(auto channel,
                             server::connect_tcp(shared_->listener.address(), connect_timeout));
    pollfd calling{.fd = shared_->listener.descriptor(), .events = POLLIN, .revents = 0};
    poll(&calling, 1, 1000);
    TESSERA_ASSIGN_OR_RETURN(auto accepted, shared_->listener.accept());
    if (accepted == nullptr) {
      return Status::error(Code::peer_lost, "a connection on loopback was not accepted");
    }
    const int served = accepted->descriptor();
    connections_->announce();
    connections_->begin(std::move(accepted));
    TESSERA_RETURN_IF_ERROR(shake_hands(*channel, origin, served));
    const auto bytes = encode(frame);
    const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    TESSERA_RETURN_IF_ERROR(channel->send(std::span(&piece, 1)).status());
    for (int round = 0; round < 3; ++round) {
      connections_->serve(served);
    }
    return {};
  }

  Status shake_hands(detail::Channel& channel, WorldRank origin, int served) {
    TESSERA_ASSIGN_OR_RETURN(
        auto handshake,
        HandshakeClient::create(secret_, {.job = job_number, .origin = origin, .node = NodeId{0}}));
    bool is_finished = false;
    while (!is_finished || !handshake.outgoing().empty()) {
      if (const auto out = handshake.outgoing(); !out.empty()) {
        const iovec piece{const_cast<std::byte*>(out.data()), out.size()};
        TESSERA_ASSIGN_OR_RETURN(const std::size_t sent, channel.send(std::span(&piece, 1)));
        handshake.sent(sent);
      }
      connections_->serve(served);
      std::array<std::byte, server::challenge_bytes> bytes;
      const iovec room{bytes.data(), bytes.size()};
      TESSERA_ASSIGN_OR_RETURN(const std::size_t came, channel.receive(std::span(&room, 1)));
      TESSERA_ASSIGN_OR_RETURN(const server::HandshakeProgress progress,
                               handshake.feed(std::span<const std::byte>(bytes).first(came)));
      is_finished = is_finished || progress.finished;
    }
    return {};
  }

  const std::int32_t ranks_per_node_;
  const std::int32_t ranks_;
  detail::NodeMap nodes_;
  std::shared_ptr<detail::Node> node_;
  server::Secret secret_;
  TcpListener silent_listener_;  // stands for the other agents: nothing accepts connections there
  Clusters clusters_;
  std::unique_ptr<server::AgentState> shared_;
  detail::Poller events_;
  std::unique_ptr<server::ConnectionTable> connections_;
  std::int32_t next_client_;
  std::int32_t next_agent_ = 1;
};

AgentMemory::AgentMemory(std::unique_ptr<AgentHarness> rig) noexcept : harness_(std::move(rig)) {}
AgentMemory::~AgentMemory() = default;
AgentMemory::AgentMemory(AgentMemory&&) noexcept = default;

Result<AgentMemory> AgentMemory::create(std::int64_t processes, std::int32_t ranks_per_node,
                                        AgentBuffers buffers) {
  TESSERA_ASSIGN_OR_RETURN(auto node,
                           first_node(ranks_per_node, static_cast<std::int32_t>(processes)));
  TESSERA_ASSIGN_OR_RETURN(server::Secret secret, server::new_secret());
  TESSERA_ASSIGN_OR_RETURN(TcpListener deaf, listen());
  TESSERA_ASSIGN_OR_RETURN(TcpListener listener, listen());
  auto rig = std::make_unique<AgentHarness>(processes, ranks_per_node, buffers, std::move(node),
                                            secret, std::move(deaf));
  TESSERA_RETURN_IF_ERROR(rig->open(std::move(listener), buffers));
  return AgentMemory(std::move(rig));
}

std::int64_t AgentMemory::clients() const noexcept {
  return harness_->clients();
}
std::int64_t AgentMemory::agents() const noexcept {
  return harness_->agents();
}
Status AgentMemory::add_client() {
  return detail::catch_bad_alloc([&] { return harness_->add_client(); });
}
Status AgentMemory::add_agent() {
  return detail::catch_bad_alloc([&] { return harness_->add_agent(); });
}

NodeId agent_for(const Job& job, WorldRank origin, WorldRank target) noexcept {
  const std::int64_t wanted = job.settings().server_cluster;
  const Clusters clusters(job.node_count(),
                          wanted == 0 ? Clusters::chosen_size(job.node_count()) : wanted);
  const NodeId own = job.node_of(origin);
  const NodeId node = job.node_of(target);
  return clusters.are_on() && node != own ? clusters.intermediary(origin, own, node) : node;
}

}  // namespace tessera::rma
