// SPDX-License-Identifier: BSD-3-Clause
//
// LineBuffer: an array of doubles, aligned to a huge page if it is large, otherwise to a cache
// line. Set to zero, so that padding, which vector instructions also compute, never traps or slows
// them down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rma/base/result.hpp"

namespace tessera::apps::mg {

class LineBuffer {
 public:
  LineBuffer() = default;
  /// Room for `count` ≥ 0 doubles. Errors: no_memory, with the size.
  static rma::Result<LineBuffer> create(std::int64_t count);

  [[nodiscard]] double* data() const { return data_.get(); }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(double* data) const;
  };

  LineBuffer(double* data, std::int64_t size) : size_(size), data_(data) {}

  std::int64_t size_ = 0;
  std::unique_ptr<double, Free> data_;
};

}  // namespace tessera::apps::mg
