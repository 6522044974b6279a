// SPDX-License-Identifier: BSD-3-Clause
//
// DenseMolecule: all integrals of a small molecule on each rank, for the reference calculation.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/ccsd/equations.hpp"
#include "apps/ccsd/fcidump.hpp"
#include "apps/ccsd/integrals.hpp"
#include "tests/apps/ccsd/spin_orbital.hpp"

namespace tessera::apps::ccsd::test {

class DenseMolecule {
 public:
  /// Local. Throws rma::Error if the file cannot be read.
  explicit DenseMolecule(const std::string& path) {
    auto file = Fcidump::open(path).value();
    orbitals = static_cast<std::size_t>(file.header().orbitals);
    electrons_ = file.header().electrons;
    values_ = Tensor4(orbitals, orbitals, orbitals, orbitals);
    one_electron_ = Matrix2(orbitals, orbitals);
    rma::require(file.for_each([this](const FcidumpEntry& entry) -> rma::Status {
      const auto at = [](std::int64_t p) { return static_cast<std::size_t>(p); };
      if (entry.kind == FcidumpEntry::Kind::one_electron) {
        one_electron_(at(entry.p), at(entry.q)) = one_electron_(at(entry.q), at(entry.p)) =
            entry.value;
      }
      if (entry.kind == FcidumpEntry::Kind::core_energy) {
        core_energy_ = entry.value;
      }
      if (entry.kind != FcidumpEntry::Kind::two_electron) {
        return {};
      }
      return for_each_permutation(
          {entry.p, entry.q, entry.r, entry.s}, [&](const TwoElectron& each) -> rma::Status {
            values_(at(each.p), at(each.q), at(each.r), at(each.s)) = entry.value;
            return {};
          });
    }));
  }

  /// The reference calculation for this molecule with `frozen` orbitals left out.
  [[nodiscard]] SpinOrbitalCcsd oracle(const OrbitalSpace& space) const {
    const auto skip = static_cast<std::size_t>(space.frozen);
    return {static_cast<std::size_t>(space.occupied), orbitals - skip, fock(space),
            [this, skip](std::size_t p, std::size_t q, std::size_t r, std::size_t s) {
              return values_(p + skip, q + skip, r + skip, s + skip);
            }};
  }

  /// Rotates two orbitals into each other.
  void turn(std::size_t one, std::size_t other, double angle) {
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    const auto turn_pair = [&](double& a, double& b) {
      std::tie(a, b) = std::pair(c * a + s * b, c * b - s * a);
    };
    for (std::size_t q = 0; q < orbitals; ++q) {
      turn_pair(one_electron_(one, q), one_electron_(other, q));
    }
    for (std::size_t q = 0; q < orbitals; ++q) {
      turn_pair(one_electron_(q, one), one_electron_(q, other));
    }
    for (std::size_t index = 0; index < 4; ++index) {
      const auto at = [&](std::size_t p, std::size_t q, std::size_t r, std::size_t t) -> double& {
        return index == 0   ? values_(p, q, r, t)
               : index == 1 ? values_(q, p, r, t)
               : index == 2 ? values_(q, r, p, t)
                            : values_(q, r, t, p);
      };
      for (std::size_t x = 0; x < orbitals * orbitals * orbitals; ++x) {
        const std::size_t q = x / orbitals / orbitals;
        const std::size_t r = x / orbitals % orbitals;
        turn_pair(at(one, q, r, x % orbitals), at(other, q, r, x % orbitals));
      }
    }
  }

  /// As a file, each integral once.
  [[nodiscard]] std::string text() const {
    std::string result = fmt::format("&FCI NORB={},NELEC={} /\n", orbitals, electrons_);
    for (std::size_t p = 0; p < orbitals; ++p) {
      for (std::size_t q = 0; q <= p; ++q) {
        for (std::size_t r = 0; r <= p; ++r) {
          for (std::size_t s = 0; s <= (r == p ? q : r); ++s) {
            result +=
                fmt::format("{} {} {} {} {}\n", values_(p, q, r, s), p + 1, q + 1, r + 1, s + 1);
          }
        }
        result += fmt::format("{} {} {} 0 0\n", one_electron_(p, q), p + 1, q + 1);
      }
    }
    return result + fmt::format("{} 0 0 0 0\n", core_energy_);
  }

  std::size_t orbitals = 0;

 private:
  /// f_pq = h_pq + Σ_k [2 (pq|kk) − (pk|qk)] of the orbitals that are not frozen.
  [[nodiscard]] std::vector<double> fock(const OrbitalSpace& space) const {
    std::vector<double> result;
    for (auto p = static_cast<std::size_t>(space.frozen); p < orbitals; ++p) {
      for (auto q = static_cast<std::size_t>(space.frozen); q < orbitals; ++q) {
        double f = one_electron_(p, q);
        for (std::size_t k = 0; k < static_cast<std::size_t>(space.doubly_occupied()); ++k) {
          f += 2.0 * values_(p, q, k, k) - values_(p, k, q, k);
        }
        result.push_back(f);
      }
    }
    return result;
  }

  Tensor4 values_;
  Matrix2 one_electron_;
  double core_energy_ = 0.0;
  std::int64_t electrons_ = 0;
};

}  // namespace tessera::apps::ccsd::test
