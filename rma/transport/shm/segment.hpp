// SPDX-License-Identifier: BSD-3-Clause
//
// The two kinds of segments of shared memory: slices in the node's arena, and attached memory that
// stays private to its process.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "rma/node/node.hpp"
#include "rma/node/shared_ref_count.hpp"
#include "rma/team.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::shm {

/// Slices in the arena, of the team's members on this node, in their order. Each node has its own
/// addresses and its own layout.
class ArenaSegment final : public Segment {
 public:
  /// Collective on `team`. The first member on the node reserves the addresses for all; each member
  /// commits its own slice, so that the pages are on its NUMA node. Slices with no_local_access,
  /// which no member accesses locally, are interleaved over all NUMA nodes. Errors: no_memory,
  /// limit_exceeded.
  static Result<std::unique_ptr<Segment>> create(detail::Node& node, Team& team,
                                                 std::size_t my_bytes,
                                                 const RegionOptions& options);

  [[nodiscard]] std::byte* local() const noexcept override { return local_; }
  [[nodiscard]] DirectMap direct() const noexcept override { return {base_, stride_, offsets_}; }
  Status free() override;
  void abandon() noexcept override;

 private:
  ArenaSegment(detail::Node& node, const Team& team);
  [[nodiscard]] bool is_on_one_node() const noexcept;
  Status plan(const std::vector<std::uint64_t>& all_sizes, const RegionOptions& options);
  Status share_addresses();
  Result<std::uint64_t> reserve_addresses(const RegionOptions& options);
  [[nodiscard]] std::uint64_t total_bytes() const noexcept;
  void free_addresses() noexcept;
  [[nodiscard]] detail::SharedRefCount& ref_count() const noexcept;
  Status commit_own(std::size_t my_bytes, const RegionOptions& options, std::uint64_t own_offset);

  detail::Node& node_;
  Team team_;                            ///< until it is created
  std::vector<WorldRank> node_members_;  ///< the members on this node, including this rank
  std::size_t index_ = 0;     ///< of this rank among them; the first one allocates for all
  std::uint64_t offset_ = 0;  ///< of the first slice in the node's memory
  std::uint64_t extent_ = 0;  ///< address space of all slices
  std::uint64_t needed_ = 0;  ///< memory of all slices
  std::byte* base_ = nullptr;
  std::size_t stride_ = 0;
  std::vector<std::uint64_t> offsets_;  ///< set only if slices are too unequal for a stride
  std::byte* local_ = nullptr;
  bool is_interleaved_ = false;  ///< its pages are spread over the NUMA nodes
};

/// Memory that each process already had. Other ranks know it by process and address, which are
/// meaningless on other nodes.
class AttachedSegment final : public Segment {
 public:
  struct Slice {
    std::byte* address = nullptr;
    pid_t process = 0;
  };

  /// Collective on `team`.
  static Result<std::unique_ptr<Segment>> create(Team& team, void* memory);

  [[nodiscard]] std::byte* local() const noexcept override { return local_; }
  Status free() override { return {}; }
  [[nodiscard]] const Slice& slice(TeamRank rank) const noexcept {
    return slices_[static_cast<std::size_t>(rank.value)];
  }

 private:
  AttachedSegment(std::vector<Slice> slices, std::byte* local)
      : slices_(std::move(slices)), local_(local) {}
  std::vector<Slice> slices_;
  std::byte* local_;
};

}  // namespace tessera::rma::shm
