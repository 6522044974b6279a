// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/transfers.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include "fortran/python/buffers.hpp"
#include "fortran/python/gil.hpp"
#include "fortran/python/selection.hpp"

namespace tessera::python {

using arrays::Transfer;
using rma::Status;

namespace {

/// Moves the selection. Without the GIL.
Status move(const Array& array, const Selection& selection, const NumpyMemory& memory,
            const Transfer& transfer) {
  return selection.is_box ? array.base().transfer(selection.box, memory.untyped(), transfer)
                          : array.base().transfer(selection.section(), memory.untyped(), transfer);
}
rma::Handle start(const Array& array, const Selection& selection, const NumpyMemory& memory,
                  const Transfer& transfer) {
  return selection.is_box
             ? array.base().transfer_async(selection.box, memory.untyped(), transfer)
             : array.base().transfer_async(selection.section(), memory.untyped(), transfer);
}

/// What a Python object of the class holds. Requires: it is an Array, as the slots below know.
const Array& array_of(PyObject* self) {
  // The first value of an object with one base; the general cast takes longer than a small get.
  auto* const object = reinterpret_cast<py::detail::instance*>(self);
  const auto* const array = static_cast<const Array*>(object->simple_value_holder[0]);
  if (array == nullptr) [[unlikely]] {
    refuse_type("this array was not made", "use job.zeros() and similar");
  }
  return *array;
}

py::object get(const Array& array, PyObject* key) {
  if (has_index_arrays(key)) {
    return get_elements(array, key);
  }
  Selection selection;
  parse(array.base(), key, selection);
  NumpyMemory memory = new_destination(array, selection);
  checked_without_gil([&] { return move(array, selection, memory, Transfer::get()); });
  return selection.ndims == 0 ? scalar_of(memory.owner) : std::move(memory.owner);
}

void put(const Array& array, PyObject* key, PyObject* value) {
  if (has_index_arrays(key)) {
    write_elements(array, key, value, "put to", Transfer::put());
    return;
  }
  Selection selection;
  parse(array.base(), key, selection);
  const NumpyMemory memory = source_of(array, selection, value, "put to");
  checked_without_gil([&] { return move(array, selection, memory, Transfer::put()); });
}

py::object get_into(const Array& array, const py::object& key, const py::object& out) {
  if (out.is_none()) {
    return get(array, key.ptr());
  }
  Selection selection;
  parse(array.base(), key.ptr(), selection);
  const NumpyMemory memory = destination_of(array, selection, out);
  checked_without_gil([&] { return move(array, selection, memory, Transfer::get()); });
  return out;
}

void accumulate(const Array& array, const py::object& key, const py::object& value,
                const py::object& scale) {
  const Transfer transfer = Transfer::accumulate(scale_of(array, scale));
  if (has_index_arrays(key.ptr())) {
    write_elements(array, key, value, "accumulate to", transfer);
    return;
  }
  Selection selection;
  parse(array.base(), key.ptr(), selection);
  const NumpyMemory memory = source_of(array, selection, value, "accumulate to");
  checked_without_gil([&] { return move(array, selection, memory, transfer); });
}

std::unique_ptr<Handle> get_async(const Array& array, const py::object& key,
                                  const py::object& out) {
  Selection selection;
  parse(array.base(), key.ptr(), selection);
  NumpyMemory memory =
      out.is_none() ? new_destination(array, selection) : destination_of(array, selection, out);
  auto handle = std::make_unique<Handle>(array.shared(), memory.owner, memory.owner);
  handle->collect(without_gil([&] { return start(array, selection, memory, Transfer::get()); }));
  return handle;
}

std::unique_ptr<Handle> start_write(const Array& array, const Selection& selection,
                                    NumpyMemory memory, const Transfer& transfer) {
  auto handle = std::make_unique<Handle>(array.shared(), memory.owner, py::none());
  handle->collect(without_gil([&] { return start(array, selection, memory, transfer); }));
  return handle;
}

std::unique_ptr<Handle> put_async(const Array& array, const py::object& key,
                                  const py::object& value) {
  Selection selection;
  parse(array.base(), key.ptr(), selection);
  return start_write(array, selection, source_of(array, selection, value, "put to"),
                     Transfer::put());
}

std::unique_ptr<Handle> accumulate_async(const Array& array, const py::object& key,
                                         const py::object& value, const py::object& scale) {
  Selection selection;
  const rma::Scale factor = scale_of(array, scale);
  parse(array.base(), key.ptr(), selection);
  return start_write(array, selection, source_of(array, selection, value, "accumulate to"),
                     Transfer::accumulate(factor));
}

/// Calls act() in a slot of the type, which reports errors by its result.
template <class Result, class Act>
Result in_slot(Result failed, const Act& act) {
  try {
    return act();
  } catch (const abi::__forced_unwind&) {
    stay_until_exit();
  } catch (...) {
    set_python_error_from_exception();
    return failed;
  }
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return in_slot<PyObject*>(nullptr, [&] { return get(array_of(self), key).release().ptr(); });
}

int assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return in_slot<int>(-1, [&] {
    if (value == nullptr) {
      refuse_type("elements of a tessera.Array cannot be deleted");
    }
    put(array_of(self), key, value);
    return 0;
  });
}

Py_ssize_t length(PyObject* self) {
  return in_slot<Py_ssize_t>(-1, [&] { return array_of(self).base().extents()[0]; });
}

/// Without these, A[key] would call Python's general machinery twice, which takes longer than a
/// small get.
void set_slots(const ArrayClass& array) {
  auto* const type = reinterpret_cast<PyTypeObject*>(array.ptr());
  type->tp_as_mapping->mp_subscript = subscript;
  type->tp_as_mapping->mp_ass_subscript = assign_subscript;
  type->tp_as_mapping->mp_length = length;
}

py::object wait_all(const py::object& given) {
  const py::list handles(given);
  py::list results;
  py::object first;
  for (const py::handle each : handles) {
    if (!py::isinstance<Handle>(each)) {
      refuse_type(fmt::format("wait_all: {} is not a tessera.Handle", repr_of(each)));
    }
  }
  for (const py::handle each : handles) {
    try {
      results.append(each.cast<Handle&>().wait());
    } catch (const rma::Error& error) {
      if (!first) {
        first = exception_of(error.status());
      }
    }
  }
  if (first) {
    PyErr_SetObject(first.get_type().ptr(), first.ptr());
    pass_python_error();
  }
  return results;
}

}  // namespace

Handle::~Handle() {
  if (!transfers_.is_empty()) {
    const ReleasedGil released;
    transfers_ = rma::Handle();
  }
}

bool Handle::done() {
  return without_gil([this] {
    const std::unique_lock alone(mutex_, std::try_to_lock);
    return alone.owns_lock() && transfers_.done();
  });
}

py::object Handle::wait() {
  checked_without_gil([this] {
    const std::lock_guard alone(mutex_);
    return transfers_.wait();
  });
  owner_ = py::none();
  return result_;
}

void define_handle(py::module_& module) {
  py::class_<Handle>(module, "Handle", R"(A transfer that may not be complete.

Local memory must stay untouched until wait() returns: a get's is not filled before, a put's source
may be read until then. The handle keeps the memory alive. A handle that is dropped waits, and the
next fence reports its error.)")
      .def("wait", &Handle::wait, R"(Wait until the transfer is complete here.

Returns the NumPy array of a get, and None for a put or acc. Raises the error of the transfer.)")
      .def("done", &Handle::done, "True if wait() would not block. Never blocks.");
  module.def("wait_all", &wait_all, py::arg("handles"),
             R"(Wait for several handles; return the list of their results.

All are waited for, also after an error; the first error is raised then.)");
}

void define_transfers(ArrayClass& array) {
  const py::object all = py::ellipsis();
  array
      .def(
          "__getitem__",
          [](const Array& self, const py::object& key) { return get(self, key.ptr()); },
          py::arg("key"), R"(A[key]: read elements, from whichever ranks own them. One-sided.

Integers, slices with positive steps, '...', lists or arrays of integers, and masks select elements
as in NumPy. Returns a new NumPy array, or a NumPy number if all dimensions have an integer.
Complete: at return. Raises OutOfRange for integers outside the array; slices are clipped.)")
      .def(
          "__setitem__",
          [](const Array& self, const py::object& key, const py::object& value) {
            put(self, key.ptr(), value.ptr());
          },
          py::arg("key"), py::arg("value"), R"(A[key] = value: write elements. One-sided.

value is a number or an array, broadcast as in NumPy. Other dtypes are converted if NumPy calls that
casting="same_kind". Complete: value may change; the elements are at their owners after fence() or
sync(). Raises WrongType (the values would be changed), InvalidArgument (shapes do not fit).)")
      .def("__len__", [](const Array& self) { return self.base().extents()[0]; })
      .def("get", &get_into, py::arg("key") = all, py::arg("out") = py::none(),
           R"(As A[key], into `out` if given: a NumPy array of A's dtype and the selection's shape.

Returns out. It may have any strides.)")
      .def(
          "put",
          [](const Array& self, const py::object& key, const py::object& value) {
            put(self, key.ptr(), value.ptr());
          },
          py::arg("key"), py::arg("value"), "As A[key] = value.")
      .def("acc", &accumulate, py::arg("key"), py::arg("value"), py::arg("scale") = 1,
           R"(A[key] += scale * value, atomically for each element. One-sided.

Several ranks may accumulate to the same elements at the same time. Complete: as A[key] = value.
Raises WrongType for elements that cannot be added.)")
      .def("get_async", &get_async, py::arg("key") = all, py::arg("out") = py::none(),
           "Start A.get(key, out). Returns a Handle, whose wait() returns the NumPy array.")
      .def("put_async", &put_async, py::arg("key"), py::arg("value"),
           "Start A[key] = value. Returns a Handle; value must not change until its wait().")
      .def("acc_async", &accumulate_async, py::arg("key"), py::arg("value"), py::arg("scale") = 1,
           "Start A.acc(key, value, scale). Returns a Handle; value must not change until its "
           "wait().");
  set_slots(array);
}

}  // namespace tessera::python
