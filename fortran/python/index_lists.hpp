// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Keys with lists or arrays of indices, and masks, as in NumPy's "advanced indexing".
//
//     A[rows, columns]     one list for each dimension, broadcast: single elements
//     A[mask]              the elements where a NumPy array of bool is true
//     A[:, columns, 2:5]   one list in one dimension, and slices: parts of the array
//
// Other combinations, whose result NumPy's rules transpose, are refused.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <optional>

#include "arrays/gather.hpp"
#include "fortran/python/array.hpp"
#include "fortran/python/selection.hpp"

namespace tessera::python {

/// Indices of single elements. Negative ones count from the end.
struct ElementList {
  py::array numbers;  ///< int64, dense, of shape (count, dimensions of the array)
  py::tuple shape;    ///< of the NumPy array with the elements

  [[nodiscard]] arrays::IndexList list() const;
  [[nodiscard]] std::int64_t count() const { return numbers.shape(0); }
};

/// One list of indices, in one dimension, and slices in the others.
struct PlaneList {
  Selection selection;  ///< of the planes together: dimension `dim` is [0, count)
  py::array numbers;    ///< int64, dense, not negative
  int dim = 0;

  /// The elements of plane `i`: the same with one index in dimension `dim`.
  [[nodiscard]] arrays::Section plane(std::int64_t i) const;
  [[nodiscard]] std::int64_t count() const { return numbers.shape(0); }
};

/// The meaning of a key for which has_index_arrays() is true: one of the two.
struct IndexLists {
  std::optional<ElementList> elements;
  std::optional<PlaneList> planes;
};
/// Throws WrongType, InvalidArgument or OutOfRange.
IndexLists parse_index_lists(const Array& array, py::handle key);

/// A list of elements as an array of shape (count, dimensions), or a tuple with a list for each
/// dimension.
ElementList parse_element_list(const Array& array, py::handle indices);

}  // namespace tessera::python
