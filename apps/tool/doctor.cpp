// SPDX-License-Identifier: BSD-3-Clause
#include "apps/tool/doctor.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>

#include "rma/bootstrap.hpp"
#include "rma/job.hpp"
#include "rma/memory.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"

namespace tessera::tool {
namespace {

using rma::human_bytes;

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

// The soft limit; nothing where there is none.
std::optional<std::uint64_t> limit_of(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

Finding examine_settings(const rma::Result<rma::Settings>& settings) {
  const char* const subject = "settings";
  if (!settings.ok()) {
    return {Health::bad, subject, settings.status().message(),
            "unset the variable, or give it a value that `tessera info` names"};
  }
  int changed = 0;
  const rma::Settings defaults;
  for (const rma::SettingInfo& row : rma::setting_table()) {
    changed += rma::value_text(*settings, row) == rma::value_text(defaults, row) ? 0 : 1;
  }
  return {Health::good, subject, fmt::format("{} differ from their defaults", changed)};
}

// All that a job does first, by this process alone.
rma::Status try_a_job(const rma::Settings& settings) {
  TESSERA_ASSIGN_OR_RETURN(
      rma::Job job, rma::Job::start({.bootstrap = rma::alone_bootstrap(), .settings = settings}));
  {
    TESSERA_ASSIGN_OR_RETURN(rma::Region region, rma::Region::allocate(job.world(), mib));
    TESSERA_RETURN_IF_ERROR(rma::put_value(job, region.at(rma::TeamRank{0}), 1.0));
    TESSERA_RETURN_IF_ERROR(job.fence_all());
    TESSERA_RETURN_IF_ERROR(region.free());
  }
  return job.stop();
}

// Of a message that says in its second line what to do.
Finding split(Health health, std::string subject, const std::string& message) {
  constexpr std::string_view hint = "\n  hint: ";
  const std::size_t at = message.find(hint);
  return {health, std::move(subject), message.substr(0, at),
          at == std::string::npos ? "" : message.substr(at + hint.size())};
}

Finding examine_job(const rma::Settings& settings) {
  const rma::Status status = try_a_job(settings);
  return status.ok() ? Finding{Health::good, "job", "one of this process alone starts and ends"}
                     : split(Health::bad, "job", status.message());
}

Finding examine_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  const int mine = CPU_COUNT(&mask);
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (mine < online) {
    return {Health::note, "processors", fmt::format("this process may use {} of {}", mine, online),
            "give ranks a core each and no more (mpirun --bind-to core); fewer cores than ranks "
            "make each of them wait for others"};
  }
  return {Health::good, "processors", fmt::format("{}, all to be used", online)};
}

Finding examine_blas_threads() {
  const char* const subject = "threads of a BLAS";
  const bool is_set =
      std::getenv("OPENBLAS_NUM_THREADS") != nullptr || std::getenv("OMP_NUM_THREADS") != nullptr;
  if (!is_set && sysconf(_SC_NPROCESSORS_ONLN) > 1) {
    return {Health::note, subject, "each rank's BLAS will start a thread for each processor",
            "with several ranks on a node: export OPENBLAS_NUM_THREADS=1"};
  }
  return {Health::good, subject, is_set ? "their number is set" : "there is one processor"};
}

Finding examine_memory() {
  const std::uint64_t available = rma::available_memory_bytes();
  const std::string text = fmt::format("{} of {} available", human_bytes(available),
                                       human_bytes(rma::total_memory_bytes()));
  if (available < 256 * mib) {
    return {Health::note, "memory", text, "end other programs, or raise the control group's limit"};
  }
  return {Health::good, "memory", text};
}

Finding examine_address_space() {
  const auto limit = limit_of(RLIMIT_AS);
  if (limit) {
    return {Health::note, "address space", fmt::format("limited to {}", human_bytes(*limit)),
            "ulimit -v unlimited, or a TESSERA_ARENA_MIB that fits"};
  }
  return {Health::good, "address space", "not limited"};
}

Finding examine_descriptors() {
  constexpr std::uint64_t enough = 1024;
  const auto limit = limit_of(RLIMIT_NOFILE);
  const std::string text =
      limit ? fmt::format("{} may be open", *limit) : std::string("not limited");
  if (limit && *limit < enough) {
    return {Health::note, "descriptors", text,
            "ulimit -n 4096: each node that a process talks to takes one"};
  }
  return {Health::good, "descriptors", text};
}

// An RDMA device locks what it may use.
Finding examine_locked_memory() {
  constexpr std::uint64_t enough = 1024 * mib;
  const auto limit = limit_of(RLIMIT_MEMLOCK);
  const std::string text =
      limit ? fmt::format("{} may be locked", human_bytes(*limit)) : std::string("not limited");
  if (limit && *limit < enough) {
    return {Health::note, "locked memory", text,
            "only RDMA devices need it: ulimit -l unlimited (docs/running-on-infiniband.md)"};
  }
  return {Health::good, "locked memory", text};
}

// Memory that a program attaches is reached from other processes of its node by the kernel.
Finding examine_tracing() {
  const char* const subject = "memory of other processes";
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope > 0 && geteuid() != 0) {
    return {Health::note, subject, "the kernel lets ranks not read each other's",
            "sysctl kernel.yama.ptrace_scope=0, or do without attached memory"};
  }
  return {Health::good, subject, "may be read by ranks of one job"};
}

void examine_devices(const rma::Settings& settings, std::vector<Finding>& findings) {
  constexpr std::string_view refusal = "not used: ";
  for (const rma::TransportDescription& each : rma::describe_transports(settings)) {
    if (settings.transport.find(each.name) == std::string::npos) {
      continue;
    }
    const std::string subject = "transport " + each.name;
    findings.push_back(each.text.starts_with(refusal)
                           ? split(Health::note, subject,
                                   "not used, others are: " + each.text.substr(refusal.size()))
                           : Finding{Health::good, subject, each.text});
  }
}

}  // namespace

std::vector<Finding> examine(const rma::Result<rma::Settings>& settings,
                             std::span<const std::string> warnings) {
  std::vector<Finding> findings = {examine_settings(settings)};
  for (const std::string& warning : warnings) {
    findings.push_back({Health::note, "settings", warning, "correct the name"});
  }
  if (settings.ok()) {
    findings.push_back(examine_job(*settings));
    examine_devices(*settings, findings);
  }
  for (const auto examine_one :
       {examine_processors, examine_blas_threads, examine_memory, examine_address_space,
        examine_descriptors, examine_locked_memory, examine_tracing}) {
    findings.push_back(examine_one());
  }
  return findings;
}

}  // namespace tessera::tool
