// SPDX-License-Identifier: BSD-3-Clause
//
// Region: memory that the members of a team gave to be read and written by each other.
//
// Each member's part is its *slice*; slices may differ in size and may be empty. A byte of a
// region is named by a RemoteAddress: rank, region, offset in that rank's slice. A region never
// moves while it lives, and stale addresses of a freed region are recognised and refused.
//
// Threads: queries from any thread; allocate, attach and free as collectives.
// Ownership: move-only; the destructor frees, collectively; free() does so and reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "rma/rank.hpp"
#include "rma/region_id.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"
#include "rma/transport.hpp"

namespace tessera::rma {

namespace detail {
class RegionState;
}

/// A byte of a region. A value: may be copied, stored and sent to other ranks.
struct RemoteAddress {
  WorldRank rank;
  RegionId region;
  std::uint64_t offset = 0;  ///< bytes from the start of that rank's slice

  friend RemoteAddress operator+(RemoteAddress address, std::uint64_t bytes) noexcept {
    address.offset += bytes;
    return address;
  }
  friend bool operator==(const RemoteAddress&, const RemoteAddress&) = default;
};
static_assert(sizeof(RemoteAddress) == 16);

/// The same as programs name it that know memory by (rank, pointer), as ARMCI's do: see
/// Region::raw_pointer. Means something in this process only.
struct RawAddress {
  WorldRank rank;
  const void* pointer = nullptr;
};

class Region {
 public:
  Region() = default;
  explicit Region(std::shared_ptr<detail::RegionState> state) noexcept : state_(std::move(state)) {}
  Region(Region&& other) noexcept
      : state_(std::move(other.state_)), is_borrowed_(other.is_borrowed_) {}
  Region& operator=(Region&& other) noexcept;
  ~Region();

  /// Collective on `team`. Gives `my_bytes` of zeroed memory at this rank, all of it at once unless
  /// options.sparse. All members succeed, or none.
  /// Errors: invalid_argument (options differ among members), no_memory (names the rank and what
  /// is available), peer_lost.
  /// Cost: six meetings of the team; O(1) memory a rank when all sizes are equal.
  static Result<Region> allocate(Team& team, std::size_t my_bytes,
                                 const RegionOptions& options = {});

  /// Collective on `team`. As allocate, for memory that the caller owns and keeps alive until the
  /// region is freed. Errors: also unsupported where no transport can reach such memory.
  static Result<Region> attach(Team& team, void* memory, std::size_t my_bytes,
                               const RegionOptions& options = {});

  /// Local. Another name for the same memory, which is freed by the region that it was borrowed
  /// from: this one's free() and destructor only let go of it.
  [[nodiscard]] Region borrow() const;
  [[nodiscard]] bool is_borrowed() const noexcept { return is_borrowed_; }

  /// Collective. Waits until all members are here, then gives the memory back. Operations on the
  /// region must be complete everywhere. Idempotent. Errors: those of a barrier, such as
  /// invalid_argument if another member called something else.
  Status free();

  [[nodiscard]] RegionId id() const noexcept;
  /// For the collectives of who made the region. Requires: it was not moved from; it lives longer.
  [[nodiscard]] Label label(std::string_view verb) const noexcept;
  [[nodiscard]] Team& team() const noexcept;
  /// As they were given, with the access mode and the conflicts of now.
  [[nodiscard]] const RegionOptions& options() const noexcept;
  /// The mode in effect: `separate` where options().atomics says `device` and there is none.
  [[nodiscard]] Atomics atomics() const noexcept;
  /// Bytes of a member's slice. Requires: rank is one of the team's.
  [[nodiscard]] std::size_t bytes(TeamRank rank) const noexcept;

  /// The address of a byte of a member's slice; not checked here but when it is used.
  [[nodiscard]] RemoteAddress at(TeamRank rank, std::uint64_t offset = 0) const noexcept;

  /// This rank's own slice; null when it is empty. See LocalAccess for when it may be touched.
  [[nodiscard]] std::byte* local() const noexcept;
  /// A pointer for loads and stores to the slice of a rank of this node; null where there is none.
  [[nodiscard]] std::byte* direct(TeamRank rank) const noexcept;

  /// A pointer that stands for a member's slice in programs that name remote memory by (rank,
  /// pointer), as ARMCI's do: the slice itself for ranks of this node, else unique and not mapped.
  /// Job::translate turns it back, and rma/raw_transfer.hpp takes it. Null for empty slices.
  [[nodiscard]] void* raw_pointer(TeamRank rank) const noexcept;

  /// One-sided. Returns when all operations of this rank on this region are complete at their
  /// targets. Reports errors of dropped handles.
  Status fence();

  /// Collective. From its return on, operations that `mode` forbids are refused, and `conflicts` is
  /// what the program promises ([ARMCIMPI12] §VIII.A). Operations of before are complete at their
  /// targets then. No member may use the region while this is called, also not in another thread.
  /// Pages stay where they are. Errors, on all members: invalid_argument (other modes on other
  /// members, or a mode that doesn't exist), closed, those of fence(); the mode stays as it was.
  /// Cost: a fence and three meetings of the team; threads look slices up again.
  Status set_access_mode(AccessMode mode, Conflicts conflicts = Conflicts::possible);

  /// Local. Of a sparse region: the first `bytes` of this rank's slice are in use from now on, so
  /// that devices of other nodes may be given them, which takes their memory whole. Never fewer
  /// than before. Without it, sparse memory is reached by requests only.
  void note_in_use(std::uint64_t bytes) noexcept;

  [[nodiscard]] detail::RegionState& state() const noexcept { return *state_; }
  [[nodiscard]] const std::shared_ptr<detail::RegionState>& shared_state() const noexcept {
    return state_;
  }
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  void free_silently() noexcept;

  std::shared_ptr<detail::RegionState> state_;
  bool is_borrowed_ = false;
};

/// The scoped right to load from and store to this rank's own slice.
///
/// Between ranks of a shared memory nothing happens at begin and end; transports whose memory is
/// not coherent (MPI windows) synchronise there.
class LocalAccess {
 public:
  /// Local. Errors: closed (the region was freed), invalid_argument (its access mode forbids it).
  static Result<LocalAccess> begin(Region& region);

  LocalAccess(LocalAccess&& other) noexcept;
  LocalAccess& operator=(LocalAccess&&) = delete;
  ~LocalAccess();

  /// Ends the access and reports. The destructor does so and logs.
  Status end();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  LocalAccess(std::shared_ptr<detail::RegionState> state, std::byte* data,
              std::size_t size) noexcept;
  std::shared_ptr<detail::RegionState> state_;
  std::byte* data_;
  std::size_t size_;
};

}  // namespace tessera::rma
