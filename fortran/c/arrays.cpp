// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c/arrays.h"

#include <memory>
#include <string>
#include <utility>

#include "arrays/array.hpp"
#include "arrays/array_base.hpp"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/arrays.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"
#include "fortran/detail/patches.hpp"

namespace tessera::capi {
namespace {

using arrays::ArrayBase;
using arrays::Box;
using arrays::Distribution;
using arrays::Extents;
using rma::Code;
using rma::Status;

/// The caller's arguments, and where the handle goes.
struct CreateArrayArguments : NewArrayArguments {
  tessera_array** result;
};

Status create(const CreateArrayArguments& arguments, std::int64_t ndims,
              const std::int64_t* extents) {
  const auto sizes = required_list<Extents>(extents, ndims, "extents");
  TESSERA_ASSIGN_OR_RETURN(
      const ArrayRequest request,
      request_of(arguments, ndims,
                 sizes.ok() ? required(arguments.result, "array") : sizes.status()));
  return create_array_handle(
      arguments.job,
      ArrayBase::create(*arguments.job->contents, *sizes, request.element, request.options),
      arguments.result);
}

/// The distribution was checked before, and determines the lengths of lists, not the options.
Status create_distributed(const CreateArrayArguments& arguments,
                          const tessera_distribution* distribution) {
  TESSERA_ASSIGN_OR_RETURN(const Distribution* const parts, open(distribution));
  TESSERA_ASSIGN_OR_RETURN(
      const ArrayRequest request,
      request_of(arguments, parts->ndims(), required(arguments.result, "array")));
  return create_array_handle(
      arguments.job,
      ArrayBase::create(*arguments.job->contents, *parts, request.element, request.options),
      arguments.result);
}

Status attach(const CreateArrayArguments& arguments, const tessera_distribution* distribution,
              void* memory, std::int64_t bytes) {
  TESSERA_ASSIGN_OR_RETURN(const Distribution* const parts, open(distribution));
  const Status counted = check_count(bytes, "bytes");
  TESSERA_ASSIGN_OR_RETURN(
      const ArrayRequest request,
      request_of(arguments, parts->ndims(),
                 counted.ok() ? required(arguments.result, "array") : counted));
  return create_array_handle(
      arguments.job,
      ArrayBase::attach(*arguments.job->contents, *parts, request.element, memory,
                        static_cast<std::size_t>(bytes), request.options),
      arguments.result);
}

Status free_array(tessera_array** array) {
  if (array != nullptr && *array != nullptr) {
    TESSERA_RETURN_IF_ERROR(check(*array));
    if (contents_of(*array).is_node_copy) {
      return Status::error(Code::invalid_argument,
                           name_of(*array) + " is this node's copy of a mirrored array")
          .hint("free the mirrored array by tessera_mirrored_free");
    }
  }
  return free_handle(array, [](ArrayContents& contents) { return contents.array->free(); });
}

Status give_box(const ArrayBase& array, rma::TeamRank member, std::int64_t* lo, std::int64_t* hi) {
  TESSERA_RETURN_IF_ERROR(required(lo, "lower bounds"));
  TESSERA_RETURN_IF_ERROR(required(hi, "upper bounds"));
  if (!array.distribution().is_one_block_per_rank()) {
    return Status::error(Code::unsupported,
                         array.describe() + " has several blocks on each rank, not one box")
        .hint("use tessera_distribution_block for each block");
  }
  const Box box = array.box_of(member);
  copy_list(box.lo(), lo);
  copy_list(box.hi(), hi);
  return {};
}

}  // namespace

extern "C" {

int tessera_array_create(tessera_job* job, tessera_type type, int64_t ndims,
                         const int64_t extents[], const tessera_array_options* options,
                         tessera_array** array) {
  return call(__func__, [&] { return create({{job, type, options}, array}, ndims, extents); });
}

int tessera_array_create_distributed(tessera_job* job, tessera_type type,
                                     const tessera_distribution* distribution,
                                     const tessera_array_options* options, tessera_array** array) {
  return call(__func__, [&] {
    return create_distributed({{job, type, options}, array}, distribution);
  });
}

int tessera_array_attach(tessera_job* job, tessera_type type,
                         const tessera_distribution* distribution, void* memory, int64_t bytes,
                         const tessera_array_options* options, tessera_array** array) {
  return call(__func__, [&] {
    return attach({{job, type, options}, array}, distribution, memory, bytes);
  });
}

int tessera_array_overlay(const tessera_array* base, tessera_type type,
                          const tessera_distribution* distribution, const char* name,
                          tessera_array** array) {
  return call_on(__func__, base, [&](const ArrayBase& lender) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const arrays::Distribution* const parts, open(distribution));
    const auto element = element_kind(type);
    TESSERA_RETURN_IF_ERROR(
        report_to_team(lender.team(), element.ok() ? required(array, "array") : element.status()));
    return create_array_handle(
        job_of(base), ArrayBase::overlay(lender, *parts, *element, name_or_unnamed(name)), array);
  });
}

int tessera_array_duplicate(const tessera_array* array, const char* name, tessera_array** copy) {
  return call_on(__func__, array, [&](const ArrayBase& original) -> Status {
    TESSERA_RETURN_IF_ERROR(report_to_team(original.team(), required(copy, "copy")));
    return create_array_handle(job_of(array), original.duplicate(name_or_unnamed(name)), copy);
  });
}

int tessera_array_free(tessera_array** array) {
  return call(__func__, [&] { return free_array(array); });
}

int tessera_array_ndims(const tessera_array* array, int64_t* ndims) {
  return call_on(__func__, array, [&](const ArrayBase& asked) -> Status {
    TESSERA_RETURN_IF_ERROR(required(ndims, "result"));
    *ndims = asked.ndims();
    return {};
  });
}

int tessera_array_extents(const tessera_array* array, int64_t extents[]) {
  return call_on(__func__, array, [&](const ArrayBase& asked) -> Status {
    TESSERA_RETURN_IF_ERROR(required(extents, "result"));
    copy_list(asked.extents(), extents);
    return {};
  });
}

int tessera_array_type(const tessera_array* array, tessera_type* type) {
  return call_on(__func__, array, [&](const ArrayBase& asked) -> Status {
    TESSERA_RETURN_IF_ERROR(required(type, "result"));
    *type = c_type(asked.element());
    return {};
  });
}

int tessera_array_describe(const tessera_array* array, char* text, int64_t capacity,
                           int64_t* length) {
  return call_on(__func__, array, [&](const ArrayBase& asked) {
    return copy_text(asked.describe(), text, capacity, length);
  });
}

int tessera_array_name(const tessera_array* array, char* text, int64_t capacity, int64_t* length) {
  return call_on(__func__, array, [&](const ArrayBase& asked) {
    return copy_text(asked.name(), text, capacity, length);
  });
}

int tessera_array_distribution(const tessera_array* array, tessera_distribution** distribution) {
  return call_on(__func__, array, [&](const ArrayBase& asked) -> Status {
    TESSERA_RETURN_IF_ERROR(required(distribution, "distribution"));
    *distribution = make_handle<tessera_distribution>(job_of(array), asked.distribution());
    return {};
  });
}

int tessera_array_team(const tessera_array* array, tessera_team** team) {
  return call_on(__func__, array, [&](const ArrayBase& asked) -> Status {
    TESSERA_RETURN_IF_ERROR(required(team, "team"));
    *team = make_handle<tessera_team>(job_of(array), asked.team());
    return {};
  });
}

int tessera_array_own_box(const tessera_array* array, int64_t lo[], int64_t hi[]) {
  return call_on(__func__, array, [&](const ArrayBase& asked) {
    return give_box(asked, asked.team().rank(), lo, hi);
  });
}

int tessera_array_box_of(const tessera_array* array, int64_t member, int64_t lo[], int64_t hi[]) {
  return call_on(__func__, array, [&](const ArrayBase& asked) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto of, team_rank(member, asked.team().size()));
    return give_box(asked, of, lo, hi);
  });
}

int tessera_array_owner(const tessera_array* array, const int64_t index[], int64_t* owner) {
  return call_on(__func__, array, [&](const ArrayBase& asked) -> Status {
    TESSERA_RETURN_IF_ERROR(required(owner, "result"));
    TESSERA_ASSIGN_OR_RETURN(const auto at, index_of(asked.extents(), index));
    *owner = asked.owner(at).value;
    return {};
  });
}

int tessera_array_patches(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                          int64_t capacity, tessera_patch patches[], int64_t* count) {
  return call_on(__func__, array, [&](const ArrayBase& asked) {
    return write_patches(asked.distribution(), lo, hi, {capacity, patches, count})
        .context(asked.describe());
  });
}

int tessera_type_bytes(tessera_type type, int64_t* bytes) {
  return call(__func__, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(required(bytes, "result"));
    TESSERA_ASSIGN_OR_RETURN(const auto kind, element_kind(type));
    *bytes = static_cast<std::int64_t>(kind.bytes);
    return {};
  });
}

}  // extern "C"

}  // namespace tessera::capi
