// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/selection.hpp"

#include <fmt/format.h>

namespace tessera::arrays {

using rma::Code;
using rma::Status;

std::string to_string(const Section& section) {
  std::string text;
  const Box& box = section.box();
  for (int dim = 0; dim < std::min(section.ndims(), max_dims); ++dim) {
    text += fmt::format("{}[{},{}):{}", dim == 0 ? "" : " x ", box.lo(dim), box.hi(dim),
                        section.steps()[dim]);
  }
  return text;
}

Status check_inside(const Section& section, const Extents& extents) {
  TESSERA_RETURN_IF_ERROR(check_inside(section.box(), extents));
  if (section.steps().ndims() != extents.ndims()) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("{} steps for {} dimensions", section.steps().ndims(), extents.ndims()));
  }
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    if (section.steps()[dim] < 1) {
      return Status::error(Code::invalid_argument,
                           fmt::format("the step of dimension {} is {}", dim, section.steps()[dim]))
          .hint(
              "steps must be at least 1; give the local view negative strides to reverse a "
              "dimension");
    }
  }
  return {};
}

Status check_inside(const PeriodicBox& box, const Extents& extents) {
  TESSERA_RETURN_IF_ERROR(PeriodicPieces::split(box.box, extents, box.periodic).status());
  return check_volume(box.box);
}

}  // namespace tessera::arrays
