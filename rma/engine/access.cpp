// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/access.hpp"

#include <fmt/format.h>

namespace tessera::rma::detail {

std::string_view to_string(AccessMode mode) noexcept {
  switch (mode) {
    case AccessMode::any:
      return "any";
    case AccessMode::read_only:
      return "read_only";
    case AccessMode::accumulate_only:
      return "accumulate_only";
    case AccessMode::no_local_access:
      return "no_local_access";
  }
  return "unknown";
}

Status forbidden(std::string_view what, AccessMode mode) {
  return Status::error(Code::invalid_argument,
                       fmt::format("{}, whose access mode is {}", what, to_string(mode)))
      .hint(
          "set another mode first, on all members: Region::set_access_mode, or ARMCIX_Mode_set in "
          "ARMCI programs");
}

}  // namespace tessera::rma::detail
