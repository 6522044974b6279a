// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c/checkpoint.h"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/checkpoint.hpp"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/arrays.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"

namespace tessera::capi {

/// Writers do not store their job.
struct WriterContents {
  rma::Team team;
  arrays::CheckpointWriter writer;
};
struct FileContents {
  rma::Team team;
  arrays::Checkpoint file;
};
template <>
struct ShellOf<tessera_checkpoint_writer> {
  using Type = Shell<HandleKind::checkpoint_writer, WriterContents>;
};
template <>
struct ShellOf<tessera_checkpoint> {
  using Type = Shell<HandleKind::checkpoint, FileContents>;
};

namespace {

using arrays::AttributeValue;
using arrays::Checkpoint;
using arrays::CheckpointOptions;
using arrays::CheckpointWriter;
using arrays::ElementKind;
using arrays::StoredArrayInfo;
using rma::Result;
using rma::Status;
using rma::Team;

/// The given team, or all ranks. Errors: null and freed handles, which affect only this rank.
Result<Team> checkpoint_team_of(tessera_job* job, const tessera_team* team) {
  TESSERA_ASSIGN_OR_RETURN(const rma::Job* const running, open(job));
  if (team == nullptr) {
    return running->world();
  }
  TESSERA_ASSIGN_OR_RETURN(const Team* const chosen, open(team));
  return *chosen;
}

Result<CheckpointOptions> convert(const tessera_checkpoint_options* given) {
  TESSERA_ASSIGN_OR_RETURN(
      const tessera_checkpoint_options options,
      options_of(given, tessera_checkpoint_options_init, "tessera_checkpoint_options_init"));
  return CheckpointOptions{.piece_bytes = options.piece_bytes};
}

/// Checks a path or a name, and the result pointer. Collective over `team` if one of them is null.
Status check_named(Team& team, const char* name, std::string_view what, const void* result) {
  const Status mine = required(name, what);
  return report_to_team(team, mine.ok() ? required(result, "result") : mine);
}

Status create_writer(tessera_job* job, const tessera_team* members, const char* path,
                     const tessera_checkpoint_options* given, tessera_checkpoint_writer** result) {
  TESSERA_ASSIGN_OR_RETURN(Team team, checkpoint_team_of(job, members));
  const auto options = convert(given);
  TESSERA_RETURN_IF_ERROR(report_to_team(team, options.status()));
  TESSERA_RETURN_IF_ERROR(check_named(team, path, "path", result));
  TESSERA_ASSIGN_OR_RETURN(auto writer,
                           CheckpointWriter::create(*job->contents, team, path, *options));
  *result = make_handle<tessera_checkpoint_writer>(
      job, std::make_unique<WriterContents>(WriterContents{std::move(team), std::move(writer)}),
      "writer of checkpoint '" + std::string(path) + "'");
  return {};
}

Status add_array(WriterContents& contents, const tessera_array* handle, const char* name) {
  const auto array = open_array(handle);
  TESSERA_RETURN_IF_ERROR(report_to_team(contents.team, array.status()));
  return name == nullptr ? contents.writer.add(**array) : contents.writer.add(**array, name);
}

Status add_attribute(WriterContents& contents, const char* name, const AttributeValue& value) {
  TESSERA_RETURN_IF_ERROR(check_named(contents.team, name, "attribute's name", name));
  return contents.writer.add_attribute(name, value);
}

Status open_file(tessera_job* job, const tessera_team* members, const char* path,
                 tessera_checkpoint** result) {
  TESSERA_ASSIGN_OR_RETURN(Team team, checkpoint_team_of(job, members));
  TESSERA_RETURN_IF_ERROR(check_named(team, path, "path", result));
  TESSERA_ASSIGN_OR_RETURN(auto file, Checkpoint::open(*job->contents, team, path));
  *result = make_handle<tessera_checkpoint>(
      job, std::make_unique<FileContents>(FileContents{std::move(team), std::move(file)}),
      "checkpoint '" + std::string(path) + "'");
  return {};
}

/// The element type of an array into which the stored one can be read.
ElementKind kind_of(const StoredArrayInfo& stored) {
  return stored.type ? ElementKind::of(*stored.type)
                     : ElementKind::opaque(static_cast<std::size_t>(stored.element_bytes));
}

Result<StoredArrayInfo> info_of(const FileContents& contents, const char* name) {
  TESSERA_RETURN_IF_ERROR(required(name, "array's name"));
  return contents.file.info(name);
}

Status give_info(const StoredArrayInfo& stored, tessera_type* type, std::int64_t* ndims,
                 std::int64_t* extents, int* has_checksums) {
  TESSERA_RETURN_IF_ERROR(required(type, "type"));
  TESSERA_RETURN_IF_ERROR(required(ndims, "number of dimensions"));
  TESSERA_RETURN_IF_ERROR(required(extents, "extents"));
  TESSERA_RETURN_IF_ERROR(required(has_checksums, "result"));
  *type = c_type(kind_of(stored));
  *ndims = stored.extents.ndims();
  copy_list(stored.extents, extents);
  *has_checksums = stored.has_checksums ? 1 : 0;
  return {};
}

template <class Value>
Result<Value> attribute_of(const FileContents& contents, const char* name) {
  TESSERA_RETURN_IF_ERROR(required(name, "attribute's name"));
  return contents.file.attribute<Value>(name);
}

template <class Value>
Status give_attribute(const FileContents& contents, const char* name, Value* value) {
  TESSERA_RETURN_IF_ERROR(required(value, "result"));
  TESSERA_ASSIGN_OR_RETURN(*value, attribute_of<Value>(contents, name));
  return {};
}

Status give_name(const std::vector<std::string>& names, std::int64_t number, std::string_view what,
                 char* text, std::int64_t capacity, std::int64_t* length) {
  TESSERA_RETURN_IF_ERROR(check_below(number, std::ssize(names), what));
  return copy_text(names[static_cast<std::size_t>(number)], text, capacity, length);
}

Status read(const tessera_checkpoint* handle, const char* name,
            const tessera_distribution* distribution, tessera_array** result) {
  FileContents& contents = contents_of(handle);
  TESSERA_RETURN_IF_ERROR(check_named(contents.team, name, "array's name", result));
  const arrays::Distribution* chosen = nullptr;
  if (distribution != nullptr) {
    const auto given = open(distribution);
    TESSERA_RETURN_IF_ERROR(report_to_team(contents.team, given.status()));
    chosen = *given;
  }
  const auto stored = contents.file.info(name);
  TESSERA_RETURN_IF_ERROR(report_to_team(contents.team, stored.status()));
  const ElementKind kind = kind_of(*stored);
  return create_array_handle(
      job_of(handle),
      chosen == nullptr ? contents.file.read(name, kind) : contents.file.read(name, *chosen, kind),
      result);
}

Status read_part(FileContents& contents, const char* name, const std::int64_t* lo,
                 const std::int64_t* hi, const tessera_part& to) {
  const auto array = open_array(to.array);
  TESSERA_RETURN_IF_ERROR(report_to_team(contents.team, array.status()));
  TESSERA_RETURN_IF_ERROR(check_named(contents.team, name, "array's name", name));
  const auto stored = contents.file.info(name);
  TESSERA_RETURN_IF_ERROR(report_to_team(contents.team, stored.status()));
  const auto from = box_of(stored->extents, lo, hi);
  TESSERA_RETURN_IF_ERROR(report_to_team(contents.team, from.status()));
  const auto box = box_of((*array)->extents(), to.lo, to.hi);
  TESSERA_RETURN_IF_ERROR(report_to_team(contents.team, box.status()));
  return contents.file.read_part(name, *from, **array, *box);
}

template <class T>
Result<T> attribute_of(const FileContents& contents, const char* object, const char* name) {
  TESSERA_RETURN_IF_ERROR(required(object, "object's name"));
  TESSERA_RETURN_IF_ERROR(required(name, "attribute's name"));
  return contents.file.attribute<T>(object, name);
}

Status give_number(const FileContents& contents, const char* object, const char* name,
                   tessera_type type, void* value) {
  TESSERA_RETURN_IF_ERROR(required(value, "result"));
  TESSERA_ASSIGN_OR_RETURN(const rma::ElementType element, element_type(type));
  return rma::dispatch(element, [&]<class T>(rma::Tag<T>) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const T number, attribute_of<T>(contents, object, name));
    std::memcpy(value, &number, sizeof number);
    return {};
  });
}

Status read_into(FileContents& contents, const char* name, const tessera_array* handle) {
  const auto array = open_array(handle);
  TESSERA_RETURN_IF_ERROR(report_to_team(contents.team, array.status()));
  TESSERA_RETURN_IF_ERROR(check_named(contents.team, name, "array's name", name));
  return contents.file.read_into(name, **array);
}

}  // namespace

extern "C" {

int tessera_checkpoint_writer_create(tessera_job* job, const tessera_team* team, const char* path,
                                     const tessera_checkpoint_options* options,
                                     tessera_checkpoint_writer** writer) {
  return call(__func__, [&] { return create_writer(job, team, path, options, writer); });
}

int tessera_checkpoint_writer_add(const tessera_checkpoint_writer* writer,
                                  const tessera_array* array, const char* name) {
  return call_on(__func__, writer,
                 [&](WriterContents& contents) { return add_array(contents, array, name); });
}

int tessera_checkpoint_writer_add_integer(const tessera_checkpoint_writer* writer, const char* name,
                                          int64_t value) {
  return call_on(__func__, writer,
                 [&](WriterContents& contents) { return add_attribute(contents, name, value); });
}

int tessera_checkpoint_writer_add_real(const tessera_checkpoint_writer* writer, const char* name,
                                       double value) {
  return call_on(__func__, writer,
                 [&](WriterContents& contents) { return add_attribute(contents, name, value); });
}

int tessera_checkpoint_writer_add_text(const tessera_checkpoint_writer* writer, const char* name,
                                       const char* value) {
  return call_on(__func__, writer, [&](WriterContents& contents) -> Status {
    TESSERA_RETURN_IF_ERROR(check_named(contents.team, value, "text", value));
    return add_attribute(contents, name, std::string(value));
  });
}

int tessera_checkpoint_writer_commit(const tessera_checkpoint_writer* writer) {
  return call_on(__func__, writer,
                 [](WriterContents& contents) { return contents.writer.commit(); });
}

int tessera_checkpoint_writer_free(tessera_checkpoint_writer** writer) {
  return call(__func__,
              [&] { return free_handle(writer, [](WriterContents&) { return Status(); }); });
}

int tessera_checkpoint_open(tessera_job* job, const tessera_team* team, const char* path,
                            tessera_checkpoint** file) {
  return call(__func__, [&] { return open_file(job, team, path, file); });
}

int tessera_checkpoint_free(tessera_checkpoint** file) {
  return call(__func__, [&] { return free_handle(file, [](FileContents&) { return Status(); }); });
}

int tessera_checkpoint_array_count(const tessera_checkpoint* file, int64_t* count) {
  return call_on(__func__, file, [&](const FileContents& contents) -> Status {
    TESSERA_RETURN_IF_ERROR(required(count, "result"));
    *count = std::ssize(contents.file.names());
    return {};
  });
}

int tessera_checkpoint_array_name(const tessera_checkpoint* file, int64_t number, char* text,
                                  int64_t capacity, int64_t* length) {
  return call_on(__func__, file, [&](const FileContents& contents) {
    return give_name(contents.file.names(), number, "array", text, capacity, length);
  });
}

int tessera_checkpoint_attribute_count(const tessera_checkpoint* file, int64_t* count) {
  return call_on(__func__, file, [&](const FileContents& contents) -> Status {
    TESSERA_RETURN_IF_ERROR(required(count, "result"));
    TESSERA_ASSIGN_OR_RETURN(const std::vector<std::string> names, contents.file.attribute_names());
    *count = std::ssize(names);
    return {};
  });
}

int tessera_checkpoint_attribute_name(const tessera_checkpoint* file, int64_t number, char* text,
                                      int64_t capacity, int64_t* length) {
  return call_on(__func__, file, [&](const FileContents& contents) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::vector<std::string> names, contents.file.attribute_names());
    return give_name(names, number, "attribute", text, capacity, length);
  });
}

int tessera_checkpoint_array_info(const tessera_checkpoint* file, const char* name,
                                  tessera_type* type, int64_t* ndims, int64_t extents[],
                                  int* has_checksums) {
  return call_on(__func__, file, [&](const FileContents& contents) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const StoredArrayInfo stored, info_of(contents, name));
    return give_info(stored, type, ndims, extents, has_checksums);
  });
}

int tessera_checkpoint_type_name(const tessera_checkpoint* file, const char* name, char* text,
                                 int64_t capacity, int64_t* length) {
  return call_on(__func__, file, [&](const FileContents& contents) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const StoredArrayInfo stored, info_of(contents, name));
    return copy_text(stored.type_name, text, capacity, length);
  });
}

int tessera_checkpoint_distribution(const tessera_checkpoint* file, const char* name,
                                    tessera_distribution** distribution) {
  return call_on(__func__, file, [&](const FileContents& contents) -> Status {
    TESSERA_RETURN_IF_ERROR(required(distribution, "distribution"));
    TESSERA_ASSIGN_OR_RETURN(const StoredArrayInfo stored, info_of(contents, name));
    *distribution = stored.distribution
                        ? make_handle<tessera_distribution>(job_of(file), *stored.distribution)
                        : nullptr;
    return {};
  });
}

int tessera_checkpoint_integer(const tessera_checkpoint* file, const char* name, int64_t* value) {
  return call_on(__func__, file, [&](const FileContents& contents) {
    return give_attribute<std::int64_t>(contents, name, value);
  });
}

int tessera_checkpoint_real(const tessera_checkpoint* file, const char* name, double* value) {
  return call_on(__func__, file, [&](const FileContents& contents) {
    return give_attribute(contents, name, value);
  });
}

int tessera_checkpoint_text(const tessera_checkpoint* file, const char* name, char* text,
                            int64_t capacity, int64_t* length) {
  return call_on(__func__, file, [&](const FileContents& contents) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::string value, attribute_of<std::string>(contents, name));
    return copy_text(value, text, capacity, length);
  });
}

int tessera_checkpoint_number_of(const tessera_checkpoint* file, const char* object,
                                 const char* name, tessera_type type, void* value) {
  return call_on(__func__, file, [&](const FileContents& contents) {
    return give_number(contents, object, name, type, value);
  });
}

int tessera_checkpoint_truth_of(const tessera_checkpoint* file, const char* object,
                                const char* name, int* value) {
  return call_on(__func__, file, [&](const FileContents& contents) -> Status {
    TESSERA_RETURN_IF_ERROR(required(value, "result"));
    TESSERA_ASSIGN_OR_RETURN(const bool truth, attribute_of<bool>(contents, object, name));
    *value = truth ? 1 : 0;
    return {};
  });
}

int tessera_checkpoint_text_of(const tessera_checkpoint* file, const char* object, const char* name,
                               char* text, int64_t capacity, int64_t* length) {
  return call_on(__func__, file, [&](const FileContents& contents) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::string value,
                             attribute_of<std::string>(contents, object, name));
    return copy_text(value, text, capacity, length);
  });
}

int tessera_checkpoint_read(const tessera_checkpoint* file, const char* name,
                            const tessera_distribution* distribution, tessera_array** array) {
  return call_on(__func__, file,
                 [&](FileContents&) { return read(file, name, distribution, array); });
}

int tessera_checkpoint_read_into(const tessera_checkpoint* file, const char* name,
                                 const tessera_array* array) {
  return call_on(__func__, file,
                 [&](FileContents& contents) { return read_into(contents, name, array); });
}

int tessera_checkpoint_read_part(const tessera_checkpoint* file, const char* name,
                                 const int64_t lo[], const int64_t hi[], tessera_part to) {
  return call_on(__func__, file,
                 [&](FileContents& contents) { return read_part(contents, name, lo, hi, to); });
}

int tessera_checkpoint_verify(const tessera_checkpoint* file, const char* name) {
  return call_on(__func__, file, [&](FileContents& contents) -> Status {
    TESSERA_RETURN_IF_ERROR(check_named(contents.team, name, "array's name", name));
    return contents.file.verify(name);
  });
}

}  // extern "C"

}  // namespace tessera::capi
