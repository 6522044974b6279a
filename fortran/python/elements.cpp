// SPDX-License-Identifier: BSD-3-Clause
//
// Lists of elements, and atomic operations on single elements.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "arrays/gather.hpp"
#include "fortran/python/buffers.hpp"
#include "fortran/python/gil.hpp"
#include "fortran/python/index_lists.hpp"
#include "fortran/python/selection.hpp"
#include "fortran/python/transfers.hpp"

namespace tessera::python {

using arrays::Transfer;
using rma::Status;

namespace {

py::object gather(const Array& array, const ElementList& places) {
  auto values = py::reinterpret_steal<py::array>(
      new_numpy_array(array.dtype(), 1, std::array{Py_intptr_t{places.count()}}.data()).release());
  void* const to = values.mutable_data();
  const arrays::IndexList list = places.list();
  checked_without_gil(
      [&] { return transfer_elements(array.base(), list, to, list.count(), Transfer::get()); });
  return values.attr("reshape")(places.shape);
}

/// The values for a list of elements, dense.
py::array values_for(const Array& array, const ElementList& places, py::handle values,
                     std::string_view operation) {
  const auto numpy = py::module_::import("numpy");
  const py::array given = converted(array, values, operation);
  py::object all;
  try {
    all = numpy.attr("broadcast_to")(given, places.shape);
  } catch (py::error_already_set&) {
    refuse(fmt::format("{} {}: values of shape {} for indices of shape {}", operation,
                       array.base().describe(), text_of(given.attr("shape")),
                       text_of(places.shape)));
  }
  return numpy.attr("ascontiguousarray")(all);
}

void scatter(const Array& array, const ElementList& places, py::handle values,
             std::string_view operation, const Transfer& transfer) {
  const py::array given = values_for(array, places, values, operation);
  void* const from = const_cast<void*>(given.data());
  const arrays::IndexList list = places.list();
  checked_without_gil(
      [&] { return transfer_elements(array.base(), list, from, list.count(), transfer); });
}

/// Moves planes one after the other, all started before the first is waited for.
Status move_planes(const Array& array, const PlaneList& planes, const NumpyMemory& memory,
                   const Transfer& transfer) {
  rma::Handle started;
  const arrays::Strides strides = memory.is_dense ? dense_strides(memory.extents) : memory.strides;
  arrays::Extents extents = memory.extents;
  extents[planes.dim] = 1;
  const auto bytes = static_cast<std::int64_t>(array.base().element_bytes());
  for (std::int64_t i = 0; i < planes.count(); ++i) {
    auto* const at = static_cast<std::byte*>(memory.data) + i * strides[planes.dim] * bytes;
    started.collect(array.base().transfer_async(
        planes.plane(i), arrays::UntypedMemory(at, extents, strides), transfer));
  }
  return started.wait();
}

Transfer accumulate_by(const Array& array, const py::object& scale) {
  return Transfer::accumulate(scale_of(array, scale));
}

/// Calls act(typed array) for integers of 4 or 8 bytes, on which atomic operations work.
template <class Act>
py::object atomically(const Array& array, std::string_view operation, const Act& act) {
  return dispatch(array, operation, [&]<class T>(arrays::Array<T>& typed) -> py::object {
    if constexpr (arrays::AtomicElement<T>) {
      return act(typed);
    } else {
      refuse_type(fmt::format("{} {}: elements are not integers of 4 or 8 bytes", operation,
                              typed.describe()),
                  "use dtype i4, i8, u4 or u8");
    }
  });
}

/// A Python number as an element.
template <class T>
T element_of(const Array& array, const py::object& given, std::string_view operation) {
  const py::array value = converted(array, given, operation);
  if (value.ndim() != 0) {
    refuse(fmt::format("{} {}: one number is needed", operation, array.base().describe()));
  }
  T number;
  std::memcpy(&number, value.data(), sizeof number);
  return number;
}

py::object fetch_add(const Array& array, const py::object& key, const py::object& increment) {
  constexpr std::string_view name = "fetch_add of";
  const arrays::Index index = parse_index(array.base(), key);
  return atomically(array, name, [&]<class T>(const arrays::Array<T>& typed) -> py::object {
    const T by = element_of<T>(array, increment, name);
    return py::int_(checked_without_gil([&] { return typed.fetch_add(index, by); }));
  });
}

py::object swap(const Array& array, const py::object& key, const py::object& desired) {
  constexpr std::string_view name = "swap of";
  const arrays::Index index = parse_index(array.base(), key);
  return atomically(array, name, [&]<class T>(const arrays::Array<T>& typed) -> py::object {
    const T stored = element_of<T>(array, desired, name);
    return py::int_(checked_without_gil([&] { return typed.swap(index, stored); }));
  });
}

py::object compare_and_swap(const Array& array, const py::object& key, const py::object& expected,
                            const py::object& desired) {
  constexpr std::string_view name = "compare_and_swap of";
  const arrays::Index index = parse_index(array.base(), key);
  return atomically(array, name, [&]<class T>(const arrays::Array<T>& typed) -> py::object {
    const T old = element_of<T>(array, expected, name);
    const T stored = element_of<T>(array, desired, name);
    return py::int_(checked_without_gil([&] { return typed.compare_swap(index, old, stored); }));
  });
}

}  // namespace

py::object get_elements(const Array& array, py::handle key) {
  const IndexLists lists = parse_index_lists(array, key);
  if (lists.elements) {
    return gather(array, *lists.elements);
  }
  NumpyMemory memory = new_destination(array, lists.planes->selection);
  checked_without_gil([&] { return move_planes(array, *lists.planes, memory, Transfer::get()); });
  return std::move(memory.owner);
}

void write_elements(const Array& array, py::handle key, py::handle values,
                    std::string_view operation, const Transfer& transfer) {
  const IndexLists lists = parse_index_lists(array, key);
  if (lists.elements) {
    scatter(array, *lists.elements, values, operation, transfer);
    return;
  }
  const NumpyMemory memory = source_of(array, lists.planes->selection, values, operation);
  checked_without_gil([&] { return move_planes(array, *lists.planes, memory, transfer); });
}

void define_elements(ArrayClass& array) {
  array
      .def(
          "gather",
          [](const Array& self, const py::object& indices) {
            return gather(self, parse_element_list(self, indices));
          },
          py::arg("indices"), R"(Read single elements, wherever they are. One-sided.

indices is an integer array of shape (count, dimensions), or a tuple with a list for each dimension.
Returns a NumPy array with one value for each index. Complete: at return. Raises OutOfRange, which
names the entry of the list; nothing is moved then.)")
      .def(
          "scatter",
          [](const Array& self, const py::object& indices, const py::object& values) {
            scatter(self, parse_element_list(self, indices), values, "scatter to", Transfer::put());
          },
          py::arg("indices"), py::arg("values"), R"(Write single elements. One-sided.

values has one number for each index, or is a number. An element that is listed twice has either
value afterwards. Complete: as A[key] = value.)")
      .def(
          "scatter_acc",
          [](const Array& self, const py::object& indices, const py::object& values,
             const py::object& scale) {
            const Transfer transfer = accumulate_by(self, scale);
            scatter(self, parse_element_list(self, indices), values, "accumulate to", transfer);
          },
          py::arg("indices"), py::arg("values"), py::arg("scale") = 1,
          R"(Add scale * values to single elements, atomically for each. One-sided.

An element that is listed twice gets both values. Complete: as A[key] = value.)")
      .def("fetch_add", &fetch_add, py::arg("index"), py::arg("increment") = 1,
           R"(Add to one element and return its value from before. One-sided, atomic.

Integers of 4 or 8 bytes, which wrap around. Atomic with swap and compare_and_swap, not with acc.
Complete: at return, here and at the owner.)")
      .def("read_inc", &fetch_add, py::arg("index"), py::arg("increment") = 1,
           "As fetch_add(), the name in Global Arrays.")
      .def("swap", &swap, py::arg("index"), py::arg("value"),
           "Store a value in one element and return the one from before. As fetch_add().")
      .def("compare_and_swap", &compare_and_swap, py::arg("index"), py::arg("expected"),
           py::arg("value"),
           "Store a value if the element equals `expected`; return the one from before. As "
           "fetch_add().");
}

}  // namespace tessera::python
