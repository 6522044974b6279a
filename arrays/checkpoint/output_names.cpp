// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/output_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::arrays::detail {

using rma::Result;
using rma::Status;

Result<std::string> checked_name(std::string_view name) {
  const std::string_view plain = without_slash(name);
  std::string_view rest = plain;
  bool is_valid = !plain.empty() && plain.find('\0') == std::string_view::npos;
  while (is_valid && !rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    is_valid = !part.empty() && part != "." && part.size() != rest.size() - 1;
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return is_valid ? Result<std::string>(std::string(plain))
                  : Result<std::string>(
                        invalid(fmt::format("'{}' is not a valid name", name))
                            .hint("names look like 'T' or 'fields/T'; no part is empty or '.'"));
}

std::vector<std::string> groups_of(const std::string& name) {
  std::vector<std::string> groups;
  for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
    groups.push_back(name.substr(0, at));
  }
  return groups;
}

Result<std::vector<std::string>> missing_groups(const Catalog& catalog, const std::string& name) {
  if (catalog.attributes_of(name) != nullptr) {
    return invalid(fmt::format("the name '{}' is already in use", name))
        .hint("give each data set and group a different name; append() adds steps");
  }
  std::vector<std::string> missing;
  for (std::string& group : groups_of(name)) {
    if (catalog.find(group) != nullptr) {
      return invalid(fmt::format("'{}' is a data set, so '{}' can't be in it", group, name))
          .hint("choose a name in another group");
    }
    if (catalog.attributes_of(group) == nullptr) {
      missing.push_back(std::move(group));
    }
  }
  return missing;
}

}  // namespace tessera::arrays::detail
