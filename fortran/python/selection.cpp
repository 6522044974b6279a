// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/selection.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fortran/python/errors.hpp"

namespace tessera::python {

using arrays::ArrayBase;
using arrays::Box;
using arrays::Extents;
using arrays::Index;

namespace {

/// Whether the exception that Python has set is of a class; then it is cleared.
bool has_raised(PyObject* kind) noexcept {
  if (PyErr_ExceptionMatches(kind) == 0) {
    return false;
  }
  PyErr_Clear();
  return true;
}

[[noreturn]] void refuse_entry(const ArrayBase& array, PyObject* entry) {
  if (entry == Py_None) {
    refuse_type(
        array.describe() + ": None (numpy.newaxis) adds a dimension, which transfers cannot",
        "add it to the result: A[...][None]");
  }
  refuse_type(fmt::format("{}: {} is not an index", array.describe(), repr_of(entry)),
              "indices are integers, slices, '...', and lists or arrays of integers");
}

template <class Number>
[[noreturn]] void refuse_number(const ArrayBase& array, int dim, const Number& number) {
  const std::int64_t extent = array.extents()[dim];
  refuse_index(extent == 0 ? fmt::format("{}: index {} of dimension {}, which is empty",
                                         array.describe(), number, dim)
                           : fmt::format("{}: index {} of dimension {}, which has 0 to {}",
                                         array.describe(), number, dim, extent - 1));
}

/// Throws after Python could not make a number of an entry.
[[noreturn]] void refuse_as_number(const ArrayBase& array, int dim, PyObject* entry) {
  if (has_raised(PyExc_IndexError)) {
    refuse_number(array, dim, repr_of(entry));
  }
  if (has_raised(PyExc_TypeError)) {  // NumPy's bools and floats
    refuse_entry(array, entry);
  }
  pass_python_error();
}

[[noreturn]] void refuse_step(const ArrayBase& array, int dim, std::int64_t step) {
  refuse(fmt::format("{}: step {} in dimension {}; steps must be positive", array.describe(), step,
                     dim),
         "reverse the NumPy array instead: A[2:10][::-1]");
}

[[noreturn]] void refuse_count(const ArrayBase& array, Py_ssize_t given) {
  refuse_index(
      fmt::format("{}: {} indices for {} dimensions", array.describe(), given, array.ndims()));
}

/// True for a bool of Python or of NumPy; Python treats both as integers.
bool is_bool(PyObject* entry) noexcept {
  if (PyLong_CheckExact(entry)) {
    return false;
  }
  const std::string_view name = Py_TYPE(entry)->tp_name;
  return name == "numpy.bool_" || name == "numpy.bool" || PyBool_Check(entry);
}

/// Fills a selection dimension by dimension.
class Parser {
 public:
  Parser(const ArrayBase& array, Selection& selection) noexcept
      : array_(array), selection_(selection), ndims_(array.ndims()) {
    selection_.box = Box::none(ndims_);
    selection_.steps = Extents::filled(ndims_, 1);
  }

  void add_whole() noexcept {
    const std::int64_t extent = array_.extents()[dim_];
    selection_.box.set(dim_, 0, extent);
    keep(extent);
  }
  void add_slice(PyObject* slice) {
    Py_ssize_t start = 0;
    Py_ssize_t stop = 0;
    Py_ssize_t step = 1;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) [[unlikely]] {
      if (has_raised(PyExc_ValueError)) {
        refuse_step(array_, dim_, 0);
      }
      refuse_as_number(array_, dim_, slice);
    }
    if (step < 1) [[unlikely]] {
      refuse_step(array_, dim_, step);
    }
    const Py_ssize_t count = PySlice_AdjustIndices(array_.extents()[dim_], &start, &stop, step);
    if (step == 1 || count < 2) {
      selection_.box.set(dim_, start, start + count);
    } else {
      selection_.box.set(dim_, start, start + (count - 1) * step + 1);
      selection_.steps[dim_] = step;
      selection_.is_box = false;
    }
    keep(count);
  }
  void add_number(std::int64_t given) {
    const std::int64_t extent = array_.extents()[dim_];
    const std::int64_t number = given < 0 ? given + extent : given;
    if (number < 0 || number >= extent) [[unlikely]] {
      refuse_number(array_, dim_, given);
    }
    selection_.box.set(dim_, number, number + 1);
    ++dim_;
  }
  void add(PyObject* entry) {
    if (PySlice_Check(entry)) {
      add_slice(entry);
    } else if (PyIndex_Check(entry) != 0 && !is_bool(entry)) {
      const Py_ssize_t number = PyNumber_AsSsize_t(entry, PyExc_IndexError);
      if (number == -1 && PyErr_Occurred() != nullptr) [[unlikely]] {
        refuse_as_number(array_, dim_, entry);
      }
      add_number(number);
    } else {
      refuse_entry(array_, entry);
    }
  }
  void add_whole_until(int dim) noexcept {
    while (dim_ < dim) {
      add_whole();
    }
  }
  [[nodiscard]] int ndims() const noexcept { return ndims_; }
  [[nodiscard]] int dim() const noexcept { return dim_; }

 private:
  /// The dimension is one of the NumPy array's, too.
  void keep(std::int64_t extent) noexcept {
    const auto at = static_cast<std::size_t>(selection_.ndims++);
    selection_.shape[at] = extent;
    selection_.dims[at] = static_cast<std::int8_t>(dim_++);
  }

  const ArrayBase& array_;
  Selection& selection_;
  int ndims_;
  int dim_ = 0;
};

void parse_tuple(const ArrayBase& array, PyObject* key, Parser& parser) {
  const Py_ssize_t given = PyTuple_GET_SIZE(key);
  Py_ssize_t ellipses = 0;
  for (Py_ssize_t i = 0; i < given; ++i) {
    ellipses += PyTuple_GET_ITEM(key, i) == Py_Ellipsis ? 1 : 0;
  }
  if (ellipses > 1) [[unlikely]] {
    refuse_index(array.describe() + ": an index may contain '...' only once");
  }
  if (given - ellipses > parser.ndims()) [[unlikely]] {
    for (Py_ssize_t i = 0; i < given; ++i) {
      if (PyTuple_GET_ITEM(key, i) == Py_None) {
        refuse_entry(array, Py_None);
      }
    }
    refuse_count(array, given - ellipses);
  }
  const int left_out = parser.ndims() - static_cast<int>(given - ellipses);
  for (Py_ssize_t i = 0; i < given; ++i) {
    PyObject* const entry = PyTuple_GET_ITEM(key, i);
    if (entry == Py_Ellipsis) {
      parser.add_whole_until(parser.dim() + left_out);
    } else {
      parser.add(entry);
    }
  }
}

}  // namespace

std::int64_t parse_number(py::handle given, const char* what) {
  const Py_ssize_t number = PyNumber_AsSsize_t(given.ptr(), PyExc_IndexError);
  if (number == -1 && PyErr_Occurred() != nullptr) [[unlikely]] {
    if (has_raised(PyExc_IndexError)) {
      refuse(fmt::format("{}={} does not fit 64 bits", what, repr_of(given)));
    }
    if (has_raised(PyExc_TypeError)) {
      refuse_type(fmt::format("{}={} is not an integer", what, repr_of(given)));
    }
    pass_python_error();
  }
  return number;
}

std::int32_t parse_int32(py::handle given, const char* what) {
  const std::int64_t number = parse_number(given, what);
  if (number < std::numeric_limits<std::int32_t>::min() ||
      number > std::numeric_limits<std::int32_t>::max()) {
    refuse(fmt::format("{}={} does not fit 32 bits", what, repr_of(given)));
  }
  return static_cast<std::int32_t>(number);
}

std::vector<std::int64_t> parse_numbers(py::handle given, const char* what) {
  if (PyIndex_Check(given.ptr()) != 0) {
    return {parse_number(given, what)};
  }
  PyObject* const sequence = PySequence_Fast(given.ptr(), "");
  if (sequence == nullptr) {
    PyErr_Clear();
    refuse_type(
        fmt::format("{}={} is neither an integer nor a list of integers", what, repr_of(given)));
  }
  const auto list = py::reinterpret_steal<py::object>(sequence);
  std::vector<std::int64_t> numbers;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
    PyObject* const entry = PySequence_Fast_GET_ITEM(sequence, i);
    if (PyIndex_Check(entry) == 0) {
      refuse_type(
          fmt::format("{}={} is neither an integer nor a list of integers", what, repr_of(given)));
    }
    numbers.push_back(parse_number(entry, what));
  }
  return numbers;
}

std::int64_t Selection::count() const noexcept {
  std::int64_t product = 1;
  for (int dim = 0; dim < ndims; ++dim) {
    product *= shape[static_cast<std::size_t>(dim)];
  }
  return product;
}

bool has_index_arrays(PyObject* key) noexcept {
  const auto is_list = [](PyObject* entry) {
    if (PySlice_Check(entry) || PyLong_Check(entry) || entry == Py_Ellipsis || entry == Py_None) {
      return false;
    }
    if (py::isinstance<py::array>(entry)) {
      return py::reinterpret_borrow<py::array>(entry).ndim() > 0;
    }
    return PySequence_Check(entry) != 0 && !PyUnicode_Check(entry) && !PyBytes_Check(entry);
  };
  if (!PyTuple_Check(key)) {
    return is_list(key);
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) {
    if (is_list(PyTuple_GET_ITEM(key, i))) {
      return true;
    }
  }
  return false;
}

void parse(const ArrayBase& array, PyObject* key, Selection& selection) {
  Parser parser(array, selection);
  if (PyTuple_Check(key)) {
    parse_tuple(array, key, parser);
  } else if (key != Py_Ellipsis) {
    if (parser.ndims() == 0) [[unlikely]] {
      refuse_count(array, 1);
    }
    parser.add(key);
  }
  parser.add_whole_until(parser.ndims());
}

Selection whole(const ArrayBase& array) {
  Selection selection;
  Parser parser(array, selection);
  parser.add_whole_until(parser.ndims());
  return selection;
}

Index parse_index(const ArrayBase& array, py::handle key) {
  Selection selection;
  parse(array, key.ptr(), selection);
  if (selection.ndims != 0) {
    refuse(fmt::format("{}: one element is needed, which takes {} integers", array.describe(),
                       array.ndims()));
  }
  return selection.box.lo();
}

Box parse_box(const ArrayBase& array, py::handle lo, py::handle hi) {
  const Box box(parse_list<Index>(lo, array.ndims(), "lo"),
                parse_list<Index>(hi, array.ndims(), "hi"));
  check(check_inside(box, array.extents()).context(array.describe()));
  return box;
}

template <class List>
List parse_list(py::handle given, int ndims, const char* what) {
  std::vector<std::int64_t> numbers = parse_numbers(given, what);
  if (numbers.size() == 1 && PyIndex_Check(given.ptr()) != 0) {
    numbers.resize(static_cast<std::size_t>(ndims), numbers[0]);
  }
  if (numbers.size() != static_cast<std::size_t>(ndims)) {
    refuse(fmt::format("{} has {} numbers for {} dimensions", what, numbers.size(), ndims));
  }
  return List(std::span<const std::int64_t>(numbers));
}
template Index parse_list<Index>(py::handle, int, const char*);
template Extents parse_list<Extents>(py::handle, int, const char*);

Extents parse_shape(py::handle given) {
  const std::vector<std::int64_t> numbers = parse_numbers(given, "shape");
  const Extents extents{std::span<const std::int64_t>(numbers)};
  check(check_extents(extents));
  return extents;
}

py::tuple slices_of(const Box& box) {
  py::tuple slices(static_cast<std::size_t>(box.ndims()));
  for (int dim = 0; dim < box.ndims(); ++dim) {
    slices[static_cast<std::size_t>(dim)] =
        py::slice(static_cast<py::ssize_t>(box.lo(dim)), static_cast<py::ssize_t>(box.hi(dim)), 1);
  }
  return slices;
}

}  // namespace tessera::python
