// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Whether the elements of local memory lie apart: what a get writes must.
#pragma once

#include "arrays/index.hpp"
#include "rma/status.hpp"

namespace tessera::arrays::detail {

/// Local. Errors: invalid_argument when strides put two elements into one place. Of more than two
/// dimensions it finds what two of them do, or what there are too few places for; never wrongly.
rma::Status check_apart(const Extents& extents, const Strides& strides);

}  // namespace tessera::arrays::detail
