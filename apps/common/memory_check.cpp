// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/memory_check.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <new>
#include <optional>

#include "apps/common/agreement.hpp"
#include "apps/common/exit_codes.hpp"
#include "apps/common/openblas.hpp"
#include "apps/common/output.hpp"
#include "rma/base/memory.hpp"

namespace tessera::apps {

using rma::Status;

namespace {

/// One rank's needs.
struct MemoryShare {
  std::uint64_t memory = 0;   ///< identifies the machine whose memory it uses
  std::uint64_t process = 0;  ///< identifies the process; ranks may be threads of one process
  double bytes = 0.0;
  double address_bytes = 0.0;  ///< not mapped yet
};

// The same for all processes of one running kernel, which share one memory.
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

// The same for ranks that are threads of one process. Processes of different containers may have
// the same process number.
std::uint64_t own_process() {
  struct stat numbers = {};
  const bool is_known = ::stat("/proc/self/ns/pid", &numbers) == 0;
  return std::hash<std::string>{}(
      fmt::format("{} {} {}", memory_of_machine(), is_known ? numbers.st_ino : 0, ::getpid()));
}

double buffer_bytes(const MemoryNeed& need) {
  return need.multiplies && has_openblas() ? static_cast<double>(openblas_buffer_bytes) : 0.0;
}

std::string human(double bytes) {
  constexpr double most = 1e18;  // the need of a huge problem may not fit into 64 bits
  return bytes > most ? fmt::format("{:.1e} GiB", bytes / 0x1p30)
                      : rma::human_bytes(static_cast<std::uint64_t>(bytes));
}

/// The needs of several ranks together.
struct Sum {
  std::int64_t ranks = 0;
  double bytes = 0.0;
};

// Checks that the ranks of this machine get their memory.
Status check_machine(const MemoryNeed& need, const Sum& needed) {
  const std::uint64_t available = rma::available_memory_bytes();
  // A tenth is left for the rest of the machine, whose pages ours would otherwise displace.
  if (needed.bytes <= 0.9 * static_cast<double>(available)) {
    return {};
  }
  return Status::error(
             rma::Code::no_memory,
             fmt::format("{} needs {} on this machine, for {} of its ranks; {} are "
                         "available, of which 90 % may be used",
                         need.what, human(needed.bytes), needed.ranks, rma::human_bytes(available)))
      .hint(need.hint);
}

// Checks that the ranks of this process get their address space.
Status check_process(const MemoryNeed& need, const Sum& needed) {
  const auto limit = rma::address_space_limit();
  if (!limit) {
    return {};
  }
  const double own_threads = need.multiplies ? openblas_threads_without_buffer() : 0;
  const double more = own_threads * static_cast<double>(openblas_buffer_bytes);
  if (needed.bytes + more <= static_cast<double>(limit->left())) {
    if (need.multiplies) {
      map_openblas_buffers();
    }
    return {};
  }
  const double buffers = buffer_bytes(need) * static_cast<double>(needed.ranks) + more;
  return Status::error(
             rma::Code::no_memory,
             fmt::format(
                 "{} needs {} more address space in each process{}; {} are left of a "
                 "limit of {} (ulimit -v)",
                 need.what, human(needed.bytes + more),
                 buffers > 0 ? fmt::format(", {} of them for OpenBLAS", human(buffers)) : "",
                 rma::human_bytes(limit->left()), rma::human_bytes(limit->limit)))
      .hint("run `ulimit -v unlimited`, or " + need.hint);
}

// The error for memory that was refused.
Status no_memory_error(rma::WorldRank rank) {
  const auto limit = rma::address_space_limit();
  const std::string found =
      limit ? fmt::format("{} are left of its address space limit of {} (ulimit -v)",
                          rma::human_bytes(limit->left()), rma::human_bytes(limit->limit))
            : fmt::format("its machine has {} available",
                          rma::human_bytes(rma::available_memory_bytes()));
  return Status::error(rma::Code::no_memory,
                       fmt::format("rank {} could not allocate memory: {}", rank.value, found))
      .hint(limit ? "run `ulimit -v unlimited`" : "use more machines");
}

}  // namespace

Status check_memory(rma::Job& job, const MemoryNeed& need) {
  const MemoryShare own{memory_of_machine(), own_process(), need.bytes_per_rank,
                        need.own_bytes + buffer_bytes(need)};
  TESSERA_ASSIGN_OR_RETURN(const auto shares, job.world().allgather_value(own));
  Sum machine;
  Sum process;
  for (const MemoryShare& share : shares) {
    if (share.memory == own.memory) {
      ++machine.ranks;
      machine.bytes += share.bytes;
    }
    if (share.process == own.process) {
      ++process.ranks;
      process.bytes += share.address_bytes;
    }
  }
  Status fits = check_machine(need, machine);
  fits = fits.ok() ? check_process(need, process) : fits;
  // If there are several machines, the rank identifies the machine.
  const bool is_only_machine = machine.ranks == job.size();
  return is_only_machine ? agree_on_input(job.world(), fits) : job.world().agree(fits);
}

bool is_no_memory(const rma::Status& status) noexcept {
  return status.code() == rma::Code::no_memory || status.code() == rma::Code::limit_exceeded;
}

int catch_bad_alloc(std::string_view program, const rma::Job& job,
                    const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    complain(program, no_memory_error(job.rank()).message());
    return exit_usage;
  }
}

}  // namespace tessera::apps
