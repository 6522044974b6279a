// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/node_copy.hpp"

#include <algorithm>
#include <vector>

#include "arrays/block_partition_1d.hpp"
#include "arrays/detail/own_blocks.hpp"
#include "rma/region.hpp"

namespace tessera::arrays::detail {

using rma::Result;
using rma::Status;
using rma::Team;
using rma::WorldRank;

namespace {

// The nodes of the members, and the index of the caller's node.
struct Nodes {
  std::int64_t count = 0;
  std::int64_t own = 0;
};

Nodes nodes_of(const rma::Job& job, const Team& team) {
  std::vector<std::int32_t> nodes;
  for (const WorldRank member : team.members()) {
    nodes.push_back(job.node_of(member).value);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const auto own = std::lower_bound(nodes.begin(), nodes.end(), job.node_of(job.rank()).value);
  return {std::ssize(nodes), own - nodes.begin()};
}

// Slab `number` of `count`, cut along the box's longest dimension.
Box slab(const Box& box, std::int64_t number, std::int64_t count) {
  int longest = 0;
  for (int dim = 1; dim < box.ndims(); ++dim) {
    longest = box.extent(dim) > box.extent(longest) ? dim : longest;
  }
  const BlockPartition1D partition = *BlockPartition1D::even(box.extent(longest), count);
  Box part = box;
  part.set(longest, box.lo(longest) + partition.lo(number), box.lo(longest) + partition.hi(number));
  return part;
}

// Puts or adds this rank's elements of the box `part` of its node's copy.
Status send_own(const ArrayBase& copy, const Box& part, const ArrayBase& to, const Index& shift,
                bool replaces) {
  TESSERA_ASSIGN_OR_RETURN(auto access, rma::LocalAccess::begin(copy.region()));
  rma::Handle sent;
  for_each_own_part(copy, part, access.data(), [&](const Box& own, const LocalBuffer& memory) {
    const Box at = own.shifted(shift);
    sent.collect(replaces
                     ? to.put_box_async(at, memory)
                     : to.accumulate_box_async(at, memory, rma::Scale::one(*copy.element().type)));
  });
  TESSERA_RETURN_IF_ERROR(sent.wait());
  return access.end();
}

}  // namespace

bool is_on_one_node(const ArrayBase& array) {
  return nodes_of(array.job(), array.team()).count == 1;
}

Result<ArrayBase> create_node_copy(const ArrayBase& array) {
  TESSERA_ASSIGN_OR_RETURN(
      Team node,
      array.team().split(array.job().node_of(array.job().rank()).value, array.team().rank().value));
  auto copy = ArrayBase::create(array.job(), array.extents(), array.element(),
                                {.name = array.name() + " (copy on a node)",
                                 .team = node,
                                 .order = array.distribution().order()});
  TESSERA_RETURN_IF_ERROR(array.team().agree(copy.status()));
  return copy;
}

// In each round the nodes send different slabs, so that all are busy. Each slab is added in one
// order: that of the nodes, from its own number downwards.
Status sum_copies(Team& team, const ArrayBase& copy, const Box& from, const ArrayBase& to,
                  const Box& to_box, ExistingElements first) {
  const Nodes nodes = nodes_of(copy.job(), team);
  const Index shift = shift_between(from, to_box);
  for (std::int64_t round = 0; round < nodes.count; ++round) {
    const Box part = slab(from, (nodes.own + round) % nodes.count, nodes.count);
    const bool replaces = round == 0 && first == ExistingElements::replaces;
    TESSERA_RETURN_IF_ERROR(to.sync(send_own(copy, part, to, shift, replaces)));
  }
  return {};
}

}  // namespace tessera::arrays::detail
