// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Touch: what a rank did to a box of an array, as the check for missing syncs remembers
// it (arrays/race_check.hpp). TouchList: what it did since the last sync, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays/box.hpp"
#include "arrays/index.hpp"
#include "arrays/race_check.hpp"

namespace tessera::arrays::detail {

inline constexpr std::size_t touch_kinds = 6;

/// "put", "local access".
std::string_view to_string(TouchKind kind) noexcept;

/// Members send each other these, byte by byte.
struct Touch {
  Box box = {};
  Extents steps = {};  ///< of a section; no dimensions: every element
  /// Bytes of each element.
  std::uint32_t first_byte = 0;
  std::uint32_t end_byte = 0;
  TouchKind kind = TouchKind::put;
  /// Between the last collective of the team before this touch and this touch, its rank called
  /// something that may have ordered it after another rank's operations; and between this touch
  /// and the next collective something that may have ordered others after it.
  bool acquired = false;
  bool released = false;
  /// How many collectives of the team there were before.
  std::uint32_t epoch = 0;
  std::uint64_t orders = 0;   ///< calls that order, before this touch
  std::int64_t first_ns = 0;  ///< on the clock of the machine
  std::int64_t last_ns = 0;
};
static_assert(std::is_trivially_copyable_v<Touch>);

/// Whether two ranks may not do these to one element without an order between them.
[[nodiscard]] bool conflict(TouchKind a, TouchKind b, bool is_strict) noexcept;

/// From the first element that both have to the last; none if they share none.
[[nodiscard]] std::optional<Box> overlap(const Touch& a, const Touch& b) noexcept;

/// Whether a lock, flag, notification or atomic operation may have ordered the two, which are of
/// different ranks. False only where that is impossible. `is_one_clock`: their times can be
/// compared.
[[nodiscard]] bool may_be_ordered(const Touch& a, const Touch& b, bool is_one_clock) noexcept;

class TouchList {
 public:
  static constexpr std::size_t most_touches = 4096;

  /// Touches that make one box together become one. False where there is no room.
  /// Throws std::bad_alloc.
  bool add(Touch touch);

  [[nodiscard]] std::span<const Touch> touches() const noexcept { return touches_; }
  [[nodiscard]] std::span<Touch> touches() noexcept { return touches_; }
  [[nodiscard]] std::vector<Touch> take() noexcept {
    is_full_ = false;
    return std::exchange(touches_, {});
  }

 private:
  bool merge_into_recent(Touch& touch);
  void compact();

  std::vector<Touch> touches_;
  bool is_full_ = false;  ///< of touches that make no boxes together
};

}  // namespace tessera::arrays::detail
