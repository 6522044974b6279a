// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "fortran/c/arrays.h"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/fortran_operands.hpp"

namespace tessera::fapi {
namespace {

using rma::Status;

/// The job, and the team, which is null if its cell is null.
Status open_team(const Cell* job_cell, const Cell* team_cell, tessera_job*& job,
                 tessera_team*& team) {
  TESSERA_ASSIGN_OR_RETURN(job, open<tessera_job>(job_cell));
  if (team_cell != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(team, open<tessera_team>(team_cell));
  }
  return {};
}

/// Bounds with one number for each dimension of a stored array, in C's order.
Status stored_bounds(const tessera_checkpoint* file, const char* name, const Descriptor* given,
                     std::string_view what, Numbers& bounds) {
  tessera_type type = 0;
  std::int64_t ndims = 0;
  std::array<std::int64_t, TESSERA_MAX_DIMS> extents = {};
  int has_checksums = 0;
  if (tessera_checkpoint_array_info(file, name, &type, &ndims, extents.data(), &has_checksums) !=
      TESSERA_OK) {
    bounds.resize(1);
    return {};  // the read reports it, on all members
  }
  TESSERA_ASSIGN_OR_RETURN(const Numbers numbers,
                           integers_of(given, static_cast<int>(ndims), what, "the stored array"));
  bounds = reversed(numbers);
  return {};
}

}  // namespace

extern "C" {

int tessera_f_writer_create(Cell** place, const Cell* job_cell, const Cell* team_cell,
                            const char* path) {
  tessera_job* job = nullptr;
  tessera_team* team = nullptr;
  return make<tessera_checkpoint_writer, tessera_checkpoint_writer_free>(
      "tessera_checkpoint_writer%create", place, job_cell,
      [&] { return open_team(job_cell, team_cell, job, team); },
      [&](tessera_checkpoint_writer** writer) {
        return tessera_checkpoint_writer_create(job, team, path, nullptr, writer);
      });
}

/// Under the array's own name if `name` is null.
int tessera_f_writer_add(const Cell* cell, const Cell* array_cell, const char* name) {
  tessera_checkpoint_writer* writer = nullptr;
  tessera_array* array = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(writer, open<tessera_checkpoint_writer>(cell));
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(array_cell));
    return {};
  };
  return run("tessera_checkpoint_writer%add", prepare,
             [&] { return tessera_checkpoint_writer_add(writer, array, name); });
}

int tessera_f_checkpoint_open(Cell** place, const Cell* job_cell, const Cell* team_cell,
                              const char* path) {
  tessera_job* job = nullptr;
  tessera_team* team = nullptr;
  return make<tessera_checkpoint, tessera_checkpoint_free>(
      "tessera_checkpoint%open", place, job_cell,
      [&] { return open_team(job_cell, team_cell, job, team); },
      [&](tessera_checkpoint** file) { return tessera_checkpoint_open(job, team, path, file); });
}

/// With the distribution of the file if the distribution's cell is null.
int tessera_f_checkpoint_read(const Cell* cell, const char* name, const Cell* distribution_cell,
                              Cell** place) {
  tessera_checkpoint* file = nullptr;
  tessera_distribution* distribution = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(file, open<tessera_checkpoint>(cell));
    if (distribution_cell != nullptr) {
      TESSERA_ASSIGN_OR_RETURN(distribution, open<tessera_distribution>(distribution_cell));
    }
    return {};
  };
  return make<tessera_array, tessera_array_free>(
      "tessera_checkpoint%read", place, cell, prepare, [&](tessera_array** array) {
        return tessera_checkpoint_read(file, name, distribution, array);
      });
}

int tessera_f_checkpoint_read_into(const Cell* cell, const char* name, const Cell* array_cell) {
  tessera_checkpoint* file = nullptr;
  tessera_array* array = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(file, open<tessera_checkpoint>(cell));
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(array_cell));
    return {};
  };
  return run("tessera_checkpoint%read_into", prepare,
             [&] { return tessera_checkpoint_read_into(file, name, array); });
}

/// `lo` and `hi`, of the stored array, in Fortran's order, from 1 on and inclusive.
int tessera_f_checkpoint_read_part(const Cell* cell, const char* name, const Descriptor* lo,
                                   const Descriptor* hi, const Operand* to) {
  tessera_checkpoint* file = nullptr;
  tessera_array* array = nullptr;
  Numbers first;
  Numbers last;
  Bounds box;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(file, open<tessera_checkpoint>(cell));
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(to->cell));
    const arrays::ArrayBase& target = capi::array_of(array);
    auto bounds = bounds_of(target, *to);
    TESSERA_RETURN_IF_ERROR(Status(bounds.status()).context("part of " + describe(target)));
    box = *bounds;
    TESSERA_RETURN_IF_ERROR(stored_bounds(file, name, lo, "lo", first));
    TESSERA_RETURN_IF_ERROR(stored_bounds(file, name, hi, "hi", last));
    for (std::int64_t& number : first) {
      --number;
    }
    return {};
  };
  return run("tessera_checkpoint%read_part", prepare, [&] {
    return tessera_checkpoint_read_part(file, name, first.data(), last.data(),
                                        c_part(*to, array, box));
  });
}

/// The extents in Fortran's order.
int tessera_f_checkpoint_array_info(const Cell* cell, const char* name, int64_t* type,
                                    int64_t* ndims, int64_t* extents, int* has_checksums) {
  tessera_checkpoint* file = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(file, open<tessera_checkpoint>(cell));
    return {};
  };
  const int code = run("tessera_checkpoint%info", prepare, [&] {
    return tessera_checkpoint_array_info(file, name, type, ndims, extents, has_checksums);
  });
  if (code == TESSERA_OK) {
    std::reverse(extents, extents + *ndims);
  }
  return code;
}

/// An attribute for an integer with the range -largest - 1 to `largest`; 1 means a logical.
int tessera_f_checkpoint_integer(const Cell* cell, const char* name, int64_t largest,
                                 int64_t* value) {
  const char* const called = "tessera_checkpoint%get_attribute";
  tessera_checkpoint* file = nullptr;
  std::int64_t found = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(file, open<tessera_checkpoint>(cell));
    return {};
  };
  const int code =
      run(called, prepare, [&] { return tessera_checkpoint_integer(file, name, &found); });
  if (code != TESSERA_OK) {
    return code;
  }
  return capi::call(called, [&]() -> Status {
    const std::int64_t least = largest == 1 ? 0 : -largest - 1;
    if (found < least || found > largest) {
      return Status::error(rma::Code::out_of_range,
                           fmt::format("attribute '{}' is {}; the variable can hold {} to {}", name,
                                       found, least, largest))
          .hint("use an integer(int64)");
    }
    *value = found;
    return {};
  });
}

}  // extern "C"

}  // namespace tessera::fapi
