// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. How collectives of this layer agree.
#pragma once

#include <algorithm>
#include <concepts>
#include <utility>

#include "arrays/call_signature.hpp"
#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/result.hpp"
#include "rma/region.hpp"
#include "rma/team.hpp"

namespace tessera::linalg::detail {

/// Collective on the region's team. All writes of members to the region are complete at return. An
/// error in any member's `own_status` takes precedence over errors of the fences. `signature` has
/// the arguments that all members must give alike.
inline rma::Status meet(
    rma::Region& region, const rma::Status& own_status,
    const arrays::detail::CallSignature& signature = arrays::detail::CallSignature("sync")) {
  rma::Status fenced = region.fence();
  rma::AgreedCall asked = signature.asked();
  asked.label = region.label(asked.label.verb);
  return region.team().agree(own_status.ok() ? fenced : own_status, asked);
}

/// Collective. The same for what body() returns; no_memory if memory runs out in it.
template <std::invocable Body>
rma::Status meet(rma::Region& region, Body&& body) {
  return meet(region, rma::detail::catch_bad_alloc(std::forward<Body>(body)));
}

/// Options for the regions of sparse matrices.
inline rma::RegionOptions sparse_memory() {
  return {.name = "sparse matrix", .kind = "sparse matrix"};
}

using arrays::detail::check_same_on_all;

/// True if both teams have the same ranks in the same order.
inline bool same_members(const rma::Team& a, const rma::Team& b) {
  return std::equal(a.members().begin(), a.members().end(), b.members().begin(), b.members().end());
}

}  // namespace tessera::linalg::detail
