// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Arrays whose element type is known only at run time, as the C interface and Python make
// them.
#pragma once

#include <memory>
#include <utility>

#include "arrays/array.hpp"
#include "rma/base/result.hpp"
#include "rma/element.hpp"

namespace tessera {

/// Local. An Array<T> of the array's element type, for callers that cast to one; an ArrayBase if
/// the elements have no type.
inline rma::Result<std::shared_ptr<arrays::ArrayBase>> typed_array(arrays::ArrayBase made) {
  using Pointer = std::shared_ptr<arrays::ArrayBase>;
  if (!made.element().type) {
    return std::make_shared<arrays::ArrayBase>(std::move(made));
  }
  return rma::dispatch(*made.element().type, [&]<class T>(rma::Tag<T>) -> rma::Result<Pointer> {
    TESSERA_ASSIGN_OR_RETURN(auto array, arrays::Array<T>::of(std::move(made)));
    return std::make_shared<arrays::Array<T>>(std::move(array));
  });
}

}  // namespace tessera
