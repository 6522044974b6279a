// SPDX-License-Identifier: BSD-3-Clause
//
// PipelinedCollectives: broadcast, allgather and reductions of long data of a team with members on
// several nodes. After the leaders have met, they send the data piece by piece.
//
// If each node has one member (the team is *flat*), the leaders work on the caller's memory itself.
// Otherwise members put long data into their *parts*, which are like slots but longer, and the
// leader works on one of these. Parts alternate in two sets, as slots do.
//
// The memory for that is made when a team first needs it: pipeline rings, and parts if the team is
// not flat. If a node has no memory for it, all nodes use the slots instead.
//
// Limits: A long reduction to one root is an allreduce. The root of a broadcast sends it to
// ⌈log2 nodes⌉ others. An allgather needs room for a slot of each member in a node's parts. Rings
// and parts take up to 2 × max_mailbox_set_bytes of a node for each team.
//
// Threads: one at a time. Cost: long_collectives.hpp has that of the transfers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/engine/team/collective_step.hpp"
#include "rma/engine/team/pipeline_rings.hpp"

namespace tessera::rma::detail {

class PipelinedCollectives {
 public:
  PipelinedCollectives(JobState& job, CollectiveStep& step) noexcept
      : job_(job), step_(step), members_(step.members()) {}

  /// Whether the team sends data of that size in pieces, if it has the memory.
  [[nodiscard]] bool is_long(std::size_t bytes) const noexcept {
    return members_.has_other_nodes() && step_.memory().is_formed() &&
           bytes > 2 * step_.memory().slot_bytes();
  }
  /// Collective, before the functions below: at the first call makes the memory. False if this team
  /// can't use them for that call.
  Result<bool> prepare(const CollectiveCall& call);

  Status broadcast(std::span<std::byte> bytes, const CollectiveCall& call);
  Status allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                   const CollectiveCall& call);
  Status allreduce(std::span<std::byte> elements, const CollectiveCall& call, bool keep_result);

 private:
  struct Offer;
  /// What leaders do with the rings; returns a failure word.
  using RingWork = std::function<std::uint32_t(PipelineRings&)>;

  /// True if no node has several members.
  [[nodiscard]] bool is_flat() const noexcept {
    return members_.nodes().count() == members_.size();
  }
  Status make_memory(const CollectiveCall& call);
  Offer make_offer() noexcept;
  [[nodiscard]] Offer wanted_memory() const;
  [[nodiscard]] PipelineRings::Environment ring_environment();
  bool accept_offers(const StepPayload& payload) noexcept;
  /// The step of a collective in which the leaders do `work`.
  Status meet(const CollectiveCall& call, const RingWork& work);
  [[nodiscard]] std::byte* part(std::uint32_t phase, std::int32_t order) const noexcept;
  template <class BlockOf>
  [[nodiscard]] std::vector<std::span<std::byte>> blocks_of_ring(const BlockOf& block_of) const;
  Status broadcast_part(std::span<std::byte> bytes, const CollectiveCall& call);
  Status allreduce_flat(std::span<std::byte> bytes, const CollectiveCall& call);
  Status allreduce_parts(std::span<std::byte> bytes, const CollectiveCall& call, bool keep_result);
  [[nodiscard]] std::size_t max_gathered_bytes() const noexcept;
  Status allgather_flat(std::span<const std::byte> mine, std::span<std::byte> all,
                        const CollectiveCall& call);
  Status gather_part(std::span<const std::byte> mine, std::span<std::byte> all, std::size_t done,
                     std::size_t bytes, const CollectiveCall& call);

  JobState& job_;
  CollectiveStep& step_;
  const TeamMembers& members_;
  bool is_prepared_ = false;
  std::size_t part_bytes_ = 0;  ///< of long data for which each member has room in node memory
  std::optional<PipelineRings> rings_;  ///< empty if a member had no memory for them
};

}  // namespace tessera::rma::detail
