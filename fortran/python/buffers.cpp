// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "fortran/python/element_types.hpp"
#include "fortran/python/errors.hpp"

namespace tessera::python {

using arrays::Extents;
using arrays::Strides;

namespace {

using Npy = py::detail::npy_api;

std::string shape_text(const py::array& given) {
  return text_of(given.attr("shape"));
}
std::string shape_text(const Selection& selection) {
  py::tuple shape(static_cast<std::size_t>(selection.ndims));
  for (int dim = 0; dim < selection.ndims; ++dim) {
    shape[static_cast<std::size_t>(dim)] = py::int_(selection.shape[static_cast<std::size_t>(dim)]);
  }
  return text_of(shape);
}

/// Whether both are one element type, whatever NumPy's number for it is.
bool is_same_type(const Array& array, const py::array& given) {
  const int own = array.dtype().num();
  const int other = given.dtype().num();
  if (own == other && own < Npy::NPY_OBJECT_) {
    return given.dtype().attr("isnative").cast<bool>();
  }
  return Npy::get().PyArray_EquivTypes_(given.dtype().ptr(), array.dtype().ptr());
}

bool is_unsigned(const Array& array) {
  return array.dtype().kind() == 'u';
}
bool is_integer(const py::dtype& dtype) {
  return dtype.kind() == 'i' || dtype.kind() == 'u';
}

/// A Python number as an element. Throws InvalidArgument if it does not fit.
py::array number_converted(const Array& array, py::handle value, std::string_view operation) {
  const auto numpy = py::module_::import("numpy");
  if (is_integer(array.dtype())) {
    const py::object limits = numpy.attr("iinfo")(array.dtype());
    const py::object low = limits.attr("min");
    const py::object high = limits.attr("max");
    if (value < low || value > high) {
      refuse(fmt::format("{} {}: {} is outside {} to {}, which its elements can hold", operation,
                         array.base().describe(), text_of(value), text_of(low), text_of(high)));
    }
  }
  return numpy.attr("asarray")(value, array.dtype());
}

[[noreturn]] void refuse_dtype(const Array& array, py::handle given, std::string_view operation) {
  refuse_type(fmt::format("{} {}: {} values would be changed", operation, array.base().describe(),
                          text_of(given)),
              fmt::format("convert them first: x.astype('{}')", text_of(array.dtype())));
}

/// NumPy's rule: dimensions are matched from the last; those of length 1 are repeated.
class Broadcast {
 public:
  Broadcast(const Selection& selection, const py::array& given)
      : first_(static_cast<int>(given.ndim()) - selection.ndims) {
    // More dimensions of length 1 in front are left out.
    for (int dim = 0; dim < first_; ++dim) {
      fits_ = fits_ && given.shape(dim) == 1;
    }
    for (int dim = 0; dim < selection.ndims && fits_; ++dim) {
      const py::ssize_t length = dim + first_ < 0 ? 1 : given.shape(dim + first_);
      const Py_intptr_t wanted = selection.shape[static_cast<std::size_t>(dim)];
      fits_ = length == wanted || length == 1;
    }
  }
  [[nodiscard]] bool fits() const noexcept { return fits_; }
  /// The stride of the selection's dimension in bytes; 0 if the value is repeated.
  [[nodiscard]] py::ssize_t stride(const py::array& given, int dim) const {
    const int at = dim + first_;
    return at < 0 || given.shape(at) == 1 ? 0 : given.strides(at);
  }

 private:
  int first_;  // the dimension of the value for dimension 0 of the selection
  bool fits_ = true;
};

/// Whether the kernels can read the values where they are: elements aligned, and neighbours along
/// the last dimension side by side.
bool is_usable_in_place(const Selection& selection, const py::array& given,
                        const Broadcast& broadcast) {
  const py::ssize_t bytes = given.itemsize();
  if ((given.flags() & Npy::NPY_ARRAY_ALIGNED_) == 0) {
    return false;
  }
  for (int dim = 0; dim < selection.ndims; ++dim) {
    const py::ssize_t stride = broadcast.stride(given, dim);
    const bool is_last = dim == selection.ndims - 1;
    const bool is_single = selection.shape[static_cast<std::size_t>(dim)] <= 1;
    if (!is_single && (stride % bytes != 0 || (is_last && stride != bytes))) {
      return false;
    }
  }
  return true;
}

/// A dense copy in which the last dimension has the selection's length.
py::array dense_copy(const Selection& selection, const py::array& given) {
  const auto numpy = py::module_::import("numpy");
  py::list shape(given.attr("shape"));
  const py::int_ last(selection.shape[static_cast<std::size_t>(selection.ndims - 1)]);
  if (shape.empty()) {
    shape.append(last);
  } else {
    shape[shape.size() - 1] = last;
  }
  return numpy.attr("ascontiguousarray")(numpy.attr("broadcast_to")(given, py::tuple(shape)));
}

/// The strides of the Tessera array's dimensions, in elements.
template <class StrideOf>
void set_strides(NumpyMemory& memory, const Selection& selection, py::ssize_t bytes,
                 const StrideOf& stride_of) {
  std::int64_t dense = 1;
  memory.is_dense = true;
  memory.strides = Strides::filled(selection.box.ndims(), 1);
  for (int dim = selection.ndims - 1; dim >= 0; --dim) {
    const Py_intptr_t length = selection.shape[static_cast<std::size_t>(dim)];
    const py::ssize_t stride = length == 1 ? dense : stride_of(dim) / bytes;
    memory.strides[selection.dims[static_cast<std::size_t>(dim)]] = stride;
    memory.is_dense = memory.is_dense && stride == dense;
    dense *= length;
  }
}

}  // namespace

py::object new_numpy_array(const py::dtype& dtype, int ndims, const Py_intptr_t* shape) {
  const Npy& numpy = Npy::get();
  dtype.inc_ref();  // the call takes a reference
  return owned(numpy.PyArray_NewFromDescr_(numpy.PyArray_Type_, dtype.ptr(), ndims, shape, nullptr,
                                           nullptr, 0, nullptr));
}

py::array converted(const Array& array, py::handle value, std::string_view operation) {
  if (py::isinstance<py::array>(value)) {
    auto given = py::reinterpret_borrow<py::array>(value);
    if (is_same_type(array, given)) [[likely]] {
      return given;
    }
  } else if (PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr())) {
    return number_converted(array, value, operation);
  }
  const auto numpy = py::module_::import("numpy");
  const py::array given = numpy.attr("asarray")(value);
  const auto can_cast = [&](const char* casting) {
    return numpy.attr("can_cast")(given.dtype(), array.dtype(), casting).cast<bool>();
  };
  const bool is_list_of_integers =
      given.dtype().kind() == 'i' && is_unsigned(array) && !py::isinstance<py::array>(value);
  if (!is_list_of_integers && !can_cast("same_kind")) {
    refuse_dtype(array, given.dtype(), operation);
  }
  // NumPy would wrap integers that don't fit.
  if (is_integer(given.dtype()) && is_integer(array.dtype()) && given.size() > 0 &&
      !can_cast("safe")) {
    for (const char* const extreme : {"min", "max"}) {
      number_converted(array, given.attr(extreme)().attr("item")(), operation);
    }
  }
  return given.attr("astype")(array.dtype());
}

NumpyMemory source_of(const Array& array, const Selection& selection, py::handle value,
                      std::string_view operation) {
  py::array given = converted(array, value, operation);
  Broadcast broadcast(selection, given);
  if (!broadcast.fits()) {
    refuse(fmt::format("{} {}: values of shape {} do not fit {} of shape {}", operation,
                       array.base().describe(), shape_text(given), to_string(selection.section()),
                       shape_text(selection)));
  }
  if (selection.ndims > 0 && !is_usable_in_place(selection, given, broadcast)) {
    given = dense_copy(selection, given);
    broadcast = Broadcast(selection, given);
  }
  NumpyMemory memory;
  memory.data = const_cast<void*>(given.data());
  memory.extents = selection.section().extents();
  set_strides(memory, selection, given.itemsize(),
              [&](int dim) { return broadcast.stride(given, dim); });
  memory.owner = std::move(given);
  return memory;
}

NumpyMemory destination_of(const Array& array, const Selection& selection, py::handle out) {
  if (!py::isinstance<py::array>(out)) {
    refuse_type("out is not a NumPy array");
  }
  auto given = py::reinterpret_borrow<py::array>(out);
  if (!is_same_type(array, given)) {
    refuse_type(
        fmt::format("get of {}: out has dtype {}", array.base().describe(), text_of(given.dtype())),
        "a get does not convert");
  }
  bool fits = given.ndim() == selection.ndims;
  for (int dim = 0; dim < selection.ndims && fits; ++dim) {
    fits = given.shape(dim) == selection.shape[static_cast<std::size_t>(dim)];
  }
  if (!fits) {
    refuse(fmt::format("get of {}: out has shape {} instead of {}", array.base().describe(),
                       shape_text(given), shape_text(selection)));
  }
  if (!given.writeable()) {
    refuse(fmt::format("get of {}: out is read-only", array.base().describe()));
  }
  if ((given.flags() & Npy::NPY_ARRAY_ALIGNED_) == 0 ||
      std::any_of(given.strides(), given.strides() + given.ndim(),
                  [&](py::ssize_t stride) { return stride % given.itemsize() != 0; })) {
    refuse(fmt::format("get of {}: the elements of out are not aligned", array.base().describe()));
  }
  NumpyMemory memory;
  memory.data = given.mutable_data();
  memory.extents = selection.section().extents();
  set_strides(memory, selection, given.itemsize(), [&](int dim) { return given.strides(dim); });
  memory.owner = std::move(given);
  return memory;
}

NumpyMemory new_destination(const Array& array, const Selection& selection) {
  NumpyMemory memory;
  memory.owner = new_numpy_array(array.dtype(), selection.ndims, selection.shape.data());
  memory.data = py::detail::array_proxy(memory.owner.ptr())->data;
  memory.extents = selection.section().extents();
  memory.is_dense = true;
  return memory;
}

rma::Scale scale_of(const Array& array, py::handle factor) {
  if (!array.base().element().type) {
    refuse_elements(array, "accumulate to");
  }
  const py::array value = converted(array, factor, "the factor of an accumulate to");
  if (value.ndim() != 0) {
    refuse(fmt::format("accumulate to {}: the factor has shape {}; one number is needed",
                       array.base().describe(), shape_text(value)));
  }
  return rma::dispatch(*array.base().element().type, [&]<class T>(rma::Tag<T>) {
    T number;
    std::memcpy(&number, value.data(), sizeof number);
    return rma::Scale::of(number);
  });
}

}  // namespace tessera::python
