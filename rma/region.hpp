// SPDX-License-Identifier: BSD-3-Clause
//
// Region: memory that the members of a team expose to each other for reading and writing.
//
// Each member's part is its *slice*. Slices may differ in size and may be empty. A RemoteAddress
// names a byte of a region: rank, region, offset in that rank's slice. A region does not move while
// it exists. Addresses of a freed region are recognised and refused.
//
// Threads: queries from any thread; allocate, attach and free as collectives.
// Ownership: move-only. The destructor frees, collectively; free() does the same and returns
// errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/region_id.hpp"
#include "rma/team.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma {

namespace detail {
class RegionState;
}

/// A byte of a region. A plain value: it may be copied, stored and sent to other ranks.
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

/// A byte named by (rank, pointer), for programs that address memory in this way, as ARMCI's do;
/// see Region::raw_pointer. Valid in this process only.
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

  /// Collective on `team`. Allocates `my_bytes` of zeroed memory at this rank. The memory is
  /// committed at once unless options.sparse. All members succeed, or none.
  /// Errors: invalid_argument (members give different options), no_memory (names the rank and what
  /// is available), peer_lost.
  /// Cost: six synchronisations of the team; O(1) memory per rank if all sizes are equal.
  static Result<Region> allocate(Team& team, std::size_t my_bytes,
                                 const RegionOptions& options = {});

  /// Collective on `team`. As allocate, for memory that the caller owns and keeps alive until the
  /// region is freed.
  /// Errors: also unsupported if no transport can access such memory.
  static Result<Region> attach(Team& team, void* memory, std::size_t my_bytes,
                               const RegionOptions& options = {});

  /// Local. Another handle for the same memory. Its free() and its destructor only drop the handle;
  /// the original region frees the memory.
  [[nodiscard]] Region borrow() const;
  [[nodiscard]] bool is_borrowed() const noexcept { return is_borrowed_; }

  /// Collective. Waits until all members have called it, then frees the memory. Operations on the
  /// region must be complete everywhere. Idempotent.
  /// Errors: those of a barrier, for example invalid_argument if another member called another
  /// function.
  Status free();

  /// The region's number, the same on all members.
  [[nodiscard]] RegionId id() const noexcept;
  /// The label of a collective named `verb` on the object that owns this region. Requires: the
  /// region was not moved from, and it outlives the label.
  [[nodiscard]] Label label(std::string_view verb) const noexcept;
  /// The team that the region was created on.
  [[nodiscard]] Team& team() const noexcept;
  /// The options that were given, with the current access mode and conflicts.
  [[nodiscard]] const RegionOptions& options() const noexcept;
  /// The mode in effect: `separate` if options().atomics is `device` and no device does them.
  [[nodiscard]] Atomics atomics() const noexcept;
  /// Bytes of a member's slice. Requires: `rank` is a rank of the team.
  [[nodiscard]] std::size_t bytes(TeamRank rank) const noexcept;

  /// The address of a byte of a member's slice. Operations check it, this function does not.
  [[nodiscard]] RemoteAddress at(TeamRank rank, std::uint64_t offset = 0) const noexcept;

  /// This rank's own slice; null if it is empty. LocalAccess says when it may be accessed.
  [[nodiscard]] std::byte* local() const noexcept;
  /// A pointer for loads and stores to the slice of a rank on this node; null for other ranks.
  [[nodiscard]] std::byte* direct(TeamRank rank) const noexcept;

  /// A pointer that stands for a member's slice in programs that name remote memory by (rank,
  /// pointer), as ARMCI's do. For ranks of this node it points to the slice; for others it is
  /// unique and not mapped. Job::translate converts it back, and rma/raw_transfer.hpp takes it.
  /// Null for empty slices.
  [[nodiscard]] void* raw_pointer(TeamRank rank) const noexcept;

  /// One-sided. Returns when all operations of this rank on this region are complete at their
  /// targets. Reports the errors of dropped handles.
  Status fence();

  /// Collective. After its return, operations that `mode` forbids are refused, and `conflicts` is
  /// what the program promises ([ARMCIMPI12] §VIII.A). Earlier operations are complete at their
  /// targets then. No thread of any member may use the region during the call. Pages stay where
  /// they are.
  /// Errors, on all members: invalid_argument (members give different modes, or a mode that does
  /// not exist), closed, those of fence(). The mode is unchanged then.
  /// Cost: a fence and three synchronisations of the team; afterwards each thread looks slices up
  /// again.
  Status set_access_mode(AccessMode mode, Conflicts conflicts = Conflicts::possible);

  /// Local. For a sparse region: declares that the first `bytes` of this rank's slice are in use
  /// from now on, never fewer than before. RDMA devices may then access them, which commits all of
  /// their memory. Without this call, sparse memory is accessed by requests to its agent only.
  void set_in_use_bytes(std::uint64_t bytes) noexcept;

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
/// In coherent shared memory its begin and end do nothing. Transports whose memory is not coherent
/// (MPI windows) synchronise there.
class LocalAccess {
 public:
  /// Local. Errors: closed (the region was freed), invalid_argument (its access mode forbids it).
  static Result<LocalAccess> begin(Region& region);

  LocalAccess(LocalAccess&& other) noexcept;
  LocalAccess& operator=(LocalAccess&&) = delete;
  ~LocalAccess();

  /// Ends the access and returns its error. The destructor does the same and logs the error.
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
