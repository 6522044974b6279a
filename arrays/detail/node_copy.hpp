// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Copies of an array on nodes, each distributed over the ranks of its node, and the sum
// of such copies.
#pragma once

#include <cstdint>

#include "arrays/array_base.hpp"

namespace tessera::arrays::detail {

/// True if copies on nodes would be useless: the whole array is on this node.
bool is_on_one_node(const ArrayBase& array);

/// Collective over the array's team. Makes this node's copy, with zeros. Cost: memory of the
/// array's size on each node.
rma::Result<ArrayBase> create_node_copy(const ArrayBase& array);

/// Whether the sum of the copies replaces the existing elements or is added to them.
enum class ExistingElements : std::uint8_t { replaces, is_added };

/// Collective over `team`; `copy` is this node's copy. Each element of the box `to_box` of `to`,
/// which has the extents of `from`, gets the sum of the copies' elements in `from`, in an order
/// that the number of nodes determines. Requires: writes to the copies are complete. Complete:
/// everywhere. Cost: each node sends its copy once, in as many collective steps as there are nodes.
rma::Status sum_copies(rma::Team& team, const ArrayBase& copy, const Box& from, const ArrayBase& to,
                       const Box& to_box, ExistingElements first);

}  // namespace tessera::arrays::detail
