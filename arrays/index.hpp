// SPDX-License-Identifier: BSD-3-Clause
//
// Index, Extents and Strides: short lists of 64-bit numbers, one a dimension, as three types that
// do not mix.
//
// They are values of fixed capacity and never allocate. Dimension 0 is the first that one writes;
// in row-major order (the default) the last dimension is the fastest in memory.
//
// Entries beyond ndims() are zero. A list made from more than max_dims numbers keeps their count
// but not the surplus, so that check_extents() names the mistake; until checked, nothing but
// ndims(), == and the checks may be asked of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "rma/status.hpp"

namespace tessera::arrays {

inline constexpr int max_dims = 8;

/// Which dimension is the fastest in memory: the last (row-major) or the first.
enum class MemoryOrder : std::uint8_t { row_major, column_major };

/// The order that memory has with the dimensions the other way round.
[[nodiscard]] constexpr MemoryOrder reversed(MemoryOrder order) noexcept {
  return order == MemoryOrder::row_major ? MemoryOrder::column_major : MemoryOrder::row_major;
}

/// One number a dimension; Kind tells what the numbers mean.
template <class Kind>
class DimList {
 public:
  constexpr DimList() noexcept = default;
  constexpr DimList(
      std::initializer_list<std::int64_t> values) noexcept  // NOLINT: {3, 4} reads well
      : DimList(std::span(values.begin(), values.size())) {}
  explicit constexpr DimList(std::span<const std::int64_t> values) noexcept
      : ndims_(static_cast<int>(std::min(values.size(), std::size_t{max_dims} + 1))) {
    for (std::size_t i = 0; i < values.size() && i < std::size_t{max_dims}; ++i) {
      values_[i] = values[i];
    }
  }
  /// `ndims` times 0.
  static constexpr DimList zeros(int ndims) noexcept {
    DimList list;
    list.ndims_ = ndims;
    return list;
  }
  /// `ndims` times `value`.
  static constexpr DimList filled(int ndims, std::int64_t value) noexcept {
    DimList list = zeros(ndims);
    std::fill_n(list.values_.begin(), std::clamp(ndims, 0, max_dims), value);
    return list;
  }
  /// The same numbers with another meaning.
  template <class OtherKind>
  static constexpr DimList from(const DimList<OtherKind>& other) noexcept {
    DimList list = zeros(other.ndims());
    std::copy(other.begin(), other.end(), list.values_.begin());
    return list;
  }

  /// The last number first.
  [[nodiscard]] constexpr DimList reversed() const noexcept {
    DimList list = *this;
    std::reverse(list.values_.begin(), list.values_.begin() + std::clamp(ndims_, 0, max_dims));
    return list;
  }

  [[nodiscard]] constexpr int ndims() const noexcept { return ndims_; }
  [[nodiscard]] constexpr bool is_empty() const noexcept { return ndims_ == 0; }

  /// Requires: 0 ≤ dim < ndims().
  constexpr std::int64_t& operator[](int dim) noexcept {
    return values_[static_cast<std::size_t>(dim)];
  }
  constexpr std::int64_t operator[](int dim) const noexcept {
    return values_[static_cast<std::size_t>(dim)];
  }

  [[nodiscard]] constexpr const std::int64_t* begin() const noexcept { return values_.data(); }
  [[nodiscard]] constexpr const std::int64_t* end() const noexcept {
    return values_.data() + std::clamp(ndims_, 0, max_dims);
  }

  friend constexpr bool operator==(const DimList&, const DimList&) noexcept = default;

 private:
  std::array<std::int64_t, max_dims> values_ = {};
  int ndims_ = 0;
};

/// A point of an array; also the coordinates of a block.
using Index = DimList<struct IndexKind>;
/// Sizes along each dimension.
using Extents = DimList<struct ExtentsKind>;
/// Distances in memory between neighbours along each dimension, in elements.
using Strides = DimList<struct StridesKind>;

/// The product, 1 for no dimensions. Returns false when 64 bits do not hold it, unless a factor
/// is zero, which makes it zero. Requires: no factor is negative.
[[nodiscard]] constexpr bool checked_product(const Extents& factors,
                                             std::int64_t& product) noexcept {
  product = 1;
  if (std::find(factors.begin(), factors.end(), 0) != factors.end()) {
    product = 0;
    return true;
  }
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) {
      return false;
    }
  }
  return true;
}

/// The product. Requires: it fits 63 bits (check_extents).
[[nodiscard]] constexpr std::int64_t volume(const Extents& extents) noexcept {
  // Unsigned, as factors before a zero may overflow.
  std::uint64_t product = 1;
  for (const std::int64_t extent : extents) {
    product *= static_cast<std::uint64_t>(extent);
  }
  return static_cast<std::int64_t>(product);
}

/// The strides of an array without gaps; of no use for more than max_dims dimensions.
/// Requires: the volume fits 63 bits.
[[nodiscard]] constexpr Strides dense_strides(const Extents& extents,
                                              MemoryOrder order = MemoryOrder::row_major) noexcept {
  // Clamped, because users' lists come here before they are checked.
  const int ndims = std::min(extents.ndims(), max_dims);
  Strides strides = Strides::zeros(extents.ndims());
  std::uint64_t stride = 1;  // unsigned, as the other extents of an empty array may overflow
  for (int k = 0; k < ndims; ++k) {
    const int dim = order == MemoryOrder::row_major ? ndims - 1 - k : k;
    strides[dim] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(extents[dim]);
  }
  return strides;
}

/// Elements between the places of `from` and `to`. Requires: all have the same ndims().
[[nodiscard]] constexpr std::int64_t distance(const Index& from, const Index& to,
                                              const Strides& strides) noexcept {
  std::int64_t elements = 0;
  for (int dim = 0; dim < strides.ndims(); ++dim) {
    elements += (to[dim] - from[dim]) * strides[dim];
  }
  return elements;
}

/// The next index inside `counts` with dimension 0 the fastest in column-major order, else the
/// last; false, and zeros, after the last one. Requires: no count is zero.
constexpr bool advance(Index& index, const Extents& counts, MemoryOrder order) noexcept {
  const int ndims = counts.ndims();
  for (int k = 0; k < ndims; ++k) {
    const int dim = order == MemoryOrder::row_major ? ndims - 1 - k : k;
    if (++index[dim] < counts[dim]) {
      return true;
    }
    index[dim] = 0;
  }
  return false;
}

/// "(3, 4)".
std::string to_string(const Index& index);
/// "400 x 400"; "()" for no dimensions.
std::string to_string(const Extents& extents);

/// Errors: invalid_argument unless there are 1 to max_dims dimensions, none is negative and the
/// number of elements fits 63 bits. Extents of zero are legal: an array without elements.
rma::Status check_extents(const Extents& extents);

}  // namespace tessera::arrays
