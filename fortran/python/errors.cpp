// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/errors.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <string_view>

#include "fortran/python/signals.hpp"

namespace tessera::python {

using rma::Code;
using rma::Status;

namespace {

/// An exception class: its name, the Python class that it also is, and its documentation.
struct ErrorClass {
  Code code;
  const char* name;
  PyObject** also;
  const char* text;
};

constexpr int code_count = static_cast<int>(Code::internal) + 1;
// Thrown as an InvalidArgument that is also a TypeError.
constexpr const char* type_prefix = "\x01type\x01";
constexpr const char* wrong_type = "WrongType";

/// All exception classes except the base and WrongType.
constexpr std::array<ErrorClass, code_count - 1> error_classes = {{
    {Code::invalid_argument, "InvalidArgument", &PyExc_ValueError,
     "Shapes do not fit, or a bad option. Nothing was changed: fix the program."},
    {Code::out_of_range, "OutOfRange", &PyExc_IndexError,
     "An index outside its array. Nothing was moved: fix the program."},
    {Code::closed, "Closed", &PyExc_RuntimeError,
     "The job was stopped, or the object freed: stop using it."},
    {Code::unsupported, "Unsupported", &PyExc_NotImplementedError,
     "Not possible here: choose another way."},
    {Code::no_memory, "OutOfMemory", &PyExc_MemoryError,
     "Memory is exhausted: free some, or use more nodes."},
    {Code::limit_exceeded, "LimitExceeded", &PyExc_RuntimeError,
     "A limit was reached, which the text names: raise it."},
    {Code::unreachable, "Unreachable", &PyExc_ConnectionError,
     "A rank could not be connected: check the named address."},
    {Code::peer_lost, "PeerLost", &PyExc_ConnectionError,
     "A rank died or its connection failed: continue without it, or stop."},
    {Code::timed_out, "TimedOut", &PyExc_TimeoutError,
     "No progress within the stated time: try again, or treat the rank as lost."},
    {Code::protocol, "ProtocolError", &PyExc_RuntimeError,
     "Invalid bytes arrived: stop that rank, and report it."},
    {Code::internal, "InternalError", &PyExc_RuntimeError,
     "An invariant of the library is broken: report a bug."},
}};

/// `members` are attributes of the class, for exceptions that the package's Python raises.
PyObject* make_class(py::module_& module, const char* name, const py::tuple& bases,
                     const char* text, const py::dict& members) {
  const std::string path = std::string("tessera.") + name;
  PyObject* const made =
      owned(PyErr_NewExceptionWithDoc(path.c_str(), text, bases.ptr(), members.ptr()))
          .release()
          .ptr();
  module.add_object(name, made);
  return made;
}

std::string message_of(const Status& status) {
  const std::string message = status.message();
  return status.failing_rank() ? fmt::format("[rank {}] {}", status.failing_rank()->value, message)
                               : message;
}

}  // namespace

py::object exception_of(const Status& status) {
  std::string text = message_of(status);
  const char* name = "Error";
  for (const ErrorClass& each : error_classes) {
    if (each.code == status.code()) {
      name = each.name;
    }
  }
  if (const std::size_t at = text.find(type_prefix); at != std::string::npos) {
    text.erase(at, std::string_view(type_prefix).size());
    name = wrong_type;
  }
  py::object error = py::module_::import("tessera._core").attr(name)(py::str(text));
  error.attr("code") = py::str(std::string(rma::to_string(status.code())));
  error.attr("rank") = status.rank() ? py::object(py::int_(status.rank()->value)) : py::none();
  return error;
}

void set_python_error(const Status& status) noexcept {
  if (raise_kept_exception()) [[unlikely]] {
    return;
  }
  try {
    const py::object error = exception_of(status);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception&) {
    PyErr_NoMemory();
  }
}

void set_python_error_from_exception() noexcept {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const rma::Error& error) {
    set_python_error(error.status());
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    set_python_error(Status::code_only(Code::no_memory));
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void refuse(std::string text, std::string_view hint) {
  Status status = Status::error(Code::invalid_argument, std::move(text));
  if (!hint.empty()) {
    status = std::move(status).hint(hint);
  }
  rma::require(std::move(status));
  __builtin_unreachable();
}

void refuse_type(std::string text, std::string_view hint) {
  refuse(type_prefix + std::move(text), hint);
}

void refuse_index(std::string text, std::string_view hint) {
  Status status = Status::error(Code::out_of_range, std::move(text));
  if (!hint.empty()) {
    status = std::move(status).hint(hint);
  }
  rma::require(std::move(status));
  __builtin_unreachable();
}

void pass_python_error() {
  throw py::error_already_set();
}

void define_errors(py::module_& module) {
  const auto members = [](Code code) {
    py::dict of_class;
    of_class["code"] = py::str(std::string(rma::to_string(code)));
    of_class["rank"] = py::none();
    return of_class;
  };
  PyObject* const base =
      make_class(module, "Error", py::make_tuple(py::handle(PyExc_Exception)),
                 "An error of Tessera. `code` is its name in docs/errors.md, for example "
                 "'peer_lost'; `rank` is the rank concerned, or None.",
                 members(Code::internal));
  for (const ErrorClass& each : error_classes) {
    make_class(module, each.name, py::make_tuple(py::handle(base), py::handle(*each.also)),
               each.text, members(each.code));
  }
  make_class(module, wrong_type,
             py::make_tuple(module.attr("InvalidArgument"), py::handle(PyExc_TypeError)),
             "An argument or an element type that the operation does not take.", py::dict());
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const rma::Error& error) {
      set_python_error(error.status());
    }
  });
}

}  // namespace tessera::python
