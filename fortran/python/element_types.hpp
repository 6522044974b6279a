// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Element types as NumPy's dtypes. The names are the same in both ("float64").
//
// Arrays of dtypes without arithmetic in Tessera (bool, bytes, structures) have opaque elements,
// which are moved but not computed with.
#pragma once

#include <pybind11/numpy.h>

#include <optional>

#include "arrays/array_base.hpp"
#include "rma/element.hpp"

namespace tessera::python {

namespace py = pybind11;
using Npy = py::detail::npy_api;

/// NumPy's type number.
int numpy_type(rma::ElementType type) noexcept;
/// The element type with a dtype of this number; none for other dtypes.
std::optional<rma::ElementType> element_type(int numpy_type) noexcept;

/// What `given` means as a dtype: None is float64. Errors: WrongType for dtypes of objects, of text
/// without a length, of another byte order, or that NumPy does not know.
py::dtype dtype_of(const py::object& given);
/// The elements that arrays of this dtype have.
arrays::ElementKind element_kind(const py::dtype& dtype);

}  // namespace tessera::python
