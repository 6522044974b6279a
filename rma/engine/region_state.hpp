// SPDX-License-Identifier: BSD-3-Clause
//
// RegionState: the implementation of a Region.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "rma/engine/exposed_slices.hpp"
#include "rma/engine/slice_cache.hpp"
#include "rma/engine/team_state.hpp"
#include "rma/region.hpp"

namespace tessera::rma::detail {

class RegionState {
 public:
  /// Collective. Allocates memory, or attaches `memory` if `is_attached`.
  static Result<std::shared_ptr<RegionState>> create(Team& team, void* memory, std::size_t bytes,
                                                     const RegionOptions& options,
                                                     bool is_attached);
  RegionState(const RegionState&) = delete;
  RegionState& operator=(const RegionState&) = delete;

  /// After the return, all that this rank did in this region is complete at all members.
  Status fence();
  /// Collective. See Region::set_access_mode.
  Status set_access_mode(AccessMode mode, Conflicts conflicts);
  /// See Region::set_in_use_bytes.
  void set_in_use_bytes(std::uint64_t bytes) noexcept;
  /// Collective. `verb` is Label::free_by_exception or "free".
  Status free(std::string_view verb);
  /// Local. Gives up this member's part without the others: the memory is freed after the last
  /// member has done so. Transport mpi keeps it until the job stops. Requires: the members have
  /// synchronised after the last operation on it.
  void release() noexcept;
  /// Local. From now on the region does not keep its team alive: the team owns it.
  void disown_team() noexcept {
    team_ = Team(std::shared_ptr<TeamState>(std::shared_ptr<void>(), &team_.state()));
  }
  /// The label under which waits for this region are recorded. Valid as long as this object.
  [[nodiscard]] Label label(std::string_view verb) const noexcept {
    return {.verb = verb, .kind = options_.kind, .name = options_.name, .number = id_.value};
  }

  /// "array 'rho' (region 7)", for messages. Throws std::bad_alloc.
  [[nodiscard]] std::string describe() const;

  [[nodiscard]] RegionId id() const noexcept { return id_; }
  [[nodiscard]] Team& team() noexcept { return team_; }
  [[nodiscard]] TeamState& team_state() const noexcept { return team_.state(); }
  [[nodiscard]] JobState& job() const noexcept { return team_.state().job(); }
  [[nodiscard]] const RegionOptions& options() const noexcept { return options_; }
  /// What the members agreed on: the same on all of them.
  [[nodiscard]] Atomics atomics() const noexcept {
    const bool is_unsupported = options_.atomics == Atomics::device && !has_device_atomics_;
    return is_unsupported ? Atomics::separate : options_.atomics;
  }
  /// Whether accumulates and atomics use the transport between nodes even on this node.
  [[nodiscard]] bool has_remote_updates() const noexcept { return has_remote_updates_; }
  [[nodiscard]] Segment& segment() const noexcept { return *segment_; }
  [[nodiscard]] bool is_attached() const noexcept { return is_attached_; }
  [[nodiscard]] bool is_freed() const noexcept { return freed_.load(); }
  [[nodiscard]] std::size_t bytes(TeamRank rank) const noexcept {
    return sizes_.empty() ? equal_bytes_ : sizes_[static_cast<std::size_t>(rank.value)];
  }
  [[nodiscard]] std::byte* direct(TeamRank rank) const noexcept;
  /// The slice of a rank if every operation on it can be done by loads and stores. Otherwise at
  /// most its raw start is set.
  [[nodiscard]] MappedSlice plain_slice(WorldRank rank) const noexcept;
  [[nodiscard]] Result<std::byte*> raw_pointer(TeamRank rank);
  /// The address that stands for the first byte of a member's slice in this process. Null if it has
  /// none, or if raw_pointer() was not called for it yet.
  [[nodiscard]] const std::byte* raw_start(TeamRank member) const noexcept;
  /// Converts a raw pointer into this region back to an address. Errors: out_of_range.
  [[nodiscard]] Result<RemoteAddress> translate(WorldRank rank, const std::byte* pointer) const;

 private:
  RegionState(Team& team, const RegionOptions& options, bool is_attached);
  struct MemberTerms;
  /// Where a member's memory was before it was attached.
  struct Origin {
    std::int32_t process = 0;
    std::uint64_t address = 0;
  };
  Status exchange_terms(void* memory, std::size_t bytes);
  Status make_segment(void* memory, std::size_t bytes);
  template <class Action>
  void for_each_mapped_slice(const Action& action) const;
  Status publish();
  Status expose();
  void withdraw();

  std::shared_ptr<JobState> keep_job_;  ///< first, so that it is destroyed last
  // What a thread reads to look up a slice; kept together.
  Team team_;
  RegionOptions options_;
  bool is_attached_;
  bool has_device_atomics_ = false;
  bool has_remote_updates_ = false;
  RegionId id_;
  DirectMap direct_;
  std::size_t equal_bytes_ = 0;
  std::vector<std::size_t> sizes_;  ///< by team rank; empty when all are equal
  // The rest is not needed for that.
  std::unique_ptr<Segment> segment_;
  std::vector<Origin> origins_;  ///< of attached memory, by team rank
  ExposedSlices exposed_;
  std::size_t foreign_stride_ = 0;  ///< between raw pointers to slices that are not mapped here
  std::atomic<bool> freed_{false};
  std::mutex foreign_mutex_;
  // base of the raw pointers for slices that are not mapped here
  std::atomic<std::byte*> foreign_base_{nullptr};
};

}  // namespace tessera::rma::detail
