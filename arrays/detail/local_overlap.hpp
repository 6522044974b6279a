// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Checks that elements of local memory don't overlap, as a get needs.
#pragma once

#include "arrays/index.hpp"
#include "rma/base/status.hpp"

namespace tessera::arrays::detail {

/// Local. Errors: invalid_argument if strides put two elements at one address. With more than two
/// dimensions, it finds overlaps within two dimensions, and too little memory for all elements. It
/// may miss others, but never reports an overlap that doesn't exist.
rma::Status check_apart(const Extents& extents, const Strides& strides);

}  // namespace tessera::arrays::detail
