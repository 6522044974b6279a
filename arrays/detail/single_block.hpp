// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The fast path of the most common transfer: a box within one block, in a distribution
// with at most one block on each rank. It needs one pass over the dimensions; the loop over patches
// needs several. Small transfers spend their time here.
#pragma once

#include <cstdint>
#include <type_traits>

#include "arrays/box.hpp"
#include "arrays/detail/distribution_data.hpp"
#include "arrays/detail/local_overlap.hpp"
#include "rma/shape.hpp"

namespace tessera::arrays::detail {

struct SingleBlock {
  rma::TeamRank owner;
  std::int64_t offset = 0;    ///< of the box's lower corner in the slice, in bytes
  std::int64_t elements = 1;  ///< number of elements in the box
  bool may_overlap = false;   ///< local elements may overlap; false if that is impossible
  rma::CopyShape shape;
};

/// Strides of contiguous local memory in row-major order.
struct DenseRows {
  [[nodiscard]] std::int64_t operator()(int /*dim*/, std::int64_t elements_below) const noexcept {
    return elements_below;
  }
  [[nodiscard]] static bool are_apart(const Box& /*box*/) noexcept { return true; }
};
/// Local strides as given by the caller.
struct GivenStrides {
  const Strides& strides;
  [[nodiscard]] std::int64_t operator()(int dim, std::int64_t /*elements_below*/) const noexcept {
    return strides[dim];
  }
  [[nodiscard]] bool are_apart(const Box& box) const {
    return check_apart(box.extents(), strides).ok();
  }
};

/// The rank that owns an element, if ranks do not form a plain grid.
[[gnu::noinline, gnu::cold]] inline rma::TeamRank owner_at(const DistributionData& data,
                                                           const Index& at) noexcept {
  Index block = at;
  for (int dim = 0; dim < at.ndims(); ++dim) {
    block[dim] = data.partition(dim).find(at[dim]).block;
  }
  return data.block_map.owner(block);
}

/// Returns false, with `found` unspecified, if the box is empty, not inside, or in more than one
/// block; if the distribution has several blocks on a rank; and for DenseRows with a column-major
/// array.
template <class LocalStride>
inline bool find_single_block(const DistributionData& data, const Box& box,
                              std::size_t element_bytes, LocalStride local_stride,
                              SingleBlock& found) noexcept {
  const int ndims = data.extents.ndims();
  constexpr bool wants_row_major = std::is_same_v<LocalStride, DenseRows>;
  if (!data.is_one_block_per_rank || box.ndims() != ndims || box.hi().ndims() != ndims ||
      (wants_row_major && data.order != MemoryOrder::row_major)) {
    return false;
  }
  const bool is_row_major = wants_row_major || data.order == MemoryOrder::row_major;
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  std::int64_t rank = 0;
  std::int64_t run = bytes;
  std::int64_t next_local = bytes;
  std::int64_t next_remote = bytes;
  std::int64_t remote_stride = bytes;
  for (int k = 0; k < ndims; ++k) {
    const int dim = is_row_major ? ndims - 1 - k : k;
    const BlockPartition1D& partition = data.partition(dim);
    const std::int64_t lo = box.lo(dim);
    if (static_cast<std::uint64_t>(lo) >= static_cast<std::uint64_t>(partition.extent())) {
      return false;
    }
    const BlockPartition1D::Run within = partition.find_run(lo);
    // If there are no elements, subtracting one gives a huge unsigned number.
    const std::uint64_t count_but_one =
        static_cast<std::uint64_t>(box.hi(dim)) - static_cast<std::uint64_t>(lo) - 1;
    if (count_but_one >= static_cast<std::uint64_t>(within.length - within.offset)) {
      return false;
    }
    const auto count = static_cast<std::int64_t>(count_but_one + 1);
    rank += within.block * data.block_map.rank_stride(dim);
    const std::int64_t ghosts = data.ghosts[dim];
    found.offset += (within.offset + ghosts) * remote_stride;
    if (count > 1) {
      const std::int64_t stride = local_stride(dim, found.elements) * bytes;
      if (stride != next_local || remote_stride != next_remote) {
        found.may_overlap = found.may_overlap || stride < next_local;
        found.shape.repeat(count, stride, remote_stride);
      } else if (found.shape.levels == 0) {
        run *= count;
      } else {
        found.shape.level[static_cast<std::size_t>(found.shape.levels - 1)].count *= count;
      }
      next_local = stride * count;
      next_remote = remote_stride * count;
    }
    found.elements *= count;
    remote_stride *= within.length + 2 * ghosts;
  }
  found.owner = data.block_map.is_plain_grid() ? rma::TeamRank{static_cast<std::int32_t>(rank)}
                                               : owner_at(data, box.lo());
  found.shape.run_bytes = static_cast<std::size_t>(run);
  return true;
}

}  // namespace tessera::arrays::detail
