// SPDX-License-Identifier: BSD-3-Clause
//
// Names of data sets and groups: "fields/T", with or without a '/' in front.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arrays/checkpoint/catalog.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays::detail {

/// The name without a '/' in front. Errors: invalid_argument for an impossible name.
rma::Result<std::string> checked_name(std::string_view name);

/// "fields" and "fields/more" for "fields/more/T".
std::vector<std::string> groups_of(const std::string& name);

/// The groups of a new object that the file lacks. Errors: invalid_argument if the name, or the
/// name of one of its groups, is that of something else.
rma::Result<std::vector<std::string>> missing_groups(const Catalog& catalog,
                                                     const std::string& name);

}  // namespace tessera::arrays::detail
