// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The beginning of a collective operation on several arrays: what was written before is
// complete, no member has found anything wrong, and all ask for the same.
#pragma once

#include <span>

#include "arrays/array_base.hpp"
#include "arrays/request.hpp"
#include "rma/status.hpp"

namespace tessera::linalg::detail {

using arrays::detail::Request;

/// Collective over the team of `target`. Fences what this rank wrote to `target` and `sources`, and
/// makes the members' statuses and requests one. Requires: `target` is open.
/// Errors: those of any member; invalid_argument when requests differ. Cost: one Team::agree().
rma::Status begin_together(const arrays::ArrayBase& target,
                           std::span<const arrays::ArrayBase* const> sources, rma::Status mine,
                           const Request& request);

}  // namespace tessera::linalg::detail
