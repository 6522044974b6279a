// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/call_signature.hpp"
#include "arrays/detail/own_blocks.hpp"
#include "arrays/distribution.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

std::vector<std::int64_t> starts_of(const BlockPartition1D& partition) {
  std::vector<std::int64_t> starts;
  for (std::int64_t block = 0; block < partition.blocks(); ++block) {
    starts.push_back(partition.lo(block));
  }
  return starts;
}

bool may_have_more_blocks(const BlockMap& map) {
  return map.kind() == BlockMapKind::cyclic_grid || map.kind() == BlockMapKind::round_robin;
}

// As `partition`, with more indices.
Result<BlockPartition1D> grown(const BlockPartition1D& partition, const BlockMap& map,
                               std::int64_t extent) {
  const std::int64_t blocks = partition.blocks();
  if (blocks < 1) {
    return Status::error(Code::unsupported, "the dimension has no blocks that could be repeated")
        .hint("create the array with at least one index in that dimension");
  }
  if (may_have_more_blocks(map) && !partition.is_irregular()) {
    const auto of_one_size = BlockPartition1D::by_size(partition.extent(), partition.largest());
    if (of_one_size.ok() && *of_one_size == partition) {
      return BlockPartition1D::by_size(extent, partition.largest());
    }
  }
  const auto even = BlockPartition1D::even(partition.extent(), blocks);
  return even.ok() && *even == partition
             ? BlockPartition1D::even(extent, blocks)
             : BlockPartition1D::at_bounds(extent, starts_of(partition));
}

Result<BlockMap> map_of(const BlockMap& map, const Extents& blocks) {
  if (blocks == map.blocks()) {
    return map;
  }
  return map.kind() == BlockMapKind::cyclic_grid
             ? BlockMap::cyclic_grid(blocks, map.rank_grid(), map.nranks(), map.order())
             : BlockMap::round_robin(blocks, map.nranks(), map.order());
}

// As `distribution`, with more indices in one dimension.
Result<Distribution> grown(const Distribution& distribution, int dim, std::int64_t extent) {
  std::vector<BlockPartition1D> partitions;
  Extents blocks = distribution.extents();
  for (int each = 0; each < distribution.ndims(); ++each) {
    partitions.push_back(distribution.partition(each));
    if (each == dim) {
      TESSERA_ASSIGN_OR_RETURN(partitions.back(),
                               grown(partitions.back(), distribution.block_map(), extent));
    }
    blocks[each] = partitions.back().blocks();
  }
  TESSERA_ASSIGN_OR_RETURN(const BlockMap map, map_of(distribution.block_map(), blocks));
  return Distribution::create(partitions, map,
                              {.storage = distribution.storage(),
                               .order = distribution.order(),
                               .ghosts = distribution.ghosts()});
}

Status check_growth(const ArrayBase& array, int dim, std::int64_t extent) {
  if (dim < 0 || dim >= array.ndims()) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("there is no dimension {}; the array has {}", dim, array.ndims()));
  }
  if (extent < array.extents()[dim]) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} is less than its extent {}: arrays do not shrink", extent,
                                     array.extents()[dim]));
  }
  if (array.region().is_borrowed()) {
    return Status::error(Code::unsupported, "the array is in the memory of another one")
        .hint("grow that one, and make the overlay again");
  }
  if (array.access_mode() != array.region().options().access_mode) {
    return Status::error(Code::invalid_argument, "the array has an access mode of its own now")
        .hint("end this mode first, with set_access_mode(AccessMode::any)");
  }
  return {};
}

}  // namespace

Status ArrayBase::grow(int dim, std::int64_t extent) {
  TESSERA_RETURN_IF_ERROR(check_open().context("growing an array"));
  const std::string name = name_;  // for the label: name_ is replaced meanwhile
  const rma::LabelScope scope(
      team(), {.verb = "grow", .kind = "array", .name = name, .number = region_id_.value});
  const std::string doing =
      fmt::format("growing dimension {} of {} to {}", dim, describe(), extent);
  std::optional<Distribution> wanted;
  const auto plan = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(check_growth(*this, dim, extent));
    TESSERA_ASSIGN_OR_RETURN(const Distribution made, arrays::grown(distribution_, dim, extent));
    wanted = made;
    return {};
  };
  struct Growth {
    std::int64_t dim;
    std::int64_t extent;
    bool operator==(const Growth&) const = default;
  };
  TESSERA_RETURN_IF_ERROR(sync(plan).context(doing));
  TESSERA_RETURN_IF_ERROR(detail::check_same_on_all(team(), Growth{dim, extent}, "growth",
                                                    "all members must give the same")
                              .context(doing));
  if (extent == extents()[dim]) {
    return {};
  }
  auto made = create(*job_, *wanted, element_,
                     {.name = name_, .team = team(), .region = region_.options()});
  if (!made.ok()) {
    return std::move(made).status().context(doing);
  }
  TESSERA_RETURN_IF_ERROR(
      made->sync([&] { return detail::get_own(*made, box(), *this, box()); }).context(doing));
  state_->is_grown = true;
  Status freed = free();
  *this = std::move(made).take();
  return std::move(freed).context(doing);
}

}  // namespace tessera::arrays
