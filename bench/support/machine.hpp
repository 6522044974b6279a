// SPDX-License-Identifier: BSD-3-Clause
//
// Where a number was measured, and whether it may be a headline.
//
// A number is meaningful only together with its circumstances: processor, kernel, frequency
// governor, how many ranks share how many cores, how much the same fixed work varies.
// describe_run() collects them once per run. objections() turns them into reasons not to quote
// absolute numbers of this run. Ratios taken in alternation remain valid.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/rank_group.hpp"

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

}  // namespace tessera::bench
