// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/memory_check.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <functional>

#include "apps/common/agreement.hpp"
#include "rma/memory.hpp"

namespace tessera::apps {

using rma::Status;

namespace {

/// What one rank says.
struct Share {
  std::uint64_t memory = 0;  ///< whose it will take
  double bytes = 0.0;
};

// The same for processes of one running kernel, which take from one memory.
std::uint64_t memory_of_machine() {
  std::string identity;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> identity;
  if (identity.empty()) {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    identity = name.data();
  }
  return std::hash<std::string>{}(identity);
}

std::string human(double bytes) {
  constexpr double most = 1e18;  // made-up problems may need more than numbers of bytes hold
  return bytes > most ? fmt::format("{:.1e} GiB", bytes / 0x1p30)
                      : rma::human_bytes(static_cast<std::uint64_t>(bytes));
}

}  // namespace

Status check_memory(rma::Job& job, const MemoryNeed& need) {
  const Share mine{memory_of_machine(), need.bytes_per_rank};
  TESSERA_ASSIGN_OR_RETURN(const auto shares, job.world().allgather_value(mine));
  std::int64_t ranks = 0;
  double needed = 0.0;
  for (const Share& share : shares) {
    if (share.memory == mine.memory) {
      ++ranks;
      needed += share.bytes;
    }
  }
  const std::uint64_t available = rma::available_memory_bytes();
  Status fits;
  // A tenth is left to the rest of the machine, which would otherwise be swept out by our pages.
  if (needed > 0.9 * static_cast<double>(available)) {
    fits = Status::error(rma::Code::no_memory,
                         fmt::format("{} needs {} on this machine, for {} of its ranks; {} are "
                                     "available, of which 90 % may be used",
                                     need.what, human(needed), ranks, rma::human_bytes(available)))
               .hint(need.hint);
  }
  // Of several machines, the rank tells which one is meant.
  const bool is_only_machine = ranks == job.size();
  return is_only_machine ? agree_on_input(job.world(), fits) : job.world().agree(fits);
}

}  // namespace tessera::apps
