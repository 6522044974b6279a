// SPDX-License-Identifier: BSD-3-Clause
//
// near_and_far(): with whom rank 0 compares its own node with another one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::bench {

struct NearAndFar {
  std::int32_t near = 0;  ///< shares rank 0's node
  std::int32_t far = 0;   ///< is on another one
};

/// The lowest rank besides 0 on rank 0's node, and the lowest one elsewhere; none when one of them
/// is missing. `nodes` has the node of each rank. Requires: at least one rank.
inline std::optional<NearAndFar> near_and_far(const std::vector<std::int32_t>& nodes) {
  const auto others = nodes.begin() + 1;
  const auto near = std::find(others, nodes.end(), nodes.front());
  const auto far =
      std::find_if(others, nodes.end(), [&](std::int32_t node) { return node != nodes.front(); });
  if (near == nodes.end() || far == nodes.end()) {
    return std::nullopt;
  }
  return NearAndFar{static_cast<std::int32_t>(near - nodes.begin()),
                    static_cast<std::int32_t>(far - nodes.begin())};
}

}  // namespace tessera::bench
