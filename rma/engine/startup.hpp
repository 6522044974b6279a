// SPDX-License-Identifier: BSD-3-Clause
//
// Start-up: from a bootstrap to a JobState whose ranks share memory and know each other.
//
//     1  say which machine this is, and which processors may be
//        used; learn who shares them, and that all accumulate
//        the same way and divide machines into the same nodes     (allgather)
//     2  the first rank of a node makes its memory, the others map it
//     3  agree that all have it                                   (allgather)
//     4  take our place, make transports, agree again             (allgather)
//     5  form the world team, from then on over shared memory
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

/// Collective. Which ranks share a machine, and in `machines` how many of those there are; with
/// `settings.ranks_per_node` the ranks of a machine are split into emulated nodes.
/// Errors: those of the bootstrap; invalid_argument where ranks would accumulate in two ways, or
/// differ in their nodes or transports; limit_exceeded (no descriptor is free).
Result<NodeMap> find_nodes(Bootstrap& bootstrap, const Settings& settings, int& machines);

/// Local. What a bootstrap's exchange brought is as much as all ranks together give in this step.
/// Errors: invalid_argument where some came to it from another one.
Status check_exchanged(std::size_t bytes, std::size_t expected);

/// Collective. See Job::start.
Result<std::shared_ptr<JobState>> start_job(std::shared_ptr<Bootstrap> bootstrap,
                                            std::optional<Settings> settings,
                                            const std::vector<TransportFactory>& factories);

}  // namespace tessera::rma::detail
