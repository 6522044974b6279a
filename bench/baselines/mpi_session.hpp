// SPDX-License-Identifier: BSD-3-Clause
//
// MpiSession: MPI for the baselines, and a rank group of its ranks. This header does not include
// <mpi.h>.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/support/rank_group.hpp"

namespace tessera::bench {

class MpiSession {
 public:
  /// Collective. Ends MPI if start_mpi() began it. All users of MPI, such as baselines, must be
  /// destroyed before.
  virtual ~MpiSession() = default;

  /// All ranks of MPI_COMM_WORLD.
  [[nodiscard]] virtual RankGroup& group() = 0;
  /// "Open MPI v4.1.4, …"
  [[nodiscard]] virtual std::string version() const = 0;
};

/// Which threads of a process call MPI.
enum class MpiCallers : std::uint8_t {
  one_thread,   ///< the baselines
  all_threads,  ///< Tessera's threads, too: its transport mpi
};

/// Collective. Starts MPI, or uses it if the program has started it. Null if this build has no MPI,
/// or if MPI isn't running and no MPI launcher started this process: each process would then be its
/// own world. With `all_threads`, starts MPI as Tessera itself would.
std::unique_ptr<MpiSession> start_mpi(MpiCallers callers = MpiCallers::one_thread);

}  // namespace tessera::bench
