// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The elements of a distributed matrix that one rank owns, as a few sets of all elements
// at some rows and some columns:
//
//     cyclic grid                    round robin, 2 ranks
//     o . o . o                      o . o . o
//     . . . . .                      . o . o .
//     o . o . o                      o . o . o
//     one part: 2 rows of blocks     two parts: rows 0 and 2 times columns 0, 2 and 4,
//     times 3 columns of blocks      and row 1 times columns 1 and 3
//
// A product of matrices then needs its rows of A and its columns of B once, for any blocks.
#pragma once

#include <vector>

#include "linalg/detail/matrix_map.hpp"

namespace tessera::linalg::detail {

/// All elements at some rows and some columns; each pair of intervals is inside one block.
struct OwnPart {
  IntervalList rows;
  IntervalList columns;
};

/// The parts of `rank`; rows of blocks with the same columns are combined. Cost: O(b log b) for b
/// blocks.
std::vector<OwnPart> own_parts(const MatrixMap& map, rma::TeamRank rank);

}  // namespace tessera::linalg::detail
