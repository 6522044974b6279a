// SPDX-License-Identifier: BSD-3-Clause
//
// WindowPool: the windows of all teams of a job. WindowSegment: a region's part of one window.
//
// A segment locates its region: a window, the target's rank in it, and a displacement. This needs
// neither a table nor a look-up.
//
// Threads: as Transport's.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "rma/engine/layered_segment.hpp"
#include "rma/engine/remote_locks.hpp"
#include "rma/transport/mpi/local_window_map.hpp"
#include "rma/transport/mpi/team_windows.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::mpi {

class WindowSegment;

class WindowPool : public std::enable_shared_from_this<WindowPool> {
 public:
  /// The purpose of memory: regions, in windows of the job's epoch mode; locks by atomics, in
  /// windows that stay locked; locks by epochs.
  enum class Use { regions, atomic_locks, epoch_locks };
  /// Makes a team's locks, one for each member, for what MPI-2 cannot do in one epoch. Collective.
  using MakeMutexes = std::function<Result<std::unique_ptr<detail::RemoteLocks>>(Team&)>;

  /// `before_free` is called before a window is destroyed.
  WindowPool(std::shared_ptr<World> world, const TransportContext& context, EpochMode epoch_mode,
             std::function<void(const Window&)> before_free);

  /// Which regions' memory is staged when it is a local buffer; see TESSERA_TUNE=mpi_staging.
  enum class Staging { none, separate_windows, all_windows };
  void set_staging(Staging staging) noexcept { staging_ = staging; }
  [[nodiscard]] const std::shared_ptr<LocalWindowMap>& local_windows() const noexcept {
    return local_windows_;
  }

  /// For regions in windows that are locked for each operation.
  void set_mutexes(MakeMutexes make) { make_mutexes_ = std::move(make); }

  /// Collective on `team`. Memory of transport `memory`, or of MPI if that is null.
  Result<std::unique_ptr<WindowSegment>> allocate(MemoryTransport* memory, Team& team,
                                                  std::size_t bytes, const RegionOptions& options,
                                                  Use use);
  /// Collective on `team`. Makes the memory of `inner` at this rank accessible; the segment owns
  /// it.
  Result<std::unique_ptr<WindowSegment>> expose(Team& team, std::unique_ptr<Segment> inner,
                                                std::byte* memory, std::size_t bytes,
                                                const RegionOptions& options);
  /// Local. A number that no other rank of the job draws.
  std::uint64_t draw_number() noexcept;
  /// Collective. Destroys the remaining windows of all teams.
  void close() noexcept;

 private:
  friend class WindowSegment;
  struct Proposal;
  Result<TeamWindows*> windows_of(Team& team, Use use, std::size_t bytes,
                                  std::vector<std::uint64_t>& sizes);
  Proposal proposal_of(const Team& team, Use use, TeamWindows*& known);
  Result<detail::RemoteLocks*> mutexes_of(Team& team, TeamWindows& windows);
  void add_local_memory(const WindowSegment& segment, std::size_t bytes);
  Status free_part(TeamWindows& windows, const WindowPart& part, const MemorySource& source);

  std::shared_ptr<World> world_;
  MemorySource source_;
  EpochMode epoch_mode_;
  std::function<void(const Window&)> before_free_;
  MakeMutexes make_mutexes_;
  Staging staging_ = Staging::none;
  std::shared_ptr<LocalWindowMap> local_windows_ = std::make_shared<LocalWindowMap>();
  std::mutex mutex_;
  /// A destroyed team keeps its key, so that a new team at its address has another one.
  struct Key {
    std::weak_ptr<detail::TeamState> team;
    Use use;
    friend bool operator<(const Key& a, const Key& b) noexcept {
      const bool is_before = a.team.owner_before(b.team);
      return is_before || (!b.team.owner_before(a.team) && a.use < b.use);
    }
  };
  std::map<Key, std::unique_ptr<TeamWindows>> by_team_;
  std::atomic<std::uint32_t> reserved_numbers_{0};
};

class WindowSegment final : public detail::LayeredSegment {
 public:
  /// Requires: the target is of this transport.
  static const WindowSegment& of(const Target& target) noexcept {
    return *static_cast<const WindowSegment*>(target.segment);
  }
  [[nodiscard]] std::byte* local() const noexcept override { return local_; }
  [[nodiscard]] DirectMap direct() const noexcept override;
  Status begin_access() override;
  Status end_access() override;
  void set_access(AccessMode mode, Conflicts conflicts) noexcept override;
  Status free() override;
  /// Null unless the region is all of that memory.
  [[nodiscard]] Segment* below() const noexcept override {
    return part_.granules > 0 ? nullptr : part_.shared->memory.get();
  }

  [[nodiscard]] const Window& window() const noexcept { return *part_.shared->window; }
  /// The displacement of the region in a member's part of the window.
  [[nodiscard]] std::uint64_t displacement_at(int member) const noexcept {
    return part_.shared->start_of(member) + part_.offset;
  }
  /// MPI_LOCK_SHARED if the region's access mode excludes conflicts, else MPI_LOCK_EXCLUSIVE.
  [[nodiscard]] int lock_type() const noexcept;
  [[nodiscard]] bool is_strict() const noexcept { return options_.atomics == Atomics::strict; }
  /// Whether ranks may use the same bytes at the same time.
  [[nodiscard]] bool has_conflicts() const noexcept {
    return options_.conflicts == Conflicts::possible;
  }
  /// Locks of the team's slices, for operations that this MPI or its epoch mode cannot do; null: it
  /// can do all.
  [[nodiscard]] detail::RemoteLocks* mutexes() const noexcept { return mutexes_; }

 private:
  friend class WindowPool;
  struct Options {
    AccessMode access_mode = AccessMode::any;
    Conflicts conflicts = Conflicts::possible;
    Atomics atomics = Atomics::separate;
    int own_rank = 0;  ///< in the window
  };
  WindowSegment(std::shared_ptr<WindowPool> pool, TeamWindows& windows, const MemorySource& source,
                const WindowPart& part, std::size_t bytes, const Options& options,
                detail::RemoteLocks* mutexes) noexcept;

  std::shared_ptr<WindowPool> pool_;
  TeamWindows& windows_;
  MemorySource source_;
  WindowPart part_;
  std::byte* local_;
  Options options_;
  detail::RemoteLocks* mutexes_;
};

}  // namespace tessera::rma::mpi
