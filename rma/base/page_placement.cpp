// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/page_placement.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <limits>

namespace tessera::rma {

// Uses system calls, for which the C library has no functions.
void place_pages(std::byte* from, std::size_t bytes, PagePlacement placement) noexcept {
  if (bytes == 0) {
    return;
  }
  constexpr std::size_t max_numa_nodes = 1024;
  std::array<unsigned long, max_numa_nodes / std::numeric_limits<unsigned long>::digits> nodes{};
  const bool is_interleaved =
      placement == PagePlacement::interleaved &&
      syscall(SYS_get_mempolicy, nullptr, nodes.data(), max_numa_nodes, nullptr,
              static_cast<unsigned long>(MPOL_F_MEMS_ALLOWED)) == 0;
  const int policy = is_interleaved ? MPOL_INTERLEAVE : MPOL_DEFAULT;  // which takes no nodes
  // The kernel accepts only whole pages, and reads one node less than the given maximum.
  const std::size_t before =
      reinterpret_cast<std::uintptr_t>(from) % static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  static_cast<void>(syscall(SYS_mbind, from - before, bytes + before, policy,
                            is_interleaved ? nodes.data() : nullptr, max_numa_nodes + 1, 0U));
}

}  // namespace tessera::rma
