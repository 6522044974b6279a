// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c/output.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/output.hpp"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/output.hpp"

namespace tessera::capi {

namespace {

using arrays::AttributeValue;
using arrays::Box;
using arrays::DatasetOptions;
using arrays::Extents;
using arrays::Output;
using arrays::OutputMode;
using arrays::Section;
using rma::Result;
using rma::Status;
using rma::Team;

/// The given team, or all ranks. Errors: null and freed handles, which affect only this rank.
Result<Team> team_of_output(tessera_job* job, const tessera_team* team) {
  TESSERA_ASSIGN_OR_RETURN(const rma::Job* const running, open(job));
  if (team == nullptr) {
    return running->world();
  }
  TESSERA_ASSIGN_OR_RETURN(const Team* const chosen, open(team));
  return *chosen;
}

Status check_opening(const char* path, tessera_output_mode mode, tessera_output** result) {
  TESSERA_RETURN_IF_ERROR(required(path, "path"));
  TESSERA_RETURN_IF_ERROR(required(result, "result"));
  return check_choice(mode, TESSERA_OUTPUT_APPEND + 1, "mode");
}

Status open_output(tessera_job* job, const tessera_team* members, const char* path,
                   tessera_output_mode mode, tessera_output** result) {
  TESSERA_ASSIGN_OR_RETURN(Team team, team_of_output(job, members));
  TESSERA_RETURN_IF_ERROR(report_to_team(team, check_opening(path, mode, result)));
  TESSERA_ASSIGN_OR_RETURN(auto output,
                           Output::open(*job->contents, team, path, static_cast<OutputMode>(mode)));
  *result = make_handle<tessera_output>(
      job, std::make_unique<OutputContents>(OutputContents{std::move(team), std::move(output)}),
      "output '" + std::string(path) + "'");
  return {};
}

/// The arguments of a write and of an append.
struct WriteArguments {
  const tessera_array* array;
  const std::int64_t* lo;
  const std::int64_t* hi;
  const char* name;
  const tessera_dataset_options* options;
};

/// The same, converted.
struct WriteRequest {
  arrays::ArrayBase* array;
  Section part;
  DatasetOptions options;
};

Result<WriteRequest> convert(const WriteArguments& given) {
  TESSERA_ASSIGN_OR_RETURN(arrays::ArrayBase* const array, open_array(given.array));
  TESSERA_RETURN_IF_ERROR(required(given.name, "data set's name"));
  TESSERA_ASSIGN_OR_RETURN(
      const tessera_dataset_options options,
      options_of(given.options, tessera_dataset_options_init, "tessera_dataset_options_init"));
  TESSERA_ASSIGN_OR_RETURN(const Box box, box_of(array->extents(), given.lo, given.hi));
  const int ndims = array->ndims();
  return WriteRequest{
      array,
      Section(box, options.steps == nullptr ? Extents::filled(ndims, 1)
                                            : list_of<Extents>(options.steps, ndims)),
      DatasetOptions{
          .chunk = list_of<Extents>(options.chunk, ndims),
          .compression = options.compression,
          .shuffle = options.shuffle != 0,
          .time = options.has_time != 0 ? std::optional<double>(options.time) : std::nullopt}};
}

template <class Write>
Status write_part(OutputContents& contents, const WriteArguments& given, const Write& write) {
  auto request = convert(given);
  TESSERA_RETURN_IF_ERROR(report_to_team(contents.team, request.status()));
  return write(*request);
}

Status check_attribute(const char* object, const char* name, const Status& value) {
  TESSERA_RETURN_IF_ERROR(required(object, "object's name"));
  TESSERA_RETURN_IF_ERROR(required(name, "attribute's name"));
  return value;
}

/// Errors of this member are errors of all.
Status set_attribute(OutputContents& contents, const char* object, const char* name,
                     const Result<AttributeValue>& value) {
  TESSERA_RETURN_IF_ERROR(
      report_to_team(contents.team, check_attribute(object, name, value.status())));
  return contents.output.set_attribute(object, name, *value);
}

Result<AttributeValue> number_of(tessera_type type, const void* value) {
  TESSERA_RETURN_IF_ERROR(required(value, "value"));
  TESSERA_ASSIGN_OR_RETURN(const rma::ElementType element, element_type(type));
  return rma::dispatch(element, [&]<class T>(rma::Tag<T>) -> AttributeValue {
    T number = {};
    std::memcpy(&number, value, sizeof number);
    return number;
  });
}

Result<AttributeValue> list_of_reals(std::int64_t count, const double* values) {
  TESSERA_RETURN_IF_ERROR(check_count(count, "values"));
  TESSERA_RETURN_IF_ERROR(required(values, "list of values"));
  return AttributeValue(std::vector<double>(values, values + count));
}

Result<arrays::UniformGrid> grid_of(std::int64_t ndims, const double* origin, const double* spacing,
                                    const std::int64_t* points) {
  if (ndims < 1 || ndims > 3) {
    return Status::error(rma::Code::invalid_argument,
                         fmt::format("{} dimensions; 1 to 3 are possible", ndims));
  }
  TESSERA_RETURN_IF_ERROR(required(origin, "origin"));
  TESSERA_RETURN_IF_ERROR(required(spacing, "spacing"));
  return arrays::UniformGrid{std::vector<double>(origin, origin + ndims),
                             std::vector<double>(spacing, spacing + ndims),
                             list_of<Extents>(points, points == nullptr ? 0 : ndims)};
}

}  // namespace

extern "C" {

int tessera_output_open(tessera_job* job, const tessera_team* team, const char* path,
                        tessera_output_mode mode, tessera_output** output) {
  return call(__func__, [&] { return open_output(job, team, path, mode, output); });
}

int tessera_output_write(const tessera_output* output, const tessera_array* array,
                         const int64_t lo[], const int64_t hi[], const char* name,
                         const tessera_dataset_options* options) {
  return call_on(__func__, output, [&](OutputContents& contents) {
    return write_part(contents, {array, lo, hi, name, options}, [&](const WriteRequest& request) {
      return contents.output.write(*request.array, request.part, name, request.options);
    });
  });
}

int tessera_output_append(const tessera_output* output, const tessera_array* array,
                          const int64_t lo[], const int64_t hi[], const char* name,
                          const tessera_dataset_options* options) {
  return call_on(__func__, output, [&](OutputContents& contents) {
    return write_part(contents, {array, lo, hi, name, options}, [&](const WriteRequest& request) {
      return contents.output.append(*request.array, request.part, name, request.options);
    });
  });
}

int tessera_output_create_group(const tessera_output* output, const char* name) {
  return call_on(__func__, output, [&](OutputContents& contents) -> Status {
    TESSERA_RETURN_IF_ERROR(report_to_team(contents.team, required(name, "group's name")));
    return contents.output.create_group(name);
  });
}

int tessera_output_set_number(const tessera_output* output, const char* object, const char* name,
                              tessera_type type, const void* value) {
  return call_on(__func__, output, [&](OutputContents& contents) {
    return set_attribute(contents, object, name, number_of(type, value));
  });
}

int tessera_output_set_truth(const tessera_output* output, const char* object, const char* name,
                             int value) {
  return call_on(__func__, output, [&](OutputContents& contents) {
    return set_attribute(contents, object, name, AttributeValue(value != 0));
  });
}

int tessera_output_set_text(const tessera_output* output, const char* object, const char* name,
                            const char* value) {
  return call_on(__func__, output, [&](OutputContents& contents) {
    const Status given = required(value, "text");
    return set_attribute(contents, object, name,
                         given.ok() ? Result<AttributeValue>(AttributeValue(std::string(value)))
                                    : Result<AttributeValue>(given));
  });
}

int tessera_output_set_reals(const tessera_output* output, const char* object, const char* name,
                             int64_t count, const double values[]) {
  return call_on(__func__, output, [&](OutputContents& contents) {
    return set_attribute(contents, object, name, list_of_reals(count, values));
  });
}

int tessera_output_set_grid(const tessera_output* output, int64_t ndims, const double origin[],
                            const double spacing[], const int64_t points[]) {
  return call_on(__func__, output, [&](OutputContents& contents) -> Status {
    const auto grid = grid_of(ndims, origin, spacing, points);
    TESSERA_RETURN_IF_ERROR(report_to_team(contents.team, grid.status()));
    return contents.output.set_grid(*grid);
  });
}

int tessera_output_steps(const tessera_output* output, const char* name, int64_t* steps) {
  return call_on(__func__, output, [&](const OutputContents& contents) -> Status {
    TESSERA_RETURN_IF_ERROR(required(name, "data set's name"));
    TESSERA_RETURN_IF_ERROR(required(steps, "result"));
    *steps = contents.output.steps(name);
    return {};
  });
}

int tessera_output_flush(const tessera_output* output) {
  return call_on(__func__, output,
                 [](OutputContents& contents) { return contents.output.flush(); });
}

int tessera_output_close(const tessera_output* output) {
  return call_on(__func__, output,
                 [](OutputContents& contents) { return contents.output.close(); });
}

int tessera_output_free(tessera_output** output) {
  return call(__func__,
              [&] { return free_handle(output, [](OutputContents&) { return Status(); }); });
}

}  // extern "C"

}  // namespace tessera::capi
