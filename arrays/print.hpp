// SPDX-License-Identifier: BSD-3-Clause
//
// Arrays and their distributions as text, for people.
//
//     print(a, std::cout);
//
//     array 'A' (float64, 2 x 3)
//          1     2     3
//          4     5     6
//
// An array of more than two dimensions is written matrix by matrix, "(2, 0, *, *)" above each. Only
// the member `root` writes; the others may pass any stream. Cost: one panel of rows at a time.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "arrays/array_base.hpp"
#include "arrays/part.hpp"

namespace tessera::arrays {

struct PrintOptions {
  rma::TeamRank root = {0};
  int digits = 6;                  ///< significant ones of floating-point numbers
  std::int64_t most_lines = 1000;  ///< what follows is told in a line of its own
};

/// Collective. For elements that are only moved: their bytes in hexadecimal.
/// Errors: as a get; invalid_argument for a root or digits that make no sense, and for boxes or
/// roots that differ among members.
rma::Status print(const ArrayBase& array, const Box& box, std::ostream& out,
                  const PrintOptions& options = {});

/// Collective.
template <Operand A>
rma::Status print(const A& operand, std::ostream& out, const PrintOptions& options = {}) {
  return print(part(operand).array(), part(operand).box(), out, options);
}

/// Local. What each rank owns, a line for each block.
void print_distribution(const Distribution& distribution, std::ostream& out,
                        std::int64_t most_lines = 1000);

}  // namespace tessera::arrays
