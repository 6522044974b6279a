// SPDX-License-Identifier: BSD-3-Clause
//
// Fifo: a queue that takes no memory while it is empty, unlike std::deque: a process has some for
// each peer, and most peers send nothing.
//
// Threads: one. Cost: O(1) amortised.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tessera::rma::verbs {

template <class T>
class Fifo {
 public:
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] T& front() noexcept { return items_[first_]; }
  T& push_back(T item) {
    items_.push_back(std::move(item));
    return items_.back();
  }
  void pop_front() {
    items_[first_] = T();
    ++first_;
    if (first_ == items_.size()) {
      clear();
    } else if (2 * first_ > items_.size() && first_ >= few) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
  }
  /// Iterates from the oldest.
  [[nodiscard]] auto begin() const noexcept {
    return items_.begin() + static_cast<std::ptrdiff_t>(first_);
  }
  [[nodiscard]] auto end() const noexcept { return items_.end(); }

 private:
  static constexpr std::size_t few = 16;
  // Small memory is kept for the next burst.
  void clear() {
    first_ = 0;
    if (items_.capacity() > few) {
      items_ = std::vector<T>();
    } else {
      items_.clear();
    }
  }

  std::vector<T> items_;
  std::size_t first_ = 0;
};

}  // namespace tessera::rma::verbs
