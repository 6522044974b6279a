// SPDX-License-Identifier: BSD-3-Clause
//
// Converts MPI's error codes to Status.
#pragma once

#include <mpi.h>

#include <string_view>

#include "rma/base/result.hpp"

namespace tessera::rma::mpi {

/// The error for `code`, which the MPI function `call` returned; names the call and gives MPI's
/// text.
Status error_of(std::string_view call, int code);

/// ok for MPI_SUCCESS, else error_of().
inline Status check(std::string_view call, int code) {
  return code == MPI_SUCCESS ? Status() : error_of(call, code);
}

}  // namespace tessera::rma::mpi
