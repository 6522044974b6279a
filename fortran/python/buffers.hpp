// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The local side of transfers: NumPy arrays.
//
// Sources are used in place if they have the array's dtype and are contiguous along their last
// dimension; otherwise a copy is made. Destinations are always used in place.
#pragma once

#include <pybind11/numpy.h>

#include <string_view>

#include "arrays/array_base.hpp"
#include "arrays/view.hpp"
#include "fortran/python/array.hpp"
#include "fortran/python/selection.hpp"

namespace tessera::python {

/// Local memory, and the Python object that keeps it alive.
struct NumpyMemory {
  py::object owner;
  void* data = nullptr;
  arrays::Extents extents;  ///< of the selection
  arrays::Strides strides;  ///< in elements, for each dimension of the Tessera array
  bool is_dense = false;    ///< contiguous in row-major order

  [[nodiscard]] arrays::UntypedMemory untyped() const noexcept {
    return is_dense ? arrays::UntypedMemory(arrays::ContiguousMemory{data, room()})
                    : arrays::UntypedMemory(data, extents, strides);
  }
  [[nodiscard]] std::int64_t room() const noexcept { return volume(extents); }
};

/// A new NumPy array, not initialised. Throws MemoryError.
py::object new_numpy_array(const py::dtype& dtype, int ndims, const Py_intptr_t* shape);

/// `value` with the array's dtype: itself, or converted as NumPy's casting="same_kind" allows.
/// Python's integers may also go to unsigned elements. Throws WrongType or InvalidArgument.
py::array converted(const Array& array, py::handle value, std::string_view operation);

/// The memory of `value` for a put or an accumulate to the selection, after broadcasting. Throws
/// InvalidArgument (the shapes do not fit) and what converted() throws.
NumpyMemory source_of(const Array& array, const Selection& selection, py::handle value,
                      std::string_view operation);

/// The memory of `out`, for a get. Throws WrongType (not a NumPy array, or another dtype),
/// InvalidArgument (another shape, or not writeable).
NumpyMemory destination_of(const Array& array, const Selection& selection, py::handle out);
/// A new NumPy array for a get.
NumpyMemory new_destination(const Array& array, const Selection& selection);

/// A number of NumPy with the element of a NumPy array without dimensions.
inline py::object scalar_of(const py::object& array) {
  return array.attr("__getitem__")(py::tuple());
}

/// The factor of an accumulate: a number that the array's elements can hold. Throws WrongType.
rma::Scale scale_of(const Array& array, py::handle factor);

}  // namespace tessera::python
