// SPDX-License-Identifier: BSD-3-Clause
//
// ReferenceState: the Hartree–Fock determinant from which CCSD starts: its energy, and the energies
// of its orbitals, computed from the integrals.
//
//     f_pq = h_pq + Σ_k [2 (pq|kk) − (pk|qk)],   E = E_core + Σ_k (h_kk + f_kk)
//
// where k are the doubly occupied orbitals, frozen ones too. Orbitals must be canonical: f_pq = 0
// for p ≠ q, within the accuracy of a self-consistent field calculation, because the perturbation
// theories here (MP2, (T)) need that. CCSD uses all of f_pq.
//
// FockCollector gets all integrals on each rank, like IntegralCollector, and keeps those for a
// share of the pairs pq: O N²/ranks elements.
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

/// Local. The new number of each orbital of a file, so that the occupied ones, those with the
/// lowest energies in the file, come first; the others stay in the order of the file. Empty if they
/// are the first, or if the energies do not decide: one is NaN, or there is no gap.
std::vector<std::int64_t> order_by_occupation(const OrbitalSpace& space,
                                              const std::vector<double>& energies);
/// Local. The same for a list of the occupied ones, from 0 and in their order; empty for an empty
/// list.
std::vector<std::int64_t> order_by_list(const OrbitalSpace& space,
                                        const std::vector<std::int64_t>& occupied);

/// Which orbitals of a file are the occupied ones.
struct Occupation {
  enum class Source : std::uint8_t { order, energies, header };
  std::vector<std::int64_t> order = {};  ///< new numbers of the orbitals; empty: the file's order
  Source source = Source::order;
};

/// Local. The number in OrbitalSpace of each orbital of a file. The frozen ones are the first:
/// those with the lowest energies among the occupied ones. The others stay in the order of the
/// file. Empty if the order is already right.
std::vector<std::int64_t> order_of_orbitals(const OrbitalSpace& space,
                                            const std::vector<double>& energies);

class FockCollector {
 public:
  /// Local. Orbital p of added integrals is the order[p]-th of `space`, or the p-th if `order` is
  /// empty.
  FockCollector(const rma::Job& job, const OrbitalSpace& space, Occupation occupation = {});

  /// Local. Errors: invalid_argument for an integral that was added before with another value.
  rma::Status add_two_electron(const TwoElectron& integral, double value);
  rma::Status add_one_electron(std::int64_t p, std::int64_t q, double value);
  rma::Status add_core_energy(double value);

  /// Collective. Errors: invalid_argument for orbitals that are not canonical, with the largest
  /// element that should be zero; or if an occupied orbital has a higher energy than a virtual one.
  rma::Result<ReferenceState> finish(rma::Team& team);

 private:
  [[nodiscard]] std::int64_t new_number(std::int64_t orbital) const noexcept {
    return order_.empty() ? orbital : order_[static_cast<std::size_t>(orbital)];
  }
  /// The number in the file, from 1, of an orbital of the space.
  [[nodiscard]] std::int64_t file_number(std::int64_t index) const;
  [[nodiscard]] std::string occupied_ones() const;
  [[nodiscard]] bool holds(std::int64_t pair) const noexcept {
    return pair >= first_pair_ && pair < last_pair_;
  }
  [[nodiscard]] std::size_t index(std::int64_t pair, std::int64_t k) const noexcept {
    return static_cast<std::size_t>((pair - first_pair_) * space_.doubly_occupied() + k);
  }
  [[nodiscard]] rma::Status check_canonical(const std::vector<double>& fock) const;
  [[nodiscard]] rma::Status check_order(const std::vector<double>& energies) const;

  OrbitalSpace space_;
  std::vector<std::int64_t> order_;
  Occupation::Source source_;
  std::int64_t first_pair_ = 0;
  std::int64_t last_pair_ = 0;
  double core_energy_;
  std::vector<double> one_electron_;  // h_pq of own pairs
  std::vector<double> coulomb_;       // (pq|kk) of own pairs
  std::vector<double> exchange_;      // (pk|qk) of own pairs
};

}  // namespace tessera::apps::ccsd
