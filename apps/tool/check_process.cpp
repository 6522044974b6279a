// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "apps/common/openblas.hpp"
#include "apps/tool/checks.hpp"
#include "rma/base/memory.hpp"

namespace tessera::tool {
namespace {

using rma::human_bytes;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

// For a warning of rma::Settings: "NAME is not … ; did you mean OTHER?".
std::string remedy_for(const std::string& warning) {
  constexpr std::string_view question = "did you mean ";
  const std::string name = warning.substr(0, warning.find(' '));
  const std::size_t at = warning.find(question);
  if (at == std::string::npos) {
    return "unset " + name;
  }
  const std::size_t begin = at + question.size();
  return fmt::format("unset {}, or set {} instead", name,
                     warning.substr(begin, warning.find('?', begin) - begin));
}

// The names that are not settings. Requires: at least one.
std::string ignored_text(const std::vector<std::string>& warnings) {
  const std::string& first = warnings.front();
  const std::size_t more = warnings.size() - 1;
  return first.substr(0, first.find(';')) +
         (more == 0 ? "" : fmt::format("; and {} more names are unknown", more));
}

}  // namespace

Finding check_settings(const Environment& own) {
  constexpr const char* name = "settings";
  const Configuration& configuration = own.configuration;
  if (!configuration.error.empty()) {
    const std::string also = configuration.warnings.empty()
                                 ? std::string()
                                 : "; and " + ignored_text(configuration.warnings);
    return red(name, configuration.error + also,
               "unset the variable, or set it to a value that `tessera info` lists");
  }
  if (!configuration.warnings.empty()) {
    return yellow(name, ignored_text(configuration.warnings),
                  remedy_for(configuration.warnings.front()));
  }
  if (configuration.changed.empty()) {
    return green(name, "all have their defaults");
  }
  return green(name, fmt::format("{}; all others have their defaults",
                                 fmt::join(configuration.changed, ", ")));
}

namespace {

constexpr std::uint64_t address_space_of_program =
    128 * mebibyte;  // of which node memory takes 64 MiB

// A node's memory is one file, mapped as a whole: it uses what the limit leaves.
Finding check_size_limit(const char* name, std::uint64_t limit, std::uint64_t too_little,
                         const std::string& option) {
  if (limit == no_limit) {
    return green(name, "not limited");
  }
  const std::string found = fmt::format("limited to {} ({})", human_bytes(limit), option);
  const std::string remedy = option + " unlimited";
  if (limit < too_little) {
    return red(name,
               fmt::format("{}, but a program and its node's memory need at least {}", found,
                           human_bytes(too_little)),
               remedy);
  }
  return yellow(name, found + ": all arrays of a node must fit into this limit", remedy);
}

// The need of a program that multiplies matrices. A node's memory leaves half of what the libraries
// do not take; there each thread of OpenBLAS maps a buffer, or asks for it forever.
std::uint64_t with_openblas(int threads) {
  constexpr std::uint64_t stack = 8 * mebibyte;
  return address_space_of_program +
         2 * static_cast<std::uint64_t>(threads) * (apps::openblas_buffer_bytes + stack);
}

}  // namespace

Finding check_address_space(const Environment& own) {
  constexpr const char* name = "address space";
  const std::uint64_t limit = own.limits.address_space;
  const std::uint64_t wanted = with_openblas(own.blas.threads);
  if (limit < address_space_of_program || limit >= wanted) {
    return check_size_limit(name, limit, address_space_of_program, "ulimit -v");
  }
  const std::string fewer =
      limit >= with_openblas(1) ? "; or export OPENBLAS_NUM_THREADS=1" : std::string();
  return red(
      name,
      fmt::format("limited to {} (ulimit -v), with which programs that multiply matrices do not "
                  "run: OpenBLAS needs {} for each of its {} threads",
                  human_bytes(limit), human_bytes(apps::openblas_buffer_bytes), own.blas.threads),
      "ulimit -v unlimited" + fewer);
}

Finding check_file_sizes(const Environment& own) {
  constexpr std::uint64_t too_little = 64 * mebibyte;
  return check_size_limit("file sizes", own.limits.file_size, too_little, "ulimit -f");
}

// A process opens a connection to each node it communicates with, and its agent accepts one from
// each process that communicates with it.
Finding check_descriptors(const Environment& own) {
  constexpr const char* name = "descriptors";
  constexpr std::uint64_t least = 16;
  constexpr std::uint64_t of_a_program = 32;
  constexpr std::uint64_t enough = 1024;
  const std::uint64_t limit = own.limits.descriptors;
  if (limit == no_limit) {
    return green(name, "not limited");
  }
  const std::uint64_t wanted =
      std::max(enough, of_a_program + 2 * static_cast<std::uint64_t>(own.launch.ranks));
  const std::string found = fmt::format("at most {} may be open (ulimit -n)", limit);
  if (limit >= wanted) {
    return green(name, found);
  }
  const std::uint64_t comfortable = std::max<std::uint64_t>(wanted, 4096);
  const std::uint64_t hard_limit = own.limits.max_descriptors;
  const std::string remedy = hard_limit >= wanted
                                 ? fmt::format("ulimit -n {}", std::min(comfortable, hard_limit))
                                 : fmt::format(
                                       "raise the hard limit from {} to {} (nofile in "
                                       "/etc/security/limits.d)",
                                       hard_limit, comfortable);
  if (limit < least) {
    return red(name, fmt::format("{}, but a rank needs {} to start", found, least), remedy);
  }
  return yellow(name,
                fmt::format("{}, but a process may need {}: one for each node it communicates with",
                            found, wanted),
                remedy);
}

// Memory registered with an RDMA device is locked.
Finding check_locked_memory(const Environment& own) {
  constexpr const char* name = "locked memory";
  constexpr std::uint64_t enough = 1024 * mebibyte;
  constexpr std::uint64_t too_little = 16 * mebibyte;
  const std::uint64_t limit = own.limits.max_locked;
  if (limit == no_limit) {
    return green(name, "not limited");
  }
  const std::string found = fmt::format("{} may be locked (ulimit -l)", human_bytes(limit));
  if (own.limits.has_ipc_lock) {
    return green(name, found + ", and more by CAP_IPC_LOCK");
  }
  if (own.rdma.ports.empty()) {
    return green(name, found + "; only RDMA devices need it, and this machine has none");
  }
  const std::string remedy =
      "raise it to unlimited: memlock in /etc/security/limits.d, LimitMEMLOCK=infinity for "
      "services such as slurmd";
  if (limit < too_little) {
    return red(name, found + ", which is too little for an RDMA device", remedy);
  }
  if (limit < enough) {
    return yellow(name, found + ", which RDMA devices share", remedy);
  }
  return green(name, found);
}

Finding check_mpi(const Environment& own) {
  constexpr const char* name = "MPI";
  const std::string& launcher = own.launch.launcher;
  if (!own.mpi.is_built_in) {
    if (launcher == "mpirun" || launcher == "srun") {
      return red(name,
                 fmt::format("this Tessera was built without MPI, but {} started it", launcher),
                 "start it with tessera-run, or build it with -DTESSERA_MPI=ON");
    }
    return green(name, "not built in; use tessera-run, on one machine");
  }
  // Version texts continue with builder and date.
  const std::string version = own.mpi.version.substr(0, own.mpi.version.find(','));
  if (own.mpi.thread_level.empty()) {
    return green(name, version + ", not running");
  }
  const std::string found = fmt::format("{}, at {}", version, own.mpi.thread_level);
  if (own.mpi.thread_level == "MPI_THREAD_SINGLE") {
    return yellow(name, found + ", but Tessera asked for MPI_THREAD_FUNNELED",
                  "use an MPI library that was built with support for threads");
  }
  return green(name,
               own.mpi.windows.empty() ? found : found + "; transport mpi: " + own.mpi.windows);
}

// The kernel copies attached memory between processes of a node.
Finding check_tracing(const Environment& own) {
  constexpr const char* name = "memory of other processes";
  constexpr int nobody = 3;
  if (own.ptrace_scope == 0) {
    return green(name, "ranks of one user may access it");
  }
  if (own.has_sys_ptrace && own.ptrace_scope < nobody) {
    return green(name,
                 fmt::format("CAP_SYS_PTRACE gives access (ptrace_scope {})", own.ptrace_scope));
  }
  const std::string found = fmt::format(
      "the kernel forbids access (ptrace_scope {}): operations on attached memory "
      "of another rank fail",
      own.ptrace_scope);
  if (own.ptrace_scope >= nobody) {
    return yellow(
        name, found,
        "boot without kernel.yama.ptrace_scope=3, which cannot be undone while it runs; or do "
        "not use attached memory");
  }
  return yellow(name, found,
                "as root: sysctl kernel.yama.ptrace_scope=0; or do not use attached memory");
}

}  // namespace tessera::tool
