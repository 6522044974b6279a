// SPDX-License-Identifier: BSD-3-Clause
//
// gather, scatter and scatter_accumulate: elements at listed places, wherever they lie.
//
//     const std::vector<Index> at{{3, 4}, {0, 17}, {3, 4}};
//     std::vector<double> values(3);
//     gather(a, at, values);
//
// Elements in memory of this node are loaded and stored where they are. Those of other nodes go as
// one scattered transfer for each owner of a batch, the next batch while the last one travels.
// A place may be listed twice: a gather reads it twice, an accumulate adds both, and of a scatter
// either value stays.
//
// All are one-sided, and complete as get, put and accumulate are. Every place is checked before
// anything moves. Errors: out_of_range, which names the entry of the list; invalid_argument (fewer
// values than places); and those of get, put and accumulate. no_memory, when some elements may have
// moved.
// Cost: O(places), the lists of two batches; nothing that grows with the number of ranks.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "arrays/array.hpp"
#include "arrays/index.hpp"

namespace tessera::arrays {

/// A list of places: a list of indices, or all their numbers one after the other.
class Places {
 public:
  // NOLINTBEGIN(google-explicit-constructor): what is listed is a list of places
  Places(std::span<const Index> indices) noexcept
      : numbers_(indices.empty() ? nullptr : indices.front().begin()),
        count_(std::ssize(indices)),
        stride_(sizeof(Index) / sizeof(std::int64_t)),
        indices_(indices) {}
  template <class List>
  requires std::convertible_to<const List&, std::span<const Index>> Places(const List& indices)
  noexcept : Places(std::span<const Index>(indices)) {}
  // NOLINTEND(google-explicit-constructor)
  /// `ndims` numbers for each place. Requires: a whole number of places.
  static Places flat(std::span<const std::int64_t> numbers, int ndims) noexcept {
    return {numbers, ndims};
  }

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  /// The `number`-th place's numbers, one for each dimension.
  [[nodiscard]] const std::int64_t* operator[](std::int64_t number) const noexcept {
    return numbers_ + number * stride_;
  }
  /// The dimensions of the `number`-th place.
  [[nodiscard]] int ndims(std::int64_t number) const noexcept {
    return indices_.empty() ? static_cast<int>(stride_)
                            : indices_[static_cast<std::size_t>(number)].ndims();
  }

 private:
  Places(std::span<const std::int64_t> numbers, int ndims) noexcept
      : numbers_(numbers.data()),
        count_(ndims < 1 ? 0 : std::ssize(numbers) / ndims),
        stride_(ndims) {}

  const std::int64_t* numbers_;
  std::int64_t count_;
  std::int64_t stride_;
  std::span<const Index> indices_;
};

/// For those who know the elements only by their size: `values` has room for all of them.
rma::Status transfer_elements(const ArrayBase& array, const Places& places, void* values,
                              std::int64_t count_values, const Transfer& transfer);

/// One-sided. values[i] = the element at places[i].
template <class T>
rma::Status gather(const Array<T>& array, const Places& places,
                   std::type_identity_t<std::span<T>> values) {
  return transfer_elements(array, places, values.data(), std::ssize(values), Transfer::get());
}

/// One-sided. The element at places[i] = values[i].
template <class T>
rma::Status scatter(const Array<T>& array, const Places& places,
                    std::type_identity_t<std::span<const T>> values) {
  return transfer_elements(array, places, const_cast<T*>(values.data()), std::ssize(values),
                           Transfer::put());
}

/// One-sided. The element at places[i] += alpha * values[i], atomic for each element.
template <rma::Element T>
rma::Status scatter_accumulate(const Array<T>& array, const Places& places,
                               std::type_identity_t<std::span<const T>> values,
                               std::type_identity_t<T> alpha = T{1}) {
  return transfer_elements(array, places, const_cast<T*>(values.data()), std::ssize(values),
                           Transfer::accumulate(rma::Scale::of(alpha)));
}

}  // namespace tessera::arrays
