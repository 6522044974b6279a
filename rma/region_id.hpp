// SPDX-License-Identifier: BSD-3-Clause
//
// RegionId: the number of a region, the same on all its members.
#pragma once

#include <compare>
#include <cstdint>

#include "rma/base/cxx20.hpp"

namespace tessera::rma {

/// A region's number. The same at all its members, none of which ever uses it again.
struct RegionId {
  std::uint32_t value = 0;
  friend auto operator<=>(const RegionId&, const RegionId&) = default;
};

/// Not the number of any region; stands for all of them.
inline constexpr RegionId any_region{0};

}  // namespace tessera::rma
