// SPDX-License-Identifier: BSD-3-Clause
//
// What /sys shows of a node: its NUMA nodes, packages, cores and network adapters.
//
// `sys` is "/sys", or a folder of the same structure. All functions are local, and return less if
// the kernel shows less.
#pragma once

#include <bitset>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::bench {

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

}  // namespace tessera::bench
