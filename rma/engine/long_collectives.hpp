// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of long data among the leaders of a team's nodes, over lanes. Each leader has its
// node's data at `data`, of the same size on all; afterwards the result is there on all.
//
// All return a word, 0 when it went well; else the data are unspecified, and the caller gives up.
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
#include "rma/engine/lanes.hpp"
#include "rma/engine/team_nodes.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

/// What the node of index `root` has, to all.
std::uint32_t broadcast_by_binomial_tree(Lanes& lanes, const TeamNodes& nodes, std::int32_t root,
                                         std::span<std::byte> data);

/// What each node has in its block, of any size but none, to all. The blocks as they come: this
/// node's, that of the one before it, and so on around.
std::uint32_t allgather_by_ring(Lanes& lanes, const TeamNodes& nodes, Lanes::Blocks blocks);

/// All nodes' elements combined, the same bits everywhere. Requires: whole elements, aligned.
std::uint32_t allreduce_by_halving_and_doubling(Lanes& lanes, const TeamNodes& nodes,
                                                std::span<std::byte> data, ElementType type,
                                                Reduction reduction);

}  // namespace tessera::rma::detail
