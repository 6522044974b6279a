// SPDX-License-Identifier: BSD-3-Clause
//
// Three kinds of number that programs of this field confuse, as three types that do not mix.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

#include "rma/cxx20.hpp"

namespace tessera::rma {

/// A rank of the whole job: 0 … size − 1.
struct WorldRank {
  std::int32_t value = 0;
  friend auto operator<=>(const WorldRank&, const WorldRank&) = default;
};

/// A place in the ordered list of ranks of one team.
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
