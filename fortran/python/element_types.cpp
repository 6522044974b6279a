// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/element_types.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>

#include "fortran/python/errors.hpp"

namespace tessera::python {

using rma::ElementType;

namespace {

/// By ElementType.
constexpr std::array<int, rma::element_type_count> numpy_types = {
    Npy::NPY_INT32_,  Npy::NPY_INT64_,   Npy::NPY_FLOAT_,  Npy::NPY_DOUBLE_,
    Npy::NPY_CFLOAT_, Npy::NPY_CDOUBLE_, Npy::NPY_INT8_,   Npy::NPY_INT16_,
    Npy::NPY_UINT8_,  Npy::NPY_UINT16_,  Npy::NPY_UINT32_, Npy::NPY_UINT64_};

}  // namespace

int numpy_type(ElementType type) noexcept {
  return numpy_types[static_cast<std::size_t>(type)];
}

std::optional<ElementType> element_type(int numpy_type) noexcept {
  // On Linux `long long` has 8 bytes as `long` has, and NumPy has a number for each.
  if (numpy_type == Npy::NPY_LONGLONG_) {
    numpy_type = Npy::NPY_INT64_;
  } else if (numpy_type == Npy::NPY_ULONGLONG_) {
    numpy_type = Npy::NPY_UINT64_;
  }
  for (std::size_t i = 0; i < numpy_types.size(); ++i) {
    if (numpy_types[i] == numpy_type) {
      return static_cast<ElementType>(i);
    }
  }
  return std::nullopt;
}

py::dtype dtype_of(const py::object& given) {
  if (given.is_none()) {
    return py::dtype(Npy::NPY_DOUBLE_);
  }
  PyObject* converted = nullptr;
  if (Npy::get().PyArray_DescrConverter_(given.ptr(), &converted) == 0) {
    PyErr_Clear();
    refuse_type(fmt::format("{} is not a dtype", repr_of(given)),
                "examples: 'f8', 'i4', 'c16', numpy.float32");
  }
  const auto dtype = py::reinterpret_steal<py::dtype>(converted);
  const auto text = text_of(dtype);
  if (dtype.attr("hasobject").cast<bool>()) {
    refuse_type(fmt::format(
        "elements of dtype {} are Python objects, which other ranks cannot reach", text));
  }
  if (dtype.itemsize() == 0) {
    refuse_type(fmt::format("elements of dtype {} have no bytes", text),
                "give a length, as in 'S8'");
  }
  if (!dtype.attr("isnative").cast<bool>()) {
    refuse_type(fmt::format("elements of dtype {} have another byte order than this machine", text),
                "use its native form: dtype.newbyteorder('=')");
  }
  return dtype;
}

arrays::ElementKind element_kind(const py::dtype& dtype) {
  if (const auto type = element_type(dtype.num())) {
    return arrays::ElementKind::of(*type);
  }
  return arrays::ElementKind::opaque(static_cast<std::size_t>(dtype.itemsize()));
}

}  // namespace tessera::python
