// SPDX-License-Identifier: BSD-3-Clause
//
// ReferenceState: the Hartree–Fock determinant that CCSD starts from: its energy, and the energies
// of its orbitals, computed from the integrals.
//
//     f_pq = h_pq + Σ_k [2 (pq|kk) − (pk|qk)],   E = E_core + Σ_k (h_kk + f_kk)
//
// where k are the doubly occupied orbitals, frozen ones too. Orbitals must be canonical, f_pq = 0
// for p ≠ q but for what a self-consistent field leaves: the perturbation theories here (MP2, (T))
// know no other. CCSD is told all of f_pq.
//
// FockCollector is shown all integrals on each rank, as IntegralCollector is, and keeps what a
// share of the pairs pq needs: O N²/ranks elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/ccsd/integrals.hpp"
#include "apps/ccsd/orbital_space.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

struct ReferenceState {
  double energy = 0.0;
  std::vector<double> fock;              ///< f_pq, p ≥ q, at pair_index(p, q)
  std::vector<double> orbital_energies;  ///< f_pp of all orbitals, frozen ones too
};

/// Local. The place of each orbital of a file where the occupied ones, those of the lowest energies
/// that it tells, are to be the first; otherwise they stay in the order of the file. None where
/// they are the first, or where the energies don't tell: one is NaN, or there is no gap.
std::vector<std::int64_t> places_of_occupied(const OrbitalSpace& space,
                                             const std::vector<double>& told);
/// Local. The same by a list of the occupied ones, from 0 and in their order; none if it is empty.
std::vector<std::int64_t> places_by_list(const OrbitalSpace& space,
                                         const std::vector<std::int64_t>& occupied);

/// Which orbitals of a file are the occupied ones.
struct Occupation {
  enum class Source : std::uint8_t { order, energies, header };
  std::vector<std::int64_t> places = {};  ///< of the orbitals; none: the order of the file
  Source source = Source::order;
};

/// Local. The place of each orbital of a file in OrbitalSpace, which has the frozen ones first:
/// those of the lowest energies among the occupied ones. Otherwise they stay in the order of the
/// file. None where all are in their places already.
std::vector<std::int64_t> places_of_orbitals(const OrbitalSpace& space,
                                             const std::vector<double>& energies);

class FockCollector {
 public:
  /// Local. Orbital p of what is added is the places[p]-th of `space`, or the p-th if there are no
  /// places.
  FockCollector(const rma::Job& job, const OrbitalSpace& space, Occupation occupation = {});

  /// Local. Errors: invalid_argument for an integral that was given with another value before.
  rma::Status add_two_electron(const TwoElectron& integral, double value);
  rma::Status add_one_electron(std::int64_t p, std::int64_t q, double value);
  rma::Status add_core_energy(double value);

  /// Collective. Errors: invalid_argument for orbitals that are not canonical, which names the
  /// largest element that should be zero, or when an occupied one lies above a virtual one.
  rma::Result<ReferenceState> finish(rma::Team& team);

 private:
  [[nodiscard]] std::int64_t place_of(std::int64_t orbital) const noexcept {
    return places_.empty() ? orbital : places_[static_cast<std::size_t>(orbital)];
  }
  /// The number in the file, from 1, of the orbital at a place.
  [[nodiscard]] std::int64_t number_at(std::int64_t place) const;
  [[nodiscard]] std::string occupied_ones() const;
  [[nodiscard]] bool holds(std::int64_t pair) const noexcept {
    return pair >= first_pair_ && pair < last_pair_;
  }
  [[nodiscard]] std::size_t place(std::int64_t pair, std::int64_t k) const noexcept {
    return static_cast<std::size_t>((pair - first_pair_) * space_.doubly_occupied() + k);
  }
  [[nodiscard]] rma::Status check_canonical(const std::vector<double>& fock) const;
  [[nodiscard]] rma::Status check_order(const std::vector<double>& energies) const;

  OrbitalSpace space_;
  std::vector<std::int64_t> places_;
  Occupation::Source source_;
  std::int64_t first_pair_ = 0;
  std::int64_t last_pair_ = 0;
  double core_energy_;
  std::vector<double> one_electron_;  // h_pq of own pairs
  std::vector<double> coulomb_;       // (pq|kk) of own pairs
  std::vector<double> exchange_;      // (pk|qk) of own pairs
};

}  // namespace tessera::apps::ccsd
