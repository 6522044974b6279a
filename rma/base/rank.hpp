// SPDX-License-Identifier: BSD-3-Clause
//
// Three kinds of number that are easily confused, as three types that do not convert.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

#include "rma/base/cxx20.hpp"

namespace tessera::rma {

/// A rank of the whole job: 0 … size − 1.
struct WorldRank {
  std::int32_t value = 0;
  friend auto operator<=>(const WorldRank&, const WorldRank&) = default;
};

/// An index in the ordered list of a team's ranks.
struct TeamRank {
  std::int32_t value = 0;
  friend auto operator<=>(const TeamRank&, const TeamRank&) = default;
};

/// A node: the ranks that share one physical (or, for tests, emulated) memory.
struct NodeId {
  std::int32_t value = 0;
  friend auto operator<=>(const NodeId&, const NodeId&) = default;
};

}  // namespace tessera::rma

template <>
struct std::hash<tessera::rma::WorldRank> {
  std::size_t operator()(tessera::rma::WorldRank rank) const noexcept {
    return std::hash<std::int32_t>{}(rank.value);
  }
};
