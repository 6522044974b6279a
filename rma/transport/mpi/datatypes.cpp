// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/datatypes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "rma/kernels/walk.hpp"
#include "rma/transport/mpi/error.hpp"

namespace tessera::rma::mpi {
namespace {

constexpr std::int64_t max_count = std::numeric_limits<int>::max();

bool is_int(std::int64_t value) noexcept {
  return value > 0 && value <= max_count;
}

}  // namespace

StridedSide StridedSide::of(const CopyShape& shape, Which which, MPI_Datatype element,
                            std::size_t element_bytes) noexcept {
  StridedSide side;
  side.element = element;
  side.element_bytes = element_bytes;
  side.run_elements = shape.run_bytes / element_bytes;
  side.levels = shape.levels;
  for (int i = 0; i < shape.levels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    side.counts[at] = shape.level[at].count;
    side.strides[at] =
        which == Which::local ? shape.level[at].local_stride : shape.level[at].remote_stride;
  }
  return side;
}

Datatypes::~Datatypes() {
  int is_over = 0;
  MPI_Finalized(&is_over);
  for (CachedType& each : cached_) {
    if (is_over == 0) {
      MPI_Type_free(&each.type);
    }
  }
}

// MPI keeps a freed type for the calls that use it.
Result<MPI_Datatype> Datatypes::find(const StridedSide& side) {
  const std::lock_guard guard(mutex_);
  const auto found = std::find_if(cached_.begin(), cached_.end(),
                                  [&](const CachedType& each) { return each.side == side; });
  if (found != cached_.end()) {
    cached_.splice(cached_.begin(), cached_, found);
    return found->type;
  }
  TESSERA_ASSIGN_OR_RETURN(MPI_Datatype type, make(side));
  cached_.push_front({side, type});
  if (cached_.size() > max_cached) {
    MPI_Type_free(&cached_.back().type);
    cached_.pop_back();
  }
  return type;
}

// The strides give the extents: that of a level is the next level's stride divided by its own. The
// outermost extent is the count, since nothing lies beyond it.
bool Datatypes::is_subarray(const StridedSide& side,
                            std::array<int, max_stride_levels + 1>& extents) noexcept {
  auto inner = static_cast<std::int64_t>(side.element_bytes);
  auto count = static_cast<std::int64_t>(side.run_elements);
  for (int i = 0; i < side.levels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t stride = side.strides[at];
    const std::int64_t extent = stride <= 0 ? 0 : stride / inner;
    if (extent * inner != stride || extent < count || !is_int(extent)) {
      return false;
    }
    extents[static_cast<std::size_t>(side.levels - i)] = static_cast<int>(extent);
    inner = stride;
    count = side.counts[at];
  }
  extents[0] = static_cast<int>(count);
  return is_int(count);
}

Result<MPI_Datatype> Datatypes::make(const StridedSide& side) {
  const bool fits = is_int(static_cast<std::int64_t>(side.run_elements)) &&
                    std::all_of(side.counts.begin(), side.counts.begin() + side.levels, is_int);
  if (!fits) {
    return Status::error(
        Code::limit_exceeded,
        fmt::format("a shape of {} levels has counts larger than MPI's ints", side.levels));
  }
  std::array<int, max_stride_levels + 1> extents{};
  TESSERA_ASSIGN_OR_RETURN(MPI_Datatype type, is_subarray(side, extents)
                                                  ? make_subarray(side, extents)
                                                  : make_list(side));
  const Status committed = check("MPI_Type_commit", MPI_Type_commit(&type));
  if (!committed.ok()) {
    MPI_Type_free(&type);
    return committed;
  }
  return type;
}

Result<MPI_Datatype> Datatypes::make_subarray(
    const StridedSide& side, const std::array<int, max_stride_levels + 1>& extents) {
  std::array<int, max_stride_levels + 1> counts{};
  const std::array<int, max_stride_levels + 1> starts{};
  for (int i = 0; i < side.levels; ++i) {
    counts[static_cast<std::size_t>(side.levels - 1 - i)] =
        static_cast<int>(side.counts[static_cast<std::size_t>(i)]);
  }
  counts[static_cast<std::size_t>(side.levels)] = static_cast<int>(side.run_elements);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  TESSERA_RETURN_IF_ERROR(
      check("MPI_Type_create_subarray",
            MPI_Type_create_subarray(side.levels + 1, extents.data(), counts.data(), starts.data(),
                                     MPI_ORDER_C, side.element, &type)));
  return type;
}

bool Datatypes::is_short(const StridedSide& side) noexcept {
  constexpr std::int64_t max_runs = 16'384;
  std::array<int, max_stride_levels + 1> extents{};
  std::int64_t runs = 1;
  for (int i = 0; i < side.levels && runs <= max_runs; ++i) {
    runs *= side.counts[static_cast<std::size_t>(i)];
  }
  return runs <= max_runs || is_subarray(side, extents);
}

Result<MPI_Datatype> Datatypes::make_list(const StridedSide& side) {
  CopyShape shape = CopyShape::contiguous(side.run_elements * side.element_bytes);
  for (int i = 0; i < side.levels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    shape.repeat(side.counts[at], side.strides[at], side.strides[at]);
  }
  std::vector<MPI_Aint> offsets;
  kernels::for_each_run(shape, [&](std::int64_t local, std::int64_t /*remote*/) {
    offsets.push_back(static_cast<MPI_Aint>(local));
  });
  MPI_Datatype type = MPI_DATATYPE_NULL;
  TESSERA_RETURN_IF_ERROR(
      check("MPI_Type_create_hindexed_block",
            MPI_Type_create_hindexed_block(static_cast<int>(offsets.size()),
                                           static_cast<int>(side.run_elements), offsets.data(),
                                           side.element, &type)));
  return type;
}

}  // namespace tessera::rma::mpi
