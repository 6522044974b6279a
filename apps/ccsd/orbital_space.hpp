// SPDX-License-Identifier: BSD-3-Clause
//
// OrbitalSpace: which orbitals of a molecule are correlated, and how pairs of them are counted.
//
//     0 … frozen−1   frozen: always doubly occupied, electrons there are not correlated
//     … electrons/2−1   occupied: i j k l
//     … orbitals−1      virtual: a b c d
//
// i, j, … and a, b, … are each counted from 0 in formulas and arrays. Files may have another order:
// see order_by_occupation() and order_of_orbitals().
#pragma once

#include <cstdint>

#include "rma/base/result.hpp"

namespace tessera::apps::ccsd {

/// More than any computable molecule has.
inline constexpr std::int64_t max_orbitals = 32'767;

struct OrbitalSpace {
  std::int64_t frozen = 0;
  std::int64_t occupied = 0;  ///< without the frozen ones
  std::int64_t virtuals = 0;

  /// Errors: invalid_argument if more orbitals are to be frozen than are occupied.
  static rma::Result<OrbitalSpace> create(std::int64_t orbitals, std::int64_t electrons,
                                          std::int64_t frozen);

  [[nodiscard]] std::int64_t doubly_occupied() const noexcept { return frozen + occupied; }
  [[nodiscard]] std::int64_t orbitals() const noexcept { return doubly_occupied() + virtuals; }
  /// Nothing is correlated without an occupied and a virtual orbital.
  [[nodiscard]] bool is_empty() const noexcept { return occupied == 0 || virtuals == 0; }
};

/// Pairs x ≥ y of n orbitals, counted row by row: (0,0) (1,0) (1,1) (2,0) …
constexpr std::int64_t pair_count(std::int64_t n) noexcept {
  return n * (n + 1) / 2;
}
constexpr std::int64_t pair_index(std::int64_t x, std::int64_t y) noexcept {
  return x * (x + 1) / 2 + y;
}
/// Pairs x > y, in the same order.
constexpr std::int64_t strict_pair_index(std::int64_t x, std::int64_t y) noexcept {
  return x * (x - 1) / 2 + y;
}

struct OrbitalPair {
  std::int64_t x = 0;
  std::int64_t y = 0;
};
/// The pair x ≥ y with pair_index(x, y) == index.
OrbitalPair pair_at(std::int64_t index) noexcept;

}  // namespace tessera::apps::ccsd
