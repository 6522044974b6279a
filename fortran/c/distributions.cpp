// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "arrays/distribution.hpp"
#include "arrays/print.hpp"
#include "arrays/process_grid.hpp"
#include "fortran/c/arrays.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/handles.hpp"
#include "fortran/detail/patches.hpp"

namespace tessera::capi {
namespace {

using arrays::BlockMap;
using arrays::BlockMapKind;
using arrays::BlockPartition1D;
using arrays::Distribution;
using arrays::Extents;
using arrays::MemoryOrder;
using arrays::RegularOptions;
using arrays::Storage;
using arrays::StorageOptions;
using rma::Result;
using rma::Status;

static_assert(static_cast<int>(Storage::local_matrix) == TESSERA_LOCAL_MATRIX);
static_assert(static_cast<int>(MemoryOrder::column_major) == TESSERA_COLUMN_MAJOR);
static_assert(static_cast<int>(BlockMapKind::grid) == TESSERA_BLOCK_MAP_GRID);
static_assert(static_cast<int>(BlockMapKind::cyclic_grid) == TESSERA_BLOCK_MAP_CYCLIC_GRID);
static_assert(static_cast<int>(BlockMapKind::round_robin) == TESSERA_BLOCK_MAP_ROUND_ROBIN);
static_assert(static_cast<int>(BlockMapKind::table) == TESSERA_BLOCK_MAP_TABLE);

using Options = tessera_distribution_options;
using Starts = std::vector<std::vector<std::int64_t>>;

Result<Options> checked_options(const Options* given) {
  TESSERA_ASSIGN_OR_RETURN(
      const Options options,
      options_of(given, tessera_distribution_options_init, "tessera_distribution_options_init"));
  TESSERA_RETURN_IF_ERROR(check_choice(options.order, 2, "memory order"));
  TESSERA_RETURN_IF_ERROR(check_choice(options.storage, 2, "storage"));
  return options;
}

RegularOptions regular_options(const Options& options, int ndims) {
  return {.min_block = list_of<Extents>(options.min_block, ndims),
          .process_grid = list_of<Extents>(options.process_grid, ndims),
          .ghosts = list_of<Extents>(options.ghosts, ndims),
          .ranks_per_node = options.ranks_per_node,
          .order = static_cast<MemoryOrder>(options.order)};
}

StorageOptions storage_options(const Options& options, int ndims) {
  return {.storage = static_cast<Storage>(options.storage),
          .order = static_cast<MemoryOrder>(options.order),
          .ghosts = list_of<Extents>(options.ghosts, ndims)};
}

/// Where the blocks of each dimension begin, from C's two lists.
Result<Starts> starts_of(int ndims, const std::int64_t* counts, const std::int64_t* starts) {
  TESSERA_RETURN_IF_ERROR(required(counts, "counts of blocks"));
  TESSERA_RETURN_IF_ERROR(required(starts, "starts of blocks"));
  Starts all;
  for (int dim = 0; dim < ndims; ++dim) {
    TESSERA_RETURN_IF_ERROR(check_count(counts[dim], "blocks"));
    all.emplace_back(starts, starts + counts[dim]);
    starts += counts[dim];
  }
  return all;
}

/// The frame of all functions that make distributions: checks arguments, calls `make` with extents
/// and options, and makes a handle.
struct CreateArguments {
  tessera_job* job;
  std::int64_t ndims;
  const std::int64_t* extents;
  const Options* options;
  tessera_distribution** result;
};
template <class Make>
int distribution_of(const char* function, const CreateArguments& asked, const Make& make) {
  return call_on(function, asked.job, [&](rma::Job&) -> Status {
    TESSERA_RETURN_IF_ERROR(required(asked.result, "distribution"));
    TESSERA_ASSIGN_OR_RETURN(const auto extents,
                             required_list<Extents>(asked.extents, asked.ndims, "extents"));
    TESSERA_ASSIGN_OR_RETURN(const Options options, checked_options(asked.options));
    Result<Distribution> made = make(extents, options);
    TESSERA_RETURN_IF_ERROR(made.status());
    *asked.result = make_handle<tessera_distribution>(asked.job, std::move(made).take());
    return {};
  });
}

/// Blocks that begin at `starts`, with the members `owners`.
Result<Distribution> from_owners(const Extents& extents, const Starts& starts,
                                 const std::int64_t* owners, std::int64_t nranks,
                                 const StorageOptions& options) {
  std::vector<BlockPartition1D> cuts;
  Extents blocks = extents;
  std::int64_t count = 1;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    TESSERA_ASSIGN_OR_RETURN(
        const BlockPartition1D cut,
        BlockPartition1D::at_bounds(extents[dim], starts[static_cast<std::size_t>(dim)]));
    blocks[dim] = cut.blocks();
    count *= cut.blocks();
    cuts.push_back(cut);
  }
  TESSERA_ASSIGN_OR_RETURN(const auto members, team_ranks(count, owners));
  TESSERA_ASSIGN_OR_RETURN(const BlockMap map,
                           BlockMap::table(blocks, members, nranks, options.order));
  return Distribution::create(cuts, map, options);
}

/// For queries about a member.
template <class Act>
int query_member(const char* function, const tessera_distribution* distribution,
                 std::int64_t member, const void* result, const Act& act) {
  return call_on(function, distribution, [&](const Distribution& asked) -> Status {
    TESSERA_RETURN_IF_ERROR(required(result, "result"));
    TESSERA_ASSIGN_OR_RETURN(const auto of, team_rank(member, asked.nranks()));
    return act(asked, of);
  });
}

Status write_coordinates(const BlockMap& map, rma::TeamRank member, std::int64_t* coordinates) {
  if (map.kind() != BlockMapKind::grid && map.kind() != BlockMapKind::cyclic_grid) {
    return Status::error(rma::Code::unsupported,
                         "the members have no grid: " + arrays::to_string(map))
        .hint("use tessera_distribution_block for the blocks of a member");
  }
  if (member.value >= volume(map.rank_grid())) {
    return Status::error(rma::Code::out_of_range,
                         fmt::format("member {} is outside the grid of {} members", member.value,
                                     arrays::to_string(map.rank_grid())));
  }
  copy_list(map.coordinates(member), coordinates);
  return {};
}

}  // namespace

extern "C" {

int tessera_distribution_regular(tessera_job* job, int64_t nranks, int64_t ndims,
                                 const int64_t extents[],
                                 const tessera_distribution_options* options,
                                 tessera_distribution** distribution) {
  return distribution_of(__func__, {job, ndims, extents, options, distribution},
                         [&](const Extents& sizes, const Options& chosen) {
                           return Distribution::regular(sizes, nranks,
                                                        regular_options(chosen, sizes.ndims()));
                         });
}

int tessera_distribution_irregular(tessera_job* job, int64_t nranks, int64_t ndims,
                                   const int64_t extents[], const int64_t counts[],
                                   const int64_t starts[],
                                   const tessera_distribution_options* options,
                                   tessera_distribution** distribution) {
  return distribution_of(__func__, {job, ndims, extents, options, distribution},
                         [&](const Extents& sizes, const Options& chosen) -> Result<Distribution> {
                           TESSERA_ASSIGN_OR_RETURN(const Starts bounds,
                                                    starts_of(sizes.ndims(), counts, starts));
                           return Distribution::irregular(sizes, bounds, nranks,
                                                          storage_options(chosen, sizes.ndims()));
                         });
}

int tessera_distribution_block_cyclic(tessera_job* job, int64_t nranks, int64_t ndims,
                                      const int64_t extents[], const int64_t block[],
                                      const tessera_distribution_options* options,
                                      tessera_distribution** distribution) {
  return distribution_of(__func__, {job, ndims, extents, options, distribution},
                         [&](const Extents& sizes, const Options& chosen) {
                           return Distribution::block_cyclic(
                               sizes, list_of<Extents>(block, ndims), nranks,
                               storage_options(chosen, sizes.ndims()));
                         });
}

int tessera_distribution_tiled(tessera_job* job, int64_t nranks, int64_t ndims,
                               const int64_t extents[], const int64_t tile[], const int64_t grid[],
                               const tessera_distribution_options* options,
                               tessera_distribution** distribution) {
  return distribution_of(__func__, {job, ndims, extents, options, distribution},
                         [&](const Extents& sizes, const Options& chosen) {
                           return Distribution::tiled(sizes, list_of<Extents>(tile, ndims),
                                                      list_of<Extents>(grid, ndims), nranks,
                                                      storage_options(chosen, sizes.ndims()));
                         });
}

int tessera_distribution_tiled_irregular(tessera_job* job, int64_t nranks, int64_t ndims,
                                         const int64_t extents[], const int64_t counts[],
                                         const int64_t starts[], const int64_t grid[],
                                         const tessera_distribution_options* options,
                                         tessera_distribution** distribution) {
  return distribution_of(
      __func__, {job, ndims, extents, options, distribution},
      [&](const Extents& sizes, const Options& chosen) -> Result<Distribution> {
        TESSERA_ASSIGN_OR_RETURN(const Starts bounds, starts_of(sizes.ndims(), counts, starts));
        return Distribution::tiled_irregular(sizes, bounds, list_of<Extents>(grid, ndims), nranks,
                                             storage_options(chosen, sizes.ndims()));
      });
}

int tessera_distribution_scalapack(tessera_job* job, int64_t nranks, int64_t ndims,
                                   const int64_t extents[], const int64_t block[],
                                   const int64_t grid[], tessera_order order,
                                   tessera_distribution** distribution) {
  return distribution_of(__func__, {job, ndims, extents, nullptr, distribution},
                         [&](const Extents& sizes, const Options&) -> Result<Distribution> {
                           TESSERA_RETURN_IF_ERROR(check_choice(order, 2, "memory order"));
                           return Distribution::scalapack(sizes, list_of<Extents>(block, ndims),
                                                          list_of<Extents>(grid, ndims), nranks,
                                                          static_cast<arrays::MemoryOrder>(order));
                         });
}

int tessera_distribution_restricted(tessera_job* job, int64_t nranks, int64_t ndims,
                                    const int64_t extents[], int64_t holder_count,
                                    const int64_t holders[],
                                    const tessera_distribution_options* options,
                                    tessera_distribution** distribution) {
  return distribution_of(__func__, {job, ndims, extents, options, distribution},
                         [&](const Extents& sizes, const Options& chosen) -> Result<Distribution> {
                           TESSERA_ASSIGN_OR_RETURN(const auto members,
                                                    team_ranks(holder_count, holders));
                           return Distribution::restricted(sizes, members, nranks,
                                                           regular_options(chosen, sizes.ndims()));
                         });
}

int tessera_distribution_with_owners(tessera_job* job, int64_t nranks, int64_t ndims,
                                     const int64_t extents[], const int64_t counts[],
                                     const int64_t starts[], const int64_t owners[],
                                     const tessera_distribution_options* options,
                                     tessera_distribution** distribution) {
  return distribution_of(
      __func__, {job, ndims, extents, options, distribution},
      [&](const Extents& sizes, const Options& chosen) -> Result<Distribution> {
        TESSERA_ASSIGN_OR_RETURN(const Starts bounds, starts_of(sizes.ndims(), counts, starts));
        return from_owners(sizes, bounds, owners, nranks, storage_options(chosen, sizes.ndims()));
      });
}

int tessera_process_grid_choose(int64_t nranks, int64_t ndims, const int64_t extents[],
                                const tessera_distribution_options* options, int64_t grid[]) {
  return call(__func__, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(required(grid, "grid"));
    TESSERA_ASSIGN_OR_RETURN(const auto sizes, required_list<Extents>(extents, ndims, "extents"));
    TESSERA_ASSIGN_OR_RETURN(const Options given, checked_options(options));
    const RegularOptions chosen = regular_options(given, sizes.ndims());
    TESSERA_ASSIGN_OR_RETURN(const arrays::ProcessGrid found,
                             arrays::choose_process_grid(sizes, nranks,
                                                         {.min_block = chosen.min_block,
                                                          .fixed = chosen.process_grid,
                                                          .ranks_per_node = chosen.ranks_per_node,
                                                          .order = chosen.order}));
    copy_list(found.grid, grid);
    return {};
  });
}

int tessera_distribution_free(tessera_distribution** distribution) {
  return call(__func__,
              [&] { return free_handle(distribution, [](Distribution&) { return Status(); }); });
}

int tessera_distribution_shape(const tessera_distribution* distribution, int64_t* ndims,
                               int64_t extents[], int64_t* nranks) {
  return call_on(__func__, distribution, [&](const Distribution& asked) -> Status {
    if (ndims != nullptr) {
      *ndims = asked.ndims();
    }
    if (extents != nullptr) {
      copy_list(asked.extents(), extents);
    }
    if (nranks != nullptr) {
      *nranks = asked.nranks();
    }
    return {};
  });
}

int tessera_distribution_locate(const tessera_distribution* distribution, const int64_t index[],
                                int64_t* owner, int64_t* offset) {
  return call_on(__func__, distribution, [&](const Distribution& asked) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const arrays::Index at, index_of(asked.extents(), index));
    const arrays::ElementLocation place = asked.locate(at);
    if (owner != nullptr) {
      *owner = place.owner.value;
    }
    if (offset != nullptr) {
      *offset = place.offset;
    }
    return {};
  });
}

int tessera_distribution_block_count(const tessera_distribution* distribution, int64_t member,
                                     int64_t* count) {
  return query_member(__func__, distribution, member, count,
                      [&](const Distribution& asked, rma::TeamRank of) {
                        *count = asked.block_count(of);
                        return Status();
                      });
}

int tessera_distribution_local_elements(const tessera_distribution* distribution, int64_t member,
                                        int64_t* elements) {
  return query_member(__func__, distribution, member, elements,
                      [&](const Distribution& asked, rma::TeamRank of) {
                        *elements = asked.local_elements(of);
                        return Status();
                      });
}

int tessera_distribution_block(const tessera_distribution* distribution, int64_t member,
                               int64_t number, tessera_patch* block) {
  return query_member(
      __func__, distribution, member, block,
      [&](const Distribution& asked, rma::TeamRank of) -> Status {
        TESSERA_RETURN_IF_ERROR(check_below(number, asked.block_count(of), "block"));
        *block = c_patch(asked.block(of, number));
        return {};
      });
}

int tessera_distribution_patches(const tessera_distribution* distribution, const int64_t lo[],
                                 const int64_t hi[], int64_t capacity, tessera_patch patches[],
                                 int64_t* count) {
  return call_on(__func__, distribution, [&](const Distribution& asked) {
    return write_patches(asked, lo, hi, {capacity, patches, count});
  });
}

int tessera_distribution_layout(const tessera_distribution* distribution, tessera_order* order,
                                tessera_storage* storage, int64_t ghosts[]) {
  return call_on(__func__, distribution, [&](const Distribution& asked) -> Status {
    if (order != nullptr) {
      *order = static_cast<tessera_order>(asked.order());
    }
    if (storage != nullptr) {
      *storage = static_cast<tessera_storage>(asked.storage());
    }
    if (ghosts != nullptr) {
      copy_list(asked.ghosts(), ghosts);
    }
    return {};
  });
}

int tessera_distribution_grid(const tessera_distribution* distribution,
                              tessera_block_map* block_map, int64_t blocks[], int64_t grid[]) {
  return call_on(__func__, distribution, [&](const Distribution& asked) -> Status {
    if (block_map != nullptr) {
      *block_map = static_cast<tessera_block_map>(asked.block_map().kind());
    }
    if (blocks != nullptr) {
      copy_list(asked.block_map().blocks(), blocks);
    }
    if (grid != nullptr) {
      copy_list(asked.block_map().rank_grid(), grid);
    }
    return {};
  });
}

int tessera_distribution_coordinates(const tessera_distribution* distribution, int64_t member,
                                     int64_t coordinates[]) {
  return query_member(__func__, distribution, member, coordinates,
                      [&](const Distribution& asked, rma::TeamRank of) {
                        return write_coordinates(asked.block_map(), of, coordinates);
                      });
}

int tessera_distribution_local_extents(const tessera_distribution* distribution, int64_t member,
                                       int64_t extents[]) {
  return query_member(
      __func__, distribution, member, extents,
      [&](const Distribution& asked, rma::TeamRank of) -> Status {
        if (!asked.is_one_block_per_rank() && asked.storage() != Storage::local_matrix) {
          return Status::error(rma::Code::unsupported, "the blocks of a member are not one matrix")
              .hint("use tessera_distribution_block for each block");
        }
        copy_list(asked.local_extents(of), extents);
        return {};
      });
}

int tessera_distribution_compare(const tessera_distribution* a, const tessera_distribution* b,
                                 int* same) {
  return call_on(__func__, a, [&](const Distribution& one) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const Distribution* const other, open(b));
    TESSERA_RETURN_IF_ERROR(required(same, "result"));
    *same = one == *other ? 1 : 0;
    return {};
  });
}

int tessera_distribution_describe(const tessera_distribution* distribution, char* text,
                                  int64_t capacity, int64_t* length) {
  return call_on(__func__, distribution, [&](const Distribution& asked) {
    return copy_text(to_string(asked), text, capacity, length);
  });
}

int tessera_distribution_print(const tessera_distribution* distribution, int64_t most_lines,
                               char* text, int64_t capacity, int64_t* length) {
  return call_on(__func__, distribution, [&](const Distribution& asked) {
    std::ostringstream lines;
    print_distribution(asked, lines, most_lines);
    return copy_text(lines.str(), text, capacity, length);
  });
}

}  // extern "C"

}  // namespace tessera::capi
