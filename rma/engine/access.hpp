// SPDX-License-Identifier: BSD-3-Clause
//
// What a region's access mode allows, and the error for an operation that it forbids. Used at the
// origin, which checks first, and by the target's agent.
#pragma once

#include <string_view>

#include "rma/base/status.hpp"
#include "rma/counters.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::detail {

/// The mode's name: "read_only" and the like.
std::string_view to_string(AccessMode mode) noexcept;

[[nodiscard]] constexpr bool exists(AccessMode mode) noexcept {
  return mode <= AccessMode::no_local_access;
}

/// Whether other ranks may do operations of all kinds.
[[nodiscard]] constexpr bool allows_all(AccessMode mode) noexcept {
  return mode == AccessMode::any || mode == AccessMode::no_local_access;
}

[[nodiscard]] constexpr bool allows(AccessMode mode, Op op) noexcept {
  return allows_all(mode) || (mode == AccessMode::read_only && op == Op::get) ||
         (mode == AccessMode::accumulate_only && op == Op::accumulate);
}

/// `what` is "a put to region 7" and the like. Throws std::bad_alloc.
Status forbidden(std::string_view what, AccessMode mode);

}  // namespace tessera::rma::detail
