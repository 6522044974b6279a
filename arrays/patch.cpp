// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/patch.hpp"

#include <algorithm>

#include "arrays/detail/distribution_data.hpp"

namespace tessera::arrays {
namespace detail {
namespace {

// One dense array for all blocks of a rank: along each dimension the earlier blocks come first.
std::int64_t offset_in_matrix(const DistributionData& data, const Index& block,
                              Strides& strides) noexcept {
  std::int64_t offset = 0;
  std::int64_t stride = 1;
  for (int k = 0; k < block.ndims(); ++k) {
    const int dim = data.fast(k, data.order);
    strides[dim] = stride;
    offset += data.length_before(dim, block[dim]) * stride;
    stride *= data.length_of_all(dim, data.block_map.divide_by_grid(dim, block[dim]).remainder);
  }
  return offset;
}

// The start of a block if each block is contiguous. On a cyclic grid the blocks of a rank are
// stored in the block map's order. From the fastest dimension up, `before` counts the elements of
// earlier blocks among those that agree with this one in all slower dimensions, and `all` counts
// the elements of one layer.
std::int64_t start_of_block(const DistributionData& data, const Index& block) noexcept {
  if (data.block_map.kind() != BlockMapKind::cyclic_grid) {
    return data.starts.empty()
               ? data.block_map.number(block) * data.slot
               : data.starts[static_cast<std::size_t>(data.block_map.linear(block))];
  }
  std::int64_t before = 0;
  std::int64_t all = 1;
  for (int k = 0; k < block.ndims(); ++k) {
    const int dim = data.fast(k, data.block_map.order());
    const std::int64_t b = block[dim];
    before = data.length_before(dim, b) * all + data.partition(dim).length(b) * before;
    all *= data.length_of_all(dim, data.block_map.divide_by_grid(dim, b).remainder);
  }
  return before;
}

}  // namespace

std::int64_t locate_block(const DistributionData& data, const Index& block,
                          Strides& strides) noexcept {
  if (!data.is_one_block_per_rank && data.storage == Storage::local_matrix) {
    return offset_in_matrix(data, block, strides);
  }
  std::int64_t offset = 0;
  std::int64_t stride = 1;
  for (int k = 0; k < block.ndims(); ++k) {
    const int dim = data.fast(k, data.order);
    const std::int64_t ghosts = data.ghosts[dim];
    strides[dim] = stride;
    offset += ghosts * stride;
    stride *= data.partition(dim).length(block[dim]) + 2 * ghosts;
  }
  return data.is_one_block_per_rank ? offset : start_of_block(data, block);
}

}  // namespace detail

// Everything is built in place, bound by bound: copies of lists just written would stall on store
// forwarding, which takes longer than all the arithmetic.
Patches::Patches(const detail::DistributionData& data, const Box& box,
                 std::int64_t rotation) noexcept
    : data_(&data),
      box_(Box::none(box.ndims())),
      first_(Index::zeros(box.ndims())),
      last_(Index::zeros(box.ndims())),
      block_(Index::zeros(box.ndims())),
      patch_{.box = Box::none(box.ndims()),
             .owner = {},
             .order = data.order,
             .offset = 0,
             .strides = Strides::zeros(box.ndims())} {
  std::int64_t count = 1;
  for (int dim = 0; dim < box.ndims(); ++dim) {
    const std::int64_t lo = box.lo(dim);
    const std::int64_t hi = box.hi(dim);
    if (hi <= lo) {
      return;
    }
    const BlockPartition1D& partition = data.partition(dim);
    const std::int64_t first = partition.find(lo).block;
    const std::int64_t last = hi <= partition.hi(first) ? first : partition.find(hi - 1).block;
    box_.set(dim, lo, hi);
    first_[dim] = first;
    last_[dim] = last;
    block_[dim] = first;
    count *= last - first + 1;
  }
  remaining_ = count;
  if (rotation > 0 && count > 1) {
    rotate(rotation);
  }
  cut_patch();
}

void Patches::rotate(std::int64_t rotation) noexcept {
  std::int64_t number = rotation % remaining_;
  for (int dim = block_.ndims() - 1; dim >= 0; --dim) {
    const std::int64_t count = last_[dim] - first_[dim] + 1;
    block_[dim] = first_[dim] + number % count;
    number /= count;
  }
}

void Patches::step() noexcept {
  // After the last block the walk continues at the first; remaining_ ends it.
  for (int dim = block_.ndims() - 1; dim >= 0; --dim) {
    if (++block_[dim] <= last_[dim]) {
      break;
    }
    block_[dim] = first_[dim];
  }
  cut_patch();
}

void Patches::cut_patch() noexcept {
  patch_.owner = data_->block_map.owner(block_);
  if (data_->is_one_block_per_rank) {
    cut_single();
    return;
  }
  std::int64_t offset = detail::locate_block(*data_, block_, patch_.strides);
  for (int dim = 0; dim < block_.ndims(); ++dim) {
    const BlockPartition1D& partition = data_->partition(dim);
    const std::int64_t block_lo = partition.lo(block_[dim]);
    const std::int64_t lo = std::max(box_.lo(dim), block_lo);
    patch_.box.set(dim, lo, std::min(box_.hi(dim), partition.hi(block_[dim])));
    offset += (lo - block_lo) * patch_.strides[dim];
  }
  patch_.offset = offset;
}

// The same in one pass for the most common distributions; locate_block() would search each bound
// again.
void Patches::cut_single() noexcept {
  std::int64_t offset = 0;
  std::int64_t stride = 1;
  for (int k = 0; k < block_.ndims(); ++k) {
    const int dim = data_->fast(k, data_->order);
    const BlockPartition1D& partition = data_->partition(dim);
    const std::int64_t ghosts = data_->ghosts[dim];
    const std::int64_t block_lo = partition.lo(block_[dim]);
    const std::int64_t block_hi = partition.hi(block_[dim]);
    const std::int64_t lo = std::max(box_.lo(dim), block_lo);
    patch_.box.set(dim, lo, std::min(box_.hi(dim), block_hi));
    patch_.strides[dim] = stride;
    offset += (lo - block_lo + ghosts) * stride;
    stride *= block_hi - block_lo + 2 * ghosts;
  }
  patch_.offset = offset;
}

namespace {

// The size of one element on both sides, in bytes, and the bytes of it that move.
struct Units {
  std::int64_t local = 0;
  std::int64_t remote = 0;
  std::int64_t run = 0;
  [[nodiscard]] bool is_whole() const noexcept { return run == local && run == remote; }
};

// From the fastest dimension up: dense dimensions lengthen the run, a dimension that continues the
// one before lengthens its level, and others become a new level.
template <class Extent>
rma::CopyShape build_shape(int ndims, Extent extent, MemoryOrder order, const Strides& local,
                           const Strides& remote, const Units& units) noexcept {
  rma::CopyShape shape;  // the only object returned, so it is built in its final location
  for (int dim = 0; dim < ndims; ++dim) {
    if (extent(dim) == 0) {
      return shape;
    }
  }
  std::int64_t run = units.run;
  std::int64_t next_local =
      units.local;  // strides with which a dimension continues the faster ones
  std::int64_t next_remote = units.remote;
  for (int k = 0; k < ndims; ++k) {
    const int dim = order == MemoryOrder::row_major ? ndims - 1 - k : k;
    const std::int64_t count = extent(dim);
    if (count == 1) {
      continue;
    }
    const std::int64_t local_stride = local[dim] * units.local;
    const std::int64_t remote_stride = remote[dim] * units.remote;
    const bool continues = local_stride == next_local && remote_stride == next_remote;
    if (!continues || (shape.levels == 0 && !units.is_whole())) {
      shape.repeat(count, local_stride, remote_stride);
    } else if (shape.levels == 0) {
      run *= count;
    } else {
      shape.level[static_cast<std::size_t>(shape.levels - 1)].count *= count;
    }
    next_local = local_stride * count;
    next_remote = remote_stride * count;
  }
  shape.run_bytes = static_cast<std::size_t>(run);
  return shape;
}

Units whole(std::size_t element_bytes) noexcept {
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  return {bytes, bytes, bytes};
}

}  // namespace

rma::CopyShape copy_shape(const Extents& extents, MemoryOrder order, const Strides& local,
                          const Strides& remote, std::size_t element_bytes) noexcept {
  return build_shape(
      extents.ndims(), [&](int dim) { return extents[dim]; }, order, local, remote,
      whole(element_bytes));
}

rma::CopyShape copy_shape(const Patch& patch, const Strides& local,
                          std::size_t element_bytes) noexcept {
  return build_shape(
      patch.box.ndims(), [&](int dim) { return patch.box.extent(dim); }, patch.order, local,
      patch.strides, whole(element_bytes));
}

rma::CopyShape field_shape(const Extents& extents, MemoryOrder order, const Strides& local,
                           const ElementField& field, const Strides& remote,
                           std::size_t element_bytes) noexcept {
  const auto bytes = static_cast<std::int64_t>(field.bytes);
  return build_shape(extents.ndims(), [&](int dim) { return extents[dim]; }, order, local, remote,
                     {bytes, static_cast<std::int64_t>(element_bytes), bytes});
}

}  // namespace tessera::arrays
