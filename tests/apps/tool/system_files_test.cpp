// SPDX-License-Identifier: BSD-3-Clause
//
// Reading the kernel's files, from files that a test has written.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "apps/tool/openblas.hpp"
#include "apps/tool/system_files.hpp"
#include "rma/base/control_group.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::tool {
namespace {

class SystemFiles : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(target, file);
  }
  [[nodiscard]] std::string root() const { return folder_.path(); }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(SystemFiles, UnreadableFilesGiveNoValues) {
  EXPECT_EQ(read_line(root() + "/nothing"), "");
  EXPECT_EQ(read_huge_pages(root()).transparent, "");
  EXPECT_TRUE(read_rdma_ports(root()).empty());
  EXPECT_EQ(rma::read_processor_quota(root()).processors, 0);
  EXPECT_TRUE(read_node_memory_users(root()).empty());
  EXPECT_FALSE(has_capability(root(), 0));
}

TEST_F(SystemFiles, CapabilitiesAreBits) {
  write("/proc/self/status", "Name:\ta\nCapInh:\t0000000000000000\nCapEff:\t0000000000084000\n");
  EXPECT_TRUE(has_capability(root(), 14));
  EXPECT_TRUE(has_capability(root(), 19));
  EXPECT_FALSE(has_capability(root(), 15));
}

TEST_F(SystemFiles, HugePagesAreTheSelectedModeAndTheReservedPages) {
  const std::string folder = "/sys/kernel/mm/";
  write(folder + "transparent_hugepage/enabled", "always [madvise] never\n");
  write(folder + "transparent_hugepage/shmem_enabled", "always within_size [advise] never\n");
  write(folder + "hugepages/hugepages-1048576kB/nr_hugepages", "3\n");
  write(folder + "hugepages/hugepages-1048576kB/free_hugepages", "1\n");
  write(folder + "hugepages/hugepages-2048kB/nr_hugepages", "512\n");
  write(folder + "hugepages/hugepages-2048kB/free_hugepages", "500\n");
  const HugePages pages = read_huge_pages(root());
  EXPECT_EQ(pages.transparent, "madvise");
  EXPECT_EQ(pages.shared, "advise");
  constexpr std::uint64_t mib = 1U << 20U;
  EXPECT_EQ(pages.reserved_bytes, (3 * 1024 + 512 * 2) * mib);
  EXPECT_EQ(pages.unused_bytes, (1024 + 500 * 2) * mib);
}

TEST_F(SystemFiles, RdmaPortsHaveStateLayerAndRate) {
  const std::string ports = "/sys/class/infiniband/mlx5_0/ports/";
  write(ports + "1/state", "4: ACTIVE\n");
  write(ports + "1/link_layer", "InfiniBand\n");
  write(ports + "1/rate", "100 Gb/sec (4X EDR)\n");
  write(ports + "2/state", "1: DOWN\n");
  const std::vector<RdmaPort> found = read_rdma_ports(root());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].device, "mlx5_0");
  EXPECT_EQ(found[0].port, 1);
  EXPECT_EQ(found[0].state, "ACTIVE");
  EXPECT_EQ(found[0].link_layer, "InfiniBand");
  EXPECT_EQ(found[0].rate, "100 Gb/sec (4X EDR)");
  EXPECT_EQ(found[1].port, 2);
  EXPECT_EQ(found[1].state, "DOWN");
}

TEST_F(SystemFiles, InterfacesHaveASpeedAndMayBeBridges) {
  write("/sys/class/net/eth0/speed", "25000\n");
  write("/sys/class/net/docker0/bridge/bridge_id", "8000\n");
  NetworkInterface ethernet{.name = "eth0", .address = {}};
  NetworkInterface bridge{.name = "docker0", .address = {}};
  read_interface(root(), ethernet);
  read_interface(root(), bridge);
  EXPECT_EQ(ethernet.speed_mbit, 25'000);
  EXPECT_FALSE(ethernet.is_bridge);
  EXPECT_EQ(bridge.speed_mbit, -1);
  EXPECT_TRUE(bridge.is_bridge);
}

TEST_F(SystemFiles, TheQuotaIsTheMinimumOfTheGroupAndItsParents) {
  write("/proc/self/cgroup", "0::/batch/step\n");
  write("/sys/fs/cgroup/batch/step/cpu.max", "max 100000\n");
  EXPECT_EQ(rma::read_processor_quota(root()).processors, 0);
  write("/sys/fs/cgroup/batch/cpu.max", "150000 100000\n");
  EXPECT_EQ(rma::read_processor_quota(root()).processors, 1.5);
  write("/sys/fs/cgroup/batch/step/cpu.max", "400000 100000\n");
  EXPECT_EQ(rma::read_processor_quota(root()).processors, 1.5);
}

TEST_F(SystemFiles, TheQuotaMayBeOfTheOldHierarchy) {
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(rma::read_processor_quota(root()).processors, 0);
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(rma::read_processor_quota(root()).processors, 0.5);
  // A batch system's step, in a hierarchy that two controllers share.
  write("/proc/self/cgroup", "9:memory:/other\n4:cpuacct,cpu:/batch/step\n0::/\n");
  write("/sys/fs/cgroup/cpu/batch/cpu.cfs_quota_us", "25000\n");
  write("/sys/fs/cgroup/cpu/batch/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(rma::read_processor_quota(root()).processors, 0.25);
}

TEST_F(SystemFiles, HoldersAreOrphansIfTheirLauncherHasEnded) {
  using namespace std::string_literals;
  const auto process = [&](const std::string& id, const std::string& parent,
                           const std::string& environment, const std::string& file) {
    write("/proc/" + id + "/stat", id + " (a (b) c) S " + parent + " 5 5 0\n");
    write("/proc/" + id + "/comm", "solver\n");
    write("/proc/" + id + "/environ", environment);
    link("/proc/" + id + "/fd/7", file);
  };
  const std::string memory = "/memfd:tessera (deleted)";
  const std::string launched = "A=1\0OMPI_COMM_WORLD_RANK=3\0"s;
  process("101", "100", launched, memory);
  process("102", "1", launched, memory);
  process("103", "1", "A=1\0XPMIX_RANK=3\0"s, memory);  // started in the background by a user
  process("104", "1", launched, "/memfd:tessera-run (deleted)");
  process("self", "1", launched, memory);
  const std::vector<Holder> holders = read_node_memory_users(root());
  ASSERT_EQ(holders.size(), 3U);
  EXPECT_EQ(holders[0].process, 101);
  EXPECT_EQ(holders[0].program, "solver");
  EXPECT_FALSE(holders[0].is_orphan);
  EXPECT_EQ(holders[1].process, 102);
  EXPECT_TRUE(holders[1].is_orphan);
  EXPECT_EQ(holders[2].process, 103);
  EXPECT_FALSE(holders[2].is_orphan);
  write("/proc/1/comm", "systemd\n");
  EXPECT_TRUE(read_node_memory_users(root())[1].is_orphan);
  write("/proc/1/comm", "mpirun\n");  // a container's
  EXPECT_FALSE(read_node_memory_users(root())[1].is_orphan);
}

TEST(Openblas, ReportsItsNameAndThreads) {
  const OpenblasReport report = query_openblas();
  EXPECT_NE(report.config.find("OpenBLAS"), std::string::npos) << report.config;
  EXPECT_GE(report.threads, 1);
}

}  // namespace
}  // namespace tessera::tool
