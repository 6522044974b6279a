// SPDX-License-Identifier: BSD-3-Clause
#include "apps/tool/environment.hpp"

namespace tessera::tool {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Limits, address_space, file_size, descriptors, max_descriptors,
                                   locked, max_locked, has_ipc_lock)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Memory, total, available, machine, shm_total, shm_free,
                                   shared_memory_error, shared_memory_errno)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HugePages, transparent, shared, reserved_bytes, unused_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RdmaPort, device, port, state, link_layer, rate)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Rdma, ports, is_wanted, refusal, remedy, used)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkInterface, name, address, is_up, is_loopback, is_bridge,
                                   speed_mbit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Network, interfaces, setting, chosen, error, congestion)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Mpi, is_built_in, version, thread_level, windows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Launch, launcher, announced_ranks, announced_rank, allocated,
                                   bootstrap, rank, ranks, error, remedy, setting, is_root,
                                   may_root_use_mpirun)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Processors, usable, online, quota, quota_group, agent_threads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Blas, config, threads, openblas_variable, omp_variable, setting)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Holder, process, program, bytes, is_orphan)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Clock, source, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Configuration, error, warnings, changed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Environment, host, machine, configuration, limits, memory,
                                   huge_pages, rdma, network, mpi, launch, processors, blas,
                                   ptrace_scope, has_sys_ptrace, holders, clock)

// Host names and system messages may have any encoding.
std::string to_text(const Environment& environment) {
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json(environment).dump(-1, ' ', false, replace);
}

Environment from_text(const std::string& text) {
  return nlohmann::json::parse(text).get<Environment>();
}

}  // namespace tessera::tool
