// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "fortran/c/arrays.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/descriptors.hpp"

namespace tessera::fapi {
namespace {

using rma::Code;
using rma::Status;

/// A block for Fortran; the module has the same structure.
struct LocalBlock {
  void* data;
  std::int64_t type;
  std::int64_t ndims;
  std::int64_t lo[TESSERA_MAX_DIMS];
  std::int64_t hi[TESSERA_MAX_DIMS];
  std::int64_t ghost_lo[TESSERA_MAX_DIMS];
  std::int64_t ghost_hi[TESSERA_MAX_DIMS];
  std::int64_t strides[TESSERA_MAX_DIMS];
};

LocalBlock in_fortran_order(const tessera_local_block& block, std::int64_t type) {
  LocalBlock given = {};
  given.data = block.data;
  given.type = type;
  given.ndims = block.ndims;
  for (std::int64_t dim = 0; dim < block.ndims; ++dim) {
    const std::int64_t from = block.ndims - 1 - dim;
    given.lo[dim] = block.lo[from] + 1;
    given.hi[dim] = block.hi[from];
    given.ghost_lo[dim] = block.ghost_lo[from] + 1;
    given.ghost_hi[dim] = block.ghost_hi[from];
    given.strides[dim] = block.strides[from];
  }
  return given;
}

Status check_pointer(const LocalBlock& block, const Descriptor& pointer) {
  TESSERA_ASSIGN_OR_RETURN(const auto kind, capi::element_kind(block.type));
  const std::int64_t given = element_of(pointer);
  const bool is_like_signed = block.type >= TESSERA_U8 && given != TESSERA_F32 &&
                              given != TESSERA_F64 && given != TESSERA_C64 &&
                              given != TESSERA_C128 && pointer.elem_len == kind.bytes;
  if (given != block.type && !is_like_signed) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the pointer is to {}, but the array has {}",
                                     type_text(pointer), type_text(kind)));
  }
  if (pointer.rank != block.ndims) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the pointer has rank {}, but the array has {} dimensions",
                                     int{pointer.rank}, block.ndims));
  }
  return {};
}

/// A dimension along which neighbours are farther apart than in dense memory.
struct StrideGap {
  int dim = -1;  ///< -1: no gap
  std::int64_t contiguous_distance = 0;
};

/// The first gap. Extents of 1 count too, so that a program that lacks `strided` fails for any
/// shape.
StrideGap first_gap(const LocalBlock& block, bool with_ghosts) {
  const std::int64_t* const lo = with_ghosts ? block.ghost_lo : block.lo;
  const std::int64_t* const hi = with_ghosts ? block.ghost_hi : block.hi;
  std::int64_t dense = 1;
  for (int dim = 0; block.data != nullptr && dim < block.ndims; ++dim) {
    if (block.strides[dim] != dense) {
      return {dim, dense};
    }
    dense *= hi[dim] - lo[dim] + 1;
  }
  return {};
}

/// Compilers ignore the strides of a CONTIGUOUS pointer, and its descriptor does not show the
/// attribute. So a program must ask for a block with gaps. Errors: invalid_argument.
Status check_gaps(const LocalBlock& block, bool with_ghosts, bool is_strided,
                  const std::string& name) {
  const StrideGap gap = is_strided ? StrideGap() : first_gap(block, with_ghosts);
  if (gap.dim < 0) {
    return {};
  }
  const bool ghosts_help = !with_ghosts && first_gap(block, true).dim < 0;
  return Status::error(
             Code::invalid_argument,
             fmt::format("{}: the block has gaps in memory: neighbours along dimension {} are {} "
                         "elements apart, but a CONTIGUOUS pointer would assume a distance of {}",
                         name, gap.dim + 1, block.strides[gap.dim], gap.contiguous_distance))
      .hint(fmt::format("{}give strided=.true., and declare the pointer without CONTIGUOUS",
                        ghosts_help ? "give ghosts=.true. for the block with its ghost cells, "
                                      "which has no gaps; or "
                                    : ""));
}

/// The element at a block's lower bounds; null for an empty block.
std::byte* first_of(const LocalBlock& block, bool with_ghosts, std::int64_t bytes) {
  auto* first = static_cast<std::byte*>(block.data);
  for (int dim = 0; first != nullptr && !with_ghosts && dim < block.ndims; ++dim) {
    first += (block.lo[dim] - block.ghost_lo[dim]) * block.strides[dim] * bytes;
  }
  return first;
}

/// Points a pointer to a block, with the indices of the array as its bounds.
void point(LocalBlock& block, bool with_ghosts, Descriptor& pointer) {
  const std::int64_t* const lo = with_ghosts ? block.ghost_lo : block.lo;
  const std::int64_t* const hi = with_ghosts ? block.ghost_hi : block.hi;
  const auto bytes = static_cast<std::int64_t>(pointer.elem_len);
  std::byte* const first = first_of(block, with_ghosts, bytes);
  std::int64_t dense = bytes;
  for (int dim = 0; dim < block.ndims; ++dim) {
    const bool is_there = block.data != nullptr;
    pointer.dim[dim].lower_bound = lo[dim];
    pointer.dim[dim].extent = is_there ? hi[dim] - lo[dim] + 1 : 0;
    pointer.dim[dim].sm = is_there ? block.strides[dim] * bytes : dense;
    dense = pointer.dim[dim].sm * std::max<std::int64_t>(pointer.dim[dim].extent, 1);
  }
  // Associated also if the block is empty.
  pointer.base_addr = first == nullptr ? static_cast<void*>(&block) : first;
}

}  // namespace

extern "C" {

int tessera_f_access_begin(Cell** place, const Cell* array_cell, int64_t number,
                           LocalBlock* block) {
  tessera_array* array = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(array_cell));
    const auto& of = capi::array_of(array);
    const std::int64_t count = of.distribution().block_count(of.team().rank());
    if (number < 1 || number > std::max<std::int64_t>(count, 1)) {
      return Status::error(Code::out_of_range,
                           fmt::format("there is no block {} of {} on this rank: it has {}", number,
                                       describe(of), count));
    }
    return {};
  };
  return make<tessera_access, tessera_access_end>(
      "tessera_block%begin", place, array_cell, prepare, [&](tessera_access** access) {
        tessera_local_block found = {};
        const int code = tessera_access_begin(array, number - 1, &found, access);
        *block = in_fortran_order(found, capi::c_type(capi::array_of(array).element()));
        return code;
      });
}

int tessera_f_access_pointer(const Cell* cell, LocalBlock* block, int with_ghosts, int is_strided,
                             Descriptor* pointer) {
  return capi::call("tessera_block%pointer", [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const tessera_access* const access, open<tessera_access>(cell));
    TESSERA_RETURN_IF_ERROR(check_pointer(*block, *pointer));
    TESSERA_RETURN_IF_ERROR(
        check_gaps(*block, with_ghosts != 0, is_strided != 0, capi::name_of(access)));
    point(*block, with_ghosts != 0, *pointer);
    return {};
  });
}

/// Null if this rank has no elements.
int tessera_f_access_address(const Cell* cell, const LocalBlock* block, int with_ghosts,
                             int is_strided, void** first) {
  return capi::call("tessera_block%address", [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const tessera_access* const access, open<tessera_access>(cell));
    TESSERA_RETURN_IF_ERROR(
        check_gaps(*block, with_ghosts != 0, is_strided != 0, capi::name_of(access)));
    TESSERA_ASSIGN_OR_RETURN(const auto kind, capi::element_kind(block->type));
    *first = first_of(*block, with_ghosts != 0, static_cast<std::int64_t>(kind.bytes));
    return {};
  });
}

/// `periodic` and `left_out` are bit masks of C's dimensions; `counts` are the numbers of
/// dimensions that Fortran gave, -1 for an absent list.
int tessera_f_halo_create(Cell** place, const Cell* array_cell, const int64_t* masks,
                          const int* counts, const Descriptor* widths, int faces_only) {
  tessera_array* array = nullptr;
  Numbers layers;
  tessera_halo_options options;
  tessera_halo_options_init(&options);
  const auto take = [&](const arrays::ArrayBase& of) -> Status {
    for (const int count : {counts[0], counts[1]}) {
      if (count >= 0 && count != of.ndims()) {
        return Status::error(
            Code::invalid_argument,
            fmt::format("{} values for the {} dimensions of {}", count, of.ndims(), describe(of)));
      }
    }
    if (widths != nullptr) {
      TESSERA_ASSIGN_OR_RETURN(layers, integers_of(widths, of.ndims(), "widths", describe(of)));
      std::reverse(layers.begin(), layers.end());
      options.widths = layers.data();
    }
    return {};
  };
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(array_cell));
    const auto& of = capi::array_of(array);
    options.periodic = masks[0];
    options.left_out = masks[1];
    options.faces_only = faces_only;
    return capi::report_to_team(of.team(), take(of));
  };
  return make<tessera_halo, tessera_halo_free>(
      "tessera_halo%create", place, array_cell, prepare,
      [&](tessera_halo** halo) { return tessera_halo_create(array, &options, halo); });
}

}  // extern "C"

}  // namespace tessera::fapi
