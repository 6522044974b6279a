// SPDX-License-Identifier: BSD-3-Clause
//
// How teams record that this node's agent host has died (rma/node/carrier.hpp), whether or not it
// is a member.
#pragma once

#include <cstdint>

#include "rma/engine/team_state.hpp"
#include "rma/node/carrier.hpp"

namespace tessera::rma::detail {

/// The value for TeamControl::broken if this node's agent host has died, else 0. After its death no
/// message from another node arrives here.
[[nodiscard]] inline std::uint32_t word_of_lost_carrier(const Node& node) {
  return has_lost_carrier(node) ? TeamControl::died(carrier_of(node)) : 0;
}

}  // namespace tessera::rma::detail
