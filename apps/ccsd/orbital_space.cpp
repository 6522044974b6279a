// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/orbital_space.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tessera::apps::ccsd {

rma::Result<OrbitalSpace> OrbitalSpace::create(std::int64_t orbitals, std::int64_t electrons,
                                               std::int64_t frozen) {
  const std::int64_t doubly_occupied = electrons / 2;
  if (frozen > doubly_occupied) {
    return rma::Status::error(rma::Code::invalid_argument,
                              fmt::format("{} frozen core orbitals, but only {} are occupied",
                                          frozen, doubly_occupied))
        .hint("use a smaller --frozen-core");
  }
  return OrbitalSpace{frozen, doubly_occupied - frozen, orbitals - doubly_occupied};
}

OrbitalPair pair_at(std::int64_t index) noexcept {
  auto x = static_cast<std::int64_t>((std::sqrt(8.0 * static_cast<double>(index) + 1.0) - 1.0) / 2);
  // The root may be off by one if doubles cannot represent the index.
  while (pair_index(x, 0) > index) {
    --x;
  }
  while (pair_index(x + 1, 0) <= index) {
    ++x;
  }
  return {x, index - pair_index(x, 0)};
}

}  // namespace tessera::apps::ccsd
