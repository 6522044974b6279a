// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/memlock.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include "rma/base/memory.hpp"

namespace tessera::rma::verbs {
namespace {

// In a container these are the container's own rights, and the kernel may decide otherwise.
bool has_lock_capability() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("CapEff:")) {
      const std::uint64_t capabilities = std::stoull(line.substr(line.find(':') + 1), nullptr, 16);
      return ((capabilities >> CAP_IPC_LOCK) & 1) != 0;
    }
  }
  return false;
}

std::string describe(const MemlockLimit& limit) {
  if (!limit.bytes) {
    return "there is no limit on locked memory, so the device or the machine has no memory left";
  }
  return fmt::format(
      "the limit on locked memory is {}{}", human_bytes(*limit.bytes),
      limit.may_exceed ? ", which CAP_IPC_LOCK should allow this process to exceed" : "");
}

}  // namespace

MemlockLimit raise_memlock_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
    return {};
  }
  const rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  if (limit.rlim_cur != limit.rlim_max && setrlimit(RLIMIT_MEMLOCK, &raised) == 0) {
    limit = raised;
  }
  MemlockLimit found{.bytes = std::nullopt, .may_exceed = has_lock_capability()};
  if (limit.rlim_cur != RLIM_INFINITY) {
    found.bytes = limit.rlim_cur;
  }
  return found;
}

Status cannot_register(std::size_t bytes, int error, std::size_t registered_bytes,
                       const MemlockLimit& limit) {
  if (error != ENOMEM) {
    return Status::error(Code::unsupported,
                         fmt::format("the device cannot use these {} of memory: {}",
                                     human_bytes(bytes), std::strerror(error)));
  }
  return Status::error(
             Code::limit_exceeded,
             fmt::format("cannot register {} with the device beyond the {} already registered: {}",
                         human_bytes(bytes), human_bytes(registered_bytes), describe(limit)))
      .hint(
          "raise the limit: `ulimit -l unlimited`; for logins set it in /etc/security/limits.d; "
          "for services, slurmd among them, LimitMEMLOCK=infinity in the systemd unit; under SLURM "
          "also set PropagateResourceLimitsExcept=MEMLOCK in slurm.conf");
}

}  // namespace tessera::rma::verbs
