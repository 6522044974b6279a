// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "arrays/array_base.hpp"
#include "arrays/halo.hpp"
#include "fortran/c/arrays.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"
#include "rma/region.hpp"

namespace tessera::capi {
namespace {

using arrays::ArrayBase;
using arrays::Distribution;
using arrays::Extents;
using arrays::Halo;
using arrays::HaloOptions;
using arrays::Index;
using arrays::Patch;
using rma::Code;
using rma::Result;
using rma::Status;

Status set_mode(ArrayBase& array, tessera_access_mode mode, int copy_on_each_node,
                std::int64_t cache_bytes) {
  Status mine = check_choice(mode, TESSERA_ACCESS_NO_LOCAL + 1, "access mode");
  if (mine.ok()) {
    mine = check_count(cache_bytes, "bytes of the cache");
  }
  TESSERA_RETURN_IF_ERROR(report_to_team(array.team(), std::move(mine)));
  return array.set_access_mode(static_cast<rma::AccessMode>(mode),
                               {.copy_on_each_node = copy_on_each_node != 0,
                                .cache_bytes = static_cast<std::size_t>(cache_bytes)});
}

/// A rank's block and its ghost cells in its slice, which begins at `slice`.
tessera_local_block local_block(const ArrayBase& array, const Patch& patch, std::byte* slice) {
  tessera_local_block block = {};
  const Extents& ghosts = array.distribution().ghosts();
  const arrays::Box outer = patch.box.grown(ghosts);
  block.ndims = patch.box.ndims();
  copy_list(patch.box.lo(), block.lo);
  copy_list(patch.box.hi(), block.hi);
  copy_list(outer.lo(), block.ghost_lo);
  copy_list(outer.hi(), block.ghost_hi);
  copy_list(patch.strides, block.strides);
  const std::int64_t first =
      patch.offset - distance(Index::zeros(ghosts.ndims()), Index::from(ghosts), patch.strides);
  block.data = slice + first * static_cast<std::int64_t>(array.element_bytes());
  return block;
}

Status begin_access(const tessera_array* handle, std::int64_t number, tessera_local_block* block,
                    tessera_access** access) {
  TESSERA_RETURN_IF_ERROR(required(block, "block"));
  TESSERA_RETURN_IF_ERROR(required(access, "access"));
  TESSERA_RETURN_IF_ERROR(check_running(*job_of(handle)));
  ArrayBase& array = array_of(handle);
  TESSERA_RETURN_IF_ERROR(array.check_local_access());
  const Distribution& distribution = array.distribution();
  const rma::TeamRank own = array.team().rank();
  const std::int64_t count = distribution.block_count(own);
  if (number != 0 || count > 0) {
    TESSERA_RETURN_IF_ERROR(check_below(number, count, "block"));
  }
  TESSERA_ASSIGN_OR_RETURN(rma::LocalAccess right, rma::LocalAccess::begin(array.region()));
  tessera_local_block found = {};
  found.ndims = array.ndims();
  if (count > 0) {
    found = local_block(array, distribution.block(own, number), right.data());
  }
  auto contents = std::make_unique<AccessContents>(
      AccessContents{std::move(right), array.begin_local_use(true, number)});
  *access = make_handle<tessera_access>(job_of(handle), std::move(contents),
                                        "local access to " + name_of(handle));
  *block = found;
  return {};
}

Result<HaloOptions> convert(const tessera_halo_options* given, int ndims) {
  TESSERA_ASSIGN_OR_RETURN(
      const tessera_halo_options options,
      options_of(given, tessera_halo_options_init, "tessera_halo_options_init"));
  TESSERA_ASSIGN_OR_RETURN(const auto periodic,
                           dims_of(options.periodic, ndims, "the set of periodic dimensions"));
  TESSERA_ASSIGN_OR_RETURN(const auto left_out,
                           dims_of(options.left_out, ndims, "the set of dimensions left out"));
  return HaloOptions{.periodic = periodic,
                     .corners = options.faces_only == 0,
                     .widths = list_of<Extents>(options.widths, ndims),
                     .left_out = left_out};
}

Status create_halo(const tessera_array* handle, const tessera_halo_options* given,
                   tessera_halo** halo) {
  const std::shared_ptr<ArrayBase>& array = contents_of(handle).array;
  const auto options = convert(given, array->ndims());
  TESSERA_RETURN_IF_ERROR(
      report_to_team(array->team(), options.ok() ? required(halo, "halo") : options.status()));
  TESSERA_ASSIGN_OR_RETURN(Halo made, Halo::create(*array, *options));
  auto contents = std::make_unique<HaloContents>(HaloContents{array, std::move(made)});
  *halo =
      make_handle<tessera_halo>(job_of(handle), std::move(contents), "halo of " + name_of(handle));
  return {};
}

Status start_update(HaloContents& halo) {
  TESSERA_ASSIGN_OR_RETURN(arrays::HaloUpdate update, halo.halo.start());
  halo.update.emplace(std::move(update));
  return {};
}

Status finish_update(HaloContents& halo) {
  if (!halo.update) {
    return Status::error(Code::invalid_argument, "no update of these ghost cells was started")
        .hint("call tessera_halo_start first");
  }
  Status status = halo.update->finish();
  halo.update.reset();
  return status;
}

Status free_halo(HaloContents& halo) {
  Status finished = halo.update ? finish_update(halo) : Status();
  Status freed = halo.halo.free();
  return finished.ok() ? freed : finished;
}

}  // namespace

extern "C" {

int tessera_array_set_access_mode(const tessera_array* array, tessera_access_mode mode,
                                  int copy_on_each_node, int64_t cache_bytes) {
  return call_on(__func__, array, [&](ArrayBase& all) {
    return set_mode(all, mode, copy_on_each_node, cache_bytes);
  });
}

int tessera_array_grow(const tessera_array* array, int64_t dim, int64_t extent) {
  return call_on(__func__, array, [&](ArrayBase& all) {
    constexpr std::int64_t no_dimension = arrays::max_dims;
    return all.grow(static_cast<int>(std::clamp<std::int64_t>(dim, -1, no_dimension)), extent);
  });
}

int tessera_array_access_mode(const tessera_array* array, tessera_access_mode* mode) {
  return call_on(__func__, array, [&](const ArrayBase& asked) -> Status {
    TESSERA_RETURN_IF_ERROR(required(mode, "result"));
    *mode = static_cast<tessera_access_mode>(asked.access_mode());
    return {};
  });
}

int tessera_access_begin(const tessera_array* array, int64_t number, tessera_local_block* block,
                         tessera_access** access) {
  return call_on(__func__, array, [&](const ArrayBase& asked) {
    return begin_access(array, number, block, access)
        .context("local access to " + asked.describe());
  });
}

int tessera_access_end(tessera_access** access) {
  return call(__func__, [&] {
    return free_handle(access, [](AccessContents& contents) {
      contents.use.end();
      return contents.right.end();
    });
  });
}

int tessera_halo_create(const tessera_array* array, const tessera_halo_options* options,
                        tessera_halo** halo) {
  return call_on(__func__, array, [&](ArrayBase&) { return create_halo(array, options, halo); });
}

int tessera_halo_free(tessera_halo** halo) {
  return call(__func__, [&] { return free_handle(halo, free_halo); });
}

int tessera_halo_update(tessera_halo* halo) {
  return call_on(__func__, halo, [](HaloContents& cells) { return cells.halo.update(); });
}

int tessera_halo_accumulate(tessera_halo* halo) {
  return call_on(__func__, halo, [](HaloContents& cells) { return cells.halo.accumulate(); });
}

int tessera_halo_post(tessera_halo* halo) {
  return call_on(__func__, halo, [](HaloContents& cells) { return cells.halo.post(); });
}

int tessera_halo_start(tessera_halo* halo) {
  return call_on(__func__, halo, start_update);
}

int tessera_halo_finish(tessera_halo* halo) {
  return call_on(__func__, halo, finish_update);
}

int tessera_halo_bytes(const tessera_halo* halo, int64_t* bytes) {
  return call_on(__func__, halo, [&](const HaloContents& cells) -> Status {
    TESSERA_RETURN_IF_ERROR(required(bytes, "result"));
    *bytes = static_cast<std::int64_t>(cells.halo.bytes_from_others());
    return {};
  });
}

}  // extern "C"

}  // namespace tessera::capi
