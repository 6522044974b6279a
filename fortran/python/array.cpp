// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/array.hpp"

#include <fmt/format.h>

#include <string>

#include "fortran/python/element_types.hpp"

namespace tessera::python {

using arrays::ArrayBase;
using rma::Result;

namespace {

/// A pointer to an Array<T> for the array's element type, for those who need an Array<T>.
std::shared_ptr<ArrayBase> typed(ArrayBase made) {
  if (!made.element().type) {
    return std::make_shared<ArrayBase>(std::move(made));
  }
  return rma::dispatch(*made.element().type,
                       [&]<class T>(rma::Tag<T>) -> std::shared_ptr<ArrayBase> {
                         return std::make_shared<arrays::Array<T>>(
                             take(arrays::Array<T>::of(std::move(made))));
                       });
}

}  // namespace

std::shared_ptr<Array> adopt(const std::shared_ptr<Job>& job, Result<ArrayBase> made,
                             py::dtype dtype) {
  auto array = typed(take(std::move(made)));
  rma::Team team = array->team();
  auto shared = std::make_shared<Owned<ArrayBase>>(job, std::move(team), std::move(array));
  return std::make_shared<Array>(std::move(shared), std::move(dtype));
}

void refuse_elements(const Array& array, std::string_view operation) {
  refuse_type(fmt::format("{} {}: elements of dtype {} cannot be computed with", operation,
                          array.base().describe(),
                          py::str(static_cast<py::handle>(array.dtype())).cast<std::string>()),
              "use one of int8 to int64, uint8 to uint64, float32, float64, complex64, complex128");
}

ArrayClass define_array(py::module_& module) {
  ArrayClass array(module, "Array");
  array.def_property_readonly("dtype", &Array::dtype);
  return array;
}

}  // namespace tessera::python
