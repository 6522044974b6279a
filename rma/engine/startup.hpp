// SPDX-License-Identifier: BSD-3-Clause
//
// Start-up: from a bootstrap to a JobState whose ranks share memory and know each other.
//
//     1  (allgather) Exchange machines, processors and settings. Check that all ranks have the same
//        settings for transports and nodes.
//     2  The first rank of a node makes its memory, the others map it.
//     3  (allgather) Agree that all have it.
//     4  (allgather) Register on the node, make transports, agree again.
//     5  Form the world team, from then on over shared memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "rma/engine/job_state.hpp"
#include "rma/engine/node_map.hpp"

namespace tessera::rma::detail {

/// The library's transports, by name.
std::vector<TransportFactory> own_transports();

/// Collective. Finds which ranks share a machine, and in `machines` the number of machines. With
/// `settings.ranks_per_node` the ranks of a machine are split into emulated nodes.
/// Errors: those of the bootstrap; invalid_argument if ranks would accumulate in two ways, or
/// differ in their nodes or transports; limit_exceeded (no descriptor is free).
Result<NodeMap> find_nodes(Bootstrap& bootstrap, const Settings& settings, int& machines);

/// Local. Checks that a bootstrap's exchange returned as many bytes as all ranks together give in
/// this step.
/// Errors: invalid_argument if some ranks were at another step.
Status check_exchanged(std::size_t bytes, std::size_t expected);

/// Collective. See Job::start.
Result<std::shared_ptr<JobState>> start_job(std::shared_ptr<Bootstrap> bootstrap,
                                            std::optional<Settings> settings,
                                            const std::vector<TransportFactory>& factories);

}  // namespace tessera::rma::detail
