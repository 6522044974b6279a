// SPDX-License-Identifier: BSD-3-Clause
//
// Workspace: the distributed intermediates of one evaluation of the CCSD equations (equations.hpp
// has the formulas), made once and used by every iteration.
//
// shapes() lists what will be made: the memory plan uses it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/ccsd/orbital_space.hpp"
#include "apps/ccsd/row_matrix.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

struct Shape {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

struct Workspace {
  // Ring layout. Constant: integrals in the forms that the ring products need.
  RowMatrix v;          ///< (ia|jb)
  RowMatrix v_swapped;  ///< (ja|ib)
  RowMatrix l;          ///< 2 (ia|jb) − (ja|ib)
  // Ring layout, of each iteration.
  RowMatrix t_swapped;  ///< t_ji^ab
  RowMatrix u;          ///< 2 t_ij^ab − t_ji^ab
  RowMatrix m;          ///< M_ik^ac
  RowMatrix n;          ///< N_ik^ac
  RowMatrix x;          ///< the part of the residual that is not yet symmetrised
  RowMatrix scratch_a;
  RowMatrix scratch_b;
  // Pair layout.
  RowMatrix tau;         ///< t_ij^ab + t_i^a t_j^b
  RowMatrix x_pair;      ///< as x
  RowMatrix tau_folded;  ///< rows i ≥ j: sums over c ≥ d, then differences over c > d
  RowMatrix ladder;      ///< rows i ≥ j: sums for a ≥ b, then differences for a ≥ b
  // Others.
  RowMatrix h;             ///< [kl,ij]: H_kl^ij
  RowMatrix h_half;        ///< [kl,ij]: Σ_d ⟨kl|id⟩ t_j^d
  RowMatrix ooov_dressed;  ///< [kl,ic]: ⟨kl|ic⟩ + Σ_d t_i^d ⟨kl|dc⟩
  RowMatrix vo_dressing;   ///< [jb,ki]: Σ_c (jb|kc) t_i^c
  RowMatrix vv_dressing;   ///< [kb,ij]: Σ_d ⟨kb|id⟩ t_j^d
  RowMatrix z;             ///< [ij,kb]: Z_ij^kb

  /// The matrices that create() makes, in this order.
  static std::vector<Shape> shapes(const OrbitalSpace& space);
  /// Collective.
  static rma::Result<Workspace> create(const rma::Job& job, const OrbitalSpace& space);
};

/// The matrices that Integrals::create() makes.
std::vector<Shape> integral_shapes(const OrbitalSpace& space);

}  // namespace tessera::apps::ccsd
