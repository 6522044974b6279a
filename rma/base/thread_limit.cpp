// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/thread_limit.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <optional>

#include "rma/base/control_group.hpp"
#include "rma/base/memory.hpp"

namespace tessera::rma::detail {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// A stack and its guard page are two mappings.
ThreadLimit limit_of_mappings(const std::string& root) {
  const auto most = number_in(root + "/proc/sys/vm/max_map_count");
  std::ifstream maps(root + "/proc/self/maps");
  const auto used = static_cast<std::uint64_t>(
      std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
  if (!most) {
    return {no_limit, "", ""};
  }
  return {(*most - std::min(*most, used)) / 2,
          fmt::format("each needs 2 mappings of memory, and a process may have {} "
                      "(vm.max_map_count), {} of them in use",
                      *most, used),
          "use processes: tessera-run -n N"};
}

ThreadLimit limit_of_kernel(const std::string& root, const char* name) {
  std::string path = fmt::format("/proc/sys/{}", name);
  std::replace(path.begin(), path.end(), '.', '/');
  const auto most = number_in(root + path);
  return {
      most.value_or(no_limit),
      fmt::format("the kernel allows {} for all programs together ({})", most.value_or(0), name),
      "use more machines"};
}

ThreadLimit limit_of_group(const std::string& root) {
  ThreadLimit least{no_limit, "", "raise the control group's pids.max"};
  for (const char* const controller : {"", "pids"}) {
    for (const std::string& folder : control_group_folders(root, controller)) {
      const auto most = number_in(folder + "/pids.max");
      const std::uint64_t used = number_in(folder + "/pids.current").value_or(0);
      if (most && *most - std::min(*most, used) < least.most) {
        least.most = *most - std::min(*most, used);
        least.reason = fmt::format(
            "the control group allows {} processes and threads (pids.max), {} of them in use",
            *most, used);
      }
    }
  }
  return least;
}

ThreadLimit limit_of_user() {
  rlimit limit{};
  const bool is_limited =
      getuid() != 0 && getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return {is_limited ? limit.rlim_cur : no_limit,
          fmt::format("this user may have {} processes and threads (ulimit -u)", limit.rlim_cur),
          "raise the limit: ulimit -u"};
}

ThreadLimit limit_of_address_space() {
  const auto limit = address_space_limit();
  pthread_attr_t attributes;
  std::size_t stack = 0;
  if (!limit || pthread_getattr_default_np(&attributes) != 0) {
    return {no_limit, "", ""};
  }
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_destroy(&attributes);
  return {limit->left() / std::max<std::size_t>(stack, 1),
          fmt::format("each needs {} of address space for its stack (ulimit -s), and {} are left "
                      "of a limit of {} (ulimit -v)",
                      human_bytes(stack), human_bytes(limit->left()), human_bytes(limit->limit)),
          "ulimit -v unlimited"};
}

ThreadLimit tightest(std::initializer_list<ThreadLimit> limits) {
  return std::min(limits,
                  [](const ThreadLimit& a, const ThreadLimit& b) { return a.most < b.most; });
}

}  // namespace

ThreadLimit process_limit(const std::string& root) {
  return tightest({limit_of_kernel(root, "kernel.threads-max"),
                   limit_of_kernel(root, "kernel.pid_max"), limit_of_group(root), limit_of_user()});
}

ThreadLimit thread_limit(const std::string& root) {
  return tightest({limit_of_mappings(root), process_limit(root), limit_of_address_space()});
}

}  // namespace tessera::rma::detail
