// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c/mirrored.h"

#include <memory>
#include <string>
#include <utility>

#include "arrays/mirrored.hpp"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/arrays.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"
#include "fortran/detail/mirrored.hpp"
#include "rma/element.hpp"

namespace tessera::capi {
namespace {

using arrays::Array;
using arrays::ArrayBase;
using arrays::Box;
using arrays::Extents;
using arrays::Mirrored;
using arrays::Subarray;
using rma::Code;
using rma::Result;
using rma::Status;

template <class T>
Status give_mirrored(tessera_job* job, Mirrored<T> made, tessera_mirrored** result) {
  const rma::Team team = made.team();
  const auto mirrored = std::make_shared<Mirrored<T>>(std::move(made));
  const std::string name = "array '" + mirrored->node_copy().name() + "'";
  auto copy = std::make_unique<ArrayContents>(ArrayContents{
      .array = std::shared_ptr<ArrayBase>(mirrored, &mirrored->node_copy()), .is_node_copy = true});
  tessera_array* const here = make_handle<tessera_array>(job, std::move(copy), name);
  *result = make_handle<tessera_mirrored>(
      job, std::make_unique<MirroredContents>(MirroredContents{team, mirrored, here}),
      "mirrored " + name);
  return {};
}

Status check_is_number(const ArrayRequest& request) {
  return request.element.type
             ? Status()
             : Status::error(Code::invalid_argument,
                             "mirrored array '" + request.options.name +
                                 "': opaque elements, which are only moved, have no sum")
                   .hint(
                       "use one of the element types TESSERA_I32 to "
                       "TESSERA_U64");
}

Status create(const NewArrayArguments& arguments, std::int64_t ndims, const std::int64_t* extents,
              tessera_mirrored** result) {
  const auto sizes = required_list<Extents>(extents, ndims, "extents");
  TESSERA_ASSIGN_OR_RETURN(
      const ArrayRequest request,
      request_of(arguments, ndims,
                 sizes.ok() ? required(result, "mirrored array") : sizes.status()));
  rma::Team team = *request.options.team;
  TESSERA_RETURN_IF_ERROR(report_to_team(team, check_is_number(request)));
  return rma::dispatch(*request.element.type, [&]<class T>(rma::Tag<T>) -> Status {
    TESSERA_ASSIGN_OR_RETURN(
        auto made, Mirrored<T>::create(*arguments.job->contents, *sizes, request.options));
    return give_mirrored(arguments.job, std::move(made), result);
  });
}

/// Calls `act`, which takes a Mirrored<T>& and returns a Status, with the contents of a handle.
template <class Act>
Status with(const MirroredContents& contents, const Act& act) {
  const auto type = *array_of(contents.here).element().type;
  return rma::dispatch(type, [&]<class T>(rma::Tag<T>) -> Status {
    return act(*static_cast<Mirrored<T>*>(contents.mirrored.get()));
  });
}

Status free_copies(const MirroredContents& contents) {
  Status status = with(contents, [](auto& mirrored) { return mirrored.free(); });
  end_handle(contents.here);
  return status;
}

template <class T>
Result<Subarray<T>> part_of(const tessera_part& given, const Array<T>& like) {
  TESSERA_ASSIGN_OR_RETURN(const ArrayBase* const array, open_array(given.array));
  TESSERA_ASSIGN_OR_RETURN(const Box box, box_of(array->extents(), given.lo, given.hi));
  if (array->element().type != like.element().type) {
    return Status::error(Code::invalid_argument, like.describe() + " and " + array->describe() +
                                                     " have elements of different types");
  }
  return Subarray<T>(static_cast<const Array<T>&>(*array), box);
}

struct MirroredBounds {
  const std::int64_t* lo;
  const std::int64_t* hi;
};

/// Calls move(mirrored, box, part), which moves elements between the box of the copies and the
/// part.
template <class Move>
int move_box(const char* function, const tessera_mirrored* handle, const MirroredBounds& bounds,
             const tessera_part& other, const Move& move) {
  return call_on(function, handle, [&](MirroredContents& contents) {
    return with(contents, [&]<class T>(Mirrored<T>& mirrored) -> Status {
      const auto box = box_of(mirrored.node_copy().extents(), bounds.lo, bounds.hi);
      const auto part = part_of(other, mirrored.node_copy());
      TESSERA_RETURN_IF_ERROR(
          report_to_team(contents.team, box.ok() ? part.status() : box.status()));
      return move(mirrored, *box, *part);
    });
  });
}

}  // namespace

extern "C" {

int tessera_mirrored_create(tessera_job* job, tessera_type type, int64_t ndims,
                            const int64_t extents[], const tessera_array_options* options,
                            tessera_mirrored** mirrored) {
  return call(__func__, [&] { return create({job, type, options}, ndims, extents, mirrored); });
}

int tessera_mirrored_free(tessera_mirrored** mirrored) {
  return call(__func__, [&] { return free_handle(mirrored, free_copies); });
}

int tessera_mirrored_local_copy(const tessera_mirrored* mirrored, tessera_array** here) {
  return call_on(__func__, mirrored, [&](const MirroredContents& contents) -> Status {
    TESSERA_RETURN_IF_ERROR(required(here, "array"));
    *here = contents.here;
    return {};
  });
}

int tessera_mirrored_merge(tessera_mirrored* mirrored) {
  return call_on(__func__, mirrored, [](const MirroredContents& contents) {
    return with(contents, [](auto& copies) { return copies.merge(); });
  });
}

int tessera_mirrored_merge_into(tessera_mirrored* mirrored, const int64_t lo[], const int64_t hi[],
                                tessera_part to) {
  return move_box(__func__, mirrored, {lo, hi}, to,
                  [](auto& copies, const Box& box, const auto& target) {
                    return copies.merge_into(box, target);
                  });
}

int tessera_mirrored_load(tessera_mirrored* mirrored, const int64_t lo[], const int64_t hi[],
                          tessera_part from) {
  return move_box(
      __func__, mirrored, {lo, hi}, from,
      [](auto& copies, const Box& box, const auto& source) { return copies.load(box, source); });
}

}  // extern "C"

}  // namespace tessera::capi
