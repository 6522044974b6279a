// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>

#include "apps/tool/checks.hpp"
#include "rma/base/memory.hpp"

namespace tessera::tool {
namespace {

using rma::human_bytes;

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

std::string line_of(const NetworkInterface& each) {
  if (!each.is_up) {
    return fmt::format("{} down", each.name);
  }
  const std::string speed =
      each.speed_mbit > 0 ? fmt::format(", {} Mbit/s", each.speed_mbit) : std::string();
  return fmt::format("{} {}{}", each.name, each.address.empty() ? "up" : each.address, speed);
}

std::string line_of(const RdmaPort& port) {
  return fmt::format("{}:{} {}, {}, {}", port.device, port.port, port.state, port.link_layer,
                     port.rate);
}

template <class T>
std::string list_of(const std::vector<T>& all) {
  std::vector<std::string> texts;
  std::transform(all.begin(), all.end(), std::back_inserter(texts),
                 [](const T& each) { return line_of(each); });
  return fmt::format("{}", fmt::join(texts, "; "));
}

// The remedy if the kernel refuses a file in memory.
std::string remedy_for_sharing(int error) {
  switch (error) {
    case EFBIG:
      return "run `ulimit -f unlimited`: Tessera's shared memory is a file";
    case EMFILE:
    case ENFILE:
      return "run `ulimit -n 4096`, or raise the system's limit of open files (fs.file-max)";
    case ENOMEM:
    case ENOSPC:
      return "give the container or batch job more memory";
    default:
      return "allow memfd_create() in the sandbox or container, and give it more memory";
  }
}

bool is_under_mpi(const Environment& own) {
  return own.launch.bootstrap == "mpi";
}

}  // namespace

Finding check_memory(const Environment& own) {
  constexpr const char* name = "memory";
  constexpr std::uint64_t little = 256 * mib;
  constexpr std::uint64_t too_little = 96 * mib;  // of which 64 MiB are never used
  const Memory& memory = own.memory;
  const bool is_limited = memory.total < memory.machine;
  const std::string found =
      fmt::format("{} of {} available{}", human_bytes(memory.available), human_bytes(memory.total),
                  is_limited ? fmt::format(", a control group's limit; the machine has {}",
                                           human_bytes(memory.machine))
                             : "");
  const std::string remedy = is_limited
                                 ? "raise the control group's limit (memory of the container, or "
                                   "--mem of the batch job), or use more nodes"
                                 : "end other programs, or use more nodes";
  if (memory.available < too_little) {
    return red(name, found, remedy);
  }
  return memory.available < little ? yellow(name, found, remedy) : green(name, found);
}

// Tessera's shared memory needs no file system of limited size; Open MPI's buffers do.
Finding check_shared_memory(const Environment& own) {
  constexpr const char* name = "shared memory";
  constexpr std::uint64_t enough = 128 * mib;
  const Memory& memory = own.memory;
  if (!memory.shared_memory_error.empty()) {
    return red(name, fmt::format("the kernel refuses it: {}", memory.shared_memory_error),
               remedy_for_sharing(memory.shared_memory_errno));
  }
  const std::string of_nodes = "Tessera's own needs no file system";
  if (memory.shm_total == unknown) {
    return is_under_mpi(own)
               ? yellow(name, of_nodes + ", but MPI's messages need /dev/shm, which is missing",
                        "as root: mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm")
               : green(name, of_nodes + "; /dev/shm is missing");
  }
  const std::string found =
      fmt::format("{}; {} of {} free in /dev/shm", of_nodes, human_bytes(memory.shm_free),
                  human_bytes(memory.shm_total));
  if (memory.shm_free < enough && is_under_mpi(own)) {
    return yellow(name, found + ", which MPI's messages use",
                  "delete old files in /dev/shm, or start the container with --shm-size=1g");
  }
  return green(name, found);
}

Finding check_transparent_pages(const Environment& own) {
  constexpr const char* name = "transparent huge pages";
  const HugePages& pages = own.huge_pages;
  if (pages.transparent.empty()) {
    return yellow(
        name, "this kernel does not support them, or /sys is not mounted",
        "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE; in a container, as root: mount -t "
        "sysfs sysfs /sys");
  }
  const std::string found = fmt::format("{}; {} for shared memory", pages.transparent,
                                        pages.shared.empty() ? "none" : pages.shared);
  const bool reaches_nodes =
      !pages.shared.empty() && pages.shared != "never" && pages.shared != "deny";
  if (!reaches_nodes) {
    return yellow(name, found + ": arrays that ask for huge pages get small ones",
                  "as root: echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled");
  }
  if (pages.transparent == "never") {
    return yellow(name, found,
                  "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  }
  return green(name, found);
}

// Tessera uses none of these: reserved pages that are unused are lost to it.
Finding check_reserved_pages(const Environment& own) {
  constexpr const char* name = "reserved huge pages";
  constexpr std::uint64_t small_part = 10;
  const HugePages& pages = own.huge_pages;
  if (pages.reserved_bytes == 0) {
    return green(name, "none");
  }
  const std::string found =
      fmt::format("{} reserved for hugetlbfs, {} of it unused", human_bytes(pages.reserved_bytes),
                  human_bytes(pages.unused_bytes));
  if (pages.unused_bytes > own.memory.machine / small_part) {
    return yellow(name, found + "; jobs cannot use that memory",
                  "as root: sysctl vm.nr_hugepages=0, unless another program needs them");
  }
  return green(name, found);
}

// Node memory exists until its last process ends, so it is left only by a process that still runs.
Finding check_leftover_memory(const Environment& own) {
  constexpr const char* name = "memory of other jobs";
  if (own.holders.empty()) {
    return green(name, "none");
  }
  std::vector<std::int64_t> orphans;
  std::uint64_t left = 0;
  for (const Holder& each : own.holders) {
    if (each.is_orphan) {
      orphans.push_back(each.process);
      left = std::max(left, each.bytes);  // processes of a job hold the same memory
    }
  }
  if (orphans.empty()) {
    return green(name, fmt::format("held by {} processes of running jobs", own.holders.size()));
  }
  const std::string found = fmt::format("{} held by processes whose launcher has ended: {}",
                                        human_bytes(left), fmt::join(orphans, ", "));
  const std::string remedy =
      fmt::format("end them if they are not needed: kill {}", fmt::join(orphans, " "));
  return left > own.memory.available ? red(name,
                                           fmt::format("{}; only {} are available", found,
                                                       human_bytes(own.memory.available)),
                                           remedy)
                                     : yellow(name, found, remedy);
}

Finding check_devices(const Environment& own) {
  constexpr const char* name = "RDMA devices";
  const Rdma& rdma = own.rdma;
  if (rdma.ports.empty()) {
    return green(name, "none; TCP connects nodes");
  }
  const std::string ports = list_of(rdma.ports);
  if (!rdma.is_wanted) {
    return yellow(name, ports + "; not used, because TESSERA_TRANSPORT does not name verbs",
                  "unset TESSERA_TRANSPORT, or name verbs in it before tcp");
  }
  if (!rdma.refusal.empty()) {
    return yellow(name, fmt::format("{}; not used: {}", ports, rdma.refusal),
                  rdma.remedy.empty() ? "`ibv_devinfo -v` shows the state of devices and ports"
                                      : rdma.remedy);
  }
  return green(name, fmt::format("{}; used: {}", ports, rdma.used));
}

Finding check_network(const Environment& own) {
  constexpr const char* name = "network";
  constexpr std::int64_t slow_mbit = 1000;
  const Network& network = own.network;
  const std::string all = network.interfaces.empty() ? "no network" : list_of(network.interfaces);
  // Without TESSERA_INTERFACE the only error is that no network is up, and one machine needs none.
  if (!network.error.empty() && !network.setting.empty()) {
    return red(name, network.error, "unset TESSERA_INTERFACE, or set it to one of these names");
  }
  const auto used = std::find_if(network.interfaces.begin(), network.interfaces.end(),
                                 [&](const auto& each) { return each.address == network.chosen; });
  if (used == network.interfaces.end() || used->is_loopback) {
    return yellow(name, all + ": other machines cannot reach this one",
                  "for jobs on several machines, bring up the network between them");
  }
  const std::string found = fmt::format("{}; {} is used between machines", all, used->name);
  if (used->is_bridge) {
    return yellow(name, found + ", but it is a bridge within this machine",
                  "choose the network between the machines: export TESSERA_INTERFACE=…");
  }
  if (used->speed_mbit > 0 && used->speed_mbit < slow_mbit) {
    return yellow(name, found, "choose a faster network, if available, by TESSERA_INTERFACE");
  }
  return green(name, found);
}

// Tessera's own connections use another algorithm (TESSERA_TUNE=tcp_congestion); MPI's do not.
Finding check_congestion(const Environment& own) {
  constexpr const char* name = "TCP congestion control";
  const std::string& control = own.network.congestion;
  if (control.starts_with("bbr")) {
    return yellow(name, control + ", which paces packets: MPI's long messages over TCP take longer",
                  "as root, if it is for connections within the cluster: sysctl -w "
                  "net.ipv4.tcp_congestion_control=cubic");
  }
  return green(name, control.empty() ? "unknown" : control);
}

Finding check_root(const Environment& own) {
  constexpr const char* name = "user";
  const Launch& launch = own.launch;
  if (!launch.is_root) {
    return green(name, "not root");
  }
  const bool is_open_mpi = own.mpi.version.find("Open MPI") != std::string::npos;
  if (is_open_mpi && !launch.may_root_use_mpirun && launch.launcher != "mpirun") {
    return yellow(name, "root, which mpirun refuses",
                  "use another account, or export OMPI_ALLOW_RUN_AS_ROOT=1 "
                  "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; tessera-run works without this");
  }
  return green(name, "root, which may start jobs here");
}

Finding check_clock_source(const Environment& own) {
  constexpr const char* name = "clock";
  constexpr std::array slow = {"hpet", "acpi_pm", "jiffies", "refined-jiffies"};
  const std::string& source = own.clock.source;
  if (source.empty()) {
    return green(name, "the kernel does not name its source");
  }
  if (std::find(slow.begin(), slow.end(), source) != slow.end()) {
    return yellow(name, source + ", which takes a microsecond or more to read",
                  "boot with clocksource=tsc if this processor's TSC is stable (see dmesg)");
  }
  return green(name, source);
}

}  // namespace tessera::tool
