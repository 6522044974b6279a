// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arrays/detail/distribution_data.hpp"
#include "arrays/process_grid.hpp"
#include "rma/base/catch_bad_alloc.hpp"

namespace tessera::arrays {
namespace {

using detail::DistributionData;
using rma::Code;
using rma::Result;
using rma::Status;
using rma::TeamRank;

Status invalid(std::string what) {
  return Status::error(Code::invalid_argument, std::move(what));
}

std::string attempt(const Extents& extents, std::int64_t nranks) {
  return fmt::format("distributing {} on {} rank{}", to_string(extents), nranks,
                     nranks == 1 ? "" : "s");
}

Extents extents_of(std::span<const BlockPartition1D> partitions) {
  Extents extents = Extents::filled(static_cast<int>(partitions.size()), 0);
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    extents[dim] = partitions[static_cast<std::size_t>(dim)].extent();
  }
  return extents;
}

Status check_block_map(std::span<const BlockPartition1D> partitions, const BlockMap& block_map) {
  const Extents extents = extents_of(partitions);
  if (block_map.ndims() != extents.ndims()) {
    return invalid(fmt::format("the partitions have {} dimensions, the block map has {}",
                               extents.ndims(), block_map.ndims()));
  }
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    const std::int64_t blocks = partitions[static_cast<std::size_t>(dim)].blocks();
    if (blocks != block_map.blocks()[dim]) {
      return invalid(fmt::format("dimension {} is cut into {} blocks, but the block map has {}",
                                 dim, blocks, block_map.blocks()[dim]));
    }
  }
  return {};
}

Status check_options(const Extents& extents, const BlockMap& block_map,
                     const StorageOptions& options) {
  const Extents& ghosts = options.ghosts;
  if (!ghosts.is_empty() && ghosts.ndims() != extents.ndims()) {
    return invalid(fmt::format("{} ghost widths are given for {} dimensions", ghosts.ndims(),
                               extents.ndims()));
  }
  for (int dim = 0; dim < ghosts.ndims(); ++dim) {
    if (ghosts[dim] < 0) {
      return invalid(fmt::format("ghost width {} of dimension {} is negative", ghosts[dim], dim));
    }
    if (ghosts[dim] > 0 && !block_map.is_one_block_per_rank()) {
      return Status::error(
                 Code::unsupported,
                 fmt::format(
                     "ghost cells (width {} in dimension {}) need at most one block on each "
                     "rank; here a rank has {}",
                     ghosts[dim], dim, block_map.max_blocks()))
          .hint("use a regular or irregular distribution for arrays with ghost cells");
    }
  }
  const bool has_grid =
      block_map.kind() == BlockMapKind::grid || block_map.kind() == BlockMapKind::cyclic_grid;
  if (options.storage == Storage::local_matrix && !has_grid && !block_map.is_one_block_per_rank()) {
    return Status::error(
               Code::unsupported,
               fmt::format("blocks without a grid of ranks ({}) do not form a local matrix",
                           to_string(block_map)))
        .hint("use a cyclic grid, or store them block by block");
  }
  return {};
}

bool is_full(const Extents& process_grid) {
  return !process_grid.is_empty() && std::all_of(process_grid.begin(), process_grid.end(),
                                                 [](std::int64_t entry) { return entry > 0; });
}

}  // namespace

Result<Distribution> Distribution::create(std::span<const BlockPartition1D> partitions,
                                          const BlockMap& block_map,
                                          const StorageOptions& options) {
  if (partitions.size() > std::size_t{max_dims}) {
    return check_extents(Extents::zeros(max_dims + 1));
  }
  const Extents extents = extents_of(partitions);
  TESSERA_RETURN_IF_ERROR(check_extents(extents));
  const std::string doing = attempt(extents, block_map.nranks());
  TESSERA_RETURN_IF_ERROR(check_block_map(partitions, block_map).context(doing));
  TESSERA_RETURN_IF_ERROR(check_options(extents, block_map, options).context(doing));

  return rma::detail::catch_bad_alloc([&]() -> Result<Distribution> {
    const bool is_single = block_map.is_one_block_per_rank();
    auto data = std::make_shared<DistributionData>(
        block_map, is_single ? Storage::block_by_block : options.storage);
    data->extents = extents;
    std::copy(partitions.begin(), partitions.end(), data->partitions.begin());
    data->order = options.order;
    data->is_one_block_per_rank = is_single;
    data->ghosts = options.ghosts.is_empty() ? Extents::zeros(extents.ndims()) : options.ghosts;
    TESSERA_RETURN_IF_ERROR(detail::measure(*data).context(doing));
    return Distribution(Made(), std::move(data));
  });
}

Result<Distribution> Distribution::regular(const Extents& extents, std::int64_t nranks,
                                           const RegularOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_extents(extents));
  TESSERA_ASSIGN_OR_RETURN(const ProcessGrid chosen,
                           choose_process_grid(extents, nranks,
                                               {.min_block = options.min_block,
                                                .fixed = options.process_grid,
                                                .ranks_per_node = options.ranks_per_node,
                                                .order = options.order}));
  std::vector<BlockPartition1D> partitions(static_cast<std::size_t>(extents.ndims()));
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    TESSERA_ASSIGN_OR_RETURN(partitions[static_cast<std::size_t>(dim)],
                             BlockPartition1D::even(extents[dim], chosen.grid[dim]));
  }
  const Extents node_grid = is_full(options.process_grid) ? Extents() : chosen.node_grid;
  TESSERA_ASSIGN_OR_RETURN(
      const BlockMap block_map,
      BlockMap::grid(chosen.grid, nranks, {.order = options.order, .node_grid = node_grid}));
  return create(partitions, block_map, {.order = options.order, .ghosts = options.ghosts});
}

Result<Distribution> Distribution::irregular(const Extents& extents,
                                             std::span<const std::vector<std::int64_t>> starts,
                                             std::int64_t nranks, const StorageOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_extents(extents));
  const std::string doing = attempt(extents, nranks);
  if (starts.size() != static_cast<std::size_t>(extents.ndims())) {
    return invalid(fmt::format("bounds for {} dimensions are given", starts.size())).context(doing);
  }
  std::vector<BlockPartition1D> partitions(starts.size());
  Extents blocks = extents;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    auto partition =
        BlockPartition1D::at_bounds(extents[dim], starts[static_cast<std::size_t>(dim)]);
    if (!partition.ok()) {
      return std::move(partition).status().context(fmt::format("{}: dimension {}", doing, dim));
    }
    blocks[dim] = partition->blocks();
    partitions[static_cast<std::size_t>(dim)] = std::move(partition).take();
  }
  auto block_map = BlockMap::grid(blocks, nranks, {.order = options.order});
  if (!block_map.ok()) {
    return std::move(block_map).status().context(doing);
  }
  return create(partitions, *block_map, options);
}

Distribution Distribution::none() noexcept {
  static const detail::DistributionData data{BlockMap(), Storage::block_by_block};
  return {Made{}, std::shared_ptr<const detail::DistributionData>(std::shared_ptr<void>(), &data)};
}

const Extents& Distribution::extents() const noexcept {
  return data_->extents;
}
const BlockPartition1D& Distribution::partition(int dim) const noexcept {
  return data_->partition(dim);
}
const BlockMap& Distribution::block_map() const noexcept {
  return data_->block_map;
}
Storage Distribution::storage() const noexcept {
  return data_->storage;
}
MemoryOrder Distribution::order() const noexcept {
  return data_->order;
}
const Extents& Distribution::ghosts() const noexcept {
  return data_->ghosts;
}

bool Distribution::has_ghosts() const noexcept {
  return std::any_of(data_->ghosts.begin(), data_->ghosts.end(),
                     [](std::int64_t width) { return width > 0; });
}

TeamRank Distribution::owner(const Index& index) const noexcept {
  Index block = Index::zeros(index.ndims());
  for (int dim = 0; dim < index.ndims(); ++dim) {
    block[dim] = data_->partition(dim).find(index[dim]).block;
  }
  return data_->block_map.owner(block);
}

ElementLocation Distribution::locate(const Index& index) const noexcept {
  Index block = Index::zeros(index.ndims());
  Index offsets = Index::zeros(index.ndims());
  for (int dim = 0; dim < index.ndims(); ++dim) {
    const BlockPartition1D::Position at = data_->partition(dim).find(index[dim]);
    block[dim] = at.block;
    offsets[dim] = at.offset;
  }
  Strides strides = Strides::zeros(index.ndims());
  std::int64_t offset = detail::locate_block(*data_, block, strides);
  for (int dim = 0; dim < index.ndims(); ++dim) {
    offset += offsets[dim] * strides[dim];
  }
  return {data_->block_map.owner(block), offset};
}

Patch Distribution::block(TeamRank rank, std::int64_t number) const noexcept {
  const Index block = data_->block_map.block(rank, number);
  Patch patch{.box = Box::none(ndims()),
              .owner = rank,
              .order = data_->order,
              .offset = 0,
              .strides = Strides::zeros(ndims())};
  for (int dim = 0; dim < ndims(); ++dim) {
    patch.box.set(dim, data_->partition(dim).lo(block[dim]), data_->partition(dim).hi(block[dim]));
  }
  // In an array without elements strides have no meaning, and their products may overflow.
  if (data_->max_local_elements > 0) {
    patch.offset = detail::locate_block(*data_, block, patch.strides);
  }
  return patch;
}

Distribution::Blocks Distribution::blocks(TeamRank rank) const noexcept {
  return {*this, rank};
}

Box Distribution::box_of(TeamRank rank) const noexcept {
  if (block_count(rank) == 0) {
    return Box::none(ndims());
  }
  return block(rank, 0).box;
}

std::int64_t Distribution::local_elements(TeamRank rank) const noexcept {
  const std::int64_t count = block_count(rank);
  if (count == 0) {
    return 0;
  }
  if (data_->is_one_block_per_rank || data_->block_map.kind() == BlockMapKind::cyclic_grid) {
    return volume(local_extents(rank));
  }
  const Patch last = block(rank, count - 1);
  return last.offset + last.box.volume();
}

std::int64_t Distribution::max_local_elements() const noexcept {
  return data_->max_local_elements;
}

Extents Distribution::local_extents(TeamRank rank) const noexcept {
  Extents sizes = Extents::zeros(ndims());
  if (block_count(rank) == 0) {
    return sizes;
  }
  if (data_->is_one_block_per_rank) {
    const Box box = block(rank, 0).box;
    return box.is_empty() ? sizes : box.grown(data_->ghosts).extents();
  }
  const Index at = data_->block_map.coordinates(rank);
  for (int dim = 0; dim < ndims(); ++dim) {
    sizes[dim] = data_->length_of_all(dim, at[dim]);
  }
  return sizes;
}

bool operator==(const Distribution& a, const Distribution& b) noexcept {
  const DistributionData& x = *a.data_;
  const DistributionData& y = *b.data_;
  return &x == &y ||
         (x.extents == y.extents && x.storage == y.storage && x.order == y.order &&
          x.ghosts == y.ghosts && x.block_map == y.block_map && x.partitions == y.partitions);
}

std::string to_string(const Distribution& distribution) {
  const bool is_matrix = distribution.storage() == Storage::local_matrix;
  std::string text = fmt::format(
      "{}: {}, {}{}", to_string(distribution.extents()), to_string(distribution.block_map()),
      is_matrix ? "one local matrix on each rank, " : "",
      distribution.order() == MemoryOrder::row_major ? "row-major" : "column-major");
  if (distribution.has_ghosts()) {
    text += fmt::format(", ghosts {}", to_string(distribution.ghosts()));
  }
  return text;
}

}  // namespace tessera::arrays
