// SPDX-License-Identifier: BSD-3-Clause
//
// Count sketches: a random matrix S with one entry, 1 or −1, in each column brings m rows down to
// k, such that S A keeps about the lengths and angles of what A maps to.
//
//     A (m × n)   row 0 ──── + ───► bucket 3        SketchPlace of a row: bucket and sign, by
//                 row 1 ──── − ───► bucket 0        hashing its number with the seed
//                 row 2 ──── + ───► bucket 3
//
// Where a row goes follows from seed, row number and k alone, whatever the ranks.
#pragma once

#include <cstdint>

#include "linalg/csr.hpp"

namespace tessera::linalg {

/// Where count_sketch() brings a row (or column).
struct SketchPlace {
  std::int64_t bucket = 0;
  bool is_negative = false;
  friend bool operator==(const SketchPlace&, const SketchPlace&) = default;
};

/// Local. Requires: buckets ≥ 1.
[[nodiscard]] SketchPlace sketch_place(std::uint64_t seed, std::int64_t index,
                                       std::int64_t buckets) noexcept;

/// Which side of the matrix is brought down.
enum class SketchOf : std::uint8_t {
  rows,     ///< S A, buckets × columns
  columns,  ///< A Sᵀ, rows × buckets
};

struct SketchOptions {
  std::uint64_t seed = 1;
  SketchOf side = SketchOf::rows;
  SparseOptions result = {};  ///< its team is that of the matrix
};

/// Collective. The sketch as a sparse matrix; to_dense() makes an array of it. Summed in the order
/// of the rows (columns): same bits for any number of ranks.
/// Errors: closed, invalid_argument (fewer than one bucket, options that differ among members),
/// no_memory, peer_lost. Memory: as SparseBuilder::assemble().
template <SparseElement T>
rma::Result<SparseMatrix<T>> count_sketch(SparseMatrix<T>& matrix, std::int64_t buckets,
                                          const SketchOptions& options = {});

}  // namespace tessera::linalg
