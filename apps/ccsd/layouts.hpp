// SPDX-License-Identifier: BSD-3-Clause
//
// The two layouts of quantities with two occupied and two virtual indices, and their exchange.
//
//     pair   x_ij^ab in row ij and column ab: products over cd or kl
//     ring   x_ij^ab in row ia and column jb: products over kc
//
// All are collective; each rank fetches the elements of its own rows of `out`. Complete: at return
// all members see all of `out`. Errors: those of any rank, on all; then `out` is unspecified.
#pragma once

#include "apps/ccsd/orbital_space.hpp"
#include "apps/ccsd/row_matrix.hpp"

namespace tessera::apps::ccsd {

/// Collective. out[ij,ab] = in[ia,jb].
rma::Status to_pair(RowMatrix& in, RowMatrix& out, const OrbitalSpace& space);
/// Collective. out[ia,jb] = in[ij,ab].
rma::Status to_ring(RowMatrix& in, RowMatrix& out, const OrbitalSpace& space);
/// Collective. out[ia,jb] = in[ja,ib], both ring.
rma::Status swap_occupied(RowMatrix& in, RowMatrix& out, const OrbitalSpace& space);
/// Collective. out[r,c] = in[c,r].
rma::Status transpose(RowMatrix& in, RowMatrix& out);

}  // namespace tessera::apps::ccsd
