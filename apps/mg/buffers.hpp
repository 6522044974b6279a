// SPDX-License-Identifier: BSD-3-Clause
//
// LineBuffer: an array of doubles that begins on a huge-page boundary if it is large and on a
// cache line if not. Set to zero, so that padding which a vector instruction computes along with
// the data holds numbers and never traps or slows down on garbage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rma/result.hpp"

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
