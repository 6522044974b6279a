// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Attributes of files as Python objects: numbers, texts and lists of numbers.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "arrays/attribute_value.hpp"

namespace tessera::python {

namespace py = pybind11;

/// The value of attribute `name`: numbers of NumPy keep their type; an int gets 64 bits, a
/// float 64. Lists, tuples and NumPy arrays of one dimension become lists of int64 or float64.
/// Throws WrongType, or InvalidArgument for integers beyond 64 bits.
arrays::AttributeValue attribute_value(const std::string& name, py::handle value);

/// A bool, int, float, complex or str; a NumPy array for a list.
py::object python_value(const arrays::AttributeValue& value);

}  // namespace tessera::python
