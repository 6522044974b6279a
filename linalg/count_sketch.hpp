// SPDX-License-Identifier: BSD-3-Clause
//
// Count sketches. A random matrix S with one entry, 1 or −1, in each column reduces m rows to k,
// such that S A approximately preserves the lengths and angles of the vectors A x.
//
//     A (m × n)   row 0 ──── + ───► bucket 3        SketchBucket of a row: bucket and sign, by
//                 row 1 ──── − ───► bucket 0        hashing its number with the seed
//                 row 2 ──── + ───► bucket 3
//
// The bucket of a row depends only on seed, row number and k, not on the number of ranks.
#pragma once

#include <cstdint>

#include "linalg/csr.hpp"

namespace tessera::linalg {

/// The bucket and sign of a row (or column) in count_sketch().
struct SketchBucket {
  std::int64_t bucket = 0;
  bool is_negative = false;
  friend bool operator==(const SketchBucket&, const SketchBucket&) = default;
};

/// Local. The bucket and sign of row (or column) `index`. Requires: buckets ≥ 1.
[[nodiscard]] SketchBucket sketch_bucket(std::uint64_t seed, std::int64_t index,
                                         std::int64_t buckets) noexcept;

/// The side of the matrix that is reduced.
enum class SketchSide : std::uint8_t {
  rows,     ///< S A, buckets × columns
  columns,  ///< A Sᵀ, rows × buckets
};

/// The seed of the hash, the side, and how the result is made.
struct SketchOptions {
  std::uint64_t seed = 1;
  SketchSide side = SketchSide::rows;
  SparseOptions result = {};  ///< its team is ignored: the result has the matrix's team
};

/// Collective. Returns the sketch as a sparse matrix; to_dense() copies it into an array. Entries
/// are summed in the order of the rows (columns): same bits for any number of ranks. Errors:
/// closed, invalid_argument (fewer than one bucket, or options that differ among members),
/// no_memory, peer_lost. Memory: as SparseBuilder::assemble().
template <SparseElement T>
rma::Result<SparseMatrix<T>> count_sketch(SparseMatrix<T>& matrix, std::int64_t buckets,
                                          const SketchOptions& options = {});

}  // namespace tessera::linalg
