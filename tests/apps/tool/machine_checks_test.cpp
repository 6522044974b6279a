// SPDX-License-Identifier: BSD-3-Clause
//
// Each check of a machine: its states, and its messages.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/apps/tool/environment_of.hpp"

namespace tessera::tool {
namespace {

TEST(CheckMemory, HasAllStates) {
  Environment own = healthy();
  EXPECT_EQ(check_memory(own), green("memory", "60.0 GiB of 64.0 GiB available"));
  own.memory.available = 200 * mib;
  EXPECT_EQ(check_memory(own), yellow("memory", "200.0 MiB of 64.0 GiB available",
                                      "end other programs, or use more nodes"));
  own.memory.total = 1 * gib;
  own.memory.available = 80 * mib;
  EXPECT_EQ(check_memory(own),
            red("memory",
                "80.0 MiB of 1.0 GiB available, a control group's limit; the machine has 64.0 GiB",
                "raise the control group's limit (memory of the container, or --mem of the batch "
                "job), or use more nodes"));
}

TEST(CheckSharedMemory, ChecksDevShmUnderMpiOnly) {
  Environment own = healthy();
  own.memory.shm_free = 20 * mib;
  EXPECT_EQ(check_shared_memory(own),
            green("shared memory",
                  "Tessera's own needs no file system; 20.0 MiB of 32.0 GiB free in /dev/shm"));
  own.launch.bootstrap = "mpi";
  EXPECT_EQ(check_shared_memory(own),
            yellow("shared memory",
                   "Tessera's own needs no file system; 20.0 MiB of 32.0 GiB free in /dev/shm, "
                   "which MPI's messages use",
                   "delete old files in /dev/shm, or start the container with --shm-size=1g"));
  own.memory.shm_total = unknown;
  EXPECT_EQ(check_shared_memory(own).remedy,
            "as root: mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm");
  own.launch.bootstrap = "fork";
  EXPECT_EQ(check_shared_memory(own),
            green("shared memory", "Tessera's own needs no file system; /dev/shm is missing"));
}

TEST(CheckSharedMemory, IsRedIfTheKernelProvidesNone) {
  Environment own = healthy();
  own.memory.shared_memory_error = "memfd_create: Operation not permitted";
  EXPECT_EQ(check_shared_memory(own),
            red("shared memory", "the kernel refuses it: memfd_create: Operation not permitted",
                "allow memfd_create() in the sandbox or container, and give it more memory"));
}

TEST(CheckSharedMemory, ReportsWhatPreventsTheKernel) {
  Environment own = healthy();
  own.memory.shared_memory_error = "the limit on file sizes is 0";
  own.memory.shared_memory_errno = EFBIG;
  EXPECT_EQ(check_shared_memory(own),
            red("shared memory", "the kernel refuses it: the limit on file sizes is 0",
                "run `ulimit -f unlimited`: Tessera's shared memory is a file"));
  own.memory.shared_memory_errno = ENOMEM;
  EXPECT_EQ(check_shared_memory(own).remedy, "give the container or batch job more memory");
  own.memory.shared_memory_errno = EMFILE;
  EXPECT_EQ(check_shared_memory(own).remedy.substr(0, 19), "run `ulimit -n 4096");
}

TEST(CheckTransparentPages, IsYellowIfNodeMemoryGetsNone) {
  Environment own = healthy();
  const char* const name = "transparent huge pages";
  EXPECT_EQ(check_transparent_pages(own), green(name, "madvise; advise for shared memory"));
  for (const char* word : {"never", "deny"}) {
    own.huge_pages.shared = word;
    EXPECT_EQ(check_transparent_pages(own),
              yellow(name,
                     std::string("madvise; ") + word +
                         " for shared memory: arrays that ask for huge pages get small ones",
                     "as root: echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled"));
  }
  own.huge_pages = {.transparent = "never", .shared = "always"};
  EXPECT_EQ(check_transparent_pages(own),
            yellow(name, "never; always for shared memory",
                   "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"));
  own.huge_pages = {};
  EXPECT_EQ(
      check_transparent_pages(own),
      yellow(name, "this kernel does not support them, or /sys is not mounted",
             "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE; in a container, as root: mount -t "
             "sysfs sysfs /sys"));
}

TEST(CheckReservedPages, IsYellowIfManyAreReservedAndUnused) {
  Environment own = healthy();
  const char* const name = "reserved huge pages";
  EXPECT_EQ(check_reserved_pages(own), green(name, "none"));
  own.huge_pages.reserved_bytes = 16 * gib;
  own.huge_pages.unused_bytes = 20 * mib;
  EXPECT_EQ(check_reserved_pages(own),
            green(name, "16.0 GiB reserved for hugetlbfs, 20.0 MiB of it unused"));
  own.huge_pages.unused_bytes = 16 * gib;
  EXPECT_EQ(
      check_reserved_pages(own),
      yellow(name,
             "16.0 GiB reserved for hugetlbfs, 16.0 GiB of it unused; jobs cannot use that memory",
             "as root: sysctl vm.nr_hugepages=0, unless another program needs them"));
}

TEST(CheckLeftMemory, DistinguishesRunningJobsFromLeftMemory) {
  Environment own = healthy();
  const char* const name = "memory of other jobs";
  EXPECT_EQ(check_leftover_memory(own), green(name, "none"));
  own.holders = {{.process = 40, .program = "a.out", .bytes = 2 * gib, .is_orphan = false}};
  EXPECT_EQ(check_leftover_memory(own), green(name, "held by 1 processes of running jobs"));
  own.holders.push_back({.process = 41, .program = "b.out", .bytes = gib, .is_orphan = true});
  own.holders.push_back({.process = 42, .program = "b.out", .bytes = gib, .is_orphan = true});
  EXPECT_EQ(check_leftover_memory(own),
            yellow(name, "1.0 GiB held by processes whose launcher has ended: 41, 42",
                   "end them if they are not needed: kill 41 42"));
  own.memory.available = 500 * mib;
  EXPECT_EQ(check_leftover_memory(own),
            red(name,
                "1.0 GiB held by processes whose launcher has ended: 41, "
                "42; only 500.0 MiB are available",
                "end them if they are not needed: kill 41 42"));
}

TEST(CheckDevices, NamesPortsAndWhyTheyAreNotUsed) {
  Environment own = healthy();
  const char* const name = "RDMA devices";
  own.rdma.refusal = "there is no RDMA device";
  EXPECT_EQ(check_devices(own), green(name, "none; TCP connects nodes"));
  own.rdma.ports = {{.device = "mlx5_0",
                     .port = 1,
                     .state = "ACTIVE",
                     .link_layer = "InfiniBand",
                     .rate = "100 Gb/sec (4X EDR)"},
                    {.device = "mlx5_0",
                     .port = 2,
                     .state = "DOWN",
                     .link_layer = "Ethernet",
                     .rate = "25 Gb/sec (1X EDR)"}};
  const std::string ports =
      "mlx5_0:1 ACTIVE, InfiniBand, 100 Gb/sec (4X EDR); mlx5_0:2 DOWN, Ethernet, 25 Gb/sec (1X "
      "EDR)";
  own.rdma.refusal.clear();
  own.rdma.used = "mlx5_0, port 1";
  EXPECT_EQ(check_devices(own), green(name, ports + "; used: mlx5_0, port 1"));
  own.rdma.refusal = "device 'mlx5_0' cannot be opened: Permission denied";
  own.rdma.remedy = "/dev/infiniband/uverbs* must be readable and writable for this user";
  EXPECT_EQ(check_devices(own),
            yellow(name, ports + "; not used: " + own.rdma.refusal, own.rdma.remedy));
  own.rdma.remedy.clear();
  EXPECT_EQ(check_devices(own).remedy, "`ibv_devinfo -v` shows the state of devices and ports");
  own.rdma.is_wanted = false;
  EXPECT_EQ(check_devices(own),
            yellow(name, ports + "; not used, because TESSERA_TRANSPORT does not name verbs",
                   "unset TESSERA_TRANSPORT, or name verbs in it before tcp"));
}

TEST(CheckNetwork, IsGreenIfMachinesCanBeReached) {
  Environment own = healthy();
  own.network.interfaces.push_back({.name = "eth1", .address = {}, .is_up = false});
  EXPECT_EQ(check_network(own),
            green("network",
                  "lo 127.0.0.1; eth0 10.0.0.1, 25000 Mbit/s; eth1 down; eth0 is used between "
                  "machines"));
}

TEST(CheckNetwork, IsYellowForNoneABridgeOrASlowOne) {
  Environment own = healthy();
  own.network.interfaces[1].is_bridge = true;
  EXPECT_EQ(check_network(own),
            yellow("network",
                   "lo 127.0.0.1; eth0 10.0.0.1, 25000 Mbit/s; eth0 is used between machines, but "
                   "it is a bridge within this machine",
                   "choose the network between the machines: export TESSERA_INTERFACE=…"));
  own.network.interfaces[1] = {
      .name = "eth0", .address = "10.0.0.1", .is_up = true, .speed_mbit = 100};
  EXPECT_EQ(
      check_network(own),
      yellow("network", "lo 127.0.0.1; eth0 10.0.0.1, 100 Mbit/s; eth0 is used between machines",
             "choose a faster network, if available, by TESSERA_INTERFACE"));
  own.network.interfaces.pop_back();
  own.network.chosen = "127.0.0.1";
  EXPECT_EQ(check_network(own),
            yellow("network", "lo 127.0.0.1: other machines cannot reach this one",
                   "for jobs on several machines, bring up the network between them"));
}

TEST(CheckNetwork, IsYellowIfNoneIsUpAndNoneWasNamed) {
  Environment own = healthy();
  own.network.interfaces = {{.name = "lo", .address = {}, .is_loopback = true}};
  own.network.chosen = "";
  own.network.error = "there is no network interface '' that is up; there are: ";
  EXPECT_EQ(check_network(own),
            yellow("network", "lo down: other machines cannot reach this one",
                   "for jobs on several machines, bring up the network between them"));
}

TEST(CheckNetwork, IsRedForOneThatDoesNotExist) {
  Environment own = healthy();
  own.network.setting = "ib7";
  own.network.error = "there is no network interface 'ib7' that is up; there are: lo, eth0";
  EXPECT_EQ(check_network(own), red("network", own.network.error,
                                    "unset TESSERA_INTERFACE, or set it to one of these names"));
}

TEST(CheckCongestion, IsYellowIfItPaces) {
  Environment own = healthy();
  EXPECT_EQ(check_congestion(own), green("TCP congestion control", "cubic"));
  own.network.congestion = "";
  EXPECT_EQ(check_congestion(own), green("TCP congestion control", "unknown"));
  own.network.congestion = "bbr";
  EXPECT_EQ(check_congestion(own),
            yellow("TCP congestion control",
                   "bbr, which paces packets: MPI's long messages over TCP take longer",
                   "as root, if it is for connections within the cluster: sysctl -w "
                   "net.ipv4.tcp_congestion_control=cubic"));
}

TEST(CheckRoot, WarnsRootOfMpirun) {
  Environment own = healthy();
  EXPECT_EQ(check_root(own), green("user", "not root"));
  own.launch.is_root = true;
  EXPECT_EQ(check_root(own),
            yellow("user", "root, which mpirun refuses",
                   "use another account, or export OMPI_ALLOW_RUN_AS_ROOT=1 "
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; tessera-run works without this"));
  own.launch.may_root_use_mpirun = true;
  EXPECT_EQ(check_root(own), green("user", "root, which may start jobs here"));
  own.launch.may_root_use_mpirun = false;
  own.mpi.version = "MPICH Version: 4.0.2";  // which accepts root
  EXPECT_EQ(check_root(own), green("user", "root, which may start jobs here"));
}

TEST(CheckClockSource, IsYellowForASlowOne) {
  Environment own = healthy();
  EXPECT_EQ(check_clock_source(own), green("clock", "tsc"));
  own.clock.source = "hpet";
  EXPECT_EQ(check_clock_source(own),
            yellow("clock", "hpet, which takes a microsecond or more to read",
                   "boot with clocksource=tsc if this processor's TSC is stable (see dmesg)"));
  own.clock.source = "";
  EXPECT_EQ(check_clock_source(own), green("clock", "the kernel does not name its source"));
}

}  // namespace
}  // namespace tessera::tool
