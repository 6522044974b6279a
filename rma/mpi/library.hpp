// SPDX-License-Identifier: BSD-3-Clause
//
// What is known of the MPI library that runs: its name, its thread level, and its defects.
#pragma once

#include <string>

#include "rma/status.hpp"

namespace tessera::rma::mpi {

enum class Vendor { open_mpi, mpich, other };

struct Library {
  Vendor vendor = Vendor::other;
  int standard = 0;      ///< 31 for MPI-3.1
  int thread_level = 0;  ///< MPI_THREAD_…
  /// MPI_Compare_and_swap in memory by MPI_Win_allocate ends the target (Open MPI 4.1, osc/rdma on
  /// shared memory). Memory by MPI_Win_create is not concerned.
  bool allocated_windows_break = false;

  /// MPI_Compare_and_swap on the own rank in memory by MPI_Win_create ends the process (Open
  /// MPI 4.1, osc/rdma on shared memory).
  bool exposed_windows_break = false;
  /// The 2047th window or communicator ends the process if it is a window (MPICH 4.0).
  bool window_limit_is_fatal = false;
  /// MPI_Rput and MPI_Rget with derived datatypes give requests that are complete too early
  /// (MPICH 4.0, ch4:ucx).
  bool typed_requests_break = false;
  /// MPI_SUM of 8 and 16 bits stays at the largest value in place of wrapping around (Open MPI 4.1,
  /// op/avx).
  bool small_sums_stick = false;

  /// Several threads may call MPI at once.
  [[nodiscard]] bool is_multiple() const noexcept;
  /// Threads may call MPI one after another.
  [[nodiscard]] bool is_serialized() const noexcept;
};

/// Local. Requires: MPI runs.
Library find_library();

/// Local. Errors: unsupported where the process has loaded two MPI libraries; names both.
Status check_single_mpi();

/// Local. "MPI_THREAD_MULTIPLE" and the like.
std::string thread_level_name(int level);

}  // namespace tessera::rma::mpi
