// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Copies of an array on nodes, each distributed over the ranks of its node, and their
// sum.
#pragma once

#include <cstdint>

#include "arrays/array_base.hpp"

namespace tessera::arrays::detail {

/// Whether copies on nodes would be of no use: all of the array is on this node.
bool is_on_one_node(const ArrayBase& array);

/// Collective over the array's team. This node's copy, all zeros.
/// Cost: the array's size on each node.
rma::Result<ArrayBase> create_node_copy(const ArrayBase& array);

/// What becomes of the elements that are there before the copies are added up.
enum class FirstCopy : std::uint8_t { replaces, is_added };

/// Collective over `team`, of which `copy` is this node's. Each element of the box `to_box` of
/// `to`, which has the same extents as `from`, gets the sum of the copies' elements in `from`, in
/// an order that the number of nodes determines. The copies are complete before. Complete:
/// everywhere. Cost: each node sends its copy once; all meet as often as there are nodes.
rma::Status sum_copies(rma::Team& team, const ArrayBase& copy, const Box& from, const ArrayBase& to,
                       const Box& to_box, FirstCopy first);

}  // namespace tessera::arrays::detail
