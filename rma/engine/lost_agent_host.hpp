// SPDX-License-Identifier: BSD-3-Clause
//
// How teams record that this node's agent host has died (rma/node/agent_host.hpp), whether or not
// it is a member.
#pragma once

#include <cstdint>

#include "rma/engine/team_state.hpp"
#include "rma/node/agent_host.hpp"

namespace tessera::rma::detail {

/// The value for TeamControl::broken if this node's agent host has died, else 0. After its death no
/// message from another node arrives here.
[[nodiscard]] inline std::uint32_t failure_word_of_lost_agent_host(const Node& node) {
  return has_lost_agent_host(node) ? TeamControl::died(agent_host_of(node)) : 0;
}

}  // namespace tessera::rma::detail
