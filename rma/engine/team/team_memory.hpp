// SPDX-License-Identifier: BSD-3-Clause
//
// TeamMemory: the memory that the members of a team on one node share, and the numbers by which
// this node's leader names that of other nodes.
//
//     TeamControl      words by which members synchronise
//     users            which members still use the memory (SharedRefCount)
//     marks            one word for each member: the step that it has reached
//     mailboxes        of other nodes' data, if there are other nodes (team_nodes.hpp)
//     two sets of slots, one slot for each member; the sets alternate by *phase*
//
// A second piece, for long data, is made if a collective needs it (pipelined_collectives.hpp).
//
// The leader makes the memory, and the last member that releases it frees it. All nodes use the
// slot size of the node that has the smallest, which they know after the forming step.
//
// Threads: one at a time. Cost: the arena's memory only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/engine/team/team_control.hpp"
#include "rma/engine/team/team_members.hpp"
#include "rma/node/shared_ref_count.hpp"
#include "rma/region_id.hpp"

namespace tessera::rma::detail {

class JobState;

class TeamMemory {
 public:
  TeamMemory(JobState& job, const TeamMembers& members);
  /// Releases the memory; frees it after the last member on this node has released it.
  ~TeamMemory();
  TeamMemory(const TeamMemory&) = delete;
  TeamMemory& operator=(const TeamMemory&) = delete;

  /// Makes the memory, and makes it known to other nodes. Returns its offset in the node's memory.
  /// Errors: no_memory, limit_exceeded.
  Result<std::uint64_t> make();
  /// Uses the memory that the leader made.
  void attach(std::uint64_t offset) noexcept;
  /// After the forming step: adopts the slot size on which the nodes agreed.
  void adopt_slot_bytes() noexcept;

  /// False if make() failed or neither it nor attach() was called.
  [[nodiscard]] bool exists() const noexcept { return control_ != nullptr; }
  [[nodiscard]] TeamControl& control() const noexcept { return *control_; }
  [[nodiscard]] bool is_formed() const noexcept { return is_formed_; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  [[nodiscard]] std::byte* slot(std::uint32_t phase, std::int32_t order) const noexcept;
  [[nodiscard]] std::atomic<std::uint32_t>& mark_of(std::int32_t order) const noexcept;

  /// The number of another node's memory; 0: it has none, or this rank does not send to it.
  [[nodiscard]] RegionId number_on(std::int32_t index) const noexcept {
    return numbers_[static_cast<std::size_t>(index)];
  }
  void set_number_on(std::int32_t index, RegionId number) noexcept {
    numbers_[static_cast<std::size_t>(index)] = number;
  }
  /// The mailbox of a round, on this node; and its offset in the memory of another node.
  [[nodiscard]] TeamMailbox& mailbox(int round, std::uint32_t generation) const noexcept;
  [[nodiscard]] std::uint64_t mailbox_offset(std::int32_t index, int round,
                                             std::uint32_t generation) const;

  /// The piece for long data: made by the leader, freed by any member. Returns its number for other
  /// nodes, or 0 if it cannot be allocated.
  RegionId make_long(std::uint64_t bytes);
  void free_long() noexcept;
  [[nodiscard]] std::byte* long_start() const noexcept;

 private:
  /// A piece of the node's memory, and its number for other nodes.
  struct Piece {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    RegionId number;
  };
  Result<Piece> allocate(std::uint64_t bytes);
  void free(const Piece& piece) noexcept;
  [[nodiscard]] SharedRefCount& users() const noexcept;
  [[nodiscard]] TeamNodes::Set mail_set(std::uint32_t generation) const noexcept;
  [[nodiscard]] static std::uint64_t marks_start(std::int32_t node_members) noexcept;
  [[nodiscard]] static std::uint64_t mail_start(std::int32_t node_members) noexcept;
  [[nodiscard]] std::uint64_t first_slot_offset() const noexcept;
  [[nodiscard]] std::byte* base() const noexcept { return reinterpret_cast<std::byte*>(control_); }

  JobState& job_;
  const TeamMembers& members_;
  TeamControl* control_ = nullptr;
  std::size_t slot_bytes_;
  bool is_formed_ = false;
  std::vector<RegionId> numbers_;  ///< of other nodes' memory, by index; of the leader's partners
};

}  // namespace tessera::rma::detail
