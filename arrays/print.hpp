// SPDX-License-Identifier: BSD-3-Clause
//
// Prints arrays and their distributions as text for people.
//
//     print(a, std::cout);
//
//     array 'A' (float64, 2 x 3)
//          1     2     3
//          4     5     6
//
// An array of more than two dimensions is printed matrix by matrix, with "(2, 0, *, *)" above each.
// Only the member `root` prints; the others may pass any stream. Cost: one panel of rows at a time.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "arrays/array_base.hpp"
#include "arrays/subarray.hpp"

namespace tessera::arrays {

struct PrintOptions {
  rma::TeamRank root = {0};
  int digits = 6;                  ///< significant digits of floating-point numbers
  std::int64_t most_lines = 1000;  ///< after these, one line gives the number of omitted ones
};

/// Collective. Prints the elements of `box`; elements without a known type as bytes in hexadecimal.
/// Errors: as a get; invalid_argument for an invalid root or number of digits, and for boxes or
/// roots that differ among members.
rma::Status print(const ArrayBase& array, const Box& box, std::ostream& out,
                  const PrintOptions& options = {});

/// Collective. Prints the elements of an array or a part of one.
template <Operand A>
rma::Status print(const A& operand, std::ostream& out, const PrintOptions& options = {}) {
  return print(part(operand).array(), part(operand).box(), out, options);
}

/// Local. Prints the blocks of each rank, one in each line.
void print_distribution(const Distribution& distribution, std::ostream& out,
                        std::int64_t most_lines = 1000);

}  // namespace tessera::arrays
