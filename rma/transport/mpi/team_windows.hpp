// SPDX-License-Identifier: BSD-3-Clause
//
// TeamWindows: a team's communicator and the windows that contain its regions.
//
// A large region has a window of its own. Small ones share windows: MPI libraries support few
// (MPICH 4.0 ends the process at the 2047th), and creation takes long. Each member assigns regions
// to windows by itself. All members arrive at the same result, since they make the same requests in
// the same order.
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

#include "rma/base/result.hpp"
#include "rma/engine/remote_locks.hpp"
#include "rma/node/node.hpp"
#include "rma/team.hpp"
#include "rma/transport/mpi/window.hpp"
#include "rma/transport/mpi/world.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::mpi {

/// A window with its memory, and which parts of it are taken.
struct SharedWindow {
  std::unique_ptr<Window> window;
  std::unique_ptr<Segment> memory;    ///< of another transport, if it provides the memory
  bool is_exposed = false;            ///< the memory is not MPI's
  std::byte* base = nullptr;          ///< this rank's part
  DirectMap direct = {};              ///< addresses of other ranks' parts, if they are mapped
  std::uint64_t start = 0;            ///< Window::start() of all members, unless they differ
  std::vector<std::uint64_t> starts;  ///< of each member; empty: they do not differ
  std::vector<bool> taken;            ///< by granule; empty: one region has it all
  std::size_t regions = 0;
  std::size_t spread_bytes = 0;  ///< of this rank's part: the bytes that are spread over all NUMA
                                 ///< nodes

  [[nodiscard]] std::uint64_t start_of(int member) const noexcept {
    return starts.empty() ? start : starts[static_cast<std::size_t>(member)];
  }
};

/// Part of a window, the same on all members.
struct WindowPart {
  SharedWindow* shared = nullptr;
  std::size_t offset = 0;
  std::size_t granules = 0;  ///< 0: the whole window
};

/// Where the memory of a window comes from.
struct MemorySource {
  detail::Node* node = nullptr;
  MemoryTransport* transport = nullptr;  ///< null: from MPI
  bool is_one_machine = true;            ///< all ranks of the job are on one machine

  [[nodiscard]] std::size_t granule_bytes() const noexcept {
    constexpr std::size_t page = 4096;
    return transport == nullptr ? page : static_cast<std::size_t>(detail::granule_bytes);
  }
};

class TeamWindows {
 public:
  /// The same on all members.
  struct Terms {
    std::uint64_t number;  ///< unique among the job's teams
    EpochMode epoch_mode;
    bool keeps_one;  ///< an empty window stays for the next region, if all ranks are members
  };
  /// Collective on `team`. Errors: those of MPI, agreed.
  static Result<std::unique_ptr<TeamWindows>> create(std::shared_ptr<World> world, Team& team,
                                                     const Terms& terms);
  ~TeamWindows() = default;
  TeamWindows(const TeamWindows&) = delete;
  TeamWindows& operator=(const TeamWindows&) = delete;

  [[nodiscard]] std::uint64_t number() const noexcept { return terms_.number; }
  [[nodiscard]] bool keeps_one() const noexcept { return is_world_ && terms_.keeps_one; }
  /// Locks of the team's regions, if windows are locked for each operation.
  [[nodiscard]] std::unique_ptr<detail::RemoteLocks>& mutexes() noexcept { return mutexes_; }
  [[nodiscard]] bool is_empty() const noexcept { return windows_.empty(); }

  /// Collective. Zeroed memory for slices of `sizes`, by team rank. Errors: no_memory, unsupported,
  /// unreachable; agreed, and nothing is taken then.
  Result<WindowPart> take(Team& team, const std::vector<std::uint64_t>& sizes,
                          const RegionOptions& options, const MemorySource& source);
  /// Collective. A window over existing memory of the members.
  Result<WindowPart> expose(Team& team, std::byte* memory, std::size_t bytes,
                            std::unique_ptr<Segment> segment, AccessMode mode);
  /// Collective. Frees the part.
  Status free_part(const WindowPart& part, const MemorySource& source);

  /// Collective. Destroys the remaining windows, and the communicator.
  void close() noexcept;

 private:
  TeamWindows(std::shared_ptr<World> world, const Terms& terms) noexcept
      : world_(std::move(world)), terms_(terms) {}
  Status make_communicator(const Team& team);
  Result<WindowPart> take_small(Team& team, std::size_t bytes, std::size_t own_bytes,
                                const MemorySource& source);
  Result<WindowPart> find_room(std::size_t granules) noexcept;
  Status add_shared_window(Team& team, const MemorySource& source);
  Result<SharedWindow*> make(Team& team, const std::vector<std::uint64_t>& sizes,
                             const RegionOptions& options, const MemorySource& source);
  Status add_window(Team& team, SharedWindow made, std::size_t bytes, AccessMode mode);
  static Status exchange_starts(Team& team, const Window& window, SharedWindow& made);
  Status remove(SharedWindow* shared);

  std::shared_ptr<World> world_;
  Terms terms_;
  WindowGroup group_;
  bool is_world_ = false;  ///< the communicator is the job's, and is not freed
  std::unique_ptr<detail::RemoteLocks> mutexes_;
  std::list<SharedWindow> windows_;
  std::list<SharedWindow> failed_;  ///< made here, but not on all members
};

}  // namespace tessera::rma::mpi
