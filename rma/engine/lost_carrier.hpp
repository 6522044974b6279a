// SPDX-License-Identifier: BSD-3-Clause
//
// What teams make of it when this node's carrier dies (rma/node/carrier.hpp), be it a member or
// not.
#pragma once

#include <cstdint>

#include "rma/engine/team_state.hpp"
#include "rma/node/carrier.hpp"

namespace tessera::rma::detail {

/// What TeamControl::broken says of it, or 0 while it lives: nothing that other nodes send arrives
/// here any more.
[[nodiscard]] inline std::uint32_t word_of_lost_carrier(const Node& node) {
  return has_lost_carrier(node) ? TeamControl::died(carrier_of(node)) : 0;
}

}  // namespace tessera::rma::detail
