// SPDX-License-Identifier: BSD-3-Clause
//
// The checks of `tessera doctor`. Each looks at values only, and says one thing about them.
#pragma once

#include <span>
#include <vector>

#include "apps/tool/finding.hpp"
#include "apps/tool/surroundings.hpp"

namespace tessera::tool {

// Of one process (check_process.cpp).
Finding check_settings(const Surroundings& own);
Finding check_address_space(const Surroundings& own);
Finding check_file_sizes(const Surroundings& own);
Finding check_descriptors(const Surroundings& own);
Finding check_locked_memory(const Surroundings& own);
Finding check_mpi(const Surroundings& own);
Finding check_tracing(const Surroundings& own);

// Of a machine, as one of its processes sees it (check_machine.cpp).
Finding check_memory(const Surroundings& own);
Finding check_shared_memory(const Surroundings& own);
Finding check_transparent_pages(const Surroundings& own);
Finding check_reserved_pages(const Surroundings& own);
Finding check_left_memory(const Surroundings& own);
Finding check_devices(const Surroundings& own);
Finding check_network(const Surroundings& own);
Finding check_congestion(const Surroundings& own);
Finding check_root(const Surroundings& own);
Finding check_clock_source(const Surroundings& own);

// Of all ranks together (check_job.cpp).
Finding check_launcher(const Picture& all);
Finding check_same_settings(const Picture& all);
Finding check_processors(const Picture& all);
Finding check_binding(const Picture& all);
Finding check_agent(const Picture& all);
Finding check_blas(const Picture& all);
Finding check_connections(const Picture& all);
Finding check_clocks(const Picture& all);
Finding check_job(const Picture& all);

/// A finding, and the ranks that it holds for: empty where it is about all of them together.
struct PlacedFinding {
  Finding finding;
  std::vector<int> ranks;
};

/// All checks: those of processes by each rank, those of machines by the first rank of each.
std::vector<PlacedFinding> examine(const Picture& all);

/// One line for all that agree: findings of one check with the same state and remedy, and where
/// they were made, if not everywhere. In the order of the checks, the worst of each first.
std::vector<PlacedFinding> join(const Picture& all, const std::vector<PlacedFinding>& findings);

/// How a node is called: by its host, or by its number where a host has several.
std::string node_name(const Picture& all, rma::NodeId node);

}  // namespace tessera::tool
