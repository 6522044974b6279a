// SPDX-License-Identifier: BSD-3-Clause
//
// MatrixPatch<T>: a part of a distributed array that an operation uses as a matrix.
//
//     MatrixPatch<double> whole(a);                              // all of a 2-D array
//     MatrixPatch<double> corner(a, Box({0, 0}, {10, 20}));      // 10 rows, 20 columns
//     MatrixPatch<double> slab(t, Box({7, 0, 0}, {8, 30, 40}), {.rows = 2, .columns = 1});
//
// The last one is a plane of a three-dimensional array, 40 x 30: two dimensions are the rows and
// the columns of the matrix, and in all others the box has extent 1.
//
// It refers to the array, which must outlive it, and checks nothing; operations do.
#pragma once

#include <cstdint>

#include "arrays/array.hpp"
#include "linalg/local_matrix.hpp"

namespace tessera::linalg {

/// The dimensions of an array that are the rows and the columns of a matrix.
struct MatrixDims {
  int rows = 0;
  int columns = 1;
};

/// A part of a distributed array as a matrix; see above.
template <Scalar T>
class MatrixPatch {
 public:
  /// A whole two-dimensional array.
  explicit MatrixPatch(arrays::Array<T>& array) : MatrixPatch(array, array.box()) {}
  /// A box of an array; `dims` gives the dimensions that are rows and columns.
  MatrixPatch(arrays::Array<T>& array, const arrays::Box& box, const MatrixDims& dims = {})
      : array_(&array), box_(box), dims_(dims) {}

  [[nodiscard]] arrays::Array<T>& array() const noexcept { return *array_; }
  [[nodiscard]] const arrays::Box& box() const noexcept { return box_; }
  [[nodiscard]] const MatrixDims& dims() const noexcept { return dims_; }

 private:
  arrays::Array<T>* array_;
  arrays::Box box_;
  MatrixDims dims_;
};

}  // namespace tessera::linalg
