// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/startup.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rma/base/fd_passing.hpp"
#include "rma/base/memory.hpp"
#include "rma/base/standard_streams.hpp"
#include "rma/progress/wait_policy.hpp"

namespace tessera::rma::detail {
namespace {

using std::chrono::milliseconds;

milliseconds start_timeout(const Settings& settings) {
  return milliseconds(settings.start_timeout_ms);
}

// What all ranks report, by rank.
template <class T>
Result<std::vector<T>> gather(Bootstrap& bootstrap, const Settings& settings, const T& mine) {
  TESSERA_ASSIGN_OR_RETURN(
      const std::vector<std::byte> bytes,
      bootstrap.allgather(std::as_bytes(std::span(&mine, 1)), start_timeout(settings)));
  std::vector<T> all(static_cast<std::size_t>(bootstrap.size()));
  TESSERA_RETURN_IF_ERROR(check_exchanged(bytes.size(), std::span(all).size_bytes()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

// A rank's outcome of a step, in a form that can be gathered.
struct StepReport {
  std::uint32_t code = 0;
  std::array<char, 500> text{};
};

// All ranks succeed, or all fail with the error of the lowest rank that failed.
Status agree(Bootstrap& bootstrap, const Settings& settings, const Status& mine) {
  StepReport report;
  report.code = static_cast<std::uint32_t>(mine.code());
  const std::string text = mine.ok() ? "" : mine.message();
  std::copy_n(text.begin(), std::min(text.size(), report.text.size() - 1), report.text.begin());
  TESSERA_ASSIGN_OR_RETURN(const std::vector<StepReport> all, gather(bootstrap, settings, report));
  for (std::int32_t rank = 0; rank < bootstrap.size(); ++rank) {
    const StepReport& each = all[static_cast<std::size_t>(rank)];
    if (each.code != static_cast<std::uint32_t>(Code::ok)) {
      if (WorldRank{rank} == bootstrap.rank()) {
        return mine;
      }
      return Status::error_at(WorldRank{rank}, static_cast<Code>(each.code),
                              fmt::format("on rank {}: {}", rank, each.text.data()));
    }
  }
  return {};
}

// Numbers that are equal for processes that run on the same kernel, machine, or PID namespace.
struct MachineIdentity {
  std::uint64_t kernel = 0;
  /// Processes with equal numbers can share memory by passing descriptors: same running kernel,
  /// host name, and network namespace (which has the abstract sockets).
  std::uint64_t machine = 0;
  std::uint64_t numbers = 0;  ///< PID namespace, in which process numbers are unique
};

Result<MachineIdentity> own_machine_identity() {
  std::string identity;
  std::ifstream boot_id("/proc/sys/kernel/random/boot_id");
  const int error = boot_id ? 0 : errno;
  if (error == EMFILE || error == ENFILE) {
    // Without the boot id this rank would seem to be on a node of its own.
    return Status::error(
               Code::limit_exceeded,
               fmt::format("cannot identify this machine from /proc/sys/kernel/random/boot_id: {}",
                           describe_system_error(error)))
        .hint(remedy_for_system_error(error));
  }
  boot_id >> identity;
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  const std::hash<std::string> number;
  MachineIdentity own;
  own.kernel = number(identity.empty() ? name.data() : identity);
  identity += name.data();
  struct stat network {};
  if (stat("/proc/self/ns/net", &network) == 0) {
    identity += std::to_string(network.st_ino);
  }
  own.machine = number(identity);
  struct stat numbers {};
  if (stat("/proc/self/ns/pid", &numbers) == 0) {
    own.numbers = numbers.st_ino;
  }
  return own;
}

// What each rank reports about itself first.
struct RankDescription {
  MachineIdentity where;
  ProcessorSet processors;
  ProcessorQuota quota;
  std::int32_t threads = 1;
  std::int32_t agent_threads = 1;
  std::int64_t ranks_per_node = 0;
  std::array<char, 16> profile{};  ///< of Settings; rank 0's is used
  std::uint64_t transport_hash = 0;
  std::array<char, 96> transport{};  ///< of Settings; truncated if it is longer
};

// Copies what fits, with a zero at the end.
void keep_beginning(std::string_view text, std::span<char> destination) {
  std::copy_n(text.begin(), std::min(text.size(), destination.size() - 1), destination.begin());
}

std::int32_t threads_of_rank(const Settings& settings) {
  const auto text_of = [](const char* name) -> std::string_view {
    const char* const text = std::getenv(name);
    return text != nullptr ? text : "";
  };
  return announced_threads(settings.blas_threads, text_of("OPENBLAS_NUM_THREADS"),
                           text_of("OMP_NUM_THREADS"));
}

// If ranks divided machines into different nodes, or named different transports, they would wait
// for each other at different points.
Status check_same_settings(const std::vector<RankDescription>& all) {
  const RankDescription& first = all.front();
  for (const RankDescription& other : all) {
    std::string differs;
    if (other.transport_hash != first.transport_hash) {
      differs = fmt::format("TESSERA_TRANSPORT is {} on rank 0 and {}", first.transport.data(),
                            other.transport.data());
    } else if (other.ranks_per_node != first.ranks_per_node) {
      differs = fmt::format("TESSERA_RANKS_PER_NODE is {} on rank 0 and {}", first.ranks_per_node,
                            other.ranks_per_node);
    }
    if (!differs.empty()) {
      return Status::error(Code::invalid_argument,
                           fmt::format("{} on rank {}", differs, &other - all.data()))
          .hint("give it the same value on all ranks");
    }
  }
  return {};
}

// Collective. What each rank reports about itself, in rank order.
Result<std::vector<RankDescription>> exchange_descriptions(Bootstrap& bootstrap,
                                                           const Settings& settings) {
  const Result<MachineIdentity> mine = bootstrap.is_one_process()
                                           ? Result<MachineIdentity>(MachineIdentity{})
                                           : own_machine_identity();
  TESSERA_RETURN_IF_ERROR(agree(bootstrap, settings, mine.status()));
  RankDescription own{.where = *mine,
                      .processors = own_processors(),
                      .quota = read_processor_quota(""),
                      .threads = threads_of_rank(settings),
                      .agent_threads = static_cast<std::int32_t>(settings.agent_threads),
                      .ranks_per_node = settings.ranks_per_node};
  keep_beginning(settings.profile, own.profile);
  keep_beginning(settings.transport, own.transport);
  own.transport_hash = std::hash<std::string>()(settings.transport);
  TESSERA_ASSIGN_OR_RETURN(auto all, gather(bootstrap, settings, own));
  TESSERA_RETURN_IF_ERROR(check_same_settings(all));
  return all;
}

// If MPI windows are the ranks' only memory, no rank maps another's: each is its own node.
std::int64_t ranks_per_node(const Settings& settings) {
  return settings.transport == "mpi" ? 1 : settings.ranks_per_node;
}

NodeMap nodes_of(const std::vector<RankDescription>& all, const Settings& settings, int& machines) {
  std::vector<std::uint64_t> keys;
  std::transform(all.begin(), all.end(), std::back_inserter(keys),
                 [](const RankDescription& each) { return each.where.machine; });
  machines = static_cast<int>(std::set<std::uint64_t>(keys.begin(), keys.end()).size());
  return NodeMap(keys, ranks_per_node(settings));
}

// Containers may share everything that defines a node except the PID namespace.
std::vector<WorldRank> other_pid_namespace(const std::vector<RankDescription>& all,
                                           const NodeMap& nodes) {
  std::vector<WorldRank> apart;
  for (WorldRank rank{0}; rank.value < static_cast<std::int32_t>(all.size()); ++rank.value) {
    const WorldRank first = nodes.ranks_of(nodes.node_of(rank)).front();
    const auto numbers = [&](WorldRank each) {
      return all[static_cast<std::size_t>(each.value)].where.numbers;
    };
    if (numbers(rank) != numbers(first)) {
      apart.push_back(rank);
    }
  }
  return apart;
}

// Of all ranks, in their order.
std::vector<RankLocation> rank_locations(const std::vector<RankDescription>& all,
                                         const NodeMap& nodes) {
  std::vector<RankLocation> locations;
  for (const RankDescription& each : all) {
    const WorldRank rank{static_cast<std::int32_t>(locations.size())};
    locations.push_back({each.where.kernel, nodes.node_of(rank), each.processors, each.quota,
                         each.threads, each.agent_threads});
  }
  return locations;
}

std::uint64_t arena_bytes(const Settings& settings) {
  constexpr std::uint64_t memory_multiple = 8;
  constexpr std::uint64_t least = 16ULL << 30;
  if (settings.arena_mib > 0) {
    return static_cast<std::uint64_t>(settings.arena_mib) << 20U;
  }
  return std::max(least, memory_multiple * total_memory_bytes());
}

// In one process, the first rank of each node hands out a pointer.
Result<std::shared_ptr<NodeMemory>> share_in_process(Bootstrap& bootstrap, const Settings& settings,
                                                     bool is_leader, WorldRank leader, int ranks) {
  std::shared_ptr<NodeMemory> own;
  Status mine;
  if (is_leader) {
    auto made = NodeMemory::create(ranks, arena_bytes(settings));
    mine = made.status();
    if (made.ok()) {
      own = std::move(made).take();
    }
  }
  TESSERA_RETURN_IF_ERROR(agree(bootstrap, settings, mine));
  const std::shared_ptr<NodeMemory>* const pointer = &own;
  TESSERA_ASSIGN_OR_RETURN(const auto all, gather(bootstrap, settings, pointer));
  std::shared_ptr<NodeMemory> memory = *all[static_cast<std::size_t>(leader.value)];
  // The leader's pointer stays valid until all have copied it.
  TESSERA_RETURN_IF_ERROR(agree(bootstrap, settings, Status()));
  return memory;
}

// Between processes, the first rank hands out the descriptor of a memory file.
Result<std::shared_ptr<NodeMemory>> share_across_processes(Bootstrap& bootstrap,
                                                           const Settings& settings, bool is_leader,
                                                           WorldRank leader, int ranks) {
  using Name = std::array<char, 64>;
  Name name{};
  std::shared_ptr<NodeMemory> memory;
  std::optional<DescriptorServer> server;
  Status mine;
  if (is_leader) {
    auto made = NodeMemory::create(ranks, arena_bytes(settings));
    auto listening = DescriptorServer::create();
    mine = made.ok() ? listening.status() : made.status();
    if (mine.ok()) {
      memory = std::move(made).take();
      server.emplace(std::move(listening).take());
      std::copy_n(server->name().begin(), std::min(server->name().size(), name.size() - 1),
                  name.begin());
    }
  }
  TESSERA_RETURN_IF_ERROR(agree(bootstrap, settings, mine));
  TESSERA_ASSIGN_OR_RETURN(const std::vector<Name> all, gather(bootstrap, settings, name));
  if (is_leader) {
    mine = server->serve(memory->descriptors(), ranks - 1, start_timeout(settings),
                         [&] { return bootstrap.first_lost().has_value(); });
  } else {
    const Name& of_leader = all[static_cast<std::size_t>(leader.value)];
    auto fetched =
        fetch_descriptors(of_leader.data(), NodeMemory::descriptor_count, start_timeout(settings));
    mine = fetched.status();
    if (fetched.ok()) {
      auto adopted = NodeMemory::adopt(std::move(fetched->front()), std::move(fetched->back()));
      mine = adopted.status();
      if (adopted.ok()) {
        memory = std::move(adopted).take();
      }
    }
  }
  TESSERA_RETURN_IF_ERROR(agree(bootstrap, settings, mine));
  return memory;
}

// Collective. Maps the node's memory, which its first rank makes.
Result<std::shared_ptr<Node>> join_node(const JobState& job) {
  const NodeId mine = job.nodes().node_of(job.rank());
  std::vector<WorldRank> ranks = job.nodes().ranks_of(mine);
  const auto count = static_cast<int>(ranks.size());
  const auto local_rank =
      static_cast<int>(std::lower_bound(ranks.begin(), ranks.end(), job.rank()) - ranks.begin());
  const WorldRank leader = ranks.front();
  Bootstrap& bootstrap = job.bootstrap();
  auto share = bootstrap.is_one_process() ? share_in_process : share_across_processes;
  TESSERA_ASSIGN_OR_RETURN(auto memory,
                           share(bootstrap, job.settings(), local_rank == 0, leader, count));
  const WaitPolicy policy =
      choose_wait_policy(job.settings(), count, job.layout().processors.share);
  return std::make_shared<Node>(std::move(memory), std::move(ranks), local_rank,
                                bootstrap.is_one_process(), policy);
}

Status register_and_make_transports(JobState& job, std::shared_ptr<Node> node,
                                    const std::vector<TransportFactory>& factories) {
  TESSERA_RETURN_IF_ERROR(job.enter_node(std::move(node)));
  TESSERA_RETURN_IF_ERROR(job.make_transports(factories));
  if (job.nodes().count() > 1 && job.link() == nullptr) {
    const Status& passed_over = job.transports().passed_over();
    const std::string reason = passed_over.ok() ? "" : fmt::format(" ({})", passed_over.message());
    return Status::error(Code::unreachable,
                         fmt::format("the ranks are on {} nodes, and no transport of '{}' connects "
                                     "nodes{}",
                                     job.nodes().count(), job.settings().transport, reason))
        .hint(
            "add tcp to TESSERA_TRANSPORT, or start all ranks on one machine without "
            "TESSERA_RANKS_PER_NODE");
  }
  return {};
}

LogLevel log_level(const Settings& settings) {
  constexpr std::array names{"silent", "warning", "info", "debug"};
  const auto* found = std::find(names.begin(), names.end(), settings.log);
  return static_cast<LogLevel>(found - names.begin());
}

}  // namespace

Status check_exchanged(std::size_t bytes, std::size_t expected) {
  return bytes == expected
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("the ranks are at different steps of the start-up: they "
                                         "sent {} bytes where this rank expected {}",
                                         bytes, expected))
                   .hint("give all ranks the same program, settings and transports");
}

Result<NodeMap> find_nodes(Bootstrap& bootstrap, const Settings& settings, int& machines) {
  TESSERA_ASSIGN_OR_RETURN(const auto all, exchange_descriptions(bootstrap, settings));
  return nodes_of(all, settings, machines);
}

Result<std::shared_ptr<JobState>> start_job(std::shared_ptr<Bootstrap> bootstrap,
                                            std::optional<Settings> settings,
                                            const std::vector<TransportFactory>& factories) {
  keep_standard_streams();
  std::vector<std::string> warnings;
  if (!settings) {
    TESSERA_ASSIGN_OR_RETURN(settings, Settings::from_environment(&warnings));
  }
  if (!bootstrap) {
    TESSERA_ASSIGN_OR_RETURN(bootstrap, choose_bootstrap(*settings));
  }
  int machines = 1;
  TESSERA_ASSIGN_OR_RETURN(const auto ranks, exchange_descriptions(*bootstrap, *settings));
  NodeMap nodes = nodes_of(ranks, *settings, machines);
  // all ranks must take part in writing a profile
  settings->profile = ranks.front().profile.data();
  const std::vector<RankLocation> locations = rank_locations(ranks, nodes);
  const NodeId own_node = nodes.node_of(bootstrap->rank());
  JobLayout layout{.machines = machines,
                   .other_pid_namespace = other_pid_namespace(ranks, nodes),
                   .processors = processors_of(own_node, locations),
                   .agent_processors = processors_for_agent(own_node, locations)};
  auto job = std::make_shared<JobState>(*settings, std::move(bootstrap), std::move(nodes),
                                        std::move(layout));
  job->log().set_level(log_level(job->settings()));
  for (const std::string& warning : warnings) {
    if (job->rank().value == 0) {
      job->log().warning(warning);
    }
  }
  Result<std::shared_ptr<Node>> node = join_node(*job);
  if (!node.ok()) {
    return std::move(node).status().context("sharing the node's memory");
  }
  TESSERA_RETURN_IF_ERROR(
      agree(job->bootstrap(), job->settings(),
            register_and_make_transports(*job, std::move(node).take(), factories)));
  TESSERA_RETURN_IF_ERROR(job->make_world());
  return job;
}

}  // namespace tessera::rma::detail
