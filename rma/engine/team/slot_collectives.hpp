// SPDX-License-Identifier: BSD-3-Clause
//
// SlotCollectives: broadcast, allgather and reductions of data that travel through the slots, a
// slot's worth in each step.
//
//   collective   what travels between nodes in a step, with 64 bytes of head for each message
//   broadcast    the root's piece, to each node once
//   allgather    all members' pieces
//   allreduce    one piece of each node: its members' combined, by its leader; every member then
//                combines all nodes' pieces in the same order
//
// Requires: all members pass the same sizes, types and roots, in range; CollectiveStep reports if
// they differ. Threads: one at a time. Cost: ⌈bytes / slot⌉ steps; on one node, twice as many for
// long reductions of more than two members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/base/status.hpp"
#include "rma/engine/team/collective_step.hpp"

namespace tessera::rma::detail {

class SlotCollectives {
 public:
  explicit SlotCollectives(CollectiveStep& step) noexcept : step_(step), members_(step.members()) {}

  Status broadcast(std::span<std::byte> bytes, const CollectiveCall& call);
  Status allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                   const CollectiveCall& call);
  /// Combines all members' elements of the type in `call`. Writes the result if `keep_result`.
  Status allreduce(std::span<std::byte> elements, const CollectiveCall& call, bool keep_result);

 private:
  Status reduce_chunk(std::span<std::byte> elements, const CollectiveCall& call, bool keep_result);
  void combine_nodes(std::span<std::byte> elements, const CollectiveCall& call,
                     const StepPayload& payload) const;
  Status combine_shares(std::span<std::byte> elements, const CollectiveCall& call,
                        std::uint32_t phase, bool keep_result);
  void combine_slots(std::uint32_t phase, std::size_t from, std::span<std::byte> into,
                     const CollectiveCall& call) const;
  void combine_share(std::uint32_t phase, std::size_t from, std::size_t bytes,
                     const CollectiveCall& call) const;
  [[nodiscard]] std::byte* slot(std::uint32_t phase, std::int32_t order) const noexcept {
    return step_.memory().slot(phase, order);
  }

  CollectiveStep& step_;
  const TeamMembers& members_;
};

}  // namespace tessera::rma::detail
