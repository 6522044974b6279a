// SPDX-License-Identifier: BSD-3-Clause
//
// Catalog: the description of a checkpoint's arrays, without their elements. One member reads it
// and sends it to the others as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arrays/index.hpp"
#include "rma/base/result.hpp"
#include "rma/element.hpp"

namespace tessera::arrays::detail {

inline rma::Status invalid(std::string what) {
  return rma::Status::error(rma::Code::invalid_argument, std::move(what));
}

using StoredValue = std::variant<std::int64_t, double, std::string>;

struct StoredArray {
  std::string name;
  Extents extents;
  std::optional<rma::ElementType> type;  ///< unset: opaque, or an unknown type
  bool is_opaque = false;
  std::int64_t element_bytes = 0;
  std::string type_text;     ///< in messages
  std::string distribution;  ///< readable text; empty in files of other programs
  std::vector<std::int64_t> distribution_numbers;
  std::int64_t piece_elements = 0;       ///< in each piece; the last may have fewer
  std::vector<std::uint64_t> checksums;  ///< empty in files of other programs
  std::int64_t offset = -1;       ///< of the elements in the file, in bytes; −1: no elements
  std::string unreadable_reason;  ///< the reason if it can't be read; empty if it can
};

struct Catalog {
  bool is_ours = false;  ///< written by Tessera, not by another program
  std::vector<StoredArray> arrays;
  std::vector<std::pair<std::string, StoredValue>> attributes;

  /// Null if the file has no array of that name.
  [[nodiscard]] const StoredArray* find(std::string_view name) const noexcept;
};

/// The catalog as bytes, for another process of this job.
std::vector<std::byte> pack(const Catalog& catalog);
/// Requires: `bytes` are the result of pack().
Catalog unpack(std::span<const std::byte> bytes);

/// The number of pieces that the elements of an array are cut into.
std::int64_t piece_count(const StoredArray& array) noexcept;

}  // namespace tessera::arrays::detail
