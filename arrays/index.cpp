// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/index.hpp"

#include <fmt/format.h>

namespace tessera::arrays {
namespace {

template <class Kind>
std::string join(const DimList<Kind>& list, const char* separator) {
  std::string text;
  for (const std::int64_t entry : list) {
    text += text.empty() ? "" : separator;
    text += fmt::format("{}", entry);
  }
  return text;
}

}  // namespace

std::string to_string(const Index& index) {
  return fmt::format("({})", join(index, ", "));
}

std::string to_string(const Extents& extents) {
  return extents.is_empty() ? "()" : join(extents, " x ");
}

rma::Status check_extents(const Extents& extents) {
  using rma::Code;
  using rma::Status;
  if (extents.ndims() < 1) {
    return Status::error(Code::invalid_argument, "an array needs at least one dimension")
        .hint("for a single element use extents {1}");
  }
  if (extents.ndims() > max_dims) {
    return Status::error(Code::invalid_argument,
                         fmt::format("more than {} dimensions are given", max_dims))
        .hint(fmt::format("at most {} dimensions are possible; combine some of them", max_dims));
  }
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    if (extents[dim] < 0) {
      return Status::error(Code::invalid_argument,
                           fmt::format("extent {} of dimension {} is negative in {}", extents[dim],
                                       dim, to_string(extents)));
    }
  }
  std::int64_t elements = 0;
  if (!checked_product(extents, elements)) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("the number of elements of {} does not fit 63 bits", to_string(extents)));
  }
  return {};
}

}  // namespace tessera::arrays
