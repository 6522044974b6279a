// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fortran/c/arrays.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/fortran_patches.hpp"

namespace tessera::fapi {
namespace {

using arrays::Distribution;
using rma::Code;
using rma::Result;
using rma::Status;

/// Which of C's functions makes it; the module has the same numbers.
enum class DistributionKind {
  regular,
  irregular,
  block_cyclic,
  tiled,
  tiled_irregular,
  scalapack,
  restricted
};

constexpr std::array<const char*, 7> create_names = {
    "tessera_distribution%create_regular",         "tessera_distribution%create_irregular",
    "tessera_distribution%create_block_cyclic",    "tessera_distribution%create_tiled",
    "tessera_distribution%create_tiled_irregular", "tessera_distribution%create_scalapack",
    "tessera_distribution%create_restricted"};

/// Fortran's arguments, converted for C.
struct DistributionArguments {
  Numbers extents;
  Numbers block;
  Numbers counts;
  Numbers starts;
  Numbers grid;
  Numbers holders;
  Numbers min_block;
  Numbers process_grid;
  Numbers ghosts;
};

/// A list with one number for each dimension of the distribution; empty if it is absent.
Status take(const Descriptor* given, std::size_t ndims, std::string_view what, Numbers& list) {
  if (given != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(list,
                             integers_of(given, static_cast<int>(ndims), what, "the distribution"));
    std::reverse(list.begin(), list.end());
  }
  return {};
}

/// Where blocks begin; C's first dimension is Fortran's last.
Status take_starts(const Descriptor* given, DistributionArguments& request) {
  TESSERA_ASSIGN_OR_RETURN(const Numbers starts, integers(given, "starts"));
  const std::int64_t wanted =
      std::accumulate(request.counts.begin(), request.counts.end(), std::int64_t{0});
  if (wanted != std::ssize(starts)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("starts has {} numbers, but counts is {}, with the sum {}",
                                     starts.size(), list_text(reversed(request.counts)), wanted));
  }
  auto end = starts.end();
  for (const std::int64_t count : request.counts) {
    for (auto start = end - count; start != end; ++start) {
      if (*start < 1) {
        return Status::error(Code::invalid_argument,
                             fmt::format("starts contains {}; indices begin at 1", *start));
      }
      request.starts.push_back(*start - 1);
    }
    end -= count;
  }
  return {};
}

struct Layout {
  std::int64_t ranks_per_node;
  int order;
  int storage;
};

int create(DistributionKind kind, tessera_job* job, std::int64_t nranks,
           const DistributionArguments& request, const Layout& layout,
           tessera_distribution** made) {
  tessera_distribution_options options;
  tessera_distribution_options_init(&options);
  options.min_block = list_or_null(request.min_block);
  options.process_grid = list_or_null(request.process_grid);
  options.ghosts = list_or_null(request.ghosts);
  options.ranks_per_node = layout.ranks_per_node;
  options.order = layout.order;
  options.storage = layout.storage;
  const std::int64_t ndims = std::ssize(request.extents);
  const std::int64_t* const extents = request.extents.data();
  switch (kind) {
    case DistributionKind::regular:
      return tessera_distribution_regular(job, nranks, ndims, extents, &options, made);
    case DistributionKind::irregular:
      return tessera_distribution_irregular(job, nranks, ndims, extents, request.counts.data(),
                                            request.starts.data(), &options, made);
    case DistributionKind::block_cyclic:
      return tessera_distribution_block_cyclic(job, nranks, ndims, extents, request.block.data(),
                                               &options, made);
    case DistributionKind::tiled:
      return tessera_distribution_tiled(job, nranks, ndims, extents, request.block.data(),
                                        request.grid.data(), &options, made);
    case DistributionKind::tiled_irregular:
      return tessera_distribution_tiled_irregular(job, nranks, ndims, extents,
                                                  request.counts.data(), request.starts.data(),
                                                  request.grid.data(), &options, made);
    case DistributionKind::scalapack:
      return tessera_distribution_scalapack(job, nranks, ndims, extents, request.block.data(),
                                            request.grid.data(), layout.order, made);
    case DistributionKind::restricted:
      break;
  }
  return tessera_distribution_restricted(job, nranks, ndims, extents, std::ssize(request.holders),
                                         request.holders.data(), &options, made);
}

Result<Distribution*> distribution_of(const Cell* cell) {
  TESSERA_ASSIGN_OR_RETURN(const tessera_distribution* const handle,
                           open<tessera_distribution>(cell));
  return &capi::contents_of(handle);
}

}  // namespace

extern "C" {

/// Lists that this kind of distribution does not use are null.
int tessera_f_distribution_create(Cell** place, const Cell* job_cell, int kind, int64_t nranks,
                                  const Descriptor* extents, const Descriptor* block,
                                  const Descriptor* counts, const Descriptor* starts,
                                  const Descriptor* grid, const Descriptor* holders,
                                  const Descriptor* min_block, const Descriptor* process_grid,
                                  const Descriptor* ghosts, int64_t ranks_per_node, int order,
                                  int storage) {
  tessera_job* job = nullptr;
  DistributionArguments request;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(job, open<tessera_job>(job_cell));
    TESSERA_ASSIGN_OR_RETURN(request.extents, integers(extents, "extents"));
    std::reverse(request.extents.begin(), request.extents.end());
    const std::size_t ndims = request.extents.size();
    TESSERA_RETURN_IF_ERROR(take(block, ndims, "block", request.block));
    TESSERA_RETURN_IF_ERROR(take(counts, ndims, "counts", request.counts));
    TESSERA_RETURN_IF_ERROR(take(grid, ndims, "grid", request.grid));
    TESSERA_RETURN_IF_ERROR(take(min_block, ndims, "min_block", request.min_block));
    TESSERA_RETURN_IF_ERROR(take(process_grid, ndims, "process_grid", request.process_grid));
    TESSERA_RETURN_IF_ERROR(take(ghosts, ndims, "ghosts", request.ghosts));
    if (holders != nullptr) {
      TESSERA_ASSIGN_OR_RETURN(request.holders, integers(holders, "holders"));
    }
    return starts == nullptr ? Status() : take_starts(starts, request);
  };
  return make<tessera_distribution, tessera_distribution_free>(
      create_names[static_cast<std::size_t>(kind)], place, job_cell, prepare,
      [&](tessera_distribution** made) {
        return create(static_cast<DistributionKind>(kind), job, nranks, request,
                      {.ranks_per_node = ranks_per_node, .order = order, .storage = storage}, made);
      });
}

/// `name` is the procedure's, here and below.
int tessera_f_distribution_shape(const char* name, const Cell* cell, int64_t* ndims,
                                 int64_t* extents, int64_t* nranks) {
  return capi::call(name, [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const Distribution* const of, distribution_of(cell));
    capi::copy_list(reversed(of->extents()), extents);
    *ndims = of->ndims();
    *nranks = of->nranks();
    return {};
  });
}

/// Lists in Fortran's order.
int tessera_f_distribution_grid(const char* name, const Cell* cell, int* block_map, int64_t* ndims,
                                int64_t* blocks, int64_t* grid) {
  tessera_distribution* handle = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(handle, open<tessera_distribution>(cell));
    *ndims = capi::contents_of(handle).ndims();
    return {};
  };
  const int code = run(name, prepare,
                       [&] { return tessera_distribution_grid(handle, block_map, blocks, grid); });
  if (code == TESSERA_OK) {
    std::reverse(blocks, blocks + *ndims);
    std::reverse(grid, grid + *ndims);
  }
  return code;
}

int tessera_f_distribution_coordinates(const Cell* cell, int64_t member, int64_t* ndims,
                                       int64_t* coordinates) {
  tessera_distribution* handle = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(handle, open<tessera_distribution>(cell));
    return {};
  };
  const int code = run("tessera_distribution%coordinates", prepare, [&] {
    return tessera_distribution_coordinates(handle, member, coordinates);
  });
  if (code == TESSERA_OK) {
    *ndims = capi::contents_of(handle).ndims();
    std::reverse(coordinates, coordinates + *ndims);
  }
  return code;
}

int tessera_f_distribution_locate(const Cell* cell, const Descriptor* index, int64_t* owner,
                                  Descriptor* offset) {
  const char* const name = "tessera_distribution%locate";
  tessera_distribution* handle = nullptr;
  Numbers at;
  std::int64_t before = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(handle, open<tessera_distribution>(cell));
    const auto& extents = capi::contents_of(handle).extents();
    TESSERA_ASSIGN_OR_RETURN(
        at, integers_of(index, capi::contents_of(handle).ndims(), "index", "the distribution"));
    for (std::size_t dim = 0; dim < at.size(); ++dim) {
      const std::int64_t extent = extents[static_cast<int>(at.size() - 1 - dim)];
      if (at[dim] < 1 || at[dim] > extent) {
        return Status::error(
            Code::out_of_range,
            fmt::format("the index {} has {} in dimension {}, which has indices 1 to {}",
                        list_text(at), at[dim], dim + 1, extent));
      }
    }
    std::reverse(at.begin(), at.end());
    for (std::int64_t& number : at) {
      --number;
    }
    return {};
  };
  const int code = run(name, prepare, [&] {
    return tessera_distribution_locate(handle, at.data(), owner, &before);
  });
  if (code != TESSERA_OK || offset == nullptr) {
    return code;
  }
  return capi::call(name, [&] { return write_integers(Numbers{before}, offset, "offset"); });
}

int tessera_f_distribution_block(const Cell* cell, int64_t member, int64_t number,
                                 tessera_patch* block) {
  tessera_distribution* handle = nullptr;
  std::int64_t count = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(handle, open<tessera_distribution>(cell));
    TESSERA_ASSIGN_OR_RETURN(const auto of,
                             capi::team_rank(member, capi::contents_of(handle).nranks()));
    count = capi::contents_of(handle).block_count(of);
    if (number < 1 || number > count) {
      return Status::error(
          Code::out_of_range,
          fmt::format("there is no block {}: member {} has {} blocks, counted from 1", number,
                      member, count));
    }
    return {};
  };
  const int code = run("tessera_distribution%block", prepare, [&] {
    return tessera_distribution_block(handle, member, number - 1, block);
  });
  if (code == TESSERA_OK) {
    reverse_dimensions(*block);
  }
  return code;
}

}  // extern "C"

}  // namespace tessera::fapi
