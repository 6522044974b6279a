// SPDX-License-Identifier: BSD-3-Clause
//
// WindowAccess: the bytes of a window that an operation uses at the target, and its effect there.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "rma/element.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::mpi {

class Window;

/// What an operation does to bytes at the target.
struct Effect {
  enum class Kind : std::uint8_t { read, write, combine };
  Kind kind = Kind::read;
  AccumulateOp op = AccumulateOp::sum;  ///< of `combine`
  ElementType type = ElementType::i32;  ///< of `combine`

  static constexpr Effect write() noexcept { return {.kind = Kind::write}; }
  static Effect combine(const Scale& scale) noexcept {
    return {Kind::combine, scale.op(), scale.type()};
  }
  [[nodiscard]] constexpr bool changes() const noexcept { return kind != Kind::read; }
  friend constexpr bool operator==(const Effect&, const Effect&) noexcept = default;
};

/// One range of bytes, from the first to the last that an operation uses; displacements in a
/// target's part of the window.
struct WindowAccess {
  const Window* window = nullptr;
  int rank = 0;  ///< the target, in the window
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Effect effect = {};
};

/// The bytes of a list at the target, from the first to the last.
inline CopyShape::Extent remote_extent(Fragments fragments) noexcept {
  CopyShape::Extent extent;
  extent.lowest = fragments.empty() ? 0 : std::numeric_limits<std::int64_t>::max();
  for (const Fragment& each : fragments) {
    const auto first = static_cast<std::int64_t>(each.remote_offset);
    extent.lowest = std::min(extent.lowest, first);
    extent.highest = std::max(extent.highest, first + static_cast<std::int64_t>(each.bytes));
  }
  return extent;
}

// Whether all runs begin at multiples of `unit`, as elements of that size that share no bytes.
inline bool are_multiples(const CopyShape& shape, std::uint64_t displacement,
                          std::size_t unit) noexcept {
  return displacement % unit == 0 &&
         std::all_of(shape.level.begin(), shape.level.begin() + shape.levels,
                     [&](const CopyShape::Level& level) {
                       return level.remote_stride % static_cast<std::int64_t>(unit) == 0;
                     });
}
inline bool are_multiples(Fragments fragments, std::uint64_t displacement,
                          std::size_t unit) noexcept {
  return std::all_of(fragments.begin(), fragments.end(), [&](const Fragment& each) {
    return (displacement + each.remote_offset) % unit == 0;
  });
}

}  // namespace tessera::rma::mpi
