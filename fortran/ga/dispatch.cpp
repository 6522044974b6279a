// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/dispatch.hpp"

#include <fmt/format.h>

namespace tessera::ga {

namespace {

Status unlike(const Part& one, const Part& other) {
  return Status::error(Code::invalid_argument,
                       fmt::format("{} has elements of type {}, and {} of type {}",
                                   one.record->describe(), to_string(one.record->type()),
                                   other.record->describe(), to_string(other.record->type())));
}

}  // namespace

Result<rma::ElementType> common_type(std::span<const Part> parts) {
  const auto& type = parts[0].record->array().element().type;
  if (!type) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("{} has elements of type {}, which are only moved", parts[0].record->describe(),
                    to_string(parts[0].record->type())));
  }
  for (const Part& part : parts) {
    if (part.record->array().element().type != type) {
      return unlike(parts[0], part);
    }
  }
  return *type;
}

Result<rma::ElementType> common_scalar_type(std::span<const Part> parts) {
  TESSERA_ASSIGN_OR_RETURN(const rma::ElementType type, common_type(parts));
  if (rma::is_integer(type)) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("{} has elements of type {}, which linear algebra does not "
                           "support",
                           parts[0].record->describe(), to_string(parts[0].record->type())))
        .hint("use C_FLOAT, C_DBL, C_SCPL or C_DCPL");
  }
  return type;
}

}  // namespace tessera::ga
