// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "scale": what agents of very many nodes cost ([CLUSTERED10], figures 6 to 8).
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// How much an agent's process grows when N processes of 12 a node talk to it: as it is, with
/// agents in clusters, and with buffers for each client. The agent's real objects, made by rank 0
/// alone.
void measure_scale_memory(Session& session);
/// The same of this job: by how much the processes with agents grow while all ranks talk to all.
void measure_scale_job(Session& session);
/// Gets and puts from rank 0 to a node that it reaches itself, beside one to which another agent
/// passes its requests on. Needs agents in clusters.
void measure_scale_forward(Session& session);

/// What is asked of the memory of agents.
std::vector<Target> scale_targets();

}  // namespace tessera::bench
