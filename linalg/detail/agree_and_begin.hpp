// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The beginning of a collective operation on several arrays. Afterwards earlier writes
// are complete, no member has found an error, and all have given the same arguments.
#pragma once

#include <span>

#include "arrays/array_base.hpp"
#include "arrays/call_signature.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg::detail {

using arrays::detail::CallSignature;

/// Collective over the team of `target`. Fences this rank's writes to `target` and `sources`, and
/// combines the members' statuses and requests. Requires: `target` is open. Errors: those of any
/// member; invalid_argument if requests differ. Cost: one Team::agree().
rma::Status agree_and_begin(const arrays::ArrayBase& target,
                            std::span<const arrays::ArrayBase* const> sources,
                            rma::Status own_status, const CallSignature& signature);

}  // namespace tessera::linalg::detail
