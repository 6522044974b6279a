// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of agents by the number of processes ([CLUSTERED10], figure 8). This is the resident
// memory of a process that creates the agent's objects. The kernel's buffers of connections, whose
// number is printed, come in addition.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/parts.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "rma/agent_memory.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

using rma::AgentBuffers;

constexpr std::int32_t ranks_per_node = 12;  // as on the paper's machine
constexpr double mega = 1e6;

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  statm >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

void raise_limit_on_files(std::int64_t wanted) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::max<rlim_t>(files.rlim_cur, static_cast<rlim_t>(wanted));
  files.rlim_max = std::max(files.rlim_max, files.rlim_cur);
  if (setrlimit(RLIMIT_NOFILE, &files) != 0) {
    files.rlim_max = 0;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
}

std::int64_t limit_on_files() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  return static_cast<std::int64_t>(files.rlim_cur);
}

struct Growth {
  double bytes = 0;
  std::int64_t clients = 0;   // of the agent
  std::int64_t measured = 0;  // of these; each of the others is assumed to need the same memory
  std::int64_t agents = 0;    // agents with which it has connections
};

// In a separate process, so that it doesn't reuse freed memory.
std::optional<Growth> growth_of(std::int64_t processes, AgentBuffers buffers) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return std::nullopt;
  }
  const pid_t child = fork();
  if (child == 0) {
    Growth growth;
    try {
      constexpr std::int64_t most = 16'000;
      constexpr std::int64_t other_files = 500;
      raise_limit_on_files(2 * most);
      rma::AgentMemory rig = rma::AgentMemory::create(processes, ranks_per_node, buffers).value();
      growth.clients = rig.clients();
      growth.agents = rig.agents();
      growth.measured = std::min({growth.clients, most, limit_on_files() - other_files});
      rma::require(rig.add_client());  // the first client's also creates what belongs to the agent
      const std::int64_t before = resident_bytes();
      for (std::int64_t client = 1; client < growth.measured; ++client) {
        rma::require(rig.add_client());
      }
      const auto of_clients = static_cast<double>(resident_bytes() - before);
      for (std::int64_t agent = 0; agent < growth.agents; ++agent) {
        rma::require(rig.add_agent());
      }
      const auto of_all = static_cast<double>(resident_bytes() - before);
      growth.bytes = of_clients * static_cast<double>(growth.clients) /
                         static_cast<double>(std::max<std::int64_t>(growth.measured - 1, 1)) +
                     of_all - of_clients;
      static_cast<void>(!write(ends[1], &growth, sizeof growth));
    } catch (const std::exception& error) {
      fmt::print(stderr, "scale.memory: {}\n", error.what());
    }
    _exit(0);
  }
  close(ends[1]);
  Growth growth;
  const bool is_told = read(ends[0], &growth, sizeof growth) == sizeof growth;
  close(ends[0]);
  if (child > 0) {
    waitpid(child, nullptr, 0);
  }
  return is_told ? std::optional(growth) : std::nullopt;
}

std::string_view name_of(AgentBuffers buffers) {
  return buffers == AgentBuffers::shared      ? "default"
         : buffers == AgentBuffers::clustered ? "clustered"
                                              : "per_client";
}

constexpr const char* small_growth = "9,600 processes, agents in clusters: MB (paper: 34.7)";
constexpr const char* default_growth = "9,600 processes, no clusters: MB (paper's clusters: 34.7)";
constexpr const char* ratio_growth = "9,600 processes: clusters / buffers for each client";
constexpr const char* million_growth = "1,000,000 processes, agents in clusters: MB";

void observe(Session& session, std::int64_t processes, double by_default, double clustered,
             double per_client) {
  const auto exactly = [](double value) { return Ratio{value, {value, value}}; };
  const std::string where = fmt::format("{} processes", processes);
  constexpr std::int64_t of_the_paper = 9600;
  constexpr std::int64_t a_million = 1'000'000;
  if (processes == of_the_paper) {
    session.targets().observe(small_growth, where, exactly(clustered));
    session.targets().observe(default_growth, where, exactly(by_default));
    session.targets().observe(ratio_growth, where, exactly(clustered / per_client));
  } else if (processes == a_million) {
    session.targets().observe(million_growth, where, exactly(clustered));
  }
}

}  // namespace

std::vector<Target> scale_targets() {
  using Sense = Target::Sense;
  constexpr double of_the_paper = 34.7;
  return {{small_growth, "the paper's MB", Sense::time_at_most, of_the_paper},
          {default_growth, "the paper's MB", Sense::time_at_most, of_the_paper},
          {ratio_growth, "buffers for each client", Sense::time_at_most, 1 / 4.8},
          {million_growth, "100 MB", Sense::time_at_most, 100}};
}

void measure_scale_memory(Session& session) {
  if (!session.is_leader()) {
    return;
  }
  for (const std::int64_t processes : {1200, 2400, 4800, 9600, 1'000'000}) {
    std::array<double, 3> megabytes{};
    for (const AgentBuffers buffers :
         {AgentBuffers::shared, AgentBuffers::clustered, AgentBuffers::per_client}) {
      const auto growth = growth_of(processes, buffers);
      if (!growth) {
        session.remark(
            fmt::format("agent_growth_{}_{}: could not be measured", name_of(buffers), processes));
        return;
      }
      const double value = growth->bytes / mega;
      megabytes[static_cast<std::size_t>(buffers)] = value;
      session.remark(fmt::format(
          "agent_growth_{}_{}: {:.1f} MB, for {} clients{} and {} agents", name_of(buffers),
          processes, value, growth->clients,
          growth->measured < growth->clients ? fmt::format(" ({} measured)", growth->measured) : "",
          growth->agents));
      session.record({"scale", "agent_growth", "", processes}, std::string(name_of(buffers)), "MB",
                     summarise(std::vector{value}));
    }
    observe(session, processes, megabytes[0], megabytes[1], megabytes[2]);
  }
}

void measure_scale_job(Session& session) {
  rma::Job& job = session.job();
  auto region = rma::Region::allocate(job.world(), sizeof(std::int64_t)).value();
  rma::require(job.barrier());
  const std::int64_t before = resident_bytes();
  // One distance after the other, so that few connections are made at the same time.
  for (std::int32_t distance = 1; distance < job.size(); ++distance) {
    const rma::TeamRank other{(job.rank().value + distance) % job.size()};
    std::int64_t word = 0;
    rma::require(rma::get(job, region.at(other), &word, sizeof word));
  }
  rma::require(job.barrier());
  const auto grown = static_cast<double>(resident_bytes() - before);
  const bool has_agent = job.node_count() > 1 && job.node_ranks().front() == job.rank();
  const double worst = session.group().maximum(has_agent ? grown : 0);
  const double worst_of_others = session.group().maximum(has_agent ? 0 : grown);
  session.remark(fmt::format(
      "job_growth_{}: at most {:.2f} MB in a process with an agent, at most {:.2f} MB in one "
      "without, on {} nodes; TESSERA_TUNE=server_cluster={}, replies {}, buffers {}",
      job.size(), worst / mega, worst_of_others / mega, job.node_count(),
      job.settings().server_cluster, job.settings().server_replies, job.settings().server_buffers));
  session.record({"scale", "job_growth", "", job.size()}, "job", "MB",
                 summarise(std::vector{worst / mega}));
}

// Latency and bandwidth of requests that an agent forwards ([CLUSTERED10], figures 6 and 7).

namespace {

/// A rank whose agent rank 0 contacts directly, and one of the same cluster to which that agent
/// forwards requests.
struct DirectAndForwarded {
  std::int32_t direct = -1;
  std::int32_t forwarded = -1;
};

std::optional<DirectAndForwarded> choose(const rma::Job& job) {
  for (std::int32_t rank = 1; rank < job.size(); ++rank) {
    const rma::WorldRank target{rank};
    const rma::NodeId by = rma::agent_for(job, rma::WorldRank{0}, target);
    for (std::int32_t other = 1; other < job.size() && by != job.node_of(target); ++other) {
      if (job.node_of(rma::WorldRank{other}) == by) {
        return DirectAndForwarded{other, rank};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

void measure_scale_forward(Session& session) {
  const auto ranks = choose(session.job());
  if (!ranks) {
    session.remark(
        "scale.forward: skipped, because no request of rank 0 is forwarded; use "
        "TESSERA_TUNE=server_cluster=2 TESSERA_RANKS_PER_NODE=1 tessera-run -n 4");
    return;
  }
  constexpr std::int64_t most = 1 << 20;
  const BaselineOptions options{.capacity_bytes = most};
  TesseraCandidate direct(session.job(), options, rma::TeamRank{ranks->direct});
  TesseraCandidate forwarded(session.job(), options, rma::TeamRank{ranks->forwarded});
  const std::string replies = session.job().settings().server_replies;
  for (const Operation operation : {Operation::get, Operation::put}) {
    const std::string name = operation == Operation::get ? "get" : "put";
    Topic topic{"scale", name + "_forwarded",
                (operation == Operation::get ? "Get Latency, replies "
                                             : "Put and Fence Latency, replies ") +
                    replies};
    for (std::int64_t bytes = 8; bytes <= most; bytes *= 8) {
      const Case c = Case::contiguous(operation, static_cast<std::size_t>(bytes));
      session.measure(
          topic, bytes,
          {renamed(*direct.candidate(c), "direct"), renamed(*forwarded.candidate(c), "forwarded")});
    }
  }
  Topic hop{"scale", "hop", "Get Latency, for the Time of a Hop"};
  hop.table.emplace(session.table(hop.title, 0));  // about the direct one
  const Case word = Case::contiguous(Operation::get, sizeof(std::int64_t));
  const auto measured = session.measure(hop, 8,
                                        {renamed(*direct.candidate(word), "direct"),
                                         renamed(*forwarded.candidate(word), "forwarded")});
  if (session.is_leader()) {
    const double one = measured[0].stats_ns.median;
    const double two = measured[1].stats_ns.median;
    session.remark(fmt::format(
        "a forwarded get takes {:.2f} times as long as a direct one: {:.2f} half round trips more",
        two / one, (two - one) / (one / 2)));
  }
}

}  // namespace tessera::bench
