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

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "arrays/array.hpp"
#include "fortran/python/errors.hpp"
#include "fortran/python/gil.hpp"
#include "fortran/python/job.hpp"
#include "rma/element.hpp"

namespace tessera::python {

class HaloPlans;

/// An array and what belongs to it. Python's arrays, views of local memory and pending transfers
/// share it; when the last one ends, this rank drops the array.
class SharedArray : public Owned<arrays::ArrayBase> {
 public:
  SharedArray(std::shared_ptr<SharedJob> job, rma::Team team,
              std::shared_ptr<arrays::ArrayBase> array);
  ~SharedArray();

  /// After free(), while views still keep the memory.
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }
  /// Collective. Closes the array. Its memory is freed now, or when no member has views of it.
  rma::Status close();

  /// NumPy arrays in this rank's memory.
  [[nodiscard]] std::int64_t views() const noexcept { return views_; }
  void add_view(int change) noexcept;

  /// The exchanges of ghost cells that were planned.
  [[nodiscard]] HaloPlans& halos() noexcept { return *halos_; }

 private:
  std::unique_ptr<HaloPlans> halos_;
  std::atomic<std::int64_t> views_ = 0;
  std::atomic<bool> is_closed_ = false;
};

/// The C++ part of tessera.Array. Copies are further handles of one array.
class Array {
 public:
  using Shared = std::shared_ptr<SharedArray>;

  Array(Shared shared, py::dtype dtype)
      : shared_(std::move(shared)), base_(&**shared_), dtype_(std::move(dtype)) {}

  /// The library's array. For element types with arithmetic it is an arrays::Array<T>. Throws
  /// Closed after free(). Operations after the job's stop return `closed`.
  [[nodiscard]] arrays::ArrayBase& base() const {
    if (shared_->is_closed()) [[unlikely]] {
      refuse_closed();
    }
    return *base_;
  }
  /// The same for its name and shape, which stay known.
  [[nodiscard]] const arrays::ArrayBase& description() const noexcept { return *base_; }
  [[nodiscard]] const py::dtype& dtype() const noexcept { return dtype_; }
  [[nodiscard]] const std::shared_ptr<SharedJob>& job() const noexcept { return shared_->job(); }
  [[nodiscard]] rma::Team& team() const noexcept { return shared_->team(); }
  /// What keeps the array's memory mapped: views of it hold a copy.
  [[nodiscard]] const Shared& shared() const noexcept { return shared_; }

 private:
  [[noreturn]] void refuse_closed() const;

  Shared shared_;
  arrays::ArrayBase* base_;
  py::dtype dtype_;
};

using ArrayClass = py::class_<Array, std::shared_ptr<Array>>;

/// A Python array for one that its team has just made together. Call it with the GIL, on all
/// members. Throws the error of `made`.
std::shared_ptr<Array> adopt(const std::shared_ptr<SharedJob>& job,
                             rma::Result<arrays::ArrayBase> made, py::dtype dtype);
/// The same for an arithmetic type.
template <class T>
std::shared_ptr<Array> adopt(const std::shared_ptr<SharedJob>& job,
                             rma::Result<arrays::Array<T>> made) {
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

/// Collective. Makes an array, with errors in the arguments of any member reported to all.
struct ArrayTerms {
  arrays::Extents extents;
  py::dtype dtype;
  std::optional<arrays::Distribution> distribution = {};
  arrays::ArrayOptions options = {};
};
std::shared_ptr<Array> make(const std::shared_ptr<SharedJob>& job, const ArrayTerms& asked);

/// Collective. Sets all elements to a number, each rank its own.
void fill(const Array& array, const py::object& value);

/// The class without what other files add to it.
ArrayClass define_array(py::module_& module);
/// The methods of Job that make arrays.
void define_creation(JobClass& job);
void define_local_access(py::module_& module, ArrayClass& array);
void define_halo(py::module_& module, ArrayClass& array);
void define_distribution(py::module_& module);

}  // namespace tessera::python
