// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "scale": the cost of agents with very many nodes ([CLUSTERED10], figures 6 to
// 8).
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// How much an agent's process grows if N processes, 12 per node, communicate with it: in the
/// current configuration, with agents in clusters, and with buffers for each client. Rank 0 alone
/// creates the agent's real objects.
void measure_scale_memory(Session& session);
/// The same for this job: how much the processes with agents grow while all ranks communicate with
/// all.
void measure_scale_job(Session& session);
/// Gets and puts from rank 0 to a node that it contacts directly, compared with a node to which
/// another agent forwards its requests. Needs agents in clusters.
void measure_scale_forward(Session& session);

/// The limits for the memory of agents.
std::vector<Target> scale_targets();

}  // namespace tessera::bench
