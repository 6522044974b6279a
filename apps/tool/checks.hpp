// SPDX-License-Identifier: BSD-3-Clause
//
// The checks of `tessera doctor`. Each one evaluates values, and returns one finding.
#pragma once

#include <span>
#include <vector>

#include "apps/tool/environment.hpp"
#include "apps/tool/finding.hpp"

namespace tessera::tool {

// For one process (check_process.cpp).
Finding check_settings(const Environment& own);
Finding check_address_space(const Environment& own);
Finding check_file_sizes(const Environment& own);
Finding check_descriptors(const Environment& own);
Finding check_locked_memory(const Environment& own);
Finding check_mpi(const Environment& own);
Finding check_tracing(const Environment& own);

// For a machine, as one of its processes sees it (check_machine.cpp).
Finding check_memory(const Environment& own);
Finding check_shared_memory(const Environment& own);
Finding check_transparent_pages(const Environment& own);
Finding check_reserved_pages(const Environment& own);
Finding check_leftover_memory(const Environment& own);
Finding check_devices(const Environment& own);
Finding check_network(const Environment& own);
Finding check_congestion(const Environment& own);
Finding check_root(const Environment& own);
Finding check_clock_source(const Environment& own);

// For all ranks together (check_job.cpp).
Finding check_launcher(const Snapshot& all);
Finding check_same_settings(const Snapshot& all);
Finding check_processors(const Snapshot& all);
Finding check_binding(const Snapshot& all);
Finding check_agent(const Snapshot& all);
Finding check_blas(const Snapshot& all);
Finding check_connections(const Snapshot& all);
Finding check_clocks(const Snapshot& all);
Finding check_job(const Snapshot& all);

/// A finding, and its ranks; empty for all of them together.
struct PlacedFinding {
  Finding finding;
  std::vector<int> ranks;
};

/// All checks: those of processes on each rank, those of machines on the first rank of each.
std::vector<PlacedFinding> examine(const Snapshot& all);

/// One line for equal findings of a check with the same state and remedy, and their ranks or nodes
/// if not everywhere. In the order of the checks, with the worst of each first.
std::vector<PlacedFinding> join(const Snapshot& all, const std::vector<PlacedFinding>& findings);

/// The name of a node: its host, or its number if a host has several nodes.
std::string node_name(const Snapshot& all, rma::NodeId node);

}  // namespace tessera::tool
