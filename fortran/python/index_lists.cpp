// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/index_lists.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

#include "fortran/python/errors.hpp"

namespace tessera::python {

using arrays::Box;

namespace {

py::module_ numpy() {
  return py::module_::import("numpy");
}

/// An entry as an array of indices. Throws WrongType unless it has integers.
py::object indices_of(const Array& array, py::handle entry) {
  py::object given = numpy().attr("asarray")(entry);
  const auto kind = given.attr("dtype").attr("kind").cast<std::string>();
  const bool is_empty = given.attr("size").cast<std::int64_t>() == 0;  // of [], which is float64
  if (kind != "i" && kind != "u" && !is_empty) {
    refuse_type(fmt::format("{}: indices of dtype {}", array.base().describe(),
                            text_of(given.attr("dtype"))),
                "indices are integers");
  }
  return given.attr("astype")("int64");
}

bool is_mask(py::handle entry) {
  return py::isinstance<py::array>(entry) &&
         py::reinterpret_borrow<py::array>(entry).dtype().kind() == 'b';
}

/// The key's entries; a mask becomes the lists of the indices where it is true.
py::list entries_of(const Array& array, py::handle key) {
  py::list entries;
  const py::tuple given =
      PyTuple_Check(key.ptr()) ? py::reinterpret_borrow<py::tuple>(key) : py::make_tuple(key);
  int dim = 0;
  for (const py::handle entry : given) {
    if (!is_mask(entry)) {
      entries.append(entry);
      ++dim;
      continue;
    }
    const auto mask = py::reinterpret_borrow<py::array>(entry);
    for (int i = 0; i < mask.ndim(); ++i, ++dim) {
      if (dim >= array.base().ndims() || mask.shape(i) != array.base().extents()[dim]) {
        refuse(fmt::format("{}: the mask has shape {}", array.base().describe(),
                           text_of(mask.attr("shape"))),
               "a mask has the shape of the dimensions that it selects from");
      }
    }
    for (const py::handle list : mask.attr("nonzero")()) {
      entries.append(list);
    }
  }
  if (dim > array.base().ndims()) {
    refuse_index(fmt::format("{}: {} indices for {} dimensions", array.base().describe(), dim,
                             array.base().ndims()));
  }
  return entries;
}

/// Makes negative indices count from the end. The library refuses those that are outside.
void wrap(std::int64_t* numbers, std::int64_t count, int stride, std::int64_t extent) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t& number = numbers[i * stride];
    number += number < 0 && number >= -extent ? extent : 0;
  }
}

ElementList stacked(const Array& array, const py::list& lists) {
  py::object broadcast;
  try {
    broadcast = numpy().attr("broadcast_arrays")(*py::tuple(lists));
  } catch (py::error_already_set&) {
    refuse(array.base().describe() + ": the lists of indices have different lengths",
           "give one list for each dimension, of equal lengths");
  }
  const int ndims = array.base().ndims();
  ElementList found;
  found.shape = broadcast[py::int_(0)].attr("shape");
  const py::object stack = numpy().attr("stack")(broadcast, py::arg("axis") = -1);
  found.numbers =
      numpy().attr("ascontiguousarray")(stack.attr("reshape")(py::make_tuple(-1, ndims)));
  auto* const numbers = static_cast<std::int64_t*>(found.numbers.mutable_data());
  for (int dim = 0; dim < ndims; ++dim) {
    wrap(numbers + dim, found.count(), ndims, array.base().extents()[dim]);
  }
  return found;
}

/// One list among slices.
PlaneList planes_of(const Array& array, const py::list& entries, std::size_t at) {
  py::list key;
  int after = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const py::object entry = entries[i];
    if (i != at && PyIndex_Check(entry.ptr()) != 0) {
      refuse(array.base().describe() + ": an index has a list, slices and integers",
             "give slices of length one instead of the integers: A[rows, 3:4]");
    }
    key.append(i == at ? py::object(py::slice(py::none(), py::none(), py::none())) : entry);
    after += i > at ? 1 : 0;
  }
  bool has_ellipsis_before = false;
  for (std::size_t i = 0; i < at; ++i) {
    has_ellipsis_before = has_ellipsis_before || entries[i].ptr() == Py_Ellipsis;
  }
  PlaneList found;
  parse(array.base(), py::tuple(key).ptr(), found.selection);
  found.dim = has_ellipsis_before ? array.base().ndims() - 1 - after : static_cast<int>(at);
  found.numbers = numpy().attr("ascontiguousarray")(indices_of(array, entries[at]));
  if (found.numbers.ndim() != 1) {
    refuse(array.base().describe() + ": a list of indices among slices has one dimension");
  }
  const std::int64_t extent = array.base().extents()[found.dim];
  auto* const numbers = static_cast<std::int64_t*>(found.numbers.mutable_data());
  wrap(numbers, found.count(), 1, extent);
  for (std::int64_t i = 0; i < found.count(); ++i) {
    if (numbers[i] < 0 || numbers[i] >= extent) {
      refuse_index(fmt::format("{}: index {} of dimension {}, which has {} elements",
                               array.base().describe(), numbers[i], found.dim, extent));
    }
  }
  found.selection.box.set(found.dim, 0, found.count());
  found.selection.shape[static_cast<std::size_t>(found.dim)] = found.count();
  return found;
}

}  // namespace

arrays::IndexList ElementList::list() const {
  const auto* const first = static_cast<const std::int64_t*>(numbers.data());
  return arrays::IndexList::flat(std::span(first, static_cast<std::size_t>(numbers.size())),
                                 static_cast<int>(numbers.shape(1)));
}

arrays::Section PlaneList::plane(std::int64_t i) const {
  const std::int64_t number = static_cast<const std::int64_t*>(numbers.data())[i];
  Box box = selection.box;
  box.set(dim, number, number + 1);
  return {box, selection.steps};
}

IndexLists parse_index_lists(const Array& array, py::handle key) {
  const py::list entries = entries_of(array, key);
  py::list lists;
  bool are_all_lists = static_cast<int>(entries.size()) == array.base().ndims();
  std::size_t lists_found = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const py::object entry = entries[i];
    if (entry.is_none()) {
      Selection unused;
      parse(array.base(), key.ptr(), unused);  // refuses it
    }
    const bool is_slice = PySlice_Check(entry.ptr()) || entry.ptr() == Py_Ellipsis;
    are_all_lists = are_all_lists && !is_slice;
    if (!is_slice && (PyIndex_Check(entry.ptr()) == 0 || py::isinstance<py::array>(entry))) {
      ++lists_found;
      at = i;
    }
    if (are_all_lists) {
      lists.append(indices_of(array, entry));
    }
  }
  IndexLists found;
  if (are_all_lists) {
    found.elements = stacked(array, lists);
  } else if (lists_found == 1) {
    found.planes = planes_of(array, entries, at);
  } else {
    refuse(array.base().describe() + ": an index has several lists, and not one for each dimension",
           "give one list for each dimension, or one list and slices");
  }
  return found;
}

ElementList parse_element_list(const Array& array, py::handle indices) {
  const int ndims = array.base().ndims();
  if (PyTuple_Check(indices.ptr())) {
    const auto given = py::reinterpret_borrow<py::tuple>(indices);
    if (static_cast<int>(given.size()) != ndims) {
      refuse(fmt::format("{}: {} lists of indices for {} dimensions", array.base().describe(),
                         given.size(), ndims));
    }
    py::list lists;
    for (const py::handle each : given) {
      lists.append(indices_of(array, each));
    }
    return stacked(array, lists);
  }
  const py::object numbers =
      numpy().attr("array")(indices_of(array, indices), py::arg("order") = "C");
  const auto table = py::reinterpret_borrow<py::array>(numbers);
  ElementList found;
  if (ndims == 1 && table.ndim() == 1) {
    found.numbers = table.attr("reshape")(py::make_tuple(-1, 1));
  } else if (table.ndim() == 2 && table.shape(1) == ndims) {
    found.numbers = table;
  } else {
    refuse(fmt::format("{}: indices of shape {}", array.base().describe(),
                       text_of(table.attr("shape"))),
           fmt::format("give an array of shape (count, {}), or a tuple of {} lists", ndims, ndims));
  }
  found.shape = py::make_tuple(found.numbers.shape(0));
  auto* const first = static_cast<std::int64_t*>(found.numbers.mutable_data());
  for (int dim = 0; dim < ndims; ++dim) {
    wrap(first + dim, found.count(), ndims, array.base().extents()[dim]);
  }
  return found;
}

}  // namespace tessera::python
