// SPDX-License-Identifier: BSD-3-Clause
//
// MpiSession: MPI for the floors, and a Crew of its ranks. This header includes no <mpi.h>.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/support/crew.hpp"

namespace tessera::bench {

class MpiSession {
 public:
  /// Collective. Ends MPI if start_mpi() began it. What uses MPI (floors!) must be gone by then.
  virtual ~MpiSession() = default;

  /// All ranks of MPI_COMM_WORLD.
  [[nodiscard]] virtual Crew& crew() = 0;
  /// "Open MPI v4.1.4, …"
  [[nodiscard]] virtual std::string version() const = 0;
};

/// Which threads of a process call MPI.
enum class MpiCallers : std::uint8_t {
  one_thread,   ///< the floors
  all_threads,  ///< Tessera's, too: its transport mpi
};

/// Collective. Starts MPI, or joins in when the program has started it. Null when MPI isn't built
/// in, or when no MPI launcher started this process and nobody has started MPI yet: each process
/// would then be a world of its own. For `all_threads` it starts MPI as Tessera would by itself.
std::unique_ptr<MpiSession> start_mpi(MpiCallers callers = MpiCallers::one_thread);

}  // namespace tessera::bench
