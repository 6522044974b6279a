// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "apps/tool/advice.hpp"
#include "apps/tool/checks.hpp"
#include "rma/base/processors.hpp"

namespace tessera::tool {
namespace {

// A machine and its ranks, for the checks of processors.
struct Machine {
  std::string host;
  std::vector<int> ranks;
  std::set<int> usable;  ///< processors, of all ranks together
  int online = 1;
  double quota = 0;
};

std::vector<Machine> machines_of(const Snapshot& all) {
  std::map<std::string, std::size_t> indices;
  std::vector<Machine> machines;
  for (std::size_t rank = 0; rank < all.ranks.size(); ++rank) {
    const Environment& each = all.ranks[rank];
    const auto [entry, is_new] = indices.try_emplace(each.machine, machines.size());
    if (is_new) {
      machines.push_back({.host = each.host,
                          .ranks = {},
                          .usable = {},
                          .online = each.processors.online,
                          .quota = each.processors.quota});
    }
    Machine& machine = machines[entry->second];
    machine.ranks.push_back(static_cast<int>(rank));
    machine.usable.insert(each.processors.usable.begin(), each.processors.usable.end());
  }
  return machines;
}

int count(std::size_t size) {
  return static_cast<int>(size);
}

std::string on_host(const std::vector<Machine>& machines, const Machine& machine) {
  return machines.size() == 1 ? "" : fmt::format(" on {}", machine.host);
}

// "0-3,8"
std::string range_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    std::size_t last = at;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[at]);
    text += last > at ? fmt::format("-{}", numbers[last]) : "";
    at = last;
  }
  return text;
}

template <std::size_t Count>
bool is_of(std::string_view line, const std::array<std::string_view, Count>& names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return line.starts_with(name) && line.substr(name.size()).starts_with('=');
  });
}

// Settings that must be the same on all ranks: a job, or ghost cells, cannot start otherwise.
bool must_be_same(std::string_view line) {
  constexpr std::array<std::string_view, 4> names = {"TESSERA_TRANSPORT", "TESSERA_BOOTSTRAP",
                                                     "TESSERA_RANKS_PER_NODE",
                                                     "TESSERA_TUNE=halo_pack_bytes"};
  return is_of(line, names);
}

// Each rank has its own log. For profiles the settings of rank 0 count; mpirun may not pass them
// on.
bool may_differ(std::string_view line) {
  constexpr std::array<std::string_view, 3> names = {"TESSERA_LOG", "TESSERA_PROFILE",
                                                     "TESSERA_PROFILE_FILE"};
  return is_of(line, names);
}

// A line that only one of the two has; those that must be the same come first.
std::string difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> lines;
  const auto is_missing_in = [](const std::vector<std::string>& other) {
    return [&other](const std::string& line) {
      return !may_differ(line) && std::find(other.begin(), other.end(), line) == other.end();
    };
  };
  std::copy_if(a.begin(), a.end(), std::back_inserter(lines), is_missing_in(b));
  std::copy_if(b.begin(), b.end(), std::back_inserter(lines), is_missing_in(a));
  std::stable_partition(lines.begin(), lines.end(), must_be_same);
  return lines.empty() ? "" : lines.front();
}

std::string nodes_text(const Snapshot& all) {
  const std::int32_t nodes = all.connections.nodes();
  if (nodes == 1) {
    return "on one node";
  }
  const bool is_emulated = all.connections.machines < nodes;
  return fmt::format(
      "on {} nodes{}", nodes,
      is_emulated ? fmt::format(" that {} emulate{}", plural(all.connections.machines, "machine"),
                                all.connections.machines == 1 ? "s" : "")
                  : "");
}

// The first sentences, and the number of the others.
std::string some_of(const std::vector<std::string>& sentences) {
  constexpr std::size_t most = 4;
  const std::size_t shown = std::min(most, sentences.size());
  std::string text =
      fmt::format("{}", fmt::join(sentences.begin(), sentences.begin() + count(shown), "; "));
  return shown < sentences.size() ? text + fmt::format("; and {} more", sentences.size() - shown)
                                  : text;
}

std::string remedy_for_singletons(const Environment& own) {
  if (!own.launch.setting.empty() && own.launch.setting != "auto") {
    return fmt::format("unset TESSERA_BOOTSTRAP, which is {}", own.launch.setting);
  }
  if (!own.launch.remedy.empty()) {
    return own.launch.remedy;
  }
  return fmt::format("start it with the mpirun of {}; under Slurm with srun --mpi=pmix",
                     own.mpi.version.empty()
                         ? "the MPI that Tessera was built with"
                         : own.mpi.version.substr(0, own.mpi.version.find(',')));
}

}  // namespace

Finding check_launcher(const Snapshot& all) {
  constexpr const char* name = "launcher";
  const Environment& own = all.ranks.front();
  const Launch& launch = own.launch;
  const std::string launcher = launch.launcher.empty() ? "the launcher" : launch.launcher;
  // tessera-run's processes find each other, or the job does not start and the error gives the
  // reason.
  const bool fails_to_start = launch.launcher == "tessera-run" && !launch.error.empty();
  if (launch.announced_ranks > launch.ranks && launch.ranks == 1 && !fails_to_start) {
    return red(
        name,
        fmt::format("{} started {} processes, but they cannot find each other: they would be {} "
                    "jobs of one rank",
                    launcher, launch.announced_ranks, launch.announced_ranks),
        remedy_for_singletons(own));
  }
  if (!launch.error.empty()) {
    return red(name, launch.error,
               launch.remedy.empty() ? "start it with tessera-run, mpirun or srun" : launch.remedy);
  }
  if (launch.launcher.empty() && launch.ranks == 1) {
    return launch.allocated > 1
               ? yellow(name,
                        fmt::format("none: this process runs alone in a Slurm allocation of {} "
                                    "tasks",
                                    launch.allocated),
                        "run it with srun --mpi=pmix or mpirun to check all of them")
               : green(name, "none: this process runs alone");
  }
  return green(name,
               fmt::format("{}: {} {}", launcher, plural(launch.ranks, "rank"), nodes_text(all)));
}

Finding check_same_settings(const Snapshot& all) {
  constexpr const char* name = "settings of all ranks";
  constexpr const char* remedy =
      "pass the same environment to all ranks: mpirun -x NAME, or srun --export=ALL";
  const std::vector<std::string>& first = all.ranks.front().configuration.changed;
  std::string worst;
  std::size_t where = 0;
  for (std::size_t rank = 1; rank < all.ranks.size(); ++rank) {
    const std::string line = difference(first, all.ranks[rank].configuration.changed);
    if (!line.empty() && (worst.empty() || (must_be_same(line) && !must_be_same(worst)))) {
      worst = line;
      where = rank;
    }
  }
  if (worst.empty()) {
    return green(name, all.ranks.size() == 1 ? "there is one rank" : "the same on all ranks");
  }
  const std::string found = fmt::format("{} is set on only one of ranks 0 and {}", worst, where);
  return must_be_same(worst) ? red(name, found + ", but must be the same on all ranks", remedy)
                             : yellow(name, found, remedy);
}

Finding check_processors(const Snapshot& all) {
  constexpr const char* name = "processors";
  const std::vector<Machine> machines = machines_of(all);
  for (const Machine& machine : machines) {
    const int ranks = count(machine.ranks.size());
    const int usable = count(machine.usable.size());
    const std::string where = on_host(machines, machine);
    if (ranks > usable) {
      return yellow(name,
                    fmt::format("{} share {}{}: ranks wait for a processor", plural(ranks, "rank"),
                                plural(usable, "processor"), where),
                    fmt::format("start at most {} on each machine", plural(usable, "rank")));
    }
    if (machine.quota > 0 && machine.quota < ranks) {
      return yellow(
          name,
          fmt::format("{} {} the time of {:.1f} processors{}, by a control group's quota",
                      plural(ranks, "rank"), ranks == 1 ? "has" : "have", machine.quota, where),
          "raise the control group's limit (CPUs of the container or batch job)");
    }
  }
  const Machine& first = machines.front();
  return green(name,
               fmt::format("{} of {} may be used by {}{}", first.usable.size(), first.online,
                           plural(count(first.ranks.size()), "rank"),
                           machines.size() == 1 ? ""
                                                : fmt::format(" on {}; all {} machines have enough",
                                                              first.host, machines.size())));
}

Finding check_binding(const Snapshot& all) {
  constexpr const char* name = "binding";
  constexpr const char* remedy =
      "use mpirun --bind-to core, or --bind-to none; also check the batch system's cpuset, and "
      "taskset";
  const std::vector<Machine> machines = machines_of(all);
  for (const Machine& machine : machines) {
    if (machine.ranks.size() > 1 && machine.usable.size() == 1 && machine.online > 1) {
      return red(name,
                 fmt::format("all {} ranks{} are bound to processor {} of {}", machine.ranks.size(),
                             on_host(machines, machine), *machine.usable.begin(), machine.online),
                 remedy);
    }
    std::map<int, int> bound;  // processor → rank
    for (const int rank : machine.ranks) {
      const auto& usable = all.ranks[static_cast<std::size_t>(rank)].processors.usable;
      if (usable.size() != 1 || machine.online == 1) {
        continue;
      }
      const auto [other, is_new] = bound.try_emplace(usable.front(), rank);
      if (!is_new) {
        return yellow(name,
                      fmt::format("ranks {} and {} are both bound to processor {}{}", other->second,
                                  rank, usable.front(), on_host(machines, machine)),
                      remedy);
      }
    }
  }
  const Processors& own = all.ranks.front().processors;
  return green(name, count(own.usable.size()) == own.online
                         ? "none: each rank may use all processors"
                         : fmt::format("rank 0 to {} of {}", range_text(own.usable), own.online));
}

namespace {

// The ranks as jobs see them, but machines are also distinguished by name and network.
std::vector<rma::RankLocation> locations_of(const Snapshot& all) {
  std::map<std::string, std::uint64_t> kernels;
  std::vector<rma::RankLocation> locations;
  for (std::size_t rank = 0; rank < all.ranks.size(); ++rank) {
    const Environment& each = all.ranks[rank];
    rma::RankLocation location;
    location.kernel = kernels.try_emplace(each.machine, kernels.size()).first->second;
    location.node = all.connections.node_of[rank];
    for (const int usable : each.processors.usable) {
      if (static_cast<std::size_t>(usable) < location.processors.size()) {
        location.processors.set(static_cast<std::size_t>(usable));
      }
    }
    location.quota = {each.processors.quota, each.processors.quota_group};
    location.threads = rma::announced_threads(each.blas.setting, each.blas.openblas_variable,
                                              each.blas.omp_variable);
    location.agent_threads = each.processors.agent_threads;
    locations.push_back(location);
  }
  return locations;
}

}  // namespace

Finding check_agent(const Snapshot& all) {
  constexpr const char* name = "agent";
  const std::int32_t nodes = all.connections.nodes();
  if (nodes == 1) {
    return green(name, "not needed on one node");
  }
  const std::vector<rma::RankLocation> locations = locations_of(all);
  for (rma::NodeId node{0}; node.value < nodes; ++node.value) {
    const rma::AgentProcessors found = rma::processors_for_agent(node, locations);
    if (!found.is_dedicated) {
      return yellow(name,
                    fmt::format("on {} it has no processor of its own: {}", node_name(all, node),
                                found.reason),
                    "leave one processor of each node free if other nodes' requests should not "
                    "wait for computations");
    }
  }
  return green(name,
               "each node has a processor for it; with TESSERA_SERVER=adaptive it polls for "
               "1 s after a request");
}

namespace {

std::string reported_threads(const Blas& blas) {
  return blas.config.empty() ? "OpenBLAS did not report its threads"
                             : fmt::format("OpenBLAS reports {}", blas.threads);
}

// The number of threads of a rank's BLAS, and the variable that sets it.
struct BlasThreads {
  int each = 0;          ///< 0: the variable's text is not a valid number
  std::string variable;  ///< empty: the BLAS's own default
  std::string text;      ///< of the variable
};

BlasThreads threads_of(const Blas& blas) {
  if (blas.setting > 0) {
    return {static_cast<int>(blas.setting), "TESSERA_BLAS_THREADS", std::to_string(blas.setting)};
  }
  if (blas.openblas_variable.empty() && blas.omp_variable.empty()) {
    return {blas.threads, "", ""};
  }
  const bool is_own = !blas.openblas_variable.empty();
  BlasThreads found{0, is_own ? "OPENBLAS_NUM_THREADS" : "OMP_NUM_THREADS",
                    is_own ? blas.openblas_variable : blas.omp_variable};
  std::from_chars(found.text.data(), found.text.data() + found.text.size(), found.each);
  found.each = std::max(found.each, 0);
  return found;
}

// All ranks of a machine.
struct BlasLoad {
  int threads = 0;       ///< sum over the ranks
  int most = 0;          ///< of one rank
  bool is_even = true;   ///< all ranks have the same number
  BlasThreads greatest;  ///< of the rank with the most threads
};

BlasLoad blas_load(const Snapshot& all, const Machine& machine) {
  BlasLoad load;
  for (const int rank : machine.ranks) {
    const BlasThreads own = threads_of(all.ranks[static_cast<std::size_t>(rank)].blas);
    load.is_even = load.is_even && (load.most == 0 || own.each == load.most);
    load.threads += own.each;
    if (own.each > load.most) {
      load.most = own.each;
      load.greatest = own;
    }
  }
  return load;
}

}  // namespace

Finding check_blas(const Snapshot& all) {
  constexpr const char* name = "BLAS threads";
  for (const Environment& rank : all.ranks) {
    const BlasThreads own = threads_of(rank.blas);
    if (own.each == 0 && !own.variable.empty()) {
      return yellow(name,
                    fmt::format("{}={} is not a number of threads; {}", own.variable, own.text,
                                reported_threads(rank.blas)),
                    fmt::format("export {}=1", own.variable));
    }
  }
  const std::vector<Machine> machines = machines_of(all);
  for (const Machine& machine : machines) {
    const int ranks = count(machine.ranks.size());
    const int usable = std::max(count(machine.usable.size()), 1);
    const BlasLoad load = blas_load(all, machine);
    const std::string& variable = load.greatest.variable;
    // A rank cannot have less than one thread; too many ranks are reported by another check.
    if (load.most <= 1 || load.threads <= usable || (variable.empty() && ranks == 1)) {
      continue;
    }
    const std::string setting = variable.empty() ? "" : fmt::format("{}=", variable);
    const std::string threads =
        load.is_even ? fmt::format("{}{} for each of {}", setting, load.most, plural(ranks, "rank"))
                     : fmt::format("{}{} for one rank, {} for all {}", setting, load.most,
                                   load.threads, ranks);
    const std::string found =
        fmt::format("{} on {}{}", threads, plural(usable, "processor"), on_host(machines, machine));
    const int share = std::max(1, usable / ranks);
    if (variable.empty()) {
      return yellow(name, found + "; only Tessera's own operations limit themselves to their share",
                    fmt::format("export OPENBLAS_NUM_THREADS={}", share));
    }
    const auto first = static_cast<std::size_t>(machine.ranks.front());
    return yellow(name, fmt::format("{}; {}", found, reported_threads(all.ranks[first].blas)),
                  fmt::format("export {}={}", variable, share));
  }
  const Blas& blas = all.ranks.front().blas;
  const BlasThreads own = threads_of(blas);
  return green(name, own.variable.empty() ? reported_threads(blas)
                                          : fmt::format("{}={}; {}", own.variable, own.each,
                                                        reported_threads(blas)));
}

Finding check_connections(const Snapshot& all) {
  constexpr const char* name = "connections between nodes";
  constexpr std::chrono::milliseconds slow{200};
  const rma::NodeConnections& tried = all.connections;
  if (!all.connections_error.empty()) {
    return red(name, all.connections_error, "fix this first; no connection could be tested");
  }
  const std::int32_t nodes = tried.nodes();
  if (nodes == 1) {
    return green(name, "not tested: all ranks are on one node");
  }
  if (!tried.failed.empty()) {
    std::vector<std::string> sentences;
    for (const rma::FailedConnection& each : tried.failed) {
      sentences.push_back(each.from == each.to
                              ? fmt::format("{} cannot accept connections: {}",
                                            node_name(all, each.from), each.reason)
                              : fmt::format("{} cannot reach {}: {}", node_name(all, each.from),
                                            node_name(all, each.to), each.reason));
    }
    const bool is_any_tried = std::any_of(tried.failed.begin(), tried.failed.end(),
                                          [](const auto& each) { return each.from != each.to; });
    return red(name, some_of(sentences),
               is_any_tried ? "open all TCP ports between the nodes (firewall, security group), or "
                              "choose another network by TESSERA_INTERFACE"
                            : "fix the cause in the message: TESSERA_INTERFACE, "
                              "TESSERA_TUNE=tcp_congestion, or a limit");
  }
  std::vector<std::string> addresses;
  for (std::int32_t node = 0; node < nodes; ++node) {
    addresses.push_back(fmt::format("{} at {}", node_name(all, rma::NodeId{node}),
                                    tried.addresses[static_cast<std::size_t>(node)]));
  }
  const double slowest_ms = std::chrono::duration<double, std::milli>(tried.slowest).count();
  const std::string found =
      fmt::format("all {} made; the slowest took {:.1f} ms", nodes * (nodes - 1), slowest_ms);
  if (tried.slowest > slow) {
    return yellow(name,
                  fmt::format("{}, from {} to {}", found, node_name(all, tried.slowest_from),
                              node_name(all, tried.slowest_to)),
                  "check for lost packets between the two: ping, ip -s link, ethtool -S");
  }
  return green(name, fmt::format("{}: {}", found, some_of(addresses)));
}

Finding check_clocks(const Snapshot& all) {
  constexpr const char* name = "clocks of all machines";
  constexpr double max_seconds = 1;
  const auto earlier = [](const Environment& a, const Environment& b) {
    return a.clock.seconds < b.clock.seconds;
  };
  const auto [first, last] = std::minmax_element(all.ranks.begin(), all.ranks.end(), earlier);
  if (first->machine == last->machine) {
    return green(name, machines_of(all).size() == 1 ? "there is one machine" : "agree");
  }
  const double apart = last->clock.seconds - first->clock.seconds;
  if (apart > max_seconds) {
    return yellow(
        name,
        fmt::format("{} is {:.1f} s ahead of {}: times in logs and traces cannot be compared",
                    last->host, apart, first->host),
        "synchronise the clocks with chrony or ntpd");
  }
  return green(name, fmt::format("agree within {:.3f} s", apart));
}

Finding check_job(const Snapshot& all) {
  constexpr const char* name = "job";
  if (!all.is_job_tried) {
    return yellow(name, "not tested", "fix the red findings first");
  }
  for (std::size_t rank = 0; rank < all.job_errors.size(); ++rank) {
    const std::string& error = all.job_errors[rank];
    if (error.empty()) {
      continue;
    }
    const Advice advice = split_hint(error);
    return red(name,
               fmt::format("{}{}", all.ranks.size() == 1 ? "" : fmt::format("on rank {}: ", rank),
                           advice.message),
               advice.remedy.empty() ? "report it, with the output of `tessera doctor --json -`"
                                     : advice.remedy);
  }
  if (all.ranks.size() == 1) {
    return green(name, "a job of one rank starts, moves data and ends");
  }
  return green(name, fmt::format("a job of {} {} starts, moves data and ends",
                                 plural(count(all.ranks.size()), "rank"), nodes_text(all)));
}

}  // namespace tessera::tool
