// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Flags as the C interface names them: an array and an index.
#pragma once

#include <cstdint>

#include "arrays/flags.hpp"
#include "fortran/detail/arguments.hpp"
#include "rma/base/result.hpp"

namespace tessera::capi {

/// The array checks the index. Errors: invalid_argument (null).
inline rma::Result<arrays::Flag> flag_of(const arrays::ArrayBase& flags,
                                         const std::int64_t* index) {
  TESSERA_RETURN_IF_ERROR(required(index, "index"));
  return arrays::Flag{flags, list_of<arrays::Index>(index, flags.ndims())};
}

}  // namespace tessera::capi
