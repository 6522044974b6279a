// SPDX-License-Identifier: BSD-3-Clause
//
// Environment: the environment of one process, as plain values. `collect.hpp` collects them;
// `checks.hpp` evaluates them and uses nothing else, so that tests can construct them.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rma/reachability.hpp"

namespace tessera::tool {

/// For a limit: no limit. For an amount: not known.
inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t unknown = no_limit;

/// Of this process; in bytes, except descriptors.
struct Limits {
  std::uint64_t address_space = no_limit;
  std::uint64_t file_size = no_limit;
  std::uint64_t descriptors = no_limit;
  std::uint64_t max_descriptors = no_limit;  ///< the hard limit, up to which it may raise it
  std::uint64_t locked = no_limit;
  std::uint64_t max_locked = no_limit;
  bool has_ipc_lock = false;  ///< CAP_IPC_LOCK
};

struct Memory {
  std::uint64_t total = 0;            ///< of the machine, or what the control group allows
  std::uint64_t available = 0;        ///< of `total`
  std::uint64_t machine = 0;          ///< of the machine
  std::uint64_t shm_total = unknown;  ///< of /dev/shm
  std::uint64_t shm_free = 0;
  std::string shared_memory_error;  ///< why the kernel refuses shared memory; empty: it does not
  int shared_memory_errno = 0;      ///< the system's number for that
};

struct HugePages {
  std::string transparent;           ///< "always", "madvise" or "never"; empty: not supported
  std::string shared;                ///< for shared memory: "advise", "never", …
  std::uint64_t reserved_bytes = 0;  ///< reserved for hugetlbfs, in pages of all sizes
  std::uint64_t unused_bytes = 0;    ///< of those
};

struct RdmaPort {
  std::string device;
  int port = 1;
  std::string state;       ///< "ACTIVE", "DOWN", …
  std::string link_layer;  ///< "InfiniBand" or "Ethernet"
  std::string rate;        ///< "100 Gb/sec (4X EDR)"
};

struct Rdma {
  std::vector<RdmaPort> ports;
  bool is_wanted = true;  ///< TESSERA_TRANSPORT names verbs
  std::string refusal;    ///< why the transport cannot be used; empty: it can
  std::string remedy;     ///< empty: none
  std::string used;       ///< what it would use
};

struct NetworkInterface {
  std::string name;
  std::string address;  ///< IPv4; empty: none
  bool is_up = false;
  bool is_loopback = false;
  bool is_bridge = false;  ///< made on this machine, perhaps for its containers or virtual machines
  std::int64_t speed_mbit = -1;  ///< -1: not known
};

struct Network {
  std::vector<NetworkInterface> interfaces;
  std::string setting;     ///< TESSERA_INTERFACE
  std::string chosen;      ///< the address at which other machines would reach this one
  std::string error;       ///< why there is no such address
  std::string congestion;  ///< algorithm of new TCP connections; empty: unknown
};

struct Mpi {
  bool is_built_in = false;
  std::string version;
  std::string thread_level;  ///< empty: MPI is not running
  std::string windows;       ///< a description of transport mpi here, or why it is not used
};

struct Launch {
  std::string launcher;  ///< "", "tessera-run", "mpirun" or "srun"
  std::int64_t announced_ranks =
      0;  ///< how many processes the launcher says it started; 0: unknown
  std::int64_t announced_rank = -1;  ///< which of them this is, from the launcher; -1: unknown
  std::int64_t allocated = 0;        ///< tasks of the surrounding Slurm allocation; 0: none
  std::string bootstrap;             ///< the bootstrap in use
  std::int32_t rank = 0;
  std::int32_t ranks = 1;
  std::string error;    ///< why the intended bootstrap could not be used
  std::string remedy;   ///< empty: none
  std::string setting;  ///< TESSERA_BOOTSTRAP
  bool is_root = false;
  bool may_root_use_mpirun = false;  ///< Open MPI's variables for that are set
};

struct Processors {
  std::vector<int> usable;  ///< their numbers
  int online = 1;
  double quota = 0;  ///< processors' worth of time in the control group's quota; 0: no limit
  std::uint64_t quota_group = 0;  ///< equal for processes of the group with the quota
  int agent_threads = 1;          ///< TESSERA_SERVER_THREADS
};

struct Blas {
  std::string config;             ///< OpenBLAS's own report; empty: no answer
  int threads = 0;                ///< the number that it would use
  std::string openblas_variable;  ///< OPENBLAS_NUM_THREADS; empty: not set
  std::string omp_variable;       ///< OMP_NUM_THREADS
  std::int64_t setting = 0;       ///< TESSERA_BLAS_THREADS
};

/// A process of an earlier or another job that holds node memory.
struct Holder {
  std::int64_t process = 0;
  std::string program;
  std::uint64_t bytes = 0;
  bool is_orphan = false;  ///< its launcher has ended
};

struct Clock {
  std::string source;  ///< of the kernel: "tsc", …
  double seconds = 0;  ///< of day, after all ranks had synchronised
};

struct Configuration {
  std::string error;                  ///< why a job would refuse the settings
  std::vector<std::string> warnings;  ///< names that are not settings
  std::vector<std::string> changed;   ///< "NAME=value" of settings that differ from the defaults
};

struct Environment {
  std::string host;
  std::string machine;  ///< equal for processes that share a kernel and a network
  Configuration configuration;
  Limits limits;
  Memory memory;
  HugePages huge_pages;
  Rdma rdma;
  Network network;
  Mpi mpi;
  Launch launch;
  Processors processors;
  Blas blas;
  int ptrace_scope = 0;
  bool has_sys_ptrace = false;  ///< CAP_SYS_PTRACE
  std::vector<Holder> holders;
  Clock clock;
};

/// Everything that the checks evaluate.
struct Snapshot {
  std::vector<Environment> ranks;  ///< by rank; at least one
  rma::NodeConnections connections;
  std::string connections_error;  ///< why connections could not be tested at all
  bool is_job_tried = false;
  std::vector<std::string> job_errors;  ///< by rank: error of a trial job; empty: none
  /// This process prints for all: it is rank 0; or the first one that a launcher started, if the
  /// processes did not find each other.
  bool is_reporter = true;
};

std::string to_text(const Environment& environment);
/// Requires: `text` is from to_text().
Environment from_text(const std::string& text);

}  // namespace tessera::tool
