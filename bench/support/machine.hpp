// SPDX-License-Identifier: BSD-3-Clause
//
// Where a number was measured, and whether it may be a headline.
//
// A number is meaningful only together with its circumstances: processor, kernel, frequency
// governor, how many ranks share how many cores, how much the same fixed work varies.
// describe_run() collects them once per run. objections() turns them into reasons not to quote
// absolute numbers of this run. Ratios taken in alternation remain valid.
#pragma once

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/support/measure.hpp"

namespace tessera::bench {

struct Host {
  std::string cpu;             ///< model name
  int cores = 0;               ///< cores that this job may use on this node, over all its ranks
  std::int64_t llc_bytes = 0;  ///< largest cache; 0 if unknown
  std::int64_t memory_bytes = 0;
  std::string kernel;
  std::string governor;  ///< "unknown" without cpufreq, as in most virtual machines
  std::string mpi;       ///< library version, or empty; set by the code that starts MPI
  std::string topology;  ///< "1 package, 1 NUMA node, 2 cores, 2 processors"
  // library and version, or empty; set by the program, which links it
  std::string blas;
  int blas_threads = 0;           ///< per rank; 0: as the library's own variables say
  std::string tcp_congestion;     ///< congestion control of new connections; empty if unknown
  std::vector<std::string> nics;  ///< "eth0 10000 Mbit/s", "mlx5_0 100 Gb/sec (4X EDR)"
};

struct Launch {
  std::vector<std::string> argv;
  /// Options that change the meaning of the same numbers, by their long names. Runs with different
  /// options are not launches of the same run.
  std::map<std::string, std::string> options;
  int ranks = 1;
  int nodes = 1;
  std::string binding;          ///< "none", or the processors of rank 0, as "0" or "0-3,8"
  bool oversubscribed = false;  ///< some node has more ranks than cores in their affinity masks
};

/// Key of Launch::options: when puts are complete before the next.
inline constexpr const char* sync_option = "--sync-option";

/// Key of Launch::options: the data were not checked.
inline constexpr const char* no_check_option = "--no-check";

struct RunInfo {
  std::string suite_version;
  std::string git;
  Host host;
  Launch launch;
  /// Variables of rank 0: TESSERA_*, threads of the BLAS, and the choice of MPI's transport.
  std::map<std::string, std::string> env;
  double timer_cost_ns = 0;
  double noise_percent = 0;  ///< noise_probe_percent(), of the worst rank

  /// Whether data were checked, in measurements that have data.
  [[nodiscard]] bool is_checked() const { return !launch.options.contains(no_check_option); }
};

/// Collective. The circumstances of this run; takes about 50 ms.
RunInfo describe_run(RankGroup& group, int argc, const char* const* argv);

/// Whether numbers depend on the variable of that name. Such variables distinguish runs from each
/// other.
bool is_of_note(std::string_view variable);

/// Local. How many whole cores the control groups grant, of the cores that ranks are bound to.
/// Paths start with `root`, which is "" except in tests.
int granted_cores(const std::string& root, int bound_to);

/// Local. The size of the largest cache of processor 0; 0 if unknown. Reads it from /sys: on some
/// virtual machines sysconf() returns ten times too much.
std::int64_t max_cache_bytes();

/// Local. The size of this machine's main memory.
std::int64_t memory_bytes();

/// The most that one buffer may take of `memory_bytes` for the sole purpose of exceeding the
/// caches.
constexpr std::int64_t max_cold_bytes(std::int64_t memory_bytes) {
  return memory_bytes / 32;
}

/// Local. How far the 95th percentile of a fixed piece of work lies above its minimum, in percent.
double noise_probe_percent();

/// Why absolute numbers of this run must not be quoted; empty if they may.
std::vector<std::string> objections(const RunInfo& run);

/// The variables of `run` that choose a job's protocols, as "NAME=VALUE NAME=VALUE". They belong to
/// each table. Empty if none is set.
std::string protocol_settings(const RunInfo& run);

/// With more noise than this, objections() objects.
inline constexpr double noise_limit_percent = 5;

// The source that these programs were built from; the definitions are written at each build.

/// The project's version, for example "0.1.0".
std::string_view suite_version();
/// `git describe --always --dirty` when it was built; "unknown" outside a repository.
std::string_view git_description();

// What /sys shows of a node: its NUMA nodes, packages, cores and network adapters.
//
// `sys` is "/sys", or a folder of the same structure. All functions are local, and return less if
// the kernel shows less.

/// Large enough for any affinity mask.
using Processors = std::bitset<1024>;

/// "0-3,8" as a set; an empty set for any other text.
Processors parse_processors(std::string_view list);

/// The processors of each NUMA node that has any, in the order of the nodes' numbers.
std::vector<Processors> numa_nodes(const std::filesystem::path& sys);

/// The NUMA node that has all of `processors`; −1 if several nodes have them, or none.
int numa_node_of(const Processors& processors, const std::vector<Processors>& nodes);

/// The processors that this thread may run on.
Processors own_processors();

/// "1 package, 1 NUMA node, 2 cores, 2 processors"
std::string describe_topology(const std::filesystem::path& sys);

/// Network adapters that are up, and RDMA devices, with their speeds.
std::vector<std::string> adapters(const std::filesystem::path& sys);

// MemoryWatch: the peak memory of a rank during some work: its own pages, and its share of the
// shared memory of its node.
//
//     MemoryWatch watch;
//     work();
//     const MemoryUse most = watch.stop();
//
// It reads /proc every half millisecond, so it misses shorter peaks. A page of the node's shared
// memory counts once, even if several ranks map it: it uses the size of the file, not the mappings.

struct MemoryUse {
  std::int64_t own = 0;     ///< bytes that only this process has
  std::int64_t shared = 0;  ///< bytes of the node's shared memory
};

/// Local. The memory in use now. Zero if the system doesn't report it.
MemoryUse memory_in_use();

class MemoryWatch {
 public:
  MemoryWatch() : thread_([this] { look(); }) {}
  ~MemoryWatch() { stop(); }
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// Ends the watch, and returns the maximum of each.
  MemoryUse stop();

 private:
  void look();

  MemoryUse max_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

// Which ranks a rank works with. near_and_far() compares rank 0's own node with another one.
// locations_around() distinguishes its NUMA node from others. ranks_after() lets all ranks together
// spread their work evenly.

struct NearAndFar {
  std::int32_t near = 0;  ///< shares rank 0's node
  std::int32_t far = 0;   ///< is on another node
};

/// The lowest rank other than 0 on rank 0's node, and the lowest rank elsewhere; empty if one of
/// them doesn't exist. `nodes` has the node of each rank. Requires: at least one rank.
inline std::optional<NearAndFar> near_and_far(const std::vector<std::int32_t>& nodes) {
  const auto others = nodes.begin() + 1;
  const auto near = std::find(others, nodes.end(), nodes.front());
  const auto far =
      std::find_if(others, nodes.end(), [&](std::int32_t node) { return node != nodes.front(); });
  if (near == nodes.end() || far == nodes.end()) {
    return std::nullopt;
  }
  return NearAndFar{static_cast<std::int32_t>(near - nodes.begin()),
                    static_cast<std::int32_t>(far - nodes.begin())};
}

/// Location of a rank: its node, and its NUMA node there; −1 if that is unknown.
struct Whereabouts {
  std::int32_t node = 0;
  std::int32_t numa = -1;
};

/// A rank that represents a location, or why none does.
struct LocationCandidate {
  std::string name;  ///< "same numa", "other numa", "other node"; "same node" if NUMA is unknown
  std::optional<std::int32_t> rank;
  std::string missing;  ///< the reason, if there is no such rank
};

/// The locations around rank 0, the nearest first, each with its lowest rank. Requires: at least
/// one rank; `numa_nodes` are those of rank 0's node.
inline std::vector<LocationCandidate> locations_around(const std::vector<Whereabouts>& ranks,
                                                       std::size_t numa_nodes) {
  const Whereabouts first = ranks.front();
  const auto find = [&](auto is_there) -> std::optional<std::int32_t> {
    const auto found = std::find_if(ranks.begin() + 1, ranks.end(), is_there);
    return found == ranks.end() ? std::nullopt
                                : std::optional(static_cast<std::int32_t>(found - ranks.begin()));
  };
  const bool is_known = first.numa >= 0;
  std::vector<LocationCandidate> places;
  places.push_back(
      {is_known ? "same numa" : "same node", find([&](const Whereabouts& other) {
         return other.node == first.node && other.numa == first.numa;
       }),
       is_known
           ? "no other rank is on rank 0's NUMA node"
           : "rank 0 is not bound to one NUMA node, and no other rank of its node is unbound"});
  places.push_back({"other numa", find([&](const Whereabouts& other) {
                      return other.node == first.node && is_known && other.numa >= 0 &&
                             other.numa != first.numa;
                    }),
                    numa_nodes < 2 ? "rank 0's node has one NUMA node"
                    : is_known     ? "no rank is bound to another NUMA node of rank 0's node"
                                   : "rank 0 is not bound to one NUMA node"});
  places.push_back({"other node",
                    find([&](const Whereabouts& other) { return other.node != first.node; }),
                    "no rank is on another node"});
  return places;
}

/// The `count` ranks after `rank`, cyclically, in ascending order. Requires: 0 ≤ count < ranks.
inline std::vector<std::int32_t> ranks_after(std::int32_t rank, std::int32_t count,
                                             std::int32_t ranks) {
  std::vector<std::int32_t> found;
  for (std::int32_t distance = 1; distance <= count; ++distance) {
    found.push_back((rank + distance) % ranks);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace tessera::bench
