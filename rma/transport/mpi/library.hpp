// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of the loaded MPI library: its name, its thread level, and its defects.
#pragma once

#include <string>

#include "rma/base/status.hpp"

namespace tessera::rma::mpi {

enum class Vendor { open_mpi, mpich, other };

struct Library {
  Vendor vendor = Vendor::other;
  int standard = 0;      ///< 31 for MPI-3.1
  int thread_level = 0;  ///< MPI_THREAD_…
  /// MPI_Compare_and_swap in memory of MPI_Win_allocate crashes the target (Open MPI 4.1, osc/rdma
  /// on shared memory). Memory of MPI_Win_create is not affected.
  bool allocated_windows_break = false;

  /// MPI_Compare_and_swap on the calling rank itself, in memory of MPI_Win_create, crashes the
  /// process (Open MPI 4.1, osc/rdma on shared memory).
  bool exposed_windows_break = false;
  /// If the 2047th window or communicator is a window, it ends the process (MPICH 4.0).
  bool window_limit_is_fatal = false;
  /// MPI_Rput and MPI_Rget with derived datatypes return requests that complete too early (MPICH
  /// 4.0, ch4:ucx).
  bool typed_requests_break = false;
  /// MPI_SUM of 8 and 16 bits saturates instead of wrapping around (Open MPI 4.1, op/avx).
  bool small_sums_saturate = false;
  /// MPI_MIN and MPI_MAX compare unsigned integers as signed ones (MPICH before 4.1, issue 6083).
  bool unsigned_compares_as_signed = false;

  /// Several threads may call MPI at once.
  [[nodiscard]] bool is_multiple() const noexcept;
  /// Threads may call MPI one after another.
  [[nodiscard]] bool is_serialized() const noexcept;
};

/// Local. Requires: MPI runs.
Library find_library();

/// Local. Errors: unsupported if the process has loaded two MPI libraries; names both.
Status check_single_mpi();

/// Local. For example "MPI_THREAD_MULTIPLE".
std::string thread_level_name(int level);

}  // namespace tessera::rma::mpi
