// SPDX-License-Identifier: BSD-3-Clause
//
// gather, scatter and scatter_accumulate: elements at a list of indices, on any ranks.
//
//     const std::vector<Index> at{{3, 4}, {0, 17}, {3, 4}};
//     std::vector<double> values(3);
//     gather(a, at, values);
//
// Elements in memory of this node are loaded and stored directly. Elements on other nodes are moved
// in batches, as one scattered transfer for each owner of a batch; the next batch is prepared while
// the last one is on its way. An index may be listed twice: gather reads its element twice,
// scatter_accumulate adds both values, and after a scatter the element has either value.
//
// All functions are one-sided, and complete as get, put and accumulate. Every index is checked
// before anything moves. Errors: out_of_range, which names the entry of the list; invalid_argument
// (fewer values than indices); those of get, put and accumulate; no_memory, after which some
// elements may have moved. Cost: O(listed indices) time, and memory for the lists of two batches;
// nothing that grows with the number of ranks.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "arrays/array.hpp"
#include "arrays/index.hpp"

namespace tessera::arrays {

/// A list of indices: either Index values, or all their numbers one after another.
class IndexList {
 public:
  // NOLINTBEGIN(google-explicit-constructor): a list of indices converts to IndexList
  IndexList(std::span<const Index> indices) noexcept
      : numbers_(indices.empty() ? nullptr : indices.front().begin()),
        count_(std::ssize(indices)),
        stride_(sizeof(Index) / sizeof(std::int64_t)),
        indices_(indices) {}
  template <class List>
  requires std::convertible_to<const List&, std::span<const Index>> IndexList(const List& indices)
  noexcept : IndexList(std::span<const Index>(indices)) {}
  // NOLINTEND(google-explicit-constructor)
  /// `ndims` numbers for each index. Requires: the count of numbers is a multiple of `ndims`.
  static IndexList flat(std::span<const std::int64_t> numbers, int ndims) noexcept {
    return {numbers, ndims};
  }

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  /// The numbers of the index at position `number` of the list, one for each dimension.
  [[nodiscard]] const std::int64_t* operator[](std::int64_t number) const noexcept {
    return numbers_ + number * stride_;
  }
  /// The number of dimensions of the index at position `number` of the list.
  [[nodiscard]] int ndims(std::int64_t number) const noexcept {
    return indices_.empty() ? static_cast<int>(stride_)
                            : indices_[static_cast<std::size_t>(number)].ndims();
  }

 private:
  IndexList(std::span<const std::int64_t> numbers, int ndims) noexcept
      : numbers_(numbers.data()),
        count_(ndims < 1 ? 0 : std::ssize(numbers) / ndims),
        stride_(ndims) {}

  const std::int64_t* numbers_;
  std::int64_t count_;
  std::int64_t stride_;
  std::span<const Index> indices_;
};

/// One-sided. For callers that know the elements only by their size: `values` has room for
/// `count_values` elements.
rma::Status transfer_elements(const ArrayBase& array, const IndexList& indices, void* values,
                              std::int64_t count_values, const Transfer& transfer);

/// One-sided. values[i] = the element at indices[i]. Complete: the data is in `values` at return.
template <class T>
rma::Status gather(const Array<T>& array, const IndexList& indices,
                   std::type_identity_t<std::span<T>> values) {
  return transfer_elements(array, indices, values.data(), std::ssize(values), Transfer::get());
}

/// One-sided. The element at indices[i] = values[i]. Complete: as put.
template <class T>
rma::Status scatter(const Array<T>& array, const IndexList& indices,
                    std::type_identity_t<std::span<const T>> values) {
  return transfer_elements(array, indices, const_cast<T*>(values.data()), std::ssize(values),
                           Transfer::put());
}

/// One-sided. The element at indices[i] += alpha · values[i], atomic for each element. Complete: as
/// accumulate.
template <rma::Element T>
rma::Status scatter_accumulate(const Array<T>& array, const IndexList& indices,
                               std::type_identity_t<std::span<const T>> values,
                               std::type_identity_t<T> alpha = T{1}) {
  return transfer_elements(array, indices, const_cast<T*>(values.data()), std::ssize(values),
                           Transfer::accumulate(rma::Scale::of(alpha)));
}

/// One-sided. The same with another operation than a sum, such as the greater of the two. Errors:
/// also unsupported, as Array::accumulate().
template <rma::Element T>
rma::Status scatter_accumulate(const Array<T>& array, const IndexList& indices,
                               std::type_identity_t<std::span<const T>> values,
                               rma::AccumulateOp op) {
  return transfer_elements(array, indices, const_cast<T*>(values.data()), std::ssize(values),
                           Transfer::accumulate(rma::Scale::by(op, rma::element_type<T>())));
}

}  // namespace tessera::arrays
