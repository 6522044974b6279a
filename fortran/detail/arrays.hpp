// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What is asked for where arrays are made, and handles for those that were.
#pragma once

#include <cstdint>

#include "arrays/array_base.hpp"
#include "fortran/c_types.h"
#include "rma/result.hpp"
#include "rma/status.hpp"

namespace tessera::capi {

/// What is asked for where an array is made; checked as a whole before the team is met.
struct Asked {
  tessera_job* job;
  tessera_type type;
  const tessera_array_options* options;
};
/// The same as the library takes it; of `options` the team is there.
struct ArrayRequest {
  arrays::ElementKind element;
  arrays::ArrayOptions options;
};
/// Lists of the options have `ndims` entries; `mine` is what was found wrong with the request
/// before. Collective over the request's team where something is wrong.
rma::Result<ArrayRequest> request_of(const Asked& asked, std::int64_t ndims, rma::Status mine);

/// Sets *result to a handle of `job`'s for the array. Errors: those of making it.
rma::Status give_array(tessera_job* job, rma::Result<arrays::ArrayBase> made,
                       tessera_array** result);

}  // namespace tessera::capi
