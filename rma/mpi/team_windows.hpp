// SPDX-License-Identifier: BSD-3-Clause
//
// TeamWindows: a team's communicator and its windows, which its regions lie in.
//
// A large region has a window of its own. Small ones share windows: MPI libraries have few of them
// (MPICH 4.0 ends the process at the 2047th), and making one takes long. Who shares is decided by
// each member for itself; all decide the same, since they ask for the same in the same order.
//
//     window   [ region | region |   free   | region |  …  ]     at the same offset on all members
//
// Threads: one at a time, as the team's collectives.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "rma/engine/remote_locks.hpp"
#include "rma/mpi/window.hpp"
#include "rma/mpi/world.hpp"
#include "rma/node/node.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"
#include "rma/transport.hpp"

namespace tessera::rma::mpi {

/// A window with the memory in it, and which parts of it are taken.
struct SharedWindow {
  std::unique_ptr<Window> window;
  std::unique_ptr<Segment> memory;  ///< of another transport, if it is that
  bool is_exposed = false;          ///< the memory is not MPI's
  std::byte* base = nullptr;        ///< this rank's part
  std::size_t shift = 0;            ///< from where MPI's part begins to `base`, on all members
  DirectMap direct = {};            ///< where other ranks' parts are mapped, if they are
  std::vector<bool> taken;          ///< by granule; empty: one region has it all
  std::size_t regions = 0;
  std::size_t spread_bytes = 0;  ///< of this rank's part, on all NUMA nodes
};

/// Part of a window, the same on all members.
struct WindowPart {
  SharedWindow* shared = nullptr;
  std::size_t offset = 0;
  std::size_t granules = 0;  ///< 0: it is all of the window
};

/// What memory of a window is made of.
struct MemorySource {
  detail::Node* node = nullptr;
  Transport* transport = nullptr;  ///< null: MPI gives it
  bool is_one_machine = true;      ///< all ranks of the job are on one

  [[nodiscard]] std::size_t granule_bytes() const noexcept {
    constexpr std::size_t page = 4096;
    return transport == nullptr ? page : static_cast<std::size_t>(detail::granule_bytes);
  }
};

class TeamWindows {
 public:
  /// Collective on `team`. `number` is the same on all members, and no other team of the job has
  /// it. Errors: what MPI says, agreed.
  static Result<std::unique_ptr<TeamWindows>> create(std::shared_ptr<World> world, Team& team,
                                                     std::uint64_t number, Discipline discipline);
  ~TeamWindows() = default;
  TeamWindows(const TeamWindows&) = delete;
  TeamWindows& operator=(const TeamWindows&) = delete;

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// Those of the team's regions, where windows are by epochs.
  [[nodiscard]] std::unique_ptr<detail::RemoteLocks>& mutexes() noexcept { return mutexes_; }
  [[nodiscard]] bool is_empty() const noexcept { return windows_.empty(); }

  /// Collective. Zeroed memory for slices of `sizes`, by team rank.
  /// Errors: no_memory, unsupported, unreachable; agreed, and nothing is taken then.
  Result<WindowPart> take(Team& team, const std::vector<std::uint64_t>& sizes,
                          const RegionOptions& options, const MemorySource& source);
  /// Collective. A window over memory that members have.
  Result<WindowPart> expose(Team& team, std::byte* memory, std::size_t bytes,
                            std::unique_ptr<Segment> keeper);
  /// Collective. Gives it back.
  Status give_back(const WindowPart& part, const MemorySource& source);

  /// Collective. Ends all windows that are left, and the communicator.
  void close() noexcept;

 private:
  TeamWindows(std::shared_ptr<World> world, std::uint64_t number, Discipline discipline) noexcept
      : world_(std::move(world)), number_(number), discipline_(discipline) {}
  Status make_communicator(const Team& team);
  Result<WindowPart> take_small(Team& team, std::size_t bytes, std::size_t mine,
                                const MemorySource& source);
  Result<WindowPart> find_room(std::size_t granules) noexcept;
  Status make_shared(Team& team, const MemorySource& source);
  Result<SharedWindow*> make(Team& team, const std::vector<std::uint64_t>& sizes,
                             const RegionOptions& options, const MemorySource& source);
  Status add_window(Team& team, SharedWindow made, std::size_t bytes);
  Status remove(SharedWindow* shared);

  std::shared_ptr<World> world_;
  std::uint64_t number_;
  Discipline discipline_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  bool is_world_ = false;  ///< the communicator is the job's, and stays
  std::unique_ptr<detail::RemoteLocks> mutexes_;
  std::list<SharedWindow> windows_;
  std::list<SharedWindow> failed_;  ///< made here, and not on all members
};

}  // namespace tessera::rma::mpi
