// SPDX-License-Identifier: BSD-3-Clause
//
// Properties: how a program promises to use an array for a while.
#include <fmt/format.h>

#include "fortran/ga/operations.hpp"

namespace tessera::ga {

namespace {

// The size of each process's cache of elements from other nodes.
constexpr std::size_t cache_bytes = std::size_t{64} << 20;

}  // namespace

// read_only: each node has a copy. read_cache: each process caches elements from other nodes.
Status set_property(Record& record, std::string_view property) {
  arrays::ArrayBase& array = record.array();
  if (array.access_mode() != rma::AccessMode::any) {
    return Status::error(Code::invalid_argument, record.describe() + " has a property already")
        .hint("call GA_Unset_property before");
  }
  if (property == "read_only") {
    return array.set_access_mode(rma::AccessMode::read_only, {.copy_on_each_node = true});
  }
  if (property == "read_cache") {
    return array.set_access_mode(rma::AccessMode::read_only, {.cache_bytes = cache_bytes});
  }
  return Status::error(Code::invalid_argument,
                       fmt::format("a property is read_only or read_cache, not '{}'", property));
}

Status unset_property(Record& record) {
  return record.array().set_access_mode(rma::AccessMode::any);
}

}  // namespace tessera::ga
