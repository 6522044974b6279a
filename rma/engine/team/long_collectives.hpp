// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of long data among the leaders of a team's nodes, over pipeline rings. Each leader
// has its node's data at `data`, of the same size on all; afterwards all have the result there.
//
// All return a failure word (TeamControl::broken), 0 if nothing failed. After a failure the data
// are unspecified, and the caller gives up.
//
//   function                            sends, at most               in how many messages' time
//   broadcast_by_binomial_tree          ⌈log2 n⌉ × bytes (the root)  ⌈log2 n⌉ + pieces
//   allgather_by_ring                   all bytes but one block      n − 1, in blocks' time
//   allreduce_by_halving_and_doubling   2 × bytes, + 1 × if folded   2 ⌊log2 n⌋ − 1, + 2 if folded
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/element.hpp"
#include "rma/engine/team/pipeline_rings.hpp"
#include "rma/engine/team/team_nodes.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

/// Sends the data of the node of index `root` to all.
std::uint32_t broadcast_by_binomial_tree(PipelineRings& rings, const TeamNodes& nodes,
                                         std::int32_t root, std::span<std::byte> data);

/// Sends each node's block to all. Blocks may have any size except 0. They are given in order of
/// arrival: this node's, that of the node before it, and so on around.
std::uint32_t allgather_by_ring(PipelineRings& rings, const TeamNodes& nodes,
                                PipelineRings::Blocks blocks);

/// Combines all nodes' elements, with the same bits everywhere. Requires: whole elements, aligned.
std::uint32_t allreduce_by_halving_and_doubling(PipelineRings& rings, const TeamNodes& nodes,
                                                std::span<std::byte> data, ElementType type,
                                                Reduction reduction);

}  // namespace tessera::rma::detail
