// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstring>

#include "fortran/c/arrays.h"
#include "fortran/c/job.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/fortran_patches.hpp"
#include "fortran/detail/mirrored.hpp"
#include "fortran/detail/scalars.hpp"

namespace tessera::fapi {
namespace {

using arrays::ArrayBase;
using rma::Code;
using rma::Status;

/// Options of an array's memory; the module has the same structure.
struct MemoryOptions {
  int order;
  int sparse;
  int huge_pages;
  int access_mode;
  int atomics;
};

/// Fortran's arguments for a new array, converted for C.
struct ArrayArguments {
  tessera_job* job = nullptr;
  Numbers extents;
  Numbers min_block;
  Numbers process_grid;
  Numbers ghosts;
  Numbers holders;
  tessera_array_options options = {};
};

Status take_list(const Descriptor* given, std::size_t ndims, const char* what, Numbers& list,
                 const std::int64_t*& place) {
  if (given != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(list, integers_of(given, static_cast<int>(ndims), what, "the array"));
    std::reverse(list.begin(), list.end());
    place = list.data();
  }
  return {};
}

Status check_extents(const Numbers& extents, const char* name) {
  for (std::size_t dim = 0; dim < extents.size(); ++dim) {
    if (extents[dim] < 0) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("array '{}' of shape {}: dimension {} cannot have {} elements", name,
                      list_text(extents), dim + 1, extents[dim]));
    }
  }
  return {};
}

/// Fortran's arguments; all except the extents may be null.
struct Lists {
  const Descriptor* extents = nullptr;
  const Descriptor* min_block = nullptr;
  const Descriptor* process_grid = nullptr;
  const Descriptor* ghosts = nullptr;
  const Descriptor* holders = nullptr;
};

Status take_lists(const Lists& given, ArrayArguments& request) {
  TESSERA_ASSIGN_OR_RETURN(request.extents, integers(given.extents, "extents"));
  tessera_array_options& options = request.options;
  TESSERA_RETURN_IF_ERROR(check_extents(request.extents, options.name));
  std::reverse(request.extents.begin(), request.extents.end());
  const std::size_t ndims = request.extents.size();
  TESSERA_RETURN_IF_ERROR(
      take_list(given.min_block, ndims, "min_block", request.min_block, options.min_block));
  TESSERA_RETURN_IF_ERROR(take_list(given.process_grid, ndims, "process_grid", request.process_grid,
                                    options.process_grid));
  TESSERA_RETURN_IF_ERROR(take_list(given.ghosts, ndims, "ghosts", request.ghosts, options.ghosts));
  if (given.holders != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(request.holders, integers(given.holders, "holders"));
    options.holders = request.holders.data();
    options.holder_count = std::ssize(request.holders);
  }
  return {};
}

/// The job, the team and what is common to all arrays.
Status begin_request(const Cell* job, const Cell* team, const char* name,
                     const MemoryOptions& memory, ArrayArguments& request) {
  TESSERA_ASSIGN_OR_RETURN(request.job, open<tessera_job>(job));
  tessera_array_options_init(&request.options);
  if (team != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(request.options.team, open<tessera_team>(team));
  }
  request.options.name = name;
  request.options.order = memory.order;
  request.options.sparse = memory.sparse;
  request.options.huge_pages = memory.huge_pages;
  request.options.access_mode = memory.access_mode;
  request.options.atomics = memory.atomics;
  return {};
}

/// Reports an error of one member to all.
Status report_request_to_team(const ArrayArguments& request, Status mine) {
  rma::Team team = request.options.team == nullptr ? request.job->contents->world()
                                                   : capi::contents_of(request.options.team);
  return capi::report_to_team(team, std::move(mine));
}

}  // namespace

extern "C" {

int64_t tessera_f_element_of(const Descriptor* mold) {
  return element_of(*mold);
}

/// Lists and the team may be null.
int tessera_f_array_create(Cell** place, const Cell* job, int64_t element,
                           const Descriptor* extents, const char* name, const Cell* team,
                           const Descriptor* min_block, const Descriptor* process_grid,
                           const Descriptor* ghosts, const Descriptor* holders,
                           const MemoryOptions* memory) {
  ArrayArguments request;
  const Lists lists = {extents, min_block, process_grid, ghosts, holders};
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(begin_request(job, team, name, *memory, request));
    return report_request_to_team(request, take_lists(lists, request));
  };
  return make<tessera_array, tessera_array_free>(
      "tessera_array%create", place, job, prepare, [&](tessera_array** array) {
        return tessera_array_create(request.job, element, std::ssize(request.extents),
                                    request.extents.data(), &request.options, array);
      });
}

int tessera_f_mirrored_create(Cell** place, const Cell* job, int64_t element,
                              const Descriptor* extents, const char* name, const Cell* team,
                              const Descriptor* min_block, const Descriptor* ghosts,
                              const MemoryOptions* memory) {
  ArrayArguments request;
  const Lists lists = {.extents = extents, .min_block = min_block, .ghosts = ghosts};
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(begin_request(job, team, name, *memory, request));
    return report_request_to_team(request, take_lists(lists, request));
  };
  return make<tessera_mirrored, tessera_mirrored_free>(
      "tessera_mirrored%create", place, job, prepare, [&](tessera_mirrored** mirrored) {
        return tessera_mirrored_create(request.job, element, std::ssize(request.extents),
                                       request.extents.data(), &request.options, mirrored);
      });
}

/// In the caller's memory if `own` is not null.
int tessera_f_array_create_distributed(Cell** place, const Cell* job, int64_t element,
                                       const Cell* distribution, const char* name, const Cell* team,
                                       Descriptor* own, const MemoryOptions* memory) {
  ArrayArguments request;
  tessera_distribution* layout = nullptr;
  const auto check_own = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(check_counted(own, "memory"));
    return CFI_is_contiguous(own) != 0 || Dense(*own).count() == 0
               ? Status()
               : Status::error(Code::invalid_argument, "the memory is not contiguous");
  };
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(begin_request(job, team, name, *memory, request));
    TESSERA_ASSIGN_OR_RETURN(layout, open<tessera_distribution>(distribution));
    return own == nullptr ? Status() : report_request_to_team(request, check_own());
  };
  return make<tessera_array, tessera_array_free>(
      own == nullptr ? "tessera_array%create_distributed" : "tessera_array%attach", place, job,
      prepare, [&](tessera_array** array) {
        if (own == nullptr) {
          return tessera_array_create_distributed(request.job, element, layout, &request.options,
                                                  array);
        }
        return tessera_array_attach(request.job, element, layout, own->base_addr,
                                    Dense(*own).bytes(), &request.options, array);
      });
}

int tessera_f_array_overlay(Cell** place, const Cell* base_cell, int64_t element,
                            const Cell* distribution, const char* name) {
  tessera_array* base = nullptr;
  tessera_distribution* layout = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(base, open<tessera_array>(base_cell));
    TESSERA_ASSIGN_OR_RETURN(layout, open<tessera_distribution>(distribution));
    return {};
  };
  return make<tessera_array, tessera_array_free>(
      "tessera_array%overlay", place, base_cell, prepare, [&](tessera_array** array) {
        return tessera_array_overlay(base, element, layout, name, array);
      });
}

int tessera_f_array_duplicate(Cell** place, const Cell* of_cell, const char* name) {
  tessera_array* of = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(of, open<tessera_array>(of_cell));
    return {};
  };
  return make<tessera_array, tessera_array_free>(
      "tessera_array%duplicate", place, of_cell, prepare,
      [&](tessera_array** array) { return tessera_array_duplicate(of, name, array); });
}

/// A variable for an object that another language has made. Its maker keeps ownership.
int tessera_f_array_from_handle(Cell** place, const Cell* job, tessera_array* handle) {
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(open<tessera_job>(job).status());
    return capi::check(handle);
  };
  return run(
      "tessera_array%from_c_handle", [&] { return check_empty(place); },
      [&] {
        const int code = capi::call("tessera_array%from_c_handle", prepare);
        return code != TESSERA_OK
                   ? code
                   : store_handle(
                         "tessera_array%from_c_handle", place,
                         {.kind = HandleKind::array, .handle = handle, .free = keep_handle}, job);
      });
}

/// The same for a job.
int tessera_f_job_from_handle(Cell** place, tessera_job* handle) {
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(check_empty(place));
    return capi::check(handle);
  };
  return run("tessera_job%from_c_handle", prepare, [&] {
    const auto keep = [](void*& held) {
      held = nullptr;
      return static_cast<int>(TESSERA_OK);
    };
    return store_handle("tessera_job%from_c_handle", place,
                        {.kind = HandleKind::job, .handle = handle, .free = keep}, nullptr);
  });
}

int tessera_f_array_set_access_mode(const Cell* cell, int mode, int copy_on_each_node,
                                    const Descriptor* cache_bytes) {
  tessera_array* array = nullptr;
  std::int64_t bytes = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(cell));
    const auto given = integer_of(cache_bytes, "cache_bytes");
    TESSERA_RETURN_IF_ERROR(capi::report_to_team(capi::array_of(array).team(), given.status()));
    bytes = *given;
    return {};
  };
  return run("tessera_array%set_access_mode", prepare,
             [&] { return tessera_array_set_access_mode(array, mode, copy_on_each_node, bytes); });
}

/// Fortran's last dimension is C's first.
int tessera_f_array_grow(const Cell* cell, std::int64_t extent) {
  tessera_array* array = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(cell));
    return {};
  };
  return run("tessera_array%grow", prepare, [&] { return tessera_array_grow(array, 0, extent); });
}

/// `name` is the procedure's, here and in other functions that several procedures share.
int tessera_f_array_shape(const char* name, const Cell* cell, int64_t* ndims, int64_t* extents,
                          int64_t* element) {
  return capi::call(name, [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const ArrayBase* const array, open_array(cell));
    capi::copy_list(reversed(array->extents()), extents);
    *ndims = array->ndims();
    *element = capi::c_type(array->element());
    return {};
  });
}

int tessera_f_array_describe(const Cell* cell, char* text, int64_t capacity, int64_t* length) {
  return capi::call("tessera_array%describe", [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const ArrayBase* const array, open_array(cell));
    return capi::copy_text(describe(*array), text, capacity, length);
  });
}

int tessera_f_array_distribution(const Cell* cell, Cell** place) {
  tessera_array* array = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(cell));
    return {};
  };
  return make<tessera_distribution, tessera_distribution_free>(
      "tessera_array%distribution", place, cell, prepare,
      [&](tessera_distribution** made) { return tessera_array_distribution(array, made); });
}

int tessera_f_array_team(const Cell* cell, Cell** place) {
  tessera_array* array = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(cell));
    return {};
  };
  return make<tessera_team, tessera_team_free>(
      "tessera_array%team", place, cell, prepare,
      [&](tessera_team** made) { return tessera_array_team(array, made); });
}

/// For this rank if `member` is null. An empty box is 1:0 in each dimension.
int tessera_f_array_own_box(const Cell* cell, const int64_t* member, Descriptor* lo,
                            Descriptor* hi) {
  tessera_array* array = nullptr;
  Bounds box;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(cell));
    return {};
  };
  const int code = run("tessera_array%own_box", prepare, [&] {
    return member == nullptr ? tessera_array_own_box(array, box.lo.data(), box.hi.data())
                             : tessera_array_box_of(array, *member, box.lo.data(), box.hi.data());
  });
  if (code != TESSERA_OK) {
    return code;
  }
  return capi::call("tessera_array%own_box", [&]() -> Status {
    const auto ndims = capi::array_of(array).ndims();
    Numbers first = reversed(Numbers(box.lo.begin(), box.lo.begin() + ndims));
    for (std::int64_t& number : first) {
      ++number;
    }
    TESSERA_RETURN_IF_ERROR(write_integers(first, lo, "lo"));
    return write_integers(reversed(Numbers(box.hi.begin(), box.hi.begin() + ndims)), hi, "hi");
  });
}

int tessera_f_array_owner(const Cell* cell, const Descriptor* index, int64_t* owner) {
  tessera_array* array = nullptr;
  Numbers at;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(cell));
    const ArrayBase& of = capi::array_of(array);
    auto given = index_of(of, index);
    if (given.ok()) {
      at = *given;
    }
    return Status(given.status()).context(describe(of));
  };
  return run("tessera_array%owner", prepare,
             [&] { return tessera_array_owner(array, at.data(), owner); });
}

int tessera_f_array_patches(const Cell* cell, const Descriptor* lo, const Descriptor* hi,
                            int64_t capacity, tessera_patch* patches, int64_t* count) {
  tessera_array* array = nullptr;
  Bounds box;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(cell));
    const ArrayBase& of = capi::array_of(array);
    const auto given = bounds_of(of, lo, hi);
    if (given.ok()) {
      box = *given;
    }
    return Status(given.status()).context(describe(of));
  };
  const int code = run("tessera_array%patches", prepare, [&] {
    return tessera_array_patches(array, box.lo.data(), box.hi.data(), capacity, patches, count);
  });
  if (code == TESSERA_OK) {
    for (std::int64_t i = 0; i < std::min(capacity, *count); ++i) {
      reverse_dimensions(patches[i]);
    }
  }
  return code;
}

}  // extern "C"

}  // namespace tessera::fapi
