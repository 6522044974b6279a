// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/block_partition_1d.hpp"

#include <fmt/format.h>

#include <utility>

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

Status check_extent(std::int64_t extent) {
  if (extent < 0) {
    return Status::error(Code::invalid_argument, fmt::format("extent {} is negative", extent));
  }
  return {};
}

Status check_starts(std::int64_t extent, std::span<const std::int64_t> starts) {
  if (starts.empty()) {
    return Status::error(Code::invalid_argument, "no bounds are given")
        .hint("give the first index of each block; the first is 0");
  }
  if (starts[0] != 0) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("bounds[0] is {}, but the first block must begin at 0", starts[0]));
  }
  for (std::size_t i = 1; i < starts.size(); ++i) {
    if (starts[i] <= starts[i - 1]) {
      return Status::error(Code::invalid_argument,
                           fmt::format("bounds must increase strictly, but bounds[{}] is {} and "
                                       "bounds[{}] is {}",
                                       i - 1, starts[i - 1], i, starts[i]));
    }
    if (starts[i] >= extent) {
      return Status::error(Code::invalid_argument,
                           fmt::format("bounds[{}] is {}, beyond the last index {} of extent {}", i,
                                       starts[i], extent - 1, extent))
          .hint("bounds are the first indices of the blocks; leave out the end of the last one");
    }
  }
  return {};
}

}  // namespace

BlockPartition1D::BlockPartition1D(std::int64_t extent, std::int64_t blocks, std::int64_t size,
                                   std::int64_t longer) noexcept
    : extent_(extent),
      blocks_(blocks),
      largest_(std::min(size + (longer > 0 ? 1 : 0), extent)),
      size_(size),
      longer_(longer),
      longer_end_(longer > 0 ? longer * (size + 1) : 0),
      missing_(longer > 0 || blocks == 0 ? 0 : size - (extent - (blocks - 1) * size)),
      by_longer_(longer > 0 ? size + 1 : 1),
      by_size_(std::max<std::int64_t>(size, 1)) {}

BlockPartition1D::BlockPartition1D(std::int64_t extent, std::vector<std::int64_t> starts)
    : extent_(extent),
      blocks_(static_cast<std::int64_t>(starts.size())),
      starts_(std::make_shared<const std::vector<std::int64_t>>(std::move(starts))) {
  for (std::int64_t block = 0; block < blocks_; ++block) {
    largest_ = std::max(largest_, length(block));
  }
}

Result<BlockPartition1D> BlockPartition1D::even(std::int64_t extent, std::int64_t blocks) {
  TESSERA_RETURN_IF_ERROR(check_extent(extent));
  if (blocks < 1) {
    return Status::error(Code::invalid_argument,
                         fmt::format("extent {} cannot be cut into {} blocks; at least 1 is needed",
                                     extent, blocks));
  }
  return BlockPartition1D(extent, blocks, extent / blocks, extent % blocks);
}

Result<BlockPartition1D> BlockPartition1D::by_size(std::int64_t extent, std::int64_t size) {
  TESSERA_RETURN_IF_ERROR(check_extent(extent));
  if (size < 1) {
    return Status::error(Code::invalid_argument, fmt::format("block size {} is below 1", size));
  }
  const std::int64_t blocks = extent / size + (extent % size != 0 ? 1 : 0);
  return BlockPartition1D(extent, blocks, std::min(size, std::max<std::int64_t>(extent, 1)), 0);
}

Result<BlockPartition1D> BlockPartition1D::at_bounds(std::int64_t extent,
                                                     std::span<const std::int64_t> starts) {
  TESSERA_RETURN_IF_ERROR(check_extent(extent));
  TESSERA_RETURN_IF_ERROR(check_starts(extent, starts));
  const auto blocks = static_cast<std::int64_t>(starts.size());
  BlockPartition1D evenly(extent, blocks, extent / blocks, extent % blocks);
  if (evenly.begins_at(starts)) {
    return evenly;
  }
  // A single block is even, so a second one exists here; a size that doesn't fit could overflow.
  std::int64_t last = 0;
  if (!__builtin_mul_overflow(blocks - 1, starts[1], &last) && last == starts.back()) {
    BlockPartition1D sized(extent, blocks, starts[1], 0);
    if (sized.begins_at(starts)) {
      return sized;
    }
  }
  return BlockPartition1D(extent, std::vector<std::int64_t>(starts.begin(), starts.end()));
}

bool BlockPartition1D::begins_at(std::span<const std::int64_t> starts) const noexcept {
  // Compares lengths, not starts: this partition is a guess, so block * size_ could exceed the
  // extent.
  for (std::size_t i = 1; i < starts.size(); ++i) {
    const bool is_longer = static_cast<std::int64_t>(i) <= longer_;
    if (starts[i] - starts[i - 1] != size_ + (is_longer ? 1 : 0)) {
      return false;
    }
  }
  return extent_ - starts.back() <= size_ + (blocks_ <= longer_ ? 1 : 0);
}

BlockPartition1D::Position BlockPartition1D::find_irregular(std::int64_t index) const noexcept {
  const auto above = std::upper_bound(starts_->begin(), starts_->end(), index);
  const auto at = above - 1;
  return {at - starts_->begin(), index - *at};
}

std::int64_t BlockPartition1D::length_of_unlike(std::int64_t first, std::int64_t step,
                                                std::int64_t count) const noexcept {
  if (starts_) {
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      total += length(first + i * step);
    }
    return total;
  }
  const std::int64_t longer = first < longer_ ? (longer_ - first - 1) / step + 1 : 0;
  return count * size_ + std::min(count, longer);
}

bool operator==(const BlockPartition1D& a, const BlockPartition1D& b) noexcept {
  if (a.extent_ != b.extent_ || a.blocks_ != b.blocks_ || a.largest_ != b.largest_) {
    return false;
  }
  if (!a.starts_ && !b.starts_ && a.size_ == b.size_ && a.longer_ == b.longer_) {
    return true;
  }
  if (a.starts_ && a.starts_ == b.starts_) {
    return true;
  }
  for (std::int64_t block = 0; block < a.blocks_; ++block) {
    if (a.lo(block) != b.lo(block)) {
      return false;
    }
  }
  return true;
}

std::string to_string(const BlockPartition1D& partition) {
  if (partition.blocks() == 0) {
    return fmt::format("extent {} in no blocks", partition.extent());
  }
  std::int64_t smallest = partition.length(partition.blocks() - 1);
  if (partition.is_irregular()) {
    for (std::int64_t block = 0; block < partition.blocks(); ++block) {
      smallest = std::min(smallest, partition.length(block));
    }
  }
  const std::string sizes = smallest == partition.largest()
                                ? fmt::format("{}", smallest)
                                : fmt::format("{} to {}", smallest, partition.largest());
  return fmt::format("extent {} in {} block{} of {}", partition.extent(), partition.blocks(),
                     partition.blocks() == 1 ? "" : "s", sizes);
}

}  // namespace tessera::arrays
