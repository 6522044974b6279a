// SPDX-License-Identifier: BSD-3-Clause
//
// SpmvPlan<T>: y = A x and y = Aᵀ x, for a sparse matrix and vectors of any distribution.
//
// Which elements of x this rank's rows need, and from whom, follows from the pattern alone; it is
// worked out once. A product then is
//
//     send elements that other nodes need ────────────────► theirs arrive, owner by owner
//     rows that need own elements only: straight from the slice of x
//     copy elements of ranks that share memory
//     rows that have all they need now; after each owner's elements the rows that waited for them
//
// Rows are summed in one piece, in the order of their columns and in a way that depends on their
// length only: y has the same bits for any number of ranks and any distribution, on processors of
// one kind. That is why rows, and not parts of rows, wait for elements.
//
// The transposed product adds parts of y at their owners, in the order in which they come: its last
// digits differ from call to call.
//
// Threads: one at a time. Ownership: move-only; shares the matrix's pattern, so that it is dropped
// on all members in the same order as other owners of it. Memory: 4 bytes an entry (8 where x is
// too long for that), 48 bytes an element of others; up to 32 between two that are near each other
// and so come together, from shared memory or by SpmvMode::push; by that also 16 for each run of
// neighbouring elements that others need, and with SpmvOptions::neighbours_only as much again as
// elements of others and what lies between them.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

#include "arrays/array.hpp"
#include "linalg/csr.hpp"

namespace tessera::linalg {

/// How elements of other nodes come here: their owners put them, or they are read in one of several
/// ways. Sums of the transposed product always go to the owners, by lists where others are pushed.
enum class SpmvMode : std::uint8_t {
  plain,      ///< read: a non-blocking get for each run of neighbouring elements
  vector,     ///< read: one list for each owner
  aggregate,  ///< read: an aggregate for each owner (rma/aggregate.hpp), run by run
  single,     ///< read: a blocking get for each element, which the others are compared with
  push,       ///< put, packed, by lists that the owners were told when the plan was made
};

struct SpmvOptions {
  SpmvMode mode = SpmvMode::push;
  bool share_memory = true;      ///< false: treat ranks of this node as others
  bool narrow_indices = true;    ///< false: 8 bytes an entry also where 4 do
  bool neighbours_only = false;  ///< true: in multiply() only neighbours meet; see there
};

template <SparseElement T>
class SpmvPlan {
 public:
  SpmvPlan(SpmvPlan&& other) noexcept;
  SpmvPlan& operator=(SpmvPlan&& other) noexcept;
  ~SpmvPlan();

  /// Collective. For products of matrices with the pattern of `matrix` (it and its duplicates) with
  /// vectors distributed as `x`, of as many elements as there are columns, and `y`, as there are
  /// rows. Their contents don't count. Errors: closed, invalid_argument (extents, dimensions,
  /// teams; only some members ask for SpmvMode::push or neighbours only; neighbours only by another
  /// mode), no_memory. Cost: O(entries · log(entries)) on each rank; communication by
  /// SpmvMode::push only: the lists of elements.
  static rma::Result<SpmvPlan> create(SparseMatrix<T>& matrix, arrays::Array<T>& x,
                                      arrays::Array<T>& y, const SpmvOptions& options = {});

  /// Collective. y = matrix · x. Begins and ends with a synchronisation. Errors: closed;
  /// invalid_argument (vectors or a matrix that the plan isn't for, x and y the same array), and y
  /// is not changed then; no_memory, peer_lost, and y is unspecified.
  ///
  /// With SpmvOptions::neighbours_only, as message passing would do it, a rank meets those only
  /// that have elements for its rows or rows for its elements. This rank's elements of x must be
  /// there: its own writes, and others' from before the ranks last met. It returns when this rank's
  /// rows of y are there. Until the ranks have met again (any collective operation does, a dot
  /// product say) ranks of this node may still read this rank's elements of x, so they must not be
  /// changed, and other ranks' elements of y may not be there yet. An error is this rank's or a
  /// neighbour's.
  rma::Status multiply(SparseMatrix<T>& matrix, arrays::Array<T>& x, arrays::Array<T>& y);

  /// Collective. x = matrixᵀ · y, not conjugated; distributions are those of multiply(). Errors:
  /// the same.
  rma::Status multiply_transposed(SparseMatrix<T>& matrix, arrays::Array<T>& y,
                                  arrays::Array<T>& x);

  /// Local. Requires, here and below: not moved from. Elements of x that one product needs from
  /// others, and those among them that it loads from shared memory.
  [[nodiscard]] std::int64_t elements_from_others() const noexcept;
  [[nodiscard]] std::int64_t elements_shared() const noexcept;
  /// Local. What this rank's products spent so far on elements of others, in seconds: starting to
  /// read them, copying those that are mapped, and waiting. What hides behind rows is not in it.
  [[nodiscard]] double communication_seconds() const noexcept;
  /// Local. This rank's rows that need elements of its own only.
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
