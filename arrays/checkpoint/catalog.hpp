// SPDX-License-Identifier: BSD-3-Clause
//
// Catalog: what a checkpoint tells of its arrays, without their elements. One member reads it and
// the others get it as bytes.
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
#include "rma/element.hpp"
#include "rma/result.hpp"

namespace tessera::arrays::detail {

using StoredValue = std::variant<std::int64_t, double, std::string>;

struct StoredArray {
  std::string name;
  Extents extents;
  std::optional<rma::ElementType> type;  ///< none: opaque, or a type that is not known here
  bool is_opaque = false;
  std::int64_t element_bytes = 0;
  std::string type_text;     ///< for messages
  std::string distribution;  ///< for people; empty in files of others
  std::vector<std::int64_t> distribution_numbers;
  std::int64_t piece_elements = 0;       ///< of which each checksum tells; the last has fewer
  std::vector<std::uint64_t> checksums;  ///< none in files of others
  std::int64_t offset = -1;  ///< of the elements in the file, in bytes; −1: none there
  std::string why_not;       ///< why it can't be read; empty if it can
};

struct Catalog {
  bool is_ours = false;  ///< written by Tessera, not by others
  std::vector<StoredArray> arrays;
  std::vector<std::pair<std::string, StoredValue>> attributes;

  /// Null when there is none of that name.
  [[nodiscard]] const StoredArray* find(std::string_view name) const noexcept;
};

/// The catalog as bytes, for another process of this job.
std::vector<std::byte> pack(const Catalog& catalog);
/// Requires: what pack() gave.
Catalog unpack(std::span<const std::byte> bytes);

/// How many pieces the elements of an array are cut into.
std::int64_t piece_count(const StoredArray& array) noexcept;

}  // namespace tessera::arrays::detail
