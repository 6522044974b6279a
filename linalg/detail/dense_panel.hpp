// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The sizes of the parts of dense arrays that are held in memory at the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "arrays/array_base.hpp"
#include "linalg/detail/agreement.hpp"

namespace tessera::linalg::detail {

/// Elements in one panel: some MiB.
inline constexpr std::int64_t panel_elements = std::int64_t{1} << 19U;
/// Columns in one panel; its rows are then long enough for efficient transfers.
inline constexpr std::int64_t panel_columns = 512;

/// The number of rows of `columns` elements that fit a panel; at least one.
inline std::int64_t panel_rows(std::int64_t columns) noexcept {
  return std::max<std::int64_t>(panel_elements / std::max<std::int64_t>(columns, 1), 1);
}

/// One-sided. Prepares an array for a collective, before its members synchronise. Checks that it
/// has the `wanted` extents on the ranks of `team`, and fences, so that this rank's earlier writes
/// to it are complete. Errors: closed, invalid_argument.
inline rma::Status prepare_array(arrays::ArrayBase& array, const arrays::Extents& wanted,
                                 const rma::Team& team, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(array.check_open());
  if (array.extents() != wanted) {
    return rma::Status::error(rma::Code::invalid_argument,
                              fmt::format("{}, {}, does not have the extents {}", what,
                                          array.describe(), arrays::to_string(wanted)));
  }
  if (!same_members(array.team(), team)) {
    return rma::Status::error(
               rma::Code::invalid_argument,
               fmt::format("{}, {}, is on another team than the matrix", what, array.describe()))
        .hint("make both with the same team, or copy the array into one on the matrix's team");
  }
  return array.fence();
}

/// One-sided. As prepare_array(), for an array that the collective only reads; below, for one that
/// it writes. Errors: also invalid_argument if the access mode forbids that.
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
