// SPDX-License-Identifier: BSD-3-Clause
#include "apps/tool/collect.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "apps/tool/advice.hpp"
#include "apps/tool/openblas.hpp"
#include "apps/tool/settings.hpp"
#include "apps/tool/system_files.hpp"
#include "rma/base/control_group.hpp"
#include "rma/base/memory.hpp"
#include "rma/base/processors.hpp"
#include "rma/bootstrap.hpp"
#include "rma/job.hpp"
#include "rma/reachability.hpp"

namespace tessera::tool {
namespace {

const std::string root;

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

std::int64_t number_in_variable(const char* name) {
  const std::string text = variable(name);
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Processes with the same identity share a kernel, its memory and its processors.
std::string machine_identity(const std::string& host) {
  struct stat network {};
  const bool is_known = stat("/proc/self/ns/net", &network) == 0;
  return fmt::format("{} {} {}", read_line("/proc/sys/kernel/random/boot_id"), host,
                     is_known ? network.st_ino : 0);
}

Configuration collect_configuration(const rma::Result<rma::Settings>& settings,
                                    const std::vector<std::string>& warnings) {
  Configuration found;
  found.warnings = warnings;
  if (!settings.ok()) {
    found.error = settings.status().message();
    return found;
  }
  const rma::Settings defaults;
  for (const rma::SettingInfo& row : rma::setting_table()) {
    const std::string value = rma::value_text(*settings, row);
    if (row.name != rma::tune_variable && value != rma::value_text(defaults, row)) {
      found.changed.push_back(fmt::format("{}={}", rma::full_name(row), value));
    }
  }
  return found;
}

std::uint64_t as_limit(rlim_t value) {
  return value == RLIM_INFINITY ? no_limit : static_cast<std::uint64_t>(value);
}

Limits collect_limits() {
  Limits found;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0) {
    found.address_space = as_limit(limit.rlim_cur);
  }
  found.file_size = rma::max_file_bytes();
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    found.descriptors = as_limit(limit.rlim_cur);
    found.max_descriptors = as_limit(limit.rlim_max);
  }
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    found.locked = as_limit(limit.rlim_cur);
    found.max_locked = as_limit(limit.rlim_max);
  }
  found.has_ipc_lock = has_capability(root, CAP_IPC_LOCK);
  return found;
}

void set_sharing_error(Memory& memory, const char* call, int error) {
  memory.shared_memory_errno = error;
  memory.shared_memory_error = fmt::format("{}: {}", call, std::strerror(error));
}

// As a node's memory is made. A file larger than the limit would end this process.
void test_shared_memory(Memory& memory, std::uint64_t largest_file) {
  const auto bytes = static_cast<off_t>(std::min(largest_file, std::uint64_t{1} << 20U));
  if (bytes == 0) {
    memory.shared_memory_errno = EFBIG;
    memory.shared_memory_error = "the limit on file sizes is 0";
    return;
  }
  const int file = memfd_create("tessera-doctor", MFD_CLOEXEC);
  if (file < 0) {
    set_sharing_error(memory, "memfd_create", errno);
    return;
  }
  const int error = posix_fallocate(file, 0, bytes);
  close(file);
  if (error != 0) {
    set_sharing_error(memory, "posix_fallocate", error);
  }
}

Memory collect_memory(std::uint64_t largest_file) {
  Memory found;
  found.total = rma::total_memory_bytes();
  found.available = rma::available_memory_bytes();
  found.machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                  static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  struct statvfs shm {};
  if (statvfs("/dev/shm", &shm) == 0) {
    found.shm_total = static_cast<std::uint64_t>(shm.f_blocks) * shm.f_frsize;
    found.shm_free = static_cast<std::uint64_t>(shm.f_bavail) * shm.f_frsize;
  }
  test_shared_memory(found, largest_file);
  return found;
}

Rdma collect_rdma(const rma::Settings& settings) {
  constexpr std::string_view refusal = "not used: ";
  Rdma found;
  found.ports = read_rdma_ports(root);
  found.is_wanted = rma::names_transport(settings.transport, "verbs");
  for (const rma::TransportDescription& each : rma::describe_transports(settings)) {
    if (each.name != "verbs") {
      continue;
    }
    if (!each.text.starts_with(refusal)) {
      found.used = each.text;
      continue;
    }
    const Advice advice = split_hint(std::string_view(each.text).substr(refusal.size()));
    found.refusal = advice.message;
    found.remedy = advice.remedy;
  }
  return found;
}

std::vector<NetworkInterface> collect_interfaces() {
  std::vector<NetworkInterface> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return found;
  }
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    auto known = std::find_if(found.begin(), found.end(), [&](const NetworkInterface& other) {
      return other.name == each->ifa_name;
    });
    if (known == found.end()) {
      found.push_back({.name = each->ifa_name,
                       .address = {},
                       .is_up = (each->ifa_flags & IFF_UP) != 0,
                       .is_loopback = (each->ifa_flags & IFF_LOOPBACK) != 0});
      known = std::prev(found.end());
      read_interface(root, *known);
    }
    if (each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET &&
        known->address.empty()) {
      sockaddr_in address{};
      std::memcpy(&address, each->ifa_addr, sizeof(address));
      std::array<char, INET_ADDRSTRLEN> text{};
      inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
      known->address = text.data();
    }
  }
  freeifaddrs(list);
  return found;
}

Network collect_network(const rma::Settings& settings) {
  Network found;
  found.interfaces = collect_interfaces();
  found.setting = settings.interface;
  auto chosen = rma::address_for_other_machines(settings);
  if (chosen.ok()) {
    found.chosen = std::move(chosen).take();
  } else {
    found.error = chosen.status().message();
  }
  found.congestion = read_line("/proc/sys/net/ipv4/tcp_congestion_control");
  return found;
}

Launch collect_launch(const rma::Settings& settings) {
  const rma::LauncherInfo launcher = rma::detect_launcher();
  Launch found;
  found.launcher = launcher.launcher;
  found.announced_ranks = launcher.ranks;
  found.announced_rank = launcher.rank;
  found.allocated = number_in_variable("SLURM_NTASKS");
  // A step of Slurm may start processes by PMIx, whose variables do not give their number.
  if (found.announced_ranks == 0 && !found.launcher.empty()) {
    found.announced_ranks = number_in_variable("SLURM_STEP_NUM_TASKS");
  }
  found.setting = settings.bootstrap;
  found.is_root = geteuid() == 0;
  found.may_root_use_mpirun = variable("OMPI_ALLOW_RUN_AS_ROOT") == "1" &&
                              variable("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") == "1";
  return found;
}

Processors collect_processors(const rma::Settings& settings) {
  Processors found;
  found.online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const rma::ProcessorSet own = rma::own_processors();
  for (std::size_t at = 0; at < own.size(); ++at) {
    if (own.test(at)) {
      found.usable.push_back(static_cast<int>(at));
    }
  }
  const rma::ProcessorQuota quota = rma::read_processor_quota(root);
  found.quota = quota.processors;
  found.quota_group = quota.group;
  found.agent_threads = static_cast<int>(settings.agent_threads);
  return found;
}

Blas collect_blas(const rma::Settings& settings) {
  const OpenblasReport report = query_openblas();
  return {.config = report.config,
          .threads = report.threads,
          .openblas_variable = variable("OPENBLAS_NUM_THREADS"),
          .omp_variable = variable("OMP_NUM_THREADS"),
          .setting = settings.blas_threads};
}

}  // namespace

Environment gather(const rma::Result<rma::Settings>& settings,
                   const std::vector<std::string>& warnings) {
  const rma::Settings used = settings.ok() ? *settings : rma::Settings();
  Environment found;
  found.blas = collect_blas(used);  // before devices are opened: it forks
  found.host = host_name();
  found.machine = machine_identity(found.host);
  found.configuration = collect_configuration(settings, warnings);
  found.limits = collect_limits();
  found.memory = collect_memory(found.limits.file_size);
  found.huge_pages = read_huge_pages(root);
  found.rdma = collect_rdma(used);
  found.network = collect_network(used);
  const rma::MpiLibrary mpi = rma::mpi_library();
  found.mpi = {
      .is_built_in = mpi.is_built_in, .version = mpi.version, .thread_level = {}, .windows = {}};
  found.launch = collect_launch(used);
  found.processors = collect_processors(used);
  const std::string scope = read_line("/proc/sys/kernel/yama/ptrace_scope");
  std::from_chars(scope.data(), scope.data() + scope.size(), found.ptrace_scope);
  found.has_sys_ptrace = has_capability(root, CAP_SYS_PTRACE);
  found.holders = read_node_memory_users(root);
  found.clock.source =
      read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return found;
}

}  // namespace tessera::tool
