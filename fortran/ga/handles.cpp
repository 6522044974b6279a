// SPDX-License-Identifier: BSD-3-Clause
//
// Arrays in several steps: a handle, what the program sets, the allocation.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "fortran/ga/creation.hpp"
#include "fortran/ga/cut.hpp"
#include "fortran/ga/operations.hpp"
#include "fortran/ga/session.hpp"

namespace tessera::ga {

namespace {

Status check_unallocated(const Record& record, std::string_view what) {
  if (record.is_allocated()) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("the {} of {} can't change: it is allocated", what, record.describe()))
        .hint("set it between GA_Create_handle and GA_Allocate, or call GA_Deallocate first");
  }
  return {};
}

/// For properties that have one number for each dimension.
Status check_dimensioned(const Record& record, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_unallocated(record, what));
  if (record.extents().is_empty()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the {} of {} can't be set before its dimensions", what,
                                     record.describe()))
        .hint("call GA_Set_data first");
  }
  return {};
}

Status set_grid(Record& record, ArrayLayout layout, const Extents& block, const Extents& grid) {
  TESSERA_RETURN_IF_ERROR(check_dimensioned(record, "layout"));
  TESSERA_RETURN_IF_ERROR(check_lengths(block));
  TESSERA_RETURN_IF_ERROR(check_lengths(grid));
  record.plan.layout = layout;
  record.plan.block = block;
  record.plan.grid = grid;
  return {};
}

}  // namespace

Result<std::int64_t> create_handle() {
  if (Session::current() == nullptr) {
    return not_running();
  }
  return Records::add().handle();
}

Status set_data(Record& record, const Extents& extents, Type type) {
  TESSERA_RETURN_IF_ERROR(check_unallocated(record, "dimensions"));
  TESSERA_RETURN_IF_ERROR(element_kind(type).status());
  record.plan.extents = extents;
  record.plan.type = type;
  return {};
}

Status set_chunk(Record& record, const Chunk& chunk) {
  TESSERA_RETURN_IF_ERROR(check_dimensioned(record, "chunk"));
  record.plan.chunk = chunk;
  return {};
}

Status set_irreg_distr(Record& record, const Starts& starts) {
  TESSERA_RETURN_IF_ERROR(check_dimensioned(record, "map"));
  TESSERA_RETURN_IF_ERROR(check_starts(starts, record.extents()));
  record.plan.starts = starts;
  return {};
}

Status set_irreg_flag(Record& record, bool /*is_irregular*/) {
  return check_unallocated(record, "map");
}

Status set_ghosts(Record& record, const Extents& width) {
  TESSERA_RETURN_IF_ERROR(check_dimensioned(record, "ghost cells"));
  record.plan.ghosts = width;
  return {};
}

Status set_ghost_corner_flag(Record& record, bool has_corners) {
  record.plan.has_corners = has_corners;
  return {};
}

Status set_pgroup(Record& record, Group& group) {
  TESSERA_RETURN_IF_ERROR(check_unallocated(record, "group"));
  record.plan.group = &group;
  return {};
}

Status set_array_name(Record& record, std::string_view name) {
  name_record(record, name);
  return {};
}

Status get_array_name(Record& record, const TextOut& name) {
  name.set(record.plan.name);
  return {};
}

Status set_restricted(Record& record, std::span<const std::int64_t> ranks) {
  TESSERA_RETURN_IF_ERROR(check_unallocated(record, "list of processes"));
  record.plan.holders.assign(ranks.begin(), ranks.end());
  return {};
}

Status set_restricted_range(Record& record, std::int64_t first, std::int64_t last) {
  TESSERA_RETURN_IF_ERROR(check_unallocated(record, "list of processes"));
  record.plan.holders.clear();
  for (std::int64_t rank = first; rank <= last; ++rank) {
    record.plan.holders.push_back(rank);
  }
  return {};
}

Status set_block_cyclic(Record& record, const Extents& block) {
  return set_grid(record, ArrayLayout::block_cyclic, block, {});
}

Status set_block_cyclic_proc_grid(Record& record, const Extents& block, const Extents& grid) {
  return set_grid(record, ArrayLayout::scalapack, block, grid);
}

Status set_tiled_proc_grid(Record& record, const Extents& tile, const Extents& grid) {
  return set_grid(record, ArrayLayout::tiled, tile, grid);
}

Status set_tiled_irreg_proc_grid(Record& record, const Starts& starts, const Extents& grid) {
  TESSERA_RETURN_IF_ERROR(set_grid(record, ArrayLayout::tiled_irregular, {}, grid));
  TESSERA_RETURN_IF_ERROR(check_starts(starts, record.extents()));
  record.plan.starts = starts;
  return {};
}

Status set_memory_dev(Record& record, std::string_view /*device*/) {
  return check_unallocated(record, "memory device");
}

Result<bool> allocate(Record& record) {
  if (record.is_allocated()) {
    return Status::error(Code::invalid_argument, record.describe() + " is allocated already");
  }
  return allocate_record(record);
}

Result<bool> deallocate(Record& record) {
  TESSERA_RETURN_IF_ERROR(deallocate_record(record));
  return true;
}

}  // namespace tessera::ga
