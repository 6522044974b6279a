// SPDX-License-Identifier: BSD-3-Clause
//
// CcsdEquations: the closed-shell CCSD residual by a T1-dressed Hamiltonian.
//
// With i j k l occupied, a b c d virtual, spatial orbitals, (pq|rs) real, and P x_ij^ab = x_ij^ab +
// x_ji^ba, the equations are those of Koch, Christiansen, Kobayashi, Jørgensen and Helgaker, Chem.
// Phys. Lett. 228, 233 (1994); also Helgaker, Jørgensen and Olsen, Molecular Electronic-Structure
// Theory, §13.7. Integrals with a tilde are dressed: in each of them a becomes a − Σ_k t_k^a k
// where a creates, and i becomes i + Σ_c t_i^c c where i annihilates. F̃ is the dressed Fock
// matrix, u_ij^ab = 2 t_ij^ab − t_ji^ab, τ_ij^ab = t_ij^ab + t_i^a t_j^b, L(pq|rs) = 2 (pq|rs) −
// (ps|rq).
//
//   singles  R_i^a  = F̃_ai + Σ u_ik^ac F̃_kc + Σ u_ki^cd (ad~|kc) − Σ u_kl^ac (ki~|lc);
//   doubles  R_ij^ab = (ia|jb) + Σ τ_ij^cd (ac|bd) + Σ H_kl^ij τ_kl^ab + P X_ij^ab;
//            X_ij^ab = Σ_c t_i^c (ac|bj) − Σ_k t_k^a Z_ij^kb
//                      − ½ S_ij^ab − S_ji^ab + ½ Σ N_ik^ac u_kj^cb
//                      + Σ_c t_ij^ac F_bc − Σ_k t_ik^ab F_kj;
//   H_kl^ij = (ki~|lj~) + Σ t_ij^cd (kc|ld);
//   Z_ij^kb = (ki~|bj~), where b is not dressed;
//   S_ij^ab = Σ M_ik^ac t_jk^cb,           M_ik^ac = (ki~|a~c) − ½ Σ t_li^ad (kd|lc);
//   N_ik^ac = L(a~i~|kc) + ½ Σ u_il^ad L(ld|kc);
//   F_bc = F̃_bc − Σ u_kl^bd (ld|kc),       F_kj = F̃_kj + Σ u_lj^cd (kd|lc)
//
// (ac|bd) is undressed here: H and Z contain what dressing it would add. It is stored folded, as
// sums and differences over c and d, which halves the work twice (ladder; Scuseria et al., J. Chem.
// Phys. 86, 2881 (1987)).
//
// t1 and the one-electron quantities, O², O V and V² elements, are on all ranks; everything else is
// distributed. The products of two large matrices are lists for the ContractionEngine. Each rank
// does the rest on its own rows.
//
// Threads: one. Errors of all functions: those of any rank, on all.
#pragma once

#include <string>
#include <vector>

#include "apps/ccsd/contraction.hpp"
#include "apps/ccsd/integrals.hpp"
#include "apps/ccsd/orbital_space.hpp"
#include "apps/ccsd/row_matrix.hpp"
#include "apps/ccsd/workspace.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

/// The undressed Fock matrix of the correlated orbitals, with its diagonal; on all ranks.
struct FockBlocks {
  std::vector<double> oo;  ///< f_ij at i·O + j
  std::vector<double> ov;  ///< f_ia at i·V + a
  std::vector<double> vv;  ///< f_ab at a·V + b
};

/// The correlated orbitals, their energies, and the part of the Fock matrix that is not these
/// energies. Denominators and the perturbation theories (MP2, (T)) use only the energies.
struct Model {
  OrbitalSpace space;
  std::vector<double> occupied_energies;
  std::vector<double> virtual_energies;
  FockBlocks fock;

  /// For a diagonal Fock matrix, from the energies of all orbitals, frozen ones too.
  static Model create(const OrbitalSpace& space, const std::vector<double>& orbital_energies);
  /// From the Fock matrix of all orbitals: f_pq, p ≥ q, at pair_index(p, q).
  static Model of_fock(const OrbitalSpace& space, const std::vector<double>& fock);
};

struct Amplitudes {
  std::vector<double> t1;  ///< t_i^a at i·V + a, the same on all ranks
  RowMatrix t2;            ///< ring layout

  /// Collective. Makes amplitudes of zero.
  static rma::Result<Amplitudes> create(const rma::Job& job, const OrbitalSpace& space,
                                        const std::string& name);
};

/// One-electron quantities; on all ranks.
struct OneBody {
  std::vector<double> f_oo;  ///< F̃_ki at k·O + i
  std::vector<double> f_ov;  ///< F̃_kc at k·V + c
  std::vector<double> f_vv;  ///< F̃_ac at a·V + c
  std::vector<double> f_vo;  ///< F̃_ai at i·V + a
  std::vector<double> x_oo;  ///< Σ u_lj^cd (kd|lc) at k·O + j
  std::vector<double> x_vv;  ///< Σ u_kl^bd (ld|kc) at b·V + c
};

class CcsdEquations {
 public:
  /// Collective. Requires: the arguments outlive the equations.
  static rma::Result<CcsdEquations> create(const Model& model, Integrals& integrals,
                                           Workspace& workspace, ContractionEngine& engine);

  /// Collective. The first amplitudes, t_ij^ab = (ia|jb) / (ε_i + ε_j − ε_a − ε_b) and t_i^a = 0.
  rma::Status guess(Amplitudes& amplitudes);

  /// Collective. 2 Σ f_ia t_i^a + Σ (2 (ia|jb) − (ja|ib)) τ_ij^ab; for the guess it is the energy
  /// of MP2.
  rma::Result<double> energy(Amplitudes& amplitudes);

  /// Collective. Writes to `step` the residual divided by differences of orbital energies: the step
  /// of Jacobi's iteration.
  rma::Status step(Amplitudes& amplitudes, Amplitudes& step);

 private:
  CcsdEquations(const Model& model, Integrals& integrals, Workspace& workspace,
                ContractionEngine& engine)
      : model_(model), integrals_(integrals), work_(workspace), engine_(engine) {}

  rma::Status prepare_constants();
  // In the order of calls; each uses results of those before it.
  rma::Status form_amplitudes(Amplitudes& amplitudes);
  rma::Status fold_tau();
  rma::Status dress_ooov(const std::vector<double>& t1);
  rma::Status form_ring_dressing(const std::vector<double>& t1);
  rma::Status begin_rings(const std::vector<double>& t1);
  rma::Status begin_h();
  rma::Status begin_z();
  rma::Status contract_amplitudes();
  rma::Status contract_intermediates();
  rma::Status finish_x_pair(const std::vector<double>& t1);
  rma::Status finish_x(Amplitudes& amplitudes, const OneBody& one_body);
  rma::Status finish_doubles(Amplitudes& step);

  rma::Result<OneBody> form_one_body(const std::vector<double>& t1);
  rma::Result<std::vector<double>> singles(const std::vector<double>& t1, const OneBody& one_body);
  rma::Status add_fock_sums(const std::vector<double>& t1, OneBody& sums);
  rma::Status add_amplitude_sums(const std::vector<double>& t1, OneBody& sums);
  rma::Status add_ovvv_singles(const std::vector<double>& t1, std::vector<double>& r1);
  rma::Status add_row_singles(const std::vector<double>& t1, const OneBody& one_body,
                              std::vector<double>& r1);

  [[nodiscard]] std::int64_t o() const noexcept { return model_.space.occupied; }
  [[nodiscard]] std::int64_t v() const noexcept { return model_.space.virtuals; }
  [[nodiscard]] rma::Team& team() const noexcept { return work_.x.team(); }

  const Model& model_;
  Integrals& integrals_;
  Workspace& work_;
  ContractionEngine& engine_;
};

/// Local. Divides rows in ring layout by ε_i + ε_j − ε_a − ε_b.
void divide_by_energies(const Model& model, const OwnRows& rows);

/// Local. u_kl^cd of one pair kl from its row of τ, where `t_k` and `t_l` are rows of t1.
void closed_shell_row(const double* tau, const double* t_k, const double* t_l, std::int64_t v,
                      double* u);

}  // namespace tessera::apps::ccsd
