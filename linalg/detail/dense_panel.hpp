// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. How large the parts of dense arrays are that are held at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "arrays/array_base.hpp"
#include "linalg/detail/agreement.hpp"

namespace tessera::linalg::detail {

/// Elements of one panel: some MiB.
inline constexpr std::int64_t panel_elements = std::int64_t{1} << 19U;
/// Columns of one panel; rows are then long enough to be worth a transfer.
inline constexpr std::int64_t panel_columns = 512;

/// Rows of `columns` elements that a panel holds; at least one.
inline std::int64_t panel_rows(std::int64_t columns) noexcept {
  return std::max<std::int64_t>(panel_elements / std::max<std::int64_t>(columns, 1), 1);
}

/// One-sided. For an array that takes part in a collective, before its members meet: checks that it
/// has the `wanted` extents on the ranks of `team`, and fences, so that nothing that this rank
/// wrote to it before comes later. Errors: closed, invalid_argument.
inline rma::Status prepare_array(arrays::ArrayBase& array, const arrays::Extents& wanted,
                                 const rma::Team& team, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(array.check_open());
  if (array.extents() != wanted) {
    return rma::Status::error(
        rma::Code::invalid_argument,
        fmt::format("{}, {}, is not {}", what, array.describe(), arrays::to_string(wanted)));
  }
  if (!same_members(array.team(), team)) {
    return rma::Status::error(
               rma::Code::invalid_argument,
               fmt::format("{}, {}, is on another team than the matrix", what, array.describe()))
        .hint("make both with the same team, or copy the array into one on the matrix's team");
  }
  return array.fence();
}

/// One-sided. prepare_array() of an array that the collective only reads, and of one that it
/// writes. Errors: also invalid_argument where the access mode forbids that.
inline rma::Status prepare_source(arrays::ArrayBase& array, const arrays::Extents& wanted,
                                  const rma::Team& team, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(prepare_array(array, wanted, team, what));
  rma::Status readable = array.check_readable();
  return readable.ok() ? rma::Status() : std::move(readable).context(array.describe());
}
inline rma::Status prepare_target(arrays::ArrayBase& array, const arrays::Extents& wanted,
                                  const rma::Team& team, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(prepare_array(array, wanted, team, what));
  rma::Status writable = array.check_writable();
  return writable.ok() ? rma::Status() : std::move(writable).context(array.describe());
}

}  // namespace tessera::linalg::detail
