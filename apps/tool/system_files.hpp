// SPDX-License-Identifier: BSD-3-Clause
//
// What the kernel tells in files. Paths are below `root`, which is "" but in tests; what can't be
// read is as if the kernel hadn't it.
#pragma once

#include <string>
#include <vector>

#include "apps/tool/surroundings.hpp"

namespace tessera::tool {

/// Capabilities of Linux by their numbers in linux/capability.h: whether this process has one.
bool has_capability(const std::string& root, unsigned capability);

HugePages read_huge_pages(const std::string& root);

/// All ports of all devices that the kernel has drivers for, by name and number.
std::vector<RdmaPort> read_rdma_ports(const std::string& root);

/// Adds what the kernel tells of the interface `each.name`.
void read_interface(const std::string& root, NetworkInterface& each);

/// Processes besides this one that hold node memory, as far as this user may know.
std::vector<Holder> read_holders(const std::string& root);

/// The first line, without its end; empty where there is none.
std::string read_line(const std::string& path);

}  // namespace tessera::tool
