// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. BoxPanel: a box of a distributed array in local memory. It is used in place if it is in
// one block in this node's memory; otherwise it is fetched into a dense buffer in the array's
// memory order.
//
// Threads: one. Ownership: as for Panel; the buffer grows to the largest box.
#pragma once

#include "arrays/array_base.hpp"
#include "linalg/detail/panel.hpp"
#include "rma/handle.hpp"

namespace tessera::linalg::detail {

class BoxPanel {
 public:
  /// Local. Starts to fetch the box; the panel's previous contents are lost. Requires: an earlier
  /// fetch is complete. Errors: reported by wait(): no_memory, and those of gets.
  void start(const arrays::ArrayBase& array, const arrays::Box& box);
  /// Local. Returns when the box is available.
  rma::Status wait();

  /// The address of the element at the box's lower corner; below, its extents, and its strides in
  /// elements. Requires: wait() has returned success.
  [[nodiscard]] const void* data() const noexcept { return data_; }
  [[nodiscard]] const arrays::Extents& extents() const noexcept { return extents_; }
  [[nodiscard]] const arrays::Strides& strides() const noexcept { return strides_; }

 private:
  bool use_in_place(const arrays::ArrayBase& array, const arrays::Box& box);

  Scratch buffer_;
  rma::Handle fetching_;
  rma::Status failed_;
  void* data_ = nullptr;
  arrays::Extents extents_;
  arrays::Strides strides_;
};

/// Halves a box along its longest dimension until no part has more than `most` elements, and calls
/// `action(part)` for each part. Requires: most ≥ 1.
template <class Action>
void for_each_part(const arrays::Box& box, std::int64_t most, Action&& action) {
  if (box.volume() <= most) {
    if (!box.is_empty()) {
      action(box);
    }
    return;
  }
  int longest = 0;
  for (int dim = 1; dim < box.ndims(); ++dim) {
    longest = box.extent(dim) > box.extent(longest) ? dim : longest;
  }
  const std::int64_t middle = box.lo(longest) + box.extent(longest) / 2;
  arrays::Box low = box;
  low.set(longest, box.lo(longest), middle);
  arrays::Box high = box;
  high.set(longest, middle, box.hi(longest));
  for_each_part(low, most, action);
  for_each_part(high, most, action);
}

}  // namespace tessera::linalg::detail
