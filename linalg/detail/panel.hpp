// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Panel: some rows and columns of a distributed matrix as one matrix in local memory: in
// place where they lie so in this node's memory, else fetched into a buffer of the panel's.
//
// Threads: one. Ownership: the buffer stays until the panel goes, and grows to the largest that was
// fetched; fetching is complete, or has failed, when wait() has returned.
#pragma once

#include <cstddef>
#include <cstdint>

#include "linalg/detail/matrix_map.hpp"
#include "linalg/detail/scratch.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/handle.hpp"
#include "rma/status.hpp"

namespace tessera::linalg::detail {

/// The pointer to a matrix that lies in this node's memory, if a kernel can take it as it is; else
/// null.
void* direct_pointer(const MatrixMap& map, const Placed& placed, std::int64_t rows,
                     std::int64_t columns);

/// Elements between the lines of a buffer whose lines are `length` long. Not a power of two: the
/// lines of a matrix would compete for the same places of the caches.
[[nodiscard]] constexpr std::int64_t padded(std::int64_t length) noexcept {
  return (length + 7) / 8 * 8 + 8;
}

class Panel {
 public:
  /// Local. Starts to bring the panel here; what it had before is gone. Requires: neither list is
  /// empty, and a fetch before is complete. Errors: no_memory, and those of gets, from wait().
  void start(const MatrixMap& map, const IntervalList& rows, const IntervalList& columns);
  /// Local. Returns when the panel is here.
  rma::Status wait();

  /// The panel. Requires: wait() has returned success.
  template <class T>
  [[nodiscard]] LocalMatrix<const T> matrix() const noexcept {
    return {static_cast<const T*>(data_), rows_, columns_, row_stride_, column_stride_};
  }

 private:
  void use(void* data, std::int64_t row_stride, std::int64_t column_stride) noexcept;
  rma::Status reserve(const MatrixMap& map);
  void fetch_placed(const MatrixMap& map, const Placed& placed);
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
