// SPDX-License-Identifier: BSD-3-Clause
//
// ReferenceState: the Hartree–Fock determinant that CCSD starts from: its energy, and the energies
// of its orbitals, computed from the integrals.
//
//     f_pq = h_pq + Σ_k [2 (pq|kk) − (pk|qk)],   E = E_core + Σ_k (h_kk + f_kk)
//
// where k are the doubly occupied orbitals, frozen ones too. Orbitals must be canonical, f_pq = 0
// for p ≠ q: the perturbation theories here (MP2, (T)) know no other.
//
// FockCollector is shown all integrals on each rank, as IntegralCollector is, and keeps what a
// share of the pairs pq needs: O N²/ranks elements.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/ccsd/integrals.hpp"
#include "apps/ccsd/orbital_space.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

struct ReferenceState {
  double energy = 0.0;
  std::vector<double> orbital_energies;  ///< of all orbitals, frozen ones too
};

/// Local. The place of each orbital of a file in OrbitalSpace, which has the frozen ones first:
/// those of the lowest energies among the occupied ones. Otherwise they stay in the order of the
/// file. None where all are in their places already.
std::vector<std::int64_t> places_of_orbitals(const OrbitalSpace& space,
                                             const std::vector<double>& energies);

class FockCollector {
 public:
  FockCollector(const rma::Job& job, const OrbitalSpace& space);

  /// Local. Errors: invalid_argument for an integral that was given with another value before.
  rma::Status add_two_electron(const TwoElectron& integral, double value);
  rma::Status add_one_electron(std::int64_t p, std::int64_t q, double value);
  rma::Status add_core_energy(double value);

  /// Collective. Errors: invalid_argument for orbitals that are not canonical, or when an occupied
  /// one lies above a virtual one.
  rma::Result<ReferenceState> finish(rma::Team& team);

 private:
  [[nodiscard]] bool holds(std::int64_t pair) const noexcept {
    return pair >= first_pair_ && pair < last_pair_;
  }
  [[nodiscard]] std::size_t place(std::int64_t pair, std::int64_t k) const noexcept {
    return static_cast<std::size_t>((pair - first_pair_) * space_.doubly_occupied() + k);
  }
  rma::Status check(const std::vector<double>& fock, const ReferenceState& state) const;

  OrbitalSpace space_;
  std::int64_t first_pair_ = 0;
  std::int64_t last_pair_ = 0;
  double core_energy_;
  std::vector<double> one_electron_;  // h_pq of own pairs
  std::vector<double> coulomb_;       // (pq|kk) of own pairs
  std::vector<double> exchange_;      // (pk|qk) of own pairs
};

}  // namespace tessera::apps::ccsd
