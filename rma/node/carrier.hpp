// SPDX-License-Identifier: BSD-3-Clause
//
// The carrier: the rank in whose process a node's agent is. What ranks of other nodes do here, and
// what they say, comes in through it; without it nothing of theirs comes any more.
#pragma once

#include "rma/node/node.hpp"
#include "rma/rank.hpp"

namespace tessera::rma::detail {

inline constexpr int carrier_place = 0;

[[nodiscard]] inline WorldRank carrier_of(const Node& node) noexcept {
  return node.ranks().front();
}

/// True when its process has ended: who waits here for something from another node waits in vain.
/// One that has left the job serves its node on. Cost: a system call.
[[nodiscard]] inline bool has_lost_carrier(const Node& node) {
  return node.has_ended(carrier_place);
}

}  // namespace tessera::rma::detail
