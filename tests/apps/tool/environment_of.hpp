// SPDX-License-Identifier: BSD-3-Clause
//
// Artificial environments without problems, in which a test changes one thing.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/tool/checks.hpp"

namespace tessera::tool {

/// For messages of failed tests.
inline void PrintTo(const Finding& finding, std::ostream* out) {
  *out << to_string(finding.state) << ' ' << finding.name << ": " << finding.found
       << "\n  remedy: " << finding.remedy;
}

inline constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
inline constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

/// One process on host h1 with four processors, without a launcher.
inline Environment healthy() {
  Environment own;
  own.host = "h1";
  own.machine = "kernel-1 h1";
  own.limits.descriptors = 20'000;
  own.limits.max_descriptors = 20'000;
  own.memory = {.total = 64 * gib,
                .available = 60 * gib,
                .machine = 64 * gib,
                .shm_total = 32 * gib,
                .shm_free = 31 * gib,
                .shared_memory_error = {}};
  own.huge_pages.transparent = "madvise";
  own.huge_pages.shared = "advise";
  own.network.interfaces = {
      {.name = "lo", .address = "127.0.0.1", .is_up = true, .is_loopback = true},
      {.name = "eth0", .address = "10.0.0.1", .is_up = true, .speed_mbit = 25'000}};
  own.network.chosen = "10.0.0.1";
  own.network.congestion = "cubic";
  own.mpi = {.is_built_in = true,
             .version = "Open MPI v4.1.4, package: X",
             .thread_level = {},
             .windows = {}};
  own.launch.bootstrap = "alone";
  own.launch.setting = "auto";
  own.processors = {.usable = {0, 1, 2, 3}, .online = 4, .quota = 0};
  own.blas = {.config = "OpenBLAS 0.3.21",
              .threads = 4,
              .openblas_variable = {},
              .omp_variable = {},
              .setting = 0};
  own.clock = {.source = "tsc", .seconds = 1000};
  return own;
}

/// As many ranks on each of several machines h1, h2, …, one node each, started by mpirun.
inline Snapshot job_of(int machines, int ranks_each) {
  Snapshot all;
  for (int rank = 0; rank < machines * ranks_each; ++rank) {
    const int machine = rank / ranks_each;
    Environment own = healthy();
    own.host = "h" + std::to_string(machine + 1);
    own.machine = "kernel-" + own.host;
    own.launch.launcher = "mpirun";
    own.launch.bootstrap = "mpi";
    own.launch.announced_ranks = std::int64_t{machines} * ranks_each;
    own.launch.rank = rank;
    own.launch.ranks = machines * ranks_each;
    own.blas.openblas_variable = "1";
    all.ranks.push_back(own);
    all.connections.node_of.push_back(rma::NodeId{machine});
    all.job_errors.emplace_back();
  }
  all.connections.machines = machines;
  for (int machine = 0; machine < machines && machines > 1; ++machine) {
    all.connections.addresses.push_back("10.0.0." + std::to_string(machine + 1) + ":4000");
  }
  all.is_job_tried = true;
  return all;
}

/// The same on one machine that emulates nodes.
inline Snapshot emulated(int nodes, int ranks_each) {
  Snapshot all = job_of(nodes, ranks_each);
  for (Environment& each : all.ranks) {
    each.host = "h1";
    each.machine = "kernel-h1";
  }
  all.connections.machines = 1;
  return all;
}

}  // namespace tessera::tool
