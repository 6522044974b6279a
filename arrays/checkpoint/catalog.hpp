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
#include <vector>

#include "arrays/attribute_value.hpp"
#include "arrays/checkpoint/filters.hpp"
#include "arrays/index.hpp"
#include "rma/base/result.hpp"
#include "rma/element.hpp"

namespace tessera::arrays::detail {

inline rma::Status invalid(std::string what) {
  return rma::Status::error(rma::Code::invalid_argument, std::move(what));
}

using StoredAttributes = std::vector<std::pair<std::string, AttributeValue>>;

struct StoredArray {
  std::string name;  ///< with its groups: "fields/T"
  Extents extents;
  /// The type of an array that it is read into by default. Unset: opaque, or an unknown type.
  std::optional<rma::ElementType> type;
  bool is_opaque = false;
  bool is_native = false;               ///< its elements have exactly that type in the file
  std::uint32_t compatible_types = 0;   ///< bit i: ElementType(i) can hold every value
  std::vector<std::byte> encoded_type;  ///< libhdf5's description of the type in the file
  std::int64_t element_bytes = 0;       ///< in the file
  std::string type_text;                ///< in messages
  std::string distribution;             ///< readable text; empty in files of other programs
  std::vector<std::int64_t> distribution_numbers;
  std::int64_t piece_elements = 0;       ///< in each piece; the last may have fewer
  std::vector<std::uint64_t> checksums;  ///< of pieces or chunks; empty in files of other programs
  std::int64_t offset = -1;  ///< of contiguous elements in the file, in bytes; −1: no elements
  std::string unreadable_reason;  ///< the reason if it can't be read; empty if it can
  bool is_foreign = false;        ///< the reason is a feature of other programs, not damage

  Extents chunk;               ///< no dimensions: contiguous
  bool is_extendible = false;  ///< the first dimension is unlimited
  std::vector<StoredFilter> filters;
  std::vector<std::byte> fill;  ///< the value of elements that were never written; empty: zero
  StoredAttributes attributes;

  [[nodiscard]] bool is_chunked() const noexcept { return chunk.ndims() > 0; }
};

struct StoredGroup {
  std::string name;  ///< "/" for the file itself
  StoredAttributes attributes;
};

struct Catalog {
  bool is_ours = false;  ///< written by Tessera, not by another program
  std::vector<StoredArray> arrays;
  std::vector<StoredGroup> groups;  ///< begins with the file itself
  std::vector<double> grid;         ///< xdmf.hpp
  /// An object that an Output could not keep if it appended; empty if there is none.
  std::string not_kept;

  /// Null if the file has no array of that name, which may begin with '/'.
  [[nodiscard]] const StoredArray* find(std::string_view name) const noexcept;
  /// The attributes of an array or a group; null if there is no such object.
  [[nodiscard]] const StoredAttributes* attributes_of(std::string_view object) const noexcept;
  [[nodiscard]] StoredAttributes* attributes_of(std::string_view object) noexcept;
};

/// The name without a '/' in front.
[[nodiscard]] std::string_view without_slash(std::string_view name) noexcept;

/// The catalog as bytes, for another process of this job.
std::vector<std::byte> pack(const Catalog& catalog);
/// Requires: `bytes` are the result of pack().
Catalog unpack(std::span<const std::byte> bytes);

/// The number of pieces that the elements of an array are cut into, or of chunks.
std::int64_t piece_count(const StoredArray& array) noexcept;

}  // namespace tessera::arrays::detail
