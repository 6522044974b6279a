// SPDX-License-Identifier: BSD-3-Clause
//
// DenseMolecule: all integrals of a small molecule on each rank, for the oracle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/ccsd/equations.hpp"
#include "apps/ccsd/fcidump.hpp"
#include "apps/ccsd/integrals.hpp"
#include "tests/apps/ccsd/spin_orbital.hpp"

namespace tessera::apps::ccsd::test {

class DenseMolecule {
 public:
  /// Local. Throws rma::Error where the file can't be read.
  explicit DenseMolecule(const std::string& path) {
    auto file = Fcidump::open(path).value();
    orbitals = static_cast<std::size_t>(file.header().orbitals);
    values_ = Tensor4(orbitals, orbitals, orbitals, orbitals);
    rma::require(file.for_each([this](const FcidumpEntry& entry) -> rma::Status {
      if (entry.kind != FcidumpEntry::Kind::two_electron) {
        return {};
      }
      return for_each_permutation(
          {entry.p, entry.q, entry.r, entry.s}, [&](const TwoElectron& each) -> rma::Status {
            const auto at = [](std::int64_t p) { return static_cast<std::size_t>(p); };
            values_(at(each.p), at(each.q), at(each.r), at(each.s)) = entry.value;
            return {};
          });
    }));
  }

  /// The oracle for this molecule with `frozen` orbitals left out.
  [[nodiscard]] SpinOrbitalCcsd oracle(const OrbitalSpace& space, const Model& model) const {
    std::vector<double> energies = model.occupied_energies;
    energies.insert(energies.end(), model.virtual_energies.begin(), model.virtual_energies.end());
    const auto skip = static_cast<std::size_t>(space.frozen);
    return {static_cast<std::size_t>(space.occupied), energies,
            [this, skip](std::size_t p, std::size_t q, std::size_t r, std::size_t s) {
              return values_(p + skip, q + skip, r + skip, s + skip);
            }};
  }

  std::size_t orbitals = 0;

 private:
  Tensor4 values_;
};

}  // namespace tessera::apps::ccsd::test
