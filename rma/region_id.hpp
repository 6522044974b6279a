// SPDX-License-Identifier: BSD-3-Clause
//
// RegionId: the number of a region, the same on all its members.
#pragma once

#include <compare>
#include <cstdint>

#include "rma/cxx20.hpp"

namespace tessera::rma {

/// A region's number; the same at all its members, and never used again by any of them.
struct RegionId {
  std::uint32_t value = 0;
  friend auto operator<=>(const RegionId&, const RegionId&) = default;
};

/// No region's number: stands for all of them.
inline constexpr RegionId any_region{0};

}  // namespace tessera::rma
