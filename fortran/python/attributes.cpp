// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/attributes.hpp"

#include <fmt/format.h>
#include <pybind11/complex.h>
#include <pybind11/numpy.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "fortran/python/element_types.hpp"
#include "fortran/python/errors.hpp"
#include "rma/element.hpp"

namespace tessera::python {

using arrays::AttributeValue;

namespace {

[[noreturn]] void refuse_value(const std::string& name, py::handle value) {
  refuse_type(fmt::format("attribute '{}' is {}", name, repr_of(value)),
              "attributes are numbers, texts, and lists of integers or floats");
}

/// An int of Python: of 64 bits, without a sign only if it needs that.
AttributeValue whole_number(const std::string& name, py::handle value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) {
    return std::int64_t{number};
  }
  const unsigned long long larger = PyLong_AsUnsignedLongLong(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(fmt::format("attribute '{}' is {}, which does not fit 64 bits", name, text_of(value)),
           "store it as a text or as a float");
  }
  return std::uint64_t{larger};
}

/// A NumPy array without dimensions as a number of its own type.
AttributeValue scalar(const std::string& name, py::handle value, const py::array& given) {
  if (given.dtype().kind() == 'b') {
    return given.attr("item")().cast<bool>();
  }
  const auto type = element_type(given.dtype().num());
  if (!type) {
    refuse_value(name, value);
  }
  const py::array native = given.attr("astype")(py::dtype(numpy_type(*type)));
  return rma::dispatch(*type, [&]<class T>(rma::Tag<T>) -> AttributeValue {
    T number = {};
    std::memcpy(&number, native.data(), sizeof number);
    return number;
  });
}

template <class T>
AttributeValue list_of(const py::array& given) {
  const auto numbers = py::array_t<T, py::array::c_style | py::array::forcecast>::ensure(given);
  if (!numbers) {
    pass_python_error();
  }
  return std::vector<T>(numbers.data(), numbers.data() + numbers.size());
}

AttributeValue list(const std::string& name, py::handle value, const py::array& given) {
  const char kind = given.dtype().kind();
  if (given.ndim() != 1 || given.size() == 0) {
    refuse_type(fmt::format("attribute '{}' has shape {}", name, text_of(given.attr("shape"))),
                "lists have one dimension and at least one number; write larger ones as data sets");
  }
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  if (kind == 'u' && py::int_(given.attr("max")()) > py::int_(largest)) {
    refuse(fmt::format("attribute '{}' has {}; lists hold integers up to {}", name,
                       text_of(given.attr("max")()), largest));
  }
  if (kind == 'i' || kind == 'u') {
    return list_of<std::int64_t>(given);
  }
  if (kind == 'f' && given.itemsize() <= static_cast<py::ssize_t>(sizeof(double))) {
    return list_of<double>(given);
  }
  refuse_value(name, value);
}

/// NumPy's array of a value; throws WrongType if it can't make one.
py::array as_array(const std::string& name, py::handle value) {
  try {
    return py::module_::import("numpy").attr("asarray")(value);
  } catch (py::error_already_set&) {
    refuse_value(name, value);
  }
}

}  // namespace

AttributeValue attribute_value(const std::string& name, py::handle value) {
  if (py::isinstance<py::str>(value)) {
    return value.cast<std::string>();
  }
  if (PyBool_Check(value.ptr())) {
    return value.cast<bool>();
  }
  if (PyLong_Check(value.ptr())) {
    return whole_number(name, value);
  }
  if (PyFloat_Check(value.ptr())) {
    return value.cast<double>();
  }
  if (PyComplex_Check(value.ptr())) {
    return value.cast<std::complex<double>>();
  }
  const py::array given = as_array(name, value);
  return given.ndim() == 0 ? scalar(name, value, given) : list(name, value, given);
}

py::object python_value(const AttributeValue& value) {
  return std::visit(
      []<class T>(const T& held) -> py::object {
        if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                      std::is_same_v<T, std::vector<double>>) {
          using Number = typename T::value_type;
          return py::array_t<Number>(static_cast<py::ssize_t>(held.size()), held.data());
        } else {
          return py::cast(held);
        }
      },
      value);
}

}  // namespace tessera::python
