// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. BlockSnapshot: a copy of a rank's block, used to find later what has changed in the
// block.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "arrays/patch.hpp"

namespace tessera::arrays::detail {

/// Memory for a copy, which may be used again: new memory costs as much as the copy.
struct SnapshotRoom {
  std::unique_ptr<std::byte[]> memory = {};
  std::size_t bytes = 0;
};

class BlockSnapshot {
 public:
  /// Copies the block, which is in `slice`, into `room` if it is large enough. Throws
  /// std::bad_alloc.
  BlockSnapshot(const Patch& block, const std::byte* slice, std::size_t element_bytes,
                SnapshotRoom room);

  /// Calls `found` for parts of rows that differ from the copy, and updates the copy unless this is
  /// the last call.
  void take_changes(const std::function<void(const Box& part)>& found, bool is_last = false);
  [[nodiscard]] SnapshotRoom take_room() noexcept { return std::move(copy_); }

 private:
  template <class Body>
  void for_each_row(Body&& body) const;

  Patch block_;
  const std::byte* slice_;
  std::size_t element_bytes_;
  int row_dim_;       ///< the dimension along which rows lie
  std::int64_t run_;  ///< elements in a row
  SnapshotRoom copy_;
};

}  // namespace tessera::arrays::detail
