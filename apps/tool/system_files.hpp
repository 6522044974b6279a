// SPDX-License-Identifier: BSD-3-Clause
//
// Information from files of the kernel. Paths are below `root`, which is "" except in tests. A file
// that cannot be read counts as missing.
#pragma once

#include <string>
#include <vector>

#include "apps/tool/environment.hpp"

namespace tessera::tool {

/// Whether this process has a capability of Linux, by its number in linux/capability.h.
bool has_capability(const std::string& root, unsigned capability);

HugePages read_huge_pages(const std::string& root);

/// All ports of all devices that have a kernel driver, by name and number.
std::vector<RdmaPort> read_rdma_ports(const std::string& root);

/// Adds the kernel's information about the interface `each.name`.
void read_interface(const std::string& root, NetworkInterface& each);

/// Processes, except this one, that hold node memory, as far as this user may see.
std::vector<Holder> read_node_memory_users(const std::string& root);

/// The first line, without its end; empty if the file is missing.
std::string read_line(const std::string& path);

}  // namespace tessera::tool
