// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. BlockSnapshot: a copy of a rank's block, used to find later what has changed in the
// block.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "arrays/patch.hpp"

namespace tessera::arrays::detail {

class BlockSnapshot {
 public:
  /// Copies the block, which is in `slice`. Throws std::bad_alloc.
  BlockSnapshot(const Patch& block, const std::byte* slice, std::size_t element_bytes);

  /// Calls `found` for parts of rows that differ from the copy, and updates the copy.
  void take_changes(const std::function<void(const Box& part)>& found);

 private:
  template <class Body>
  void for_each_row(Body&& body) const;

  Patch block_;
  const std::byte* slice_;
  std::size_t element_bytes_;
  int row_dim_;       ///< the dimension along which rows lie
  std::int64_t run_;  ///< elements in a row
  std::vector<std::byte> copy_;
};

}  // namespace tessera::arrays::detail
