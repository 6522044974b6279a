// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Errors of the library as Python exceptions, one class for each code.
//
// Functions that Python calls report an error with check() or take(), which throw rma::Error. The
// module turns that into an exception with the text of the Status. Slots of types, which must not
// throw, use set_python_error().
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>
#include <utility>

#include "rma/base/result.hpp"

namespace tessera::python {

namespace py = pybind11;

/// Defines the exception classes, and turns rma::Error into them.
void define_errors(py::module_& module);

/// Sets Python's current exception.
void set_python_error(const rma::Status& status) noexcept;
/// The same for the C++ exception that is being handled. Call it in a catch block.
void set_python_error_from_exception() noexcept;

/// An exception object for `status`, which is not ok, to be raised later.
py::object exception_of(const rma::Status& status);

inline void check(rma::Status status) {
  rma::require(std::move(status));
}
template <class T>
T take(rma::Result<T> result) {
  rma::require(std::move(result).status());
  return std::move(result).take();
}

/// Calls act() and returns the error that it throws as a Status. For arguments of collectives,
/// whose errors the other members must get. Call it with the GIL.
template <class Act>
rma::Status status_of(const Act& act) {
  try {
    act();
  } catch (const rma::Error& error) {
    return error.status();
  } catch (py::error_already_set& error) {
    return rma::Status::error(rma::Code::invalid_argument, error.what());
  } catch (const py::builtin_exception& error) {
    return rma::Status::error(rma::Code::invalid_argument, error.what());
  }
  return {};
}

/// Throws InvalidArgument, a ValueError; WrongType, also a TypeError.
[[noreturn]] void refuse(std::string text, std::string_view hint = {});
[[noreturn]] void refuse_type(std::string text, std::string_view hint = {});
/// Throws OutOfRange, an IndexError.
[[noreturn]] void refuse_index(std::string text, std::string_view hint = {});
/// Throws the exception that a function of Python has set.
[[noreturn]] void pass_python_error();

/// str(object) and repr(object), for texts.
inline std::string text_of(py::handle object) {
  return py::str(object).cast<std::string>();
}
inline std::string repr_of(py::handle object) {
  return py::repr(object).cast<std::string>();
}

/// The result of a function of Python that returns a new reference, or null and an exception.
inline py::object owned(PyObject* made) {
  if (made == nullptr) [[unlikely]] {
    pass_python_error();
  }
  return py::reinterpret_steal<py::object>(made);
}

}  // namespace tessera::python
