// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Operands of operations on whole arrays and matrices.
//
//     return dispatch(a, "sum", [&]<class T>(arrays::Array<T>& typed) -> py::object {
//       return py::cast(checked_without_gil([&] { return arrays::sum(typed); }));
//     });
//
// Each array of a call may have another element type: check_same_type() comes first.
#pragma once

#include <fmt/format.h>
#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "arrays/array.hpp"
#include "fortran/python/array.hpp"
#include "fortran/python/gil.hpp"
#include "linalg/matrix_patch.hpp"

namespace tessera::python {

/// Throws WrongType unless all have the first one's element type.
void check_same_type(std::string_view operation, std::initializer_list<const Array*> operands);
/// Throws WrongType: only floating-point and complex numbers are elements of matrices.
[[noreturn]] void refuse_matrix(const Array& array, std::string_view operation);

/// The array as one of T. Requires: T is its element type.
template <class T>
arrays::Array<T>& typed(const Array& array) {
  return static_cast<arrays::Array<T>&>(array.base());
}

/// Calls act(Array<T>&) if the type is one of linear algebra's. Throws WrongType for others.
template <class Act>
auto dispatch_matrix(const Array& array, std::string_view operation, Act&& act) {
  using Outcome = std::invoke_result_t<Act, arrays::Array<double>&>;
  return dispatch(array, operation, [&]<class T>(arrays::Array<T>& given) -> Outcome {
    if constexpr (linalg::Scalar<T>) {
      return act(given);
    } else {
      refuse_matrix(array, operation);
    }
  });
}

/// A number of Python as a T. Throws WrongType, also if it does not fit.
template <class T>
T number(const py::handle& value) {
  const auto refuse_number = [&] {
    refuse_type(fmt::format("{} is not a number of type {}", repr_of(value),
                            rma::to_string(rma::element_type<T>())));
  };
  try {
    if constexpr (std::is_integral_v<T>) {
      return py::cast<T>(py::module_::import("operator").attr("index")(value));
    } else {
      return py::cast<T>(value);
    }
  } catch (const py::cast_error&) {
    refuse_number();
  } catch (py::error_already_set&) {
    refuse_number();
  }
  __builtin_unreachable();
}

template <class T>
py::array_t<T> to_numpy(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

/// Define the other functions of the module. They are private; the package's Python code calls
/// them.
void define_operations(py::module_& module);
void define_linear_algebra(py::module_& module);
void define_sparse(py::module_& module);
void define_checkpoints(py::module_& module);
/// tessera.Output.
void define_output(py::module_& module);

}  // namespace tessera::python
