// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks a rank works with. near_and_far() compares rank 0's own node with another one.
// locations_around() distinguishes its NUMA node from others. ranks_after() lets all ranks together
// spread their work evenly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::bench {

struct NearAndFar {
  std::int32_t near = 0;  ///< shares rank 0's node
  std::int32_t far = 0;   ///< is on another node
};

/// The lowest rank other than 0 on rank 0's node, and the lowest rank elsewhere; empty if one of
/// them doesn't exist. `nodes` has the node of each rank. Requires: at least one rank.
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

/// Location of a rank: its node, and its NUMA node there; −1 if that is unknown.
struct Whereabouts {
  std::int32_t node = 0;
  std::int32_t numa = -1;
};

/// A rank that represents a location, or why none does.
struct LocationCandidate {
  std::string name;  ///< "same numa", "other numa", "other node"; "same node" if NUMA is unknown
  std::optional<std::int32_t> rank;
  std::string missing;  ///< the reason, if there is no such rank
};

/// The locations around rank 0, the nearest first, each with its lowest rank. Requires: at least
/// one rank; `numa_nodes` are those of rank 0's node.
inline std::vector<LocationCandidate> locations_around(const std::vector<Whereabouts>& ranks,
                                                       std::size_t numa_nodes) {
  const Whereabouts first = ranks.front();
  const auto find = [&](auto is_there) -> std::optional<std::int32_t> {
    const auto found = std::find_if(ranks.begin() + 1, ranks.end(), is_there);
    return found == ranks.end() ? std::nullopt
                                : std::optional(static_cast<std::int32_t>(found - ranks.begin()));
  };
  const bool is_known = first.numa >= 0;
  std::vector<LocationCandidate> places;
  places.push_back(
      {is_known ? "same numa" : "same node", find([&](const Whereabouts& other) {
         return other.node == first.node && other.numa == first.numa;
       }),
       is_known
           ? "no other rank is on rank 0's NUMA node"
           : "rank 0 is not bound to one NUMA node, and no other rank of its node is unbound"});
  places.push_back({"other numa", find([&](const Whereabouts& other) {
                      return other.node == first.node && is_known && other.numa >= 0 &&
                             other.numa != first.numa;
                    }),
                    numa_nodes < 2 ? "rank 0's node has one NUMA node"
                    : is_known     ? "no rank is bound to another NUMA node of rank 0's node"
                                   : "rank 0 is not bound to one NUMA node"});
  places.push_back({"other node",
                    find([&](const Whereabouts& other) { return other.node != first.node; }),
                    "no rank is on another node"});
  return places;
}

/// The `count` ranks after `rank`, cyclically, in ascending order. Requires: 0 ≤ count < ranks.
inline std::vector<std::int32_t> ranks_after(std::int32_t rank, std::int32_t count,
                                             std::int32_t ranks) {
  std::vector<std::int32_t> found;
  for (std::int32_t distance = 1; distance <= count; ++distance) {
    found.push_back((rank + distance) % ranks);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace tessera::bench
