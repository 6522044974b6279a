// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. tessera.Array: a distributed array whose element type is known only at run time.
//
// Operations that need the type get it from dispatch():
//
//     dispatch(array, [&]<class T>(arrays::Array<T>& typed) { … });
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <string_view>
#include <utility>

#include "arrays/array.hpp"
#include "fortran/python/errors.hpp"
#include "fortran/python/gil.hpp"
#include "fortran/python/job.hpp"
#include "rma/element.hpp"

namespace tessera::python {

/// The C++ part of tessera.Array. Copies are further handles of one array.
class Array {
 public:
  using Shared = std::shared_ptr<Owned<arrays::ArrayBase>>;

  Array(Shared shared, py::dtype dtype)
      : shared_(std::move(shared)), base_(&**shared_), dtype_(std::move(dtype)) {}

  /// The library's array. For element types with arithmetic it is an arrays::Array<T>. Operations
  /// on a freed array, or after the job's stop, return `closed`.
  [[nodiscard]] arrays::ArrayBase& base() const noexcept { return *base_; }
  [[nodiscard]] const py::dtype& dtype() const noexcept { return dtype_; }
  [[nodiscard]] const std::shared_ptr<Job>& job() const noexcept { return shared_->job(); }
  [[nodiscard]] rma::Team& team() const noexcept { return shared_->team(); }
  /// What keeps the array's memory mapped: views of it hold a copy.
  [[nodiscard]] const Shared& shared() const noexcept { return shared_; }

 private:
  Shared shared_;
  arrays::ArrayBase* base_;
  py::dtype dtype_;
};

using ArrayClass = py::class_<Array, std::shared_ptr<Array>>;

/// A Python array for one that its team has just made together. Call it with the GIL, on all
/// members. Throws the error of `made`.
std::shared_ptr<Array> adopt(const std::shared_ptr<Job>& job, rma::Result<arrays::ArrayBase> made,
                             py::dtype dtype);
/// The same for an arithmetic type.
template <class T>
std::shared_ptr<Array> adopt(const std::shared_ptr<Job>& job, rma::Result<arrays::Array<T>> made) {
  arrays::ArrayBase base = take(std::move(made));
  return adopt(job, std::move(base), py::dtype::of<T>());
}

/// Calls act(Array<T>&) with the array's element type, and returns its result. Throws WrongType for
/// opaque elements; `operation` is for the text: "sum of".
template <class Act>
decltype(auto) dispatch(const Array& array, std::string_view operation, Act&& act);

/// Throws WrongType: "sum of array 'A' (…): …".
[[noreturn]] void refuse_elements(const Array& array, std::string_view operation);

template <class Act>
decltype(auto) dispatch(const Array& array, std::string_view operation, Act&& act) {
  if (!array.base().element().type) [[unlikely]] {
    refuse_elements(array, operation);
  }
  return rma::dispatch(*array.base().element().type, [&]<class T>(rma::Tag<T>) -> decltype(auto) {
    return act(static_cast<arrays::Array<T>&>(array.base()));
  });
}

/// The Python class with everything but what other files add to it, and the methods of Job that
/// make arrays.
ArrayClass define_array(py::module_& module);

}  // namespace tessera::python
