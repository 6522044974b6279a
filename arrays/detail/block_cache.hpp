// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. BlockCache: Distribution::locate() for many elements, one after another. The location
// of a block in its owner's memory is computed once and kept until another block replaces it in the
// cache.
//
// Cost: one or two multiplications for each dimension of an element; a small table of blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "arrays/array_base.hpp"
#include "arrays/detail/distribution_data.hpp"

namespace tessera::arrays::detail {

class BlockCache {
 public:
  struct Found {
    rma::TeamRank owner;
    std::int64_t offset = 0;     ///< in elements, from the start of the owner's slice
    std::byte* slice = nullptr;  ///< the owner's memory if it is on this node, else null
  };

  /// Requires: the array outlives this object.
  explicit BlockCache(const ArrayBase& array) noexcept
      : array_(array), data_(array.distribution().data()), ndims_(array.ndims()) {}

  /// Requires: `index` has one number for each dimension, inside the array.
  Found find(const std::int64_t* index) noexcept {
    std::array<std::int64_t, max_dims> offsets;  // NOLINT(*-member-init): written before it is read
    std::int64_t number = 0;
    for (int dim = 0; dim < ndims_; ++dim) {
      const BlockPartition1D& partition = data_.partition(dim);
      const BlockPartition1D::Position at = partition.find(index[dim]);
      number = number * partition.blocks() + at.block;
      offsets[static_cast<std::size_t>(dim)] = at.offset;
    }
    Block& block = blocks_[static_cast<std::size_t>(number) % blocks_.size()];
    if (block.number != number) [[unlikely]] {
      fill(block, number, index);
    }
    std::int64_t offset = block.offset;
    for (int dim = 0; dim < ndims_; ++dim) {
      offset += offsets[static_cast<std::size_t>(dim)] * block.strides[dim];
    }
    return {block.owner, offset, block.slice};
  }

 private:
  struct Block {
    std::int64_t number = -1;
    rma::TeamRank owner;
    std::int64_t offset = 0;  // offset of its first element
    Strides strides;
    std::byte* slice = nullptr;
  };

  void fill(Block& block, std::int64_t number, const std::int64_t* index) noexcept {
    Index at = Index::zeros(ndims_);
    for (int dim = 0; dim < ndims_; ++dim) {
      at[dim] = data_.partition(dim).find(index[dim]).block;
    }
    block.number = number;
    block.strides = Strides::zeros(ndims_);
    block.offset = locate_block(data_, at, block.strides);
    block.owner = data_.block_map.owner(at);
    block.slice = block.owner == array_.team().rank() ? array_.region().local()
                                                      : array_.region().direct(block.owner);
  }

  const ArrayBase& array_;
  const DistributionData& data_;
  int ndims_;
  std::array<Block, 64> blocks_;
};

}  // namespace tessera::arrays::detail
