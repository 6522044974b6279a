// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Transfers of tessera.Array: A[key], A[key] = x, get, put, acc, gather, scatter, and
// tessera.Handle for non-blocking ones.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "fortran/python/array.hpp"
#include "rma/handle.hpp"

namespace tessera::python {

/// The C++ part of tessera.Handle: transfers that may not be complete, and the memory that they
/// use.
class Handle {
 public:
  /// `owner` keeps the local memory alive; `result` is what wait() returns.
  Handle(Array::Shared array, py::object owner, py::object result)
      : array_(std::move(array)), owner_(std::move(owner)), result_(std::move(result)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// Waits without the GIL; the next fence reports an error.
  ~Handle();

  void collect(rma::Handle started) { transfers_.collect(std::move(started)); }
  [[nodiscard]] bool done();
  /// Throws the first error of the transfers, once.
  py::object wait();

 private:
  Array::Shared array_;
  py::object owner_;
  py::object result_;
  std::mutex mutex_;  // several threads may wait
  rma::Handle transfers_;
};

/// Elements by lists or arrays of indices, as NumPy's A[rows, columns].
py::object get_elements(const Array& array, py::handle key);
/// Writes them, or adds to them, as `transfer` says; `operation` is for texts: "put to".
void write_elements(const Array& array, py::handle key, py::handle values,
                    std::string_view operation, const arrays::Transfer& transfer);

void define_handle(py::module_& module);
void define_transfers(ArrayClass& array);
void define_elements(ArrayClass& array);

}  // namespace tessera::python
