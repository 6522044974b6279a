// SPDX-License-Identifier: BSD-3-Clause
//
// Method: who does the work of factorisations, solvers and eigenvalues.
//
//     scalapack    the library ScaLAPACK, on a grid of ranks. It speaks MPI: so the job has to be
//                  started through MPI with all processes of MPI_COMM_WORLD, and the array's team
//                  has to be all of its ranks.
//     own          code of ours that needs no MPI: any job, any team. A rank has whole columns of
//                  the matrix (docs/decisions/0020), which suits tens of ranks, not thousands.
//     automatic    ScaLAPACK where it is possible, else our own.
//
// Either works on a copy of its operands in a layout of its own, and brings the result back; an
// array that has the layout already is worked on in place. For ScaLAPACK these are arrays made with
// Distribution::scalapack with square blocks and column-major order, for our own those on a grid of
// one row of ranks whose blocks have all rows; or, where the array's dimensions are the matrix's
// columns and rows (MatrixDims), the reverse of either, as Fortran makes them.
//
// Eigenvalues are ScaLAPACK's syev and syevd; ELPA is not used. Without ScaLAPACK one member solves
// such a problem alone (eigen.hpp tells how large it may be).
#pragma once

#include <cstdint>
#include <string_view>

#include "linalg/blas.hpp"
#include "rma/job.hpp"
#include "rma/status.hpp"
#include "rma/team.hpp"

namespace tessera::linalg {

using blas::Diagonal;
using blas::Side;
using blas::Triangle;

enum class Method : std::uint8_t { automatic, own, scalapack };

std::string_view to_string(Method method) noexcept;

struct MethodOptions {
  Method method = Method::automatic;
  std::int64_t block = 0;  ///< columns that are worked on at a time, in copies; 0: by size
};

/// Local. Success where arrays on this team can be given to ScaLAPACK. Errors: unsupported, with
/// the reason and what would change that. The same on all members.
rma::Status check_scalapack(const rma::Job& job, const rma::Team& team);

}  // namespace tessera::linalg
