// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/stored_distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::arrays::detail {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;
using rma::TeamRank;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t numbers_format = 1;

enum class PartitionKind : std::int64_t { even, by_size, at_bounds };

template <class Kind>
void add_list(Numbers& numbers, const DimList<Kind>& list, int ndims) {
  for (int dim = 0; dim < ndims; ++dim) {
    numbers.push_back(dim < list.ndims() ? list[dim] : 0);
  }
}

// A partition doesn't store how it was made, but a regular one equals one of two kinds.
void add_partition(Numbers& numbers, const BlockPartition1D& partition) {
  numbers.push_back(partition.extent());
  if (partition.is_irregular()) {
    numbers.push_back(static_cast<std::int64_t>(PartitionKind::at_bounds));
    numbers.push_back(partition.blocks());
    for (std::int64_t block = 0; block < partition.blocks(); ++block) {
      numbers.push_back(partition.lo(block));
    }
    return;
  }
  const auto even =
      BlockPartition1D::even(partition.extent(), std::max<std::int64_t>(partition.blocks(), 1));
  const bool is_even = even.ok() && *even == partition;
  numbers.push_back(
      static_cast<std::int64_t>(is_even ? PartitionKind::even : PartitionKind::by_size));
  numbers.push_back(is_even ? partition.blocks() : std::max<std::int64_t>(partition.largest(), 1));
}

void add_table(Numbers& numbers, const BlockMap& block_map) {
  if (block_map.kind() != BlockMapKind::table || volume(block_map.blocks()) == 0) {
    return;
  }
  Index block = Index::zeros(block_map.ndims());
  do {
    numbers.push_back(block_map.owner(block).value);
  } while (advance(block, block_map.blocks(), block_map.order()));
}

Status invalid_distribution(std::string what) {
  return Status::error(Code::protocol, "its distribution is invalid: " + std::move(what))
      .hint("read it into an array with a distribution of your choice");
}

// Takes numbers from the front; after the last one it returns zeros, and has_failed() is true.
class Reader {
 public:
  explicit Reader(std::span<const std::int64_t> numbers) noexcept : rest_(numbers) {}

  std::int64_t next() noexcept { return take(1).empty() ? 0 : *last_.begin(); }
  std::span<const std::int64_t> take(std::int64_t count) noexcept {
    if (count < 0 || count > std::ssize(rest_)) {
      has_failed_ = true;
      last_ = {};
    } else {
      last_ = rest_.first(static_cast<std::size_t>(count));
      rest_ = rest_.subspan(last_.size());
    }
    return last_;
  }
  Extents extents(int ndims) noexcept {
    const auto list = take(ndims);
    return list.empty() ? Extents::zeros(ndims) : Extents(list);
  }
  /// An enumeration value in 0 … most.
  template <class Kind>
  Kind kind(Kind most) noexcept {
    const std::int64_t value = next();
    has_failed_ = has_failed_ || value < 0 || value > static_cast<std::int64_t>(most);
    return has_failed_ ? Kind{} : static_cast<Kind>(value);
  }
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }
  [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }
  [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }

 private:
  std::span<const std::int64_t> rest_;
  std::span<const std::int64_t> last_;
  bool has_failed_ = false;
};

struct Head {
  int ndims = 0;
  std::int64_t nranks = 0;
  Storage storage = Storage::block_by_block;
  MemoryOrder order = MemoryOrder::row_major;
  BlockMapKind block_map = BlockMapKind::grid;
  MemoryOrder block_map_order = MemoryOrder::row_major;
  Extents ghosts, blocks, rank_grid, node_grid;
};

Result<Head> read_head(Reader& reader) {
  const std::int64_t format = reader.next();
  if (!reader.has_failed() && format != numbers_format) {
    return Status::error(Code::unsupported,
                         fmt::format("its distribution has format {}, but format {} is "
                                     "expected",
                                     format, numbers_format))
        .hint("read it into an array with a distribution of your choice");
  }
  const std::int64_t ndims = reader.next();
  if (ndims < 1 || ndims > max_dims) {
    return invalid_distribution(fmt::format("it has {} dimensions", ndims));
  }
  Head head;
  head.ndims = static_cast<int>(ndims);
  head.nranks = reader.next();
  head.storage = reader.kind(Storage::local_matrix);
  head.order = reader.kind(MemoryOrder::column_major);
  head.block_map = reader.kind(BlockMapKind::table);
  head.block_map_order = reader.kind(MemoryOrder::column_major);
  head.ghosts = reader.extents(head.ndims);
  head.blocks = reader.extents(head.ndims);
  head.rank_grid = reader.extents(head.ndims);
  head.node_grid = reader.extents(head.ndims);
  if (reader.has_failed()) {
    return invalid_distribution("its numbers end too early or are out of range");
  }
  return head;
}

Result<BlockPartition1D> read_partition(Reader& reader) {
  const std::int64_t extent = reader.next();
  const auto kind = reader.kind(PartitionKind::at_bounds);
  const std::int64_t number = reader.next();
  if (kind == PartitionKind::at_bounds) {
    return BlockPartition1D::at_bounds(extent, reader.take(number));
  }
  return kind == PartitionKind::even ? BlockPartition1D::even(extent, number)
                                     : BlockPartition1D::by_size(extent, number);
}

Result<BlockMap> read_table(const Head& head, Reader& reader) {
  std::int64_t count = 0;
  if (!checked_product(head.blocks, count)) {
    return invalid_distribution(
        fmt::format("{} blocks are more than 2^63 - 1", to_string(head.blocks)));
  }
  std::vector<TeamRank> owners;
  for (const std::int64_t owner : reader.take(count)) {
    // A value that doesn't fit becomes a rank that does not exist, which is refused below.
    const bool fits = owner >= 0 && owner < head.nranks;
    owners.push_back({fits ? static_cast<std::int32_t>(owner) : -1});
  }
  return BlockMap::table(head.blocks, owners, head.nranks, head.block_map_order);
}

Result<BlockMap> read_block_map(const Head& head, Reader& reader) {
  switch (head.block_map) {
    case BlockMapKind::round_robin:
      return BlockMap::round_robin(head.blocks, head.nranks, head.block_map_order);
    case BlockMapKind::table:
      return read_table(head, reader);
    case BlockMapKind::cyclic_grid:
      break;
    case BlockMapKind::grid:
      if (head.rank_grid == head.blocks) {
        const bool has_nodes = head.node_grid != Extents::zeros(head.ndims);
        return BlockMap::grid(
            head.blocks, head.nranks,
            {.order = head.block_map_order, .node_grid = has_nodes ? head.node_grid : Extents()});
      }
      break;  // a cyclic grid larger than the grid of blocks is stored as a grid
  }
  return BlockMap::cyclic_grid(head.blocks, head.rank_grid, head.nranks, head.block_map_order);
}

// The error text for `count` numbers that do not describe a distribution.
std::string wrong_count(const Reader& reader, std::size_t count) {
  return reader.has_failed()
             ? fmt::format("it has {} numbers, which are too few or out of range", count)
             : fmt::format("it has {} numbers, but {} are expected", count, count - reader.left());
}

}  // namespace

Numbers to_numbers(const Distribution& distribution) {
  const BlockMap& block_map = distribution.block_map();
  const int ndims = distribution.ndims();
  Numbers numbers = {numbers_format,
                     ndims,
                     distribution.nranks(),
                     static_cast<std::int64_t>(distribution.storage()),
                     static_cast<std::int64_t>(distribution.order()),
                     static_cast<std::int64_t>(block_map.kind()),
                     static_cast<std::int64_t>(block_map.order())};
  add_list(numbers, distribution.ghosts(), ndims);
  add_list(numbers, block_map.blocks(), ndims);
  add_list(numbers, block_map.rank_grid(), ndims);
  add_list(numbers, block_map.node_grid(), ndims);
  for (int dim = 0; dim < ndims; ++dim) {
    add_partition(numbers, distribution.partition(dim));
  }
  add_table(numbers, block_map);
  return numbers;
}

Result<Distribution> distribution_from(std::span<const std::int64_t> numbers) {
  Reader reader(numbers);
  TESSERA_ASSIGN_OR_RETURN(const Head head, read_head(reader));
  std::vector<BlockPartition1D> partitions;
  for (int dim = 0; dim < head.ndims; ++dim) {
    auto partition = read_partition(reader);
    if (reader.has_failed() || !partition.ok()) {
      return invalid_distribution(partition.ok() ? wrong_count(reader, numbers.size())
                                                 : partition.status().message());
    }
    partitions.push_back(std::move(partition).take());
  }
  auto block_map = read_block_map(head, reader);
  if (reader.has_failed() || !reader.is_at_end() || !block_map.ok()) {
    return invalid_distribution(block_map.ok() ? wrong_count(reader, numbers.size())
                                               : block_map.status().message());
  }
  auto distribution =
      Distribution::create(partitions, *block_map,
                           {.storage = head.storage, .order = head.order, .ghosts = head.ghosts});
  if (!distribution.ok() && distribution.status().code() != Code::no_memory) {
    return invalid_distribution(distribution.status().message());
  }
  return distribution;
}

}  // namespace tessera::arrays::detail
