// SPDX-License-Identifier: BSD-3-Clause
//
// UnflushedChanges: the bytes that completed operations have changed at a peer since the last
// flush.
//
// MPI does not order an operation that is complete locally before the next one. A flush does, and
// waits for the target. An operation needs one only if it must follow a recorded change:
//
//     it uses the same bytes   except if both are accumulates of one operation and type, in any
//                              order
//     it is a short put        it may be a flag: it follows all changes except other short puts
//     the record is full       it follows all
//
// Ranges that overlap or touch are merged.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/transport/mpi/window_access.hpp"

namespace tessera::rma::mpi {

/// A window that was changed, and the target's rank in it.
struct ChangedWindow {
  const Window* window;
  int rank;
};
/// Adds a window that the list does not have. Requires: the list has room.
void add_once(std::vector<ChangedWindow>& list, const ChangedWindow& window) noexcept;

class UnflushedChanges {
 public:
  static constexpr std::size_t max_ranges = 128;
  static constexpr std::uint64_t max_short_bytes = 8;

  /// Makes room for changes of that many windows. Throws std::bad_alloc.
  void reserve(std::size_t windows);
  /// Whether a recorded change must be flushed before the access. Cost: O(log(ranges)), and the
  /// ranges that it overlaps.
  [[nodiscard]] bool must_precede(const WindowAccess& access) const noexcept;
  /// Requires: reserve().
  void add(const WindowAccess& change) noexcept;
  /// Adds a window to flush, without a range.
  void add(const ChangedWindow& window) noexcept { add_once(windows_, window); }
  void forget(const Window& window) noexcept;
  void clear() noexcept;

  [[nodiscard]] bool is_empty() const noexcept { return windows_.empty(); }
  /// The windows to flush.
  [[nodiscard]] const std::vector<ChangedWindow>& windows() const noexcept { return windows_; }

 private:
  struct Range {
    const Window* window;
    std::uint64_t begin;
    std::uint64_t end;
    Effect effect;
  };
  [[nodiscard]] std::size_t first_from(const Window* window, std::uint64_t begin) const noexcept;

  std::vector<Range> ranges_;  ///< by window and place; no two of them touch
  std::vector<ChangedWindow> windows_;
  bool is_full_ = false;
  bool has_long_ = false;  ///< changes other than short puts
};

}  // namespace tessera::rma::mpi
