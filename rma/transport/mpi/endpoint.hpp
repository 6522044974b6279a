// SPDX-License-Identifier: BSD-3-Clause
//
// WindowEndpoint: a rank's operations on another rank's memory, by MPI's one-sided calls.
//
// A put ends when it is complete locally. MPI does not order a completed operation before the next
// one. So the endpoint records the changed bytes, and flushes their windows before an operation
// that must follow them (UnflushedChanges). Other operations never wait for the target.
//
// Threads: as Endpoint; operations on one rank start one at a time.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "rma/transport/mpi/calls.hpp"
#include "rma/transport/mpi/datatypes.hpp"
#include "rma/transport/mpi/list_cache.hpp"
#include "rma/transport/mpi/methods.hpp"
#include "rma/transport/mpi/operations.hpp"
#include "rma/transport/mpi/progress.hpp"
#include "rma/transport/mpi/runs.hpp"
#include "rma/transport/mpi/segment.hpp"
#include "rma/transport/mpi/unflushed_changes.hpp"
#include "rma/transport/mpi/window_access.hpp"
#include "rma/transport/mpi/world.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::mpi {

class WindowEndpoint : public Endpoint {
 public:
  /// `is_mapped`: this process also loads the peer's memory directly, so operations complete at the
  /// target.
  WindowEndpoint(std::shared_ptr<World> world, Progress& progress, Datatypes& types,
                 const Methods& methods, WorldRank peer, bool is_mapped)
      : world_(std::move(world)),
        progress_(progress),
        types_(types),
        methods_(methods),
        peer_(peer),
        is_own_(peer_ == world_->rank()),
        is_mapped_(is_mapped) {}

  Status put(const Target& to, const void* from, const CopyShape& shape, Completion& done) override;
  Result<bool> put_now(const Target& to, const void* from, std::size_t bytes) override;
  Result<bool> get_now(void* to, const Target& from, std::size_t bytes) override;
  Result<bool> accumulate_now(const Target& to, const void* from, std::size_t bytes,
                              const Scale& scale) override;
  Status get(void* to, const Target& from, const CopyShape& shape, Completion& done) override;
  Status accumulate(const Target& to, const void* from, const CopyShape& shape, const Scale& scale,
                    Completion& done) override;
  Result<bool> put_shape_now(const Target& to, const void* from, const CopyShape& shape) override;
  Result<bool> get_shape_now(void* to, const Target& from, const CopyShape& shape) override;
  Result<bool> accumulate_shape_now(const Target& to, const void* from, const CopyShape& shape,
                                    const Scale& scale) override;
  Result<bool> atomic_now(const Target& at, const AtomicRequest& request) override;
  Status atomic(const Target& at, const AtomicRequest& request, Completion& done) override;
  Status put_fragments(const Target& to, Fragments fragments, Completion& done) override;
  Status get_fragments(const Target& from, Fragments fragments, Completion& done) override;
  Status accumulate_fragments(const Target& to, Fragments fragments, const Scale& scale,
                              Completion& done) override;
  Status fence() override;
  [[nodiscard]] bool is_fenced(RegionId region) const noexcept override;

  /// As Window::flush_local(); nothing if another thread is using the target.
  std::optional<Status> try_flush_local(const Window& window, int rank);
  /// Records that an operation that made this change is complete locally.
  void record_change(const WindowAccess& change);
  /// Called before the window is destroyed.
  void forget(const Window& window);

 private:
  using Clock = std::chrono::steady_clock;
  using Direction = kernels::Direction;
  /// The target of an operation: a window, a rank in it, a displacement.
  struct WindowLocation {
    const Window& window;
    int rank;
    std::uint64_t displacement;
    int lock_type;
    bool excludes_atomics;  ///< accumulates exclude read-modify-writes
    bool has_conflicts;     ///< see WindowSegment
    detail::RemoteLocks* mutexes;
    bool keeps_lock = false;  ///< see Epoch
    /// `extent`: of the bytes, from the displacement.
    [[nodiscard]] WindowAccess access(const CopyShape::Extent& extent,
                                      const Effect& effect) const noexcept {
      return {&window, rank, displacement + static_cast<std::uint64_t>(extent.lowest),
              displacement + static_cast<std::uint64_t>(extent.highest), effect};
    }
  };
  class OwnerMutexGuard;
  [[nodiscard]] WindowLocation location_of(const Target& target) const noexcept;
  [[nodiscard]] WindowLocation location_of(const Target& target, const Scale& scale) const noexcept;
  [[nodiscard]] static bool needs_mutex(const WindowLocation& location, bool at_origin) noexcept;
  /// Whether MPI does read-modify-writes here; they are then also atomic with its accumulates.
  [[nodiscard]] bool has_atomics(const Window& window) const noexcept {
    return window.is_lock_all() && window.has_atomics() && world_->mixes_atomics();
  }

  [[nodiscard]] bool is_shared(const Window& window, std::size_t bytes) const noexcept;
  /// Puts or gets, by `direction`.
  Status copy(const Target& remote, std::byte* local, const CopyShape& shape, Direction direction,
              Completion& done);
  Status copy_fragments(const Target& remote, Fragments fragments, Direction direction,
                        Completion& done);
  Result<bool> copy_shape_now(const Target& remote, std::byte* local, const CopyShape& shape,
                              Direction direction);
  template <class Issue>
  Status start(const WindowLocation& location, const WindowAccess& access, Completion& done,
               Issue&& issue);
  [[nodiscard]] MPI_Request* request_of(MpiOperation& operation) const noexcept;
  [[nodiscard]] MPI_Request* request_of_types(MpiOperation& operation) const noexcept;
  [[nodiscard]] MPI_Request* request_of(MpiOperation& operation, const CopyShape& shape,
                                        std::uint64_t displacement) const noexcept;
  [[nodiscard]] bool overlaps_itself(const WindowLocation& location, const void* local,
                                     const CopyShape& shape) const noexcept;
  Result<Sides> sides_of(const CopyShape& shape, MPI_Datatype element, std::size_t element_bytes);
  Result<Sides> copied_sides_of(const CopyShape& shape, std::uint64_t displacement);
  [[nodiscard]] bool copies_directly(const WindowLocation& location, const CopyShape& shape,
                                     StridedSide::Which written) const;
  [[nodiscard]] static Method method_of(const CopyShape& shape, StridedSide::Which written);
  Result<bool> put_shared(const Target& to, const void* from, std::size_t bytes);
  Result<const ListTypes*> cached_types(Fragments fragments, const AddedType& element);
  [[nodiscard]] bool adds_at_origin(const Window& window, const Scale& scale) const noexcept;
  [[nodiscard]] bool uses_swaps(const Window& window, const Scale& scale) const noexcept;
  [[nodiscard]] bool combines_in_epoch(const Window& window, const Scale& scale) const noexcept;
  [[nodiscard]] Method method_of(Fragments fragments, bool accumulates,
                                 Status (*check_overlap)(Fragments)) const;
  [[nodiscard]] BatchCompleter completer_of(const Epoch& epoch, Method method) const noexcept;
  [[nodiscard]] Effect effect_of(const WindowLocation& location, const Scale& scale,
                                 bool shares_bytes) const noexcept;
  Status finish_now(MpiOperation& operation);
  Status atomic_by_mpi(const WindowLocation& location, const AtomicRequest& request);
  static Status call_atomic(const Run& word, const AtomicRequest& request);
  Status atomic_by_mutex(const WindowLocation& location, const AtomicRequest& request);
  static Status change_word(const WindowLocation& location, const AtomicRequest& request,
                            const Epoch& epoch);
  void keep_target_awake(const Window& window);
  [[nodiscard]] bool is_flush_free(const Window& window) const noexcept {
    return methods_.shares_windows && window.keeps_words();
  }
  Status prepare(const WindowAccess& access);
  Status flush_changes();
  void add_change(const WindowAccess& change);

  std::shared_ptr<World> world_;
  Progress& progress_;
  Datatypes& types_;
  const Methods& methods_;
  WorldRank peer_;
  bool is_own_;  ///< the target is this rank itself
  bool is_mapped_;
  std::mutex mutex_;
  ListCache lists_;           ///< protected by the lock
  UnflushedChanges changes_;  ///< by completed operations
  /// Windows that operations change which may still be under way.
  std::vector<ChangedWindow> started_;
  std::atomic<bool> has_changed_{false};
  /// When this rank last sent the target a message to stay awake.
  std::atomic<Clock::time_point> last_keep_awake_{Clock::time_point()};
};

}  // namespace tessera::rma::mpi
