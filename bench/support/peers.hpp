// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks a rank works with: near_and_far(), to compare rank 0's own node with another one;
// ranks_behind(), so that all ranks together spread their work evenly.
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

/// The `count` ranks behind `rank`, after the last one the first, in ascending order.
/// Requires: 0 ≤ count < ranks.
inline std::vector<std::int32_t> ranks_behind(std::int32_t rank, std::int32_t count,
                                              std::int32_t ranks) {
  std::vector<std::int32_t> found;
  for (std::int32_t distance = 1; distance <= count; ++distance) {
    found.push_back((rank + distance) % ranks);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace tessera::bench
