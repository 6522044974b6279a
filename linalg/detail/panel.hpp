// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Panel: some rows and columns of a distributed matrix as one matrix in local memory. It
// is used in place if it is one matrix in this node's memory; otherwise it is fetched into the
// panel's buffer.
//
// Threads: one. Ownership: the panel keeps its buffer, which grows to the largest fetch. A fetch is
// complete, or has failed, when wait() has returned.
#pragma once

#include <cstddef>
#include <cstdint>

#include "linalg/detail/matrix_map.hpp"
#include "linalg/detail/scratch.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/base/status.hpp"
#include "rma/handle.hpp"

namespace tessera::linalg::detail {

/// The pointer to a matrix in this node's memory, if a kernel can use it as it is; else null.
void* direct_pointer(const MatrixMap& map, const MatrixLocation& location, std::int64_t rows,
                     std::int64_t columns);

/// The distance in elements between the lines of a buffer with lines of `length` elements. It is
/// not a power of two, since the lines would then compete for the same cache sets.
[[nodiscard]] constexpr std::int64_t padded(std::int64_t length) noexcept {
  return (length + 7) / 8 * 8 + 8;
}

class Panel {
 public:
  /// Local. Starts to fetch the panel; its previous contents are lost. Requires: neither list is
  /// empty, and an earlier fetch is complete. Errors: reported by wait(): no_memory, and those of
  /// gets.
  void start(const MatrixMap& map, const IntervalList& rows, const IntervalList& columns);
  /// Local. Returns when the panel is available.
  rma::Status wait();

  /// The panel. Requires: wait() has returned success.
  template <class T>
  [[nodiscard]] LocalMatrix<const T> matrix() const noexcept {
    return {static_cast<const T*>(data_), rows_, columns_, row_stride_, column_stride_};
  }

 private:
  void use(void* data, std::int64_t row_stride, std::int64_t column_stride) noexcept;
  rma::Status reserve(const MatrixMap& map);
  void fetch_located(const MatrixMap& map, const MatrixLocation& location);
  void fetch_blocks(const MatrixMap& map, const IntervalList& rows, const IntervalList& columns);
  void fetch_box(const MatrixMap& map, const arrays::Box& box, std::byte* to);

  Scratch buffer_;
  rma::Handle fetching_;
  rma::Status failed_;
  void* data_ = nullptr;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t row_stride_ = 0;
  std::int64_t column_stride_ = 0;
};

}  // namespace tessera::linalg::detail
