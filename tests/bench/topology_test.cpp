// SPDX-License-Identifier: BSD-3-Clause
//
// The topology of a node, from folders with the structure of /sys.
#include "bench/support/machine.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace tessera::bench {
namespace {

namespace fs = std::filesystem;

/// A folder with the structure of /sys, removed after the test.
class FakeSys : public ::testing::Test {
 public:
  ~FakeSys() override { fs::remove_all(sys_); }

 protected:
  FakeSys() : sys_(fs::temp_directory_path() / ("tessera_sys_" + std::to_string(getpid()))) {
    fs::create_directories(sys_);
  }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((sys_ / path).parent_path());
    std::ofstream(sys_ / path) << text << '\n';
  }
  void write_processor(int number, int package, int core) const {
    const std::string folder = "devices/system/cpu/cpu" + std::to_string(number) + "/topology/";
    write(folder + "physical_package_id", std::to_string(package));
    write(folder + "core_id", std::to_string(core));
  }

  fs::path sys_;
};

TEST(ParseProcessors, TakesTheKernelsLists) {
  EXPECT_EQ(parse_processors("0-2,5").to_string().substr(1024 - 8), "00100111");
  EXPECT_EQ(parse_processors("3").count(), 1U);
  EXPECT_TRUE(parse_processors("").none());
  EXPECT_TRUE(parse_processors("x,-,4-1").none());
  EXPECT_EQ(parse_processors("1000-2000").count(), 24U) << "as many as there can be";
}

TEST_F(FakeSys, HasItsNumaNodesInOrder) {
  write("devices/system/node/node10/cpulist", "4-7");
  write("devices/system/node/node2/cpulist", "0-3");
  write("devices/system/node/node3/cpulist", "");  // memory without processors
  write("devices/system/node/possible", "0-10");
  const auto nodes = numa_nodes(sys_);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0], parse_processors("0-3"));
  EXPECT_EQ(numa_node_of(parse_processors("5,6"), nodes), 1);
  EXPECT_EQ(numa_node_of(parse_processors("3,4"), nodes), -1) << "spread over both";
  EXPECT_EQ(numa_node_of(Processors(), nodes), -1);
}

TEST_F(FakeSys, IsDescribedInALine) {
  write("devices/system/node/node0/cpulist", "0-3");
  for (int processor = 0; processor < 4; ++processor) {
    write_processor(processor, 0, processor / 2);
  }
  write("devices/system/cpu/cpufreq/boost", "1");
  EXPECT_EQ(describe_topology(sys_), "1 package, 1 NUMA node, 2 cores, 4 processors");
}

TEST_F(FakeSys, TellsOfAdaptersThatAreUp) {
  write("class/net/lo/operstate", "up");
  write("class/net/eth0/operstate", "up");
  write("class/net/eth0/speed", "10000");
  write("class/net/eth1/operstate", "down");
  write("class/net/veth2/operstate", "up");
  write("class/net/veth2/speed", "-1");
  write("class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)");
  EXPECT_EQ(adapters(sys_),
            (std::vector<std::string>{"eth0 10000 Mbit/s", "veth2", "mlx5_0 100 Gb/sec (4X EDR)"}));
}

TEST(Topology, OfAMachineThatShowsNothingIsEmpty) {
  EXPECT_TRUE(numa_nodes("/nowhere/at/all").empty());
  EXPECT_TRUE(adapters("/nowhere/at/all").empty());
  EXPECT_EQ(describe_topology("/nowhere/at/all"),
            "0 packages, 0 NUMA nodes, 0 cores, 0 processors");
}

TEST(OwnProcessors, AreSome) {
  EXPECT_TRUE(own_processors().any());
}

}  // namespace
}  // namespace tessera::bench
