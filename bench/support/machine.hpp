// SPDX-License-Identifier: BSD-3-Clause
//
// Where a number was taken, and whether it may be called a headline.
//
// A number is worth its circumstances: processor, kernel, frequency governor, how many ranks share
// how many cores, how much the same fixed work varies. describe_run() collects them once a run;
// objections() turns them into reasons why absolute numbers of this run must not be quoted.
// Ratios taken in alternation remain valid.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/crew.hpp"

namespace tessera::bench {

struct Host {
  std::string cpu;             ///< model name
  int cores = 0;               ///< that this job may use on this node, over all its ranks
  std::int64_t llc_bytes = 0;  ///< largest cache; 0 when unknown
  std::int64_t memory_bytes = 0;
  std::string kernel;
  std::string governor;        ///< "unknown" where there is no cpufreq, as in most virtual machines
  std::string mpi;             ///< library version, or empty; set by whoever started MPI
  std::string topology;        ///< "1 package, 1 NUMA node, 2 cores, 2 processors"
  std::string blas;            ///< library and version, or empty; set by whoever links it
  int blas_threads = 0;        ///< a rank; 0: as the library's own variables say
  std::string tcp_congestion;  ///< control that new connections have; empty when unknown
  std::vector<std::string> nics;  ///< "eth0 10000 Mbit/s", "mlx5_0 100 Gb/sec (4X EDR)"
};

struct Launch {
  std::vector<std::string> argv;
  /// Options, by their long names, without which the same numbers mean something else: a run with
  /// others isn't another launch of it.
  std::map<std::string, std::string> options;
  int ranks = 1;
  int nodes = 1;
  std::string binding;          ///< "none", or the processors of rank 0, as "0" or "0-3,8"
  bool oversubscribed = false;  ///< on some node, more ranks than cores in their affinity masks
};

/// Where puts are complete before the next, in Launch::options.
inline constexpr const char* sync_option = "--sync-option";

/// That the data was not checked, in Launch::options.
inline constexpr const char* no_check_option = "--no-check";

struct RunInfo {
  std::string suite_version;
  std::string git;
  Host host;
  Launch launch;
  /// Of rank 0: TESSERA_*, threads of the BLAS, and what chooses the way of MPI.
  std::map<std::string, std::string> env;
  double timer_cost_ns = 0;
  double noise_percent = 0;  ///< noise_probe_percent(), of the worst rank

  /// Whether data was checked, as far as there is any.
  [[nodiscard]] bool is_checked() const { return !launch.options.contains(no_check_option); }
};

/// Collective. The circumstances of this run; takes some 50 ms.
RunInfo describe_run(Crew& crew, int argc, const char* const* argv);

/// Whether numbers depend on a variable of that name; those that do tell runs from each other.
bool is_of_note(std::string_view variable);

/// Local. Of the cores that ranks are bound to, how many whole ones their control groups grant.
/// Paths are below `root`, which is "" but in tests.
int granted_cores(const std::string& root, int bound_to);

/// Local. The size of the largest cache of processor 0; 0 when unknown. Asks the kernel: on some
/// virtual machines sysconf() answers ten times too much.
std::int64_t largest_cache_bytes();

/// Local. What main memory this machine has.
std::int64_t memory_bytes();

/// Of `memory_bytes`, what one buffer may have only to be larger than the caches.
constexpr std::int64_t largest_cold_bytes(std::int64_t memory_bytes) {
  return memory_bytes / 32;
}

/// Local. How far the 95th percentile of a fixed piece of work lies above its minimum, in percent.
double noise_probe_percent();

/// Why absolute numbers of this run must not be quoted; empty when they may.
std::vector<std::string> objections(const RunInfo& run);

/// The variables of `run` by which a job's protocols are chosen, as "NAME=VALUE NAME=VALUE": a
/// table means little without them. Empty when none is set.
std::string protocol_settings(const RunInfo& run);

/// Above this noise, objections() objects.
inline constexpr double noise_limit_percent = 5;

}  // namespace tessera::bench
