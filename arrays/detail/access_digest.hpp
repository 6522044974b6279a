// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. AccessDigest: in few bytes, which elements a rank accessed and how. Members of a team
// compare their digests first: in most syncs these show that no two accesses conflict.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "arrays/detail/access_record.hpp"

namespace tessera::arrays::detail {

/// Sent between members as plain bytes.
class AccessDigest {
 public:
  /// Adds accesses to an array, by its number. Cost: some nanoseconds for each.
  void add(std::uint64_t array, std::span<const AccessRecord> accesses) noexcept;
  /// All accesses were added.
  void finish() noexcept;

  /// Whether accesses of two members may conflict. False only if none do.
  [[nodiscard]] bool may_conflict(const AccessDigest& other) const noexcept;

 private:
  // Of several arrays, which share a summary if there are many.
  static constexpr std::size_t summaries = 4;
  // Boxes are compared in the first dimensions only.
  static constexpr int compared_dims = 2;
  struct Bounds {
    std::int64_t lo = std::numeric_limits<std::int64_t>::max();
    std::int64_t hi = std::numeric_limits<std::int64_t>::min();

    static constexpr Bounds whole() noexcept {
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    }
  };
  struct Summary {
    std::uint32_t kinds = 0;      // a bit for each kind of access
    std::uint32_t conflicts = 0;  // the kinds that conflict with these
    std::array<Bounds, compared_dims> bounds{};
  };

  static bool may_conflict(const Summary& a, const Summary& b) noexcept;

  std::array<Summary, summaries> summaries_{};
};
static_assert(std::is_trivially_copyable_v<AccessDigest>);

}  // namespace tessera::arrays::detail
