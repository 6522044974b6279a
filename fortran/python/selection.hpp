// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What A[key] means: integers, slices and an ellipsis, as in NumPy.
//
// Slices are clipped to the array, and negative numbers count from its end, as in NumPy. Integers
// outside the array are OutOfRange. Negative steps and numpy.newaxis are refused.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/box.hpp"
#include "arrays/selection.hpp"

namespace tessera::python {

namespace py = pybind11;

/// The elements that a key of integers and slices selects, and the shape of a NumPy array for them:
/// dimensions that an integer selects are left out.
struct Selection {
  arrays::Box box;
  arrays::Extents steps;                                 ///< of slices; 1 for integers
  bool is_box = true;                                    ///< all steps are 1
  int ndims = 0;                                         ///< of the NumPy array
  std::array<Py_intptr_t, arrays::max_dims> shape = {};  ///< of the NumPy array
  std::array<std::int8_t, arrays::max_dims> dims = {};   ///< the array's dimension of each of these

  [[nodiscard]] std::int64_t count() const noexcept;
  [[nodiscard]] arrays::Section section() const noexcept { return {box, steps}; }
};

/// True if the key contains lists or arrays of indices, or a mask; parse() does not take it.
bool has_index_arrays(PyObject* key) noexcept;

/// Throws OutOfRange, InvalidArgument or WrongType, which name the array and the dimension.
void parse(const arrays::ArrayBase& array, PyObject* key, Selection& selection);
/// All of the array.
Selection whole(const arrays::ArrayBase& array);

/// One element: an integer, or a tuple of as many integers as the array has dimensions. Negative
/// ones count from the end.
arrays::Index parse_index(const arrays::ArrayBase& array, py::handle key);

/// A box from two lists of integers, lo ≤ index < hi, none of which is clipped or negative.
arrays::Box parse_box(const arrays::ArrayBase& array, py::handle lo, py::handle hi);

/// An integer; an integer of 32 bits. Throws WrongType, or InvalidArgument if it does not fit.
std::int64_t parse_number(py::handle given, const char* what);
std::int32_t parse_int32(py::handle given, const char* what);
/// A list of integers, or one integer. Throws WrongType.
std::vector<std::int64_t> parse_numbers(py::handle given, const char* what);
/// A list of integers, or one integer for all dimensions, for an argument named `what`. Throws
/// InvalidArgument.
template <class List>
List parse_list(py::handle given, int ndims, const char* what);
/// The same with any number of entries, for a shape.
arrays::Extents parse_shape(py::handle given);

/// The numbers as a tuple.
template <class List>
py::tuple tuple_of(const List& numbers) {
  py::tuple tuple(static_cast<std::size_t>(numbers.ndims()));
  for (int dim = 0; dim < numbers.ndims(); ++dim) {
    tuple[static_cast<std::size_t>(dim)] = py::int_(numbers[dim]);
  }
  return tuple;
}
/// The box as a tuple of slices.
py::tuple slices_of(const arrays::Box& box);

}  // namespace tessera::python
