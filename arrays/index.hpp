// SPDX-License-Identifier: BSD-3-Clause
//
// Index, Extents and Strides: short lists of 64-bit numbers, one for each dimension, as three types
// that do not mix.
//
// They are values of fixed capacity and never allocate. Dimension 0 is the first one in a list; in
// row-major order (the default) the last dimension is the fastest in memory.
//
// Entries beyond ndims() are zero. A list made from more than max_dims numbers keeps their count
// but not the numbers beyond max_dims, so that check_extents() can name the mistake. Until it is
// checked, only ndims(), == and the checks may be called.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "rma/base/status.hpp"

namespace tessera::arrays {

inline constexpr int max_dims = 8;

/// Which dimension is the fastest in memory: the last (row-major) or the first.
enum class MemoryOrder : std::uint8_t { row_major, column_major };

/// The order of the same memory if the dimensions are reversed.
[[nodiscard]] constexpr MemoryOrder reversed(MemoryOrder order) noexcept {
  return order == MemoryOrder::row_major ? MemoryOrder::column_major : MemoryOrder::row_major;
}

/// One number for each dimension; Kind distinguishes what the numbers mean.
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
  /// `ndims` zeros.
  static constexpr DimList zeros(int ndims) noexcept {
    DimList list;
    list.ndims_ = ndims;
    return list;
  }
  /// `ndims` copies of `value`.
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

  /// The numbers in reverse order.
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

/// The position of an element of an array; also the coordinates of a block.
using Index = DimList<struct IndexKind>;
/// Sizes along each dimension, in elements.
using Extents = DimList<struct ExtentsKind>;
/// Distances in memory between neighbours along each dimension, in elements.
using Strides = DimList<struct StridesKind>;

/// The product of all factors; 1 if there are none. Returns false if it does not fit 63 bits; a
/// factor of zero makes it zero in any case. Requires: no factor is negative.
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

/// The product of all extents. Requires: it fits 63 bits (check_extents).
[[nodiscard]] constexpr std::int64_t volume(const Extents& extents) noexcept {
  // Unsigned, as factors before a zero may overflow.
  std::uint64_t product = 1;
  for (const std::int64_t extent : extents) {
    product *= static_cast<std::uint64_t>(extent);
  }
  return static_cast<std::int64_t>(product);
}

/// The strides of an array without gaps; meaningless for more than max_dims dimensions. Requires:
/// the volume fits 63 bits.
[[nodiscard]] constexpr Strides dense_strides(const Extents& extents,
                                              MemoryOrder order = MemoryOrder::row_major) noexcept {
  // Clamped, because callers pass lists that are not checked yet.
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

/// The distance in memory from index `from` to index `to`, in elements. Requires: all have the same
/// ndims().
[[nodiscard]] constexpr std::int64_t distance(const Index& from, const Index& to,
                                              const Strides& strides) noexcept {
  std::int64_t elements = 0;
  for (int dim = 0; dim < strides.ndims(); ++dim) {
    elements += (to[dim] - from[dim]) * strides[dim];
  }
  return elements;
}

/// Moves to the next index inside `counts`. The fastest dimension is 0 in column-major order, else
/// the last. After the last index returns false, and sets zeros. Requires: no count is zero.
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

/// Errors: invalid_argument unless there are 1 to max_dims dimensions, none is negative, and the
/// number of elements fits 63 bits. Extents of zero are legal: an array without elements.
rma::Status check_extents(const Extents& extents);

}  // namespace tessera::arrays
