// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/operands.hpp"

#include "fortran/detail/arguments.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"

namespace tessera::capi {

using arrays::ArrayBase;
using rma::Code;
using rma::Result;
using rma::Status;

namespace {

Result<AnyPart> part_of(const tessera_part& given) {
  TESSERA_ASSIGN_OR_RETURN(const ArrayBase* const array, open_array(given.array));
  TESSERA_ASSIGN_OR_RETURN(const arrays::Box box, box_of(array->extents(), given.lo, given.hi));
  return AnyPart(*array, box);
}

Status check_type(const ArrayBase& first, const ArrayBase& other) {
  if (!first.element().type) {
    return Status::error(Code::invalid_argument,
                         first.describe() + " has opaque elements, which are only moved")
        .hint("create the array with one of the element types TESSERA_I32 to TESSERA_U64");
  }
  if (first.element().type != other.element().type) {
    return Status::error(Code::invalid_argument, first.describe() + " and " + other.describe() +
                                                     " have elements of different types");
  }
  return {};
}

Status check_operand(const ArrayBase& first, const tessera_part& given, bool is_alike,
                     AnyPart& part) {
  TESSERA_ASSIGN_OR_RETURN(part, part_of(given));
  return is_alike ? check_type(first, part.array()) : Status();
}

}  // namespace

Status check_operands(std::span<const tessera_part> given, std::size_t alike, Status first_error,
                      std::span<AnyPart> parts) {
  TESSERA_ASSIGN_OR_RETURN(const ArrayBase* const first, open_array(given[0].array));
  for (std::size_t i = 0; i < given.size() && first_error.ok(); ++i) {
    first_error = check_operand(*first, given[i], i < alike, parts[i]);
  }
  return report_to_team(first->team(), std::move(first_error));
}

Status check_numbers(std::initializer_list<const void*> numbers) {
  for (const void* const number : numbers) {
    TESSERA_RETURN_IF_ERROR(required(number, "number"));
  }
  return {};
}

}  // namespace tessera::capi
