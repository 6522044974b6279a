// SPDX-License-Identifier: BSD-3-Clause
//
// Method: the implementation of factorisations, solvers and eigenvalues.
//
//     scalapack    the library ScaLAPACK, on a grid of ranks. It uses MPI: the job must be started
//                  through MPI with all processes of MPI_COMM_WORLD, and the array's team must have
//                  all ranks of the job.
//     own          Tessera's implementation, which needs no MPI: any job, any team. Each rank has
//                  whole columns of the matrix (docs/decisions/0020), which suits tens of ranks,
//                  not thousands.
//     automatic    ScaLAPACK if it can be used, else Tessera's implementation.
//
// Both work on a copy of their operands in their own layout, and copy the result back; an array
// that has the layout already is used in place. For ScaLAPACK this layout is that of
// Distribution::scalapack with square blocks and column-major order. For Tessera's implementation
// it is a grid of one row of ranks with blocks that have all rows. If the array's dimensions are
// the matrix's columns and rows (MatrixDims), it is the reverse of either, as Fortran makes them.
//
// Eigenvalues are computed with ScaLAPACK's syev and syevd; ELPA is not used. Without ScaLAPACK one
// member solves the whole problem (eigen.hpp gives the limit of its size).
#pragma once

#include <cstdint>
#include <string_view>

#include "linalg/blas.hpp"
#include "rma/base/status.hpp"
#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::linalg {

using blas::Diagonal;
using blas::Side;
using blas::Triangle;

/// See above.
enum class Method : std::uint8_t { automatic, own, scalapack };

std::string_view to_string(Method method) noexcept;

/// The method, the width of its blocks, and a place for LAPACK's info.
struct MethodOptions {
  Method method = Method::automatic;
  std::int64_t block = 0;  ///< columns in a block, in copies; 0: chosen by size
  /// If not null, set on each member that gives it: to 0 at the beginning, and to LAPACK's info if
  /// the operation fails for a matrix. That is the order of the first leading part that is not
  /// positive definite, or 1 + the first column without a pivot. The same on all members.
  std::int64_t* info = nullptr;
};

/// Local. Ok if arrays on this team can be given to ScaLAPACK. Errors: unsupported, with the reason
/// and what would change it. The same on all members.
rma::Status check_scalapack(const rma::Job& job, const rma::Team& team);

}  // namespace tessera::linalg
