// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/output.hpp"

#include <algorithm>
#include <vector>

#include "fortran/detail/cells.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/fortran_operands.hpp"

namespace tessera::fapi {
namespace {

using arrays::ArrayBase;
using rma::Status;

/// The options of a data set that are not lists; the module has the same structure.
struct StorageOptions {
  int compression;
  int shuffle;
  int has_time;
  double time;
};

/// A call of write or append, converted for C.
struct OutputCall {
  tessera_output* output = nullptr;
  tessera_array* array = nullptr;
  Bounds box = {};
  Numbers steps = {};
  Numbers chunk = {};
};

Status list_for(const ArrayBase& array, const Descriptor* given, std::string_view what,
                Numbers& list) {
  if (given != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(const Numbers numbers,
                             integers_of(given, array.ndims(), what, "the array"));
    list = reversed(numbers);
  }
  return {};
}

Status look_at_part(const Operand& part, const Descriptor* steps, const Descriptor* chunk,
                    OutputCall& asked) {
  TESSERA_ASSIGN_OR_RETURN(asked.array, open<tessera_array>(part.cell));
  const ArrayBase& array = capi::array_of(asked.array);
  auto box = bounds_of(array, part);
  TESSERA_RETURN_IF_ERROR(Status(box.status()).context("part of " + describe(array)));
  asked.box = *box;
  TESSERA_RETURN_IF_ERROR(list_for(array, steps, "steps", asked.steps));
  return list_for(array, chunk, "chunk", asked.chunk);
}

}  // namespace

extern "C" {

int tessera_f_output_open(Cell** place, const Cell* job_cell, const Cell* team_cell,
                          const char* path, int mode) {
  tessera_job* job = nullptr;
  tessera_team* team = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(job, open<tessera_job>(job_cell));
    if (team_cell != nullptr) {
      TESSERA_ASSIGN_OR_RETURN(team, open<tessera_team>(team_cell));
    }
    return {};
  };
  return make<tessera_output, tessera_output_free>(
      "tessera_output%open", place, job_cell, prepare,
      [&](tessera_output** output) { return tessera_output_open(job, team, path, mode, output); });
}

/// `steps` and `chunk` may be null.
int tessera_f_output_write(const Cell* cell, int is_step, const Operand* part, const char* name,
                           const Descriptor* steps, const Descriptor* chunk,
                           const StorageOptions* storage) {
  OutputCall asked;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(asked.output, open<tessera_output>(cell));
    return capi::report_to_team(capi::contents_of(asked.output).team,
                                look_at_part(*part, steps, chunk, asked));
  };
  return run(is_step != 0 ? "tessera_output%append" : "tessera_output%write", prepare, [&] {
    tessera_dataset_options options;
    tessera_dataset_options_init(&options);
    options.steps = list_or_null(asked.steps);
    options.chunk = list_or_null(asked.chunk);
    options.compression = storage->compression;
    options.shuffle = storage->shuffle;
    options.has_time = storage->has_time;
    options.time = storage->time;
    const bool is_whole = part->lo_count == whole_array;
    const std::int64_t* const lo = is_whole ? nullptr : asked.box.lo.data();
    const std::int64_t* const hi = is_whole ? nullptr : asked.box.hi.data();
    return is_step != 0 ? tessera_output_append(asked.output, asked.array, lo, hi, name, &options)
                        : tessera_output_write(asked.output, asked.array, lo, hi, name, &options);
  });
}

/// Lists in Fortran's order; `points` may be null.
int tessera_f_output_set_grid(const Cell* cell, std::int64_t ndims, const double* origin,
                              const double* spacing, const Descriptor* points) {
  tessera_output* output = nullptr;
  std::vector<double> first(origin, origin + ndims);
  std::vector<double> distances(spacing, spacing + ndims);
  std::reverse(first.begin(), first.end());
  std::reverse(distances.begin(), distances.end());
  Numbers counts;
  const auto look = [&]() -> Status {
    if (points != nullptr) {
      TESSERA_ASSIGN_OR_RETURN(const Numbers given, integers_of(points, static_cast<int>(ndims),
                                                                "points", "the grid's origin"));
      counts = reversed(given);
    }
    return {};
  };
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(output, open<tessera_output>(cell));
    return capi::report_to_team(capi::contents_of(output).team, look());
  };
  return run("tessera_output%set_grid", prepare, [&] {
    return tessera_output_set_grid(output, ndims, first.data(), distances.data(),
                                   list_or_null(counts));
  });
}

}  // extern "C"

}  // namespace tessera::fapi
