// SPDX-License-Identifier: BSD-3-Clause
//
// SpmvPlan<T>: y = A x and y = Aᵀ x, for a sparse matrix and vectors of any distribution.
//
// The pattern alone determines which elements of x this rank's rows need, and from which ranks; the
// plan computes that once. A product then does these steps:
//
//     send elements that other nodes need ────────────────► theirs arrive, owner by owner
//     compute rows that need own elements only, directly from the slice of x
//     copy elements of ranks that share memory
//     compute rows that have all elements; after each arrival, the rows that waited for it
//
// A row is summed without interruption, in the order of its columns and in a way that depends only
// on its length. So y has the same bits for any number of ranks and any distribution, on processors
// of one kind. That is why whole rows wait for elements, not parts of rows.
//
// The transposed product adds parts of y at their owners, in the order in which they arrive: its
// last digits differ from call to call.
//
// Threads: one at a time. Ownership: move-only; the plan shares the matrix's pattern, so all
// members must drop it in the same order as other owners of the pattern. Memory: 4 bytes for each
// entry (8 if x is too long for that), and 48 bytes for each element of other ranks. Elements that
// are near each other come together, with up to 32 bytes between two of them, from shared memory or
// with SpmvMode::push. SpmvMode::push also takes 16 bytes for each run of neighbouring elements
// that others need. SpmvOptions::neighbours_only takes again as much as the elements of others and
// what is between them.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

#include "arrays/array.hpp"
#include "linalg/csr.hpp"

namespace tessera::linalg {

/// How elements arrive from other nodes: their owners put them, or this rank reads them in one of
/// several ways. The transposed product always adds its sums at the owners; with push it uses
/// lists.
enum class SpmvMode : std::uint8_t {
  plain,      ///< read: a non-blocking get for each run of neighbouring elements
  vector,     ///< read: one list for each owner
  aggregate,  ///< read: an aggregate for each owner (rma/aggregate.hpp), run by run
  single,     ///< read: a blocking get for each element, for comparison
  push,       ///< put, packed; the plan sends the owners the lists of elements
};

/// Options for making a plan; the modes are for reading elements of other ranks.
struct SpmvOptions {
  SpmvMode mode = SpmvMode::push;
  bool share_memory = true;      ///< false: treat ranks of this node like those of other nodes
  bool narrow_indices = true;    ///< false: 8 bytes for each entry, even if 4 suffice
  bool neighbours_only = false;  ///< true: multiply() synchronises with neighbours only; see there
};

/// A plan for products of one sparse pattern with vectors; see above.
template <SparseElement T>
class SpmvPlan {
 public:
  SpmvPlan(SpmvPlan&& other) noexcept;
  SpmvPlan& operator=(SpmvPlan&& other) noexcept;
  ~SpmvPlan();

  /// Collective. Makes a plan for products of matrices with the pattern of `matrix` (it and its
  /// duplicates). Vectors have the distributions of `x`, with as many elements as columns, and of
  /// `y`, with as many as rows. Their contents don't matter. Errors: closed; invalid_argument
  /// (extents, dimensions or teams don't match; only some members request SpmvMode::push or
  /// neighbours only; neighbours only with another mode); no_memory. Cost: O(entries ·
  /// log(entries)) on each rank. Only SpmvMode::push communicates: it sends the lists of elements.
  static rma::Result<SpmvPlan> create(SparseMatrix<T>& matrix, arrays::Array<T>& x,
                                      arrays::Array<T>& y, const SpmvOptions& options = {});

  /// Collective. y = matrix · x. Begins and ends with a synchronisation. Errors that leave y
  /// unchanged: closed; invalid_argument (vectors or a matrix that don't match the plan, or x and y
  /// are the same array). Errors that leave y unspecified: no_memory, peer_lost.
  ///
  /// With SpmvOptions::neighbours_only a rank synchronises, as with message passing, only with
  /// ranks that have elements for its rows or rows for its elements. This rank's elements of x must
  /// be in place: its own writes, and those of others from before the last collective. The function
  /// returns when this rank's rows of y are in place. Until the next collective operation (a dot
  /// product, for example) ranks of this node may still read this rank's elements of x, so they
  /// must not be changed. Until then, other ranks' elements of y may not be in place yet. An error
  /// is this rank's or a neighbour's.
  rma::Status multiply(SparseMatrix<T>& matrix, arrays::Array<T>& x, arrays::Array<T>& y);

  /// Collective. x = matrixᵀ · y, not conjugated; the distributions are those of multiply().
  /// Errors: as multiply(), for x.
  rma::Status multiply_transposed(SparseMatrix<T>& matrix, arrays::Array<T>& y,
                                  arrays::Array<T>& x);

  /// Local. The number of elements of x that one product needs from other ranks; below, those among
  /// them that it loads from shared memory. Requires, here and below: not moved from.
  [[nodiscard]] std::int64_t elements_from_others() const noexcept;
  /// Local. The number of those elements that this rank loads from shared memory.
  [[nodiscard]] std::int64_t elements_shared() const noexcept;
  /// Local. The time that this rank's products have spent on elements of other ranks, in seconds:
  /// to start reads, to copy elements in shared memory, and to wait. Time that overlaps with
  /// computing rows is not included.
  [[nodiscard]] double communication_seconds() const noexcept;
  /// Local. The number of this rank's rows that need only its own elements.
  [[nodiscard]] std::int64_t rows_without_others() const noexcept;

 private:
  struct Parts;
  explicit SpmvPlan(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

extern template class SpmvPlan<std::int32_t>;
extern template class SpmvPlan<std::int64_t>;
extern template class SpmvPlan<float>;
extern template class SpmvPlan<double>;
extern template class SpmvPlan<std::complex<float>>;
extern template class SpmvPlan<std::complex<double>>;

}  // namespace tessera::linalg
