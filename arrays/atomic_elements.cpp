// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/atomic_elements.hpp"

#include <fmt/format.h>

#include <utility>

#include "rma/base/catch_bad_alloc.hpp"

namespace tessera::arrays {

using rma::Result;
using rma::Status;

namespace {

Result<std::vector<rma::RemoteAddress>> locate_all(const ArrayBase& array,
                                                   const IndexList& indices) {
  std::vector<rma::RemoteAddress> addresses;
  addresses.reserve(static_cast<std::size_t>(indices.count()));
  for (std::int64_t i = 0; i < indices.count(); ++i) {
    const Index index(std::span(indices[i], static_cast<std::size_t>(indices.ndims(i))));
    TESSERA_RETURN_IF_ERROR(
        check_inside(index, array.extents()).context(fmt::format("entry {} of the list", i)));
    const ElementLocation location = array.distribution().locate(index);
    const std::uint64_t offset =
        static_cast<std::uint64_t>(location.offset) * array.element_bytes();
    addresses.push_back(array.region().at(location.owner, offset));
    if (array.state()->races) [[unlikely]] {
      array.state()->races->note(detail::AccessKind::atomic, Box::at(index));
    }
  }
  return addresses;
}

}  // namespace

Result<std::vector<rma::RemoteAddress>> atomic_addresses(const ArrayBase& array,
                                                         const IndexList& indices) {
  Status allowed = array.check_transfer(Transfer::put());
  auto found = allowed.ok()
                   ? rma::detail::catch_bad_alloc([&] { return locate_all(array, indices); })
                   : Result<std::vector<rma::RemoteAddress>>(std::move(allowed));
  if (found.ok()) {
    return found;
  }
  return array.name_rank(std::move(found).status().context(
      fmt::format("atomics on {} elements of {}", indices.count(), array.describe())));
}

}  // namespace tessera::arrays
