// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rma/base/memory.hpp"
#include "rma/engine/node_context.hpp"
#include "rma/engine/startup.hpp"
#include "rma/node/agent_host.hpp"
#include "rma/server/agent/agent.hpp"
#include "rma/server/client/agent_control_channel.hpp"
#include "rma/server/client/client.hpp"
#include "rma/server/client/endpoint.hpp"
#include "rma/server/client/packing_choice.hpp"
#include "rma/server/client/shutdown_notices.hpp"
#include "rma/server/reachable_memory.hpp"

namespace tessera::rma::server {
namespace {

// What each rank sends to all others when the job starts. Launchers and MPI are trusted with it.
struct StartupRecord {
  TcpAddress agent;  // of a node's first rank
  bool has_device_atomics = false;
  std::uint32_t code = 0;
  std::array<char, 200> error{};
  std::array<std::byte, secret_bytes> secret{};  // of rank 0: the job's secret
  std::uint64_t job = 0;                         // of rank 0
  ChosenTimes times;                             // of rank 0
};

class ServerTransport final : public Transport, public DataTransport {
 public:
  ServerTransport(std::string name, const TransportContext& context, bool has_device_atomics,
                  std::shared_ptr<Client> client, std::shared_ptr<const ShutdownNotices> notices,
                  std::unique_ptr<Agent> agent)
      : name_(std::move(name)),
        node_(detail::nodes_of(context).node),
        nodes_(*detail::nodes_of(context).map),
        client_(std::move(client)),
        shutdown_notices_(std::move(notices)),
        agent_(std::move(agent)) {
    can_.device_atomics = has_device_atomics;
    if (agent_ != nullptr && !detail::nodes_of(context).agent_processors.is_dedicated) {
      node_->set_progress_delegate(agent_.get());
    }
  }
  ~ServerTransport() override { node_->set_progress_delegate(nullptr); }
  ServerTransport(const ServerTransport&) = delete;
  ServerTransport& operator=(const ServerTransport&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return can_; }
  [[nodiscard]] DataTransport& data() noexcept override { return *this; }
  [[nodiscard]] bool reaches(WorldRank peer) const override {
    return node_->local_rank_of(peer) < 0;
  }

  Result<std::unique_ptr<Endpoint>> connect(WorldRank peer) override {
    TESSERA_ASSIGN_OR_RETURN(ClientConnection * link, client_->links().to(nodes_.node_of(peer)));
    auto by_requests = std::make_unique<ServerEndpoint>(*link, client_->options().rank, peer);
    if (link->channel().path() == nullptr) {
      return std::unique_ptr<Endpoint>(std::move(by_requests));
    }
    return link->channel().path()->endpoint(peer, std::move(by_requests), link->requests());
  }
  // Ranks of this node are also reached through its agent here.
  Result<Endpoint*> atomics_by_device(WorldRank peer) override {
    {
      const std::shared_lock guard(atomics_mutex_);
      if (const auto known = atomics_.find(peer); known != atomics_.end()) {
        return known->second.get();
      }
    }
    const NodeId node = nodes_.node_of(peer);
    TESSERA_ASSIGN_OR_RETURN(ClientConnection * link, client_->links().to(node));
    if (link->channel().path() == nullptr) {
      return Status::error_at(peer, Code::unsupported,
                              fmt::format("node {} is reached over TCP, and atomic operations in "
                                          "this region are done by its device only",
                                          node.value))
          .hint("the log says why; Atomics::separate works over TCP, too");
    }
    TESSERA_ASSIGN_OR_RETURN(auto made, connect(peer));
    const std::lock_guard guard(atomics_mutex_);
    return atomics_.try_emplace(peer, std::move(made)).first->second.get();
  }
  std::unique_ptr<detail::NodeControlChannel> control_channel() override {
    return std::make_unique<AgentControlChannel>(client_, node_, nodes_, shutdown_notices_);
  }

  int progress() override { return client_->progress().advance(); }
  bool wait(Completion& done, std::chrono::nanoseconds period) override {
    return client_->progress().wait(done, period);
  }
  void wake_progress() override { client_->progress().wake_if_away(); }

  // The agent serves as long as ranks of its node exist or other processes are connected to it.
  // Each rank closes its own connections first, so that waiting ranks do not wait for each other.
  void stop() noexcept override {
    constexpr std::chrono::seconds timeout{5};
    if (agent_ != nullptr) {
      shutdown_notices_->send(*client_, timeout);
    }
    client_->close();
    if (agent_ != nullptr) {
      agent_->wait_for_peers_to_close();
    }
  }

 private:
  const std::string name_;
  Capabilities can_{.strided = true, .accumulate = true, .atomics = true, .strict = true};
  std::shared_ptr<detail::Node> node_;
  const detail::NodeMap& nodes_;
  std::shared_ptr<Client> client_;
  std::shared_ptr<const ShutdownNotices> shutdown_notices_;
  std::unique_ptr<Agent> agent_;
  std::shared_mutex atomics_mutex_;
  std::unordered_map<WorldRank, std::unique_ptr<Endpoint>> atomics_;
};

PollDuration stay_awake(const Settings& settings, bool is_dedicated) {
  if (settings.server != "adaptive") {
    return settings.server == "poll" ? PollDuration::max() : PollDuration(0);
  }
  return is_dedicated ? detail::awake_on_spare_processors : detail::awake_on_scarce_processors;
}

void log_wait_mode(const TransportContext& context, PollDuration time) {
  const detail::NodeContext& nodes = detail::nodes_of(context);
  const AgentProcessors& processors = nodes.agent_processors;
  const NodeId node = nodes.map->node_of(context.rank);
  const std::string awake =
      time == PollDuration::max() ? "stays awake (TESSERA_SERVER=poll)"
      : time == PollDuration(0)
          ? "sleeps until a request comes (TESSERA_SERVER=block)"
          : fmt::format("stays awake for {} us after a request",
                        std::chrono::duration_cast<std::chrono::microseconds>(time).count());
  context.log->info(fmt::format(
      "the agent of node {} {}; {}: {}", node.value, awake,
      processors.is_dedicated ? "it has processors of its own" : "it has no processor of its own",
      processors.reason));
}

// All ranks receive the addresses of all agents, or the error of the lowest rank that has one.
Result<std::vector<StartupRecord>> exchange_records(const TransportContext& context,
                                                    const StartupRecord& mine) {
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                           context.exchange(std::as_bytes(std::span(&mine, 1))));
  std::vector<StartupRecord> all(static_cast<std::size_t>(context.size));
  TESSERA_RETURN_IF_ERROR(detail::check_exchanged(bytes.size(), std::span(all).size_bytes()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].code != 0) {
      return Status::error(static_cast<Code>(all[rank].code),
                           fmt::format("on rank {}: {}", rank, all[rank].error.data()));
    }
  }
  return all;
}

void record_error(StartupRecord& mine, const Status& status) {
  mine.code = static_cast<std::uint32_t>(status.code());
  const std::string text = status.message();
  std::copy_n(text.begin(), std::min(text.size(), mine.error.size() - 1), mine.error.begin());
}

// Runs before anything else is created: if one rank finds no network, no rank creates anything.
Result<std::shared_ptr<detail::RdmaProvider>> find_on_all(const FindRdmaProvider& find,
                                                          const TransportContext& context) {
  auto found = find({.rank = context.rank,
                     .settings = context.settings,
                     .memory = reachable_memory_of(detail::nodes_of(context).node)});
  StartupRecord mine;
  if (!found.ok()) {
    record_error(mine, found.status());
  }
  TESSERA_RETURN_IF_ERROR(exchange_records(context, mine).status());
  return found;
}

// The clusters that the setting selects, or that follow from the number of nodes.
Clusters clusters_of(const TransportContext& context) {
  const std::int32_t nodes = detail::nodes_of(context).map->count();
  const std::int64_t wanted = context.settings->server_cluster;
  return {nodes, wanted == 0 ? Clusters::chosen_size(nodes) : wanted};
}

ClientOptions client_options(const TransportContext& context, const std::vector<StartupRecord>& all,
                             const std::shared_ptr<const ShutdownNotices>& notices) {
  const detail::NodeContext& nodes = detail::nodes_of(context);
  const Packing packing = choose_packing(*context.settings, all[0].times);
  ClientOptions options;
  options.congestion = context.settings->tcp_congestion;
  options.rank = context.rank;
  options.job = all[0].job;
  for (std::int32_t node = 0; node < nodes.map->count(); ++node) {
    const WorldRank first = nodes.map->ranks_of(NodeId{node}).front();
    options.agents.push_back(all[static_cast<std::size_t>(first.value)].agent);
    options.agent_hosts.push_back(first);
  }
  options.connect_timeout = std::chrono::milliseconds(context.settings->start_timeout_ms);
  options.has_left = [notices](NodeId node) { return notices->has_left(node); };
  options.node = nodes.node;
  options.kept_bytes = static_cast<std::size_t>(context.settings->request_kib) * 1024;
  options.limits = packing.limits;
  options.parts = packing.parts;
  options.gathered_bytes = static_cast<std::size_t>(context.settings->aggregate);
  options.warn = context.warn;
  options.log = context.log;
  options.wait_warning = std::chrono::milliseconds(context.settings->wait_warning_ms);
  options.stray_error = context.defer_error;
  options.clusters = clusters_of(context);
  options.nodes = nodes.map;
  options.ranks = context.size;
  options.direct_replies = context.settings->server_replies == "direct";
  return options;
}

// TESSERA_TRANSPORT, or empty if it includes TCP.
std::string required_transports(const Settings& settings) {
  const auto names = split_names(settings.transport);
  const bool has_tcp = std::find(names.begin(), names.end(), "tcp") != names.end();
  return has_tcp ? "" : settings.transport;
}

bool has_agent(const TransportContext& context) noexcept {
  return detail::nodes_of(context).node->local_rank() == detail::agent_host_local_rank;
}

// Creates the listener of the node's agent, and the memory for shutdown notices. An error is sent
// to the others in `mine`.
std::optional<TcpListener> prepare_agent(const TransportContext& context, StartupRecord& mine) {
  const detail::NodeContext& nodes = detail::nodes_of(context);
  std::optional<TcpListener> listener;
  auto listening = listen_for_nodes(*context.settings, nodes.machines == 1);
  if (listening.ok()) {
    listener.emplace(std::move(listening).take());
    mine.agent = listener->address();
  } else {
    record_error(mine, listening.status());
  }
  if (Status made = ShutdownNotices::publish(*nodes.node, *nodes.map); !made.ok()) {
    record_error(mine, made);
  }
  return listener;
}

// Rank 0 draws the job's secret for all, and a number that distinguishes jobs. The number is not
// secret and so is independent of the secret.
void draw_identity(StartupRecord& mine) {
  auto secret = new_secret();
  if (!secret.ok()) {
    record_error(mine, secret.status());
    return;
  }
  std::copy(secret->bytes().begin(), secret->bytes().end(), mine.secret.begin());
  mine.job =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
}

// Null if the agents share no requests.
std::shared_ptr<const ForwardOptions> forward_options(const TransportContext& context,
                                                      const std::vector<StartupRecord>& all) {
  const detail::NodeMap& nodes = *detail::nodes_of(context).map;
  ForwardOptions options{.clusters = clusters_of(context),
                         .nodes = &nodes,
                         .ranks = context.size,
                         .agents = {},
                         .window = static_cast<std::size_t>(context.settings->forward_window),
                         .bytes = static_cast<std::size_t>(context.settings->forward_kib) * 1024,
                         .congestion = context.settings->tcp_congestion};
  if (!options.clusters.are_on()) {
    return nullptr;
  }
  for (std::int32_t node = 0; node < nodes.count(); ++node) {
    const WorldRank first = nodes.first_rank_of(NodeId{node});
    options.agents.push_back(all[static_cast<std::size_t>(first.value)].agent);
  }
  return std::make_shared<const ForwardOptions>(std::move(options));
}

// Rank 0 measures for all, while they wait. Messages over a network other than TCP are always
// packed in the same way.
void choose_job_times(const TransportContext& context, bool is_tcp, StartupRecord& mine) {
  if (!is_tcp) {
    return;
  }
  const auto chosen =
      choose_times(*context.settings, mine.agent, detail::nodes_of(context).machines == 1);
  if (!chosen.ok()) {
    record_error(mine, chosen.status());
    return;
  }
  mine.times = *chosen;
  context.log->info(
      fmt::format("times of tcp ({}): {}", to_string(mine.times.from), to_text(mine.times.times)));
}

AgentOptions agent_options(const TransportContext& context, const std::vector<StartupRecord>& all,
                           const Secret& secret,
                           std::shared_ptr<detail::RdmaProvider> rdma_provider) {
  const detail::NodeContext& nodes = detail::nodes_of(context);
  return {.secret = secret,
          .job = all.front().job,
          .ranks = context.size,
          .node = nodes.map->node_of(context.rank),
          .stay_awake = stay_awake(*context.settings, nodes.agent_processors.is_dedicated),
          .threads = static_cast<int>(context.settings->agent_threads),
          .limits = choose_packing(*context.settings, all.front().times).limits,
          .answer_bytes = static_cast<std::size_t>(context.settings->reply_kib) * 1024,
          .buffers_per_client = context.settings->server_buffers == "per_client",
          .warn = context.warn,
          .rdma_provider = std::move(rdma_provider),
          .forwards = forward_options(context, all)};
}

// `find`: null for a transport that needs only TCP.
Result<std::unique_ptr<Transport>> create(const std::string& name, const FindRdmaProvider& find,
                                          const TransportContext& context) {
  const detail::NodeContext& nodes = detail::nodes_of(context);
  if (nodes.map->count() == 1) {
    return Status::error(Code::unsupported, name + " connects nodes, and all ranks are on one");
  }
  if (context.are_connected) {
    return Status::error(Code::unsupported, "the nodes are connected already");
  }
  std::shared_ptr<detail::RdmaProvider> rdma_provider;
  if (find != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(rdma_provider, find_on_all(find, context));
  }
  StartupRecord mine;
  mine.has_device_atomics = rdma_provider != nullptr && rdma_provider->has_atomics();
  std::optional<TcpListener> listener;
  if (has_agent(context)) {
    listener = prepare_agent(context, mine);
  }
  if (context.rank.value == 0) {
    draw_identity(mine);
    choose_job_times(context, find == nullptr, mine);
  }
  TESSERA_ASSIGN_OR_RETURN(const std::vector<StartupRecord> all, exchange_records(context, mine));

  const Secret secret{std::span<const std::byte, secret_bytes>(all[0].secret)};
  std::unique_ptr<Agent> agent;
  if (listener) {
    AgentOptions its_options = agent_options(context, all, secret, rdma_provider);
    log_wait_mode(context, its_options.stay_awake);
    TESSERA_ASSIGN_OR_RETURN(
        agent, Agent::create(nodes.node, std::move(*listener), std::move(its_options)));
  }
  TESSERA_ASSIGN_OR_RETURN(const std::shared_ptr<const ShutdownNotices> notices,
                           ShutdownNotices::find(nodes.node, *nodes.map));
  ClientOptions options = client_options(context, all, notices);
  options.secret = secret;
  options.rdma_provider = rdma_provider;
  options.required = required_transports(*context.settings);
  auto client = std::make_shared<Client>(std::move(options));
  TESSERA_RETURN_IF_ERROR(client->progress().started());
  const auto agent_host = static_cast<std::size_t>(detail::agent_host_of(*nodes.node).value);
  return std::unique_ptr<Transport>(std::make_unique<ServerTransport>(
      name, context, mine.has_device_atomics && all[agent_host].has_device_atomics,
      std::move(client), notices, std::move(agent)));
}

}  // namespace

TransportFactory factory() {
  return factory("tcp", nullptr);
}

TransportFactory factory(const std::string& name, FindRdmaProvider find) {
  return {name, [name, find = std::move(find)](const TransportContext& context) {
            return create(name, find, context);
          }};
}

}  // namespace tessera::rma::server
