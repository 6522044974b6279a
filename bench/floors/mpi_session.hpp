// SPDX-License-Identifier: BSD-3-Clause
//
// MpiSession: MPI for the floors, and a Crew of its ranks. This header includes no <mpi.h>.
#pragma once

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

/// Collective. Starts MPI, or joins in when the program has started it. Null when MPI isn't built
/// in, or when no MPI launcher started this process and nobody has started MPI yet: each process
/// would then be a world of its own.
std::unique_ptr<MpiSession> start_mpi();

}  // namespace tessera::bench
