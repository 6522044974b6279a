// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/synthetic.hpp"

#include <algorithm>
#include <cstdint>

namespace tessera::apps::ccsd {
namespace {

/// The finaliser of SplitMix64: every bit of the result depends on all of `x`.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

double synthetic_integral(const TwoElectron& integral, const OrbitalSpace& space) {
  const std::int64_t pq =
      pair_index(std::max(integral.p, integral.q), std::min(integral.p, integral.q));
  const std::int64_t rs =
      pair_index(std::max(integral.r, integral.s), std::min(integral.r, integral.s));
  const auto key = static_cast<std::uint64_t>(pair_index(std::max(pq, rs), std::min(pq, rs)));
  // From −1 to 1. A random matrix of n orbitals' pairs has eigenvalues of about n times its
  // elements: they must stay below the gap of 2.
  const double unit = static_cast<double>(mix(key) >> 11) * 0x1p-52 - 1.0;
  return 0.2 * unit / static_cast<double>(space.orbitals());
}

std::vector<double> synthetic_orbital_energies(const OrbitalSpace& space) {
  std::vector<double> energies;
  for (std::int64_t i = 0; i < space.doubly_occupied(); ++i) {
    energies.push_back(-2.0 +
                       static_cast<double>(i) / static_cast<double>(space.doubly_occupied()));
  }
  for (std::int64_t a = 1; a <= space.virtuals; ++a) {
    energies.push_back(1.0 + static_cast<double>(a) / static_cast<double>(space.virtuals));
  }
  return energies;
}

}  // namespace tessera::apps::ccsd
