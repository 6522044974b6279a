// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Arguments for making arrays, and handles for the arrays.
#pragma once

#include <cstdint>

#include "arrays/array_base.hpp"
#include "fortran/c/types.h"
#include "rma/base/result.hpp"
#include "rma/base/status.hpp"

namespace tessera::capi {

/// A call's arguments for a new array, checked before the team communicates.
struct NewArrayArguments {
  tessera_job* job;
  tessera_type type;
  const tessera_array_options* options;
};
/// The same, converted for the library; `options` includes the team.
struct ArrayRequest {
  arrays::ElementKind element;
  arrays::ArrayOptions options;
};
/// Converts the arguments. Lists of the options have `ndims` entries; `first_error` is an error
/// found before. Collective over the request's team if there is an error.
rma::Result<ArrayRequest> request_of(const NewArrayArguments& arguments, std::int64_t ndims,
                                     rma::Status first_error);

/// Sets *result to a handle of `job` for the array. Errors: those of making the array.
rma::Status create_array_handle(tessera_job* job, rma::Result<arrays::ArrayBase> made,
                                tessera_array** result);

}  // namespace tessera::capi
