// SPDX-License-Identifier: BSD-3-Clause
//
// ArrayPart: the part of an array that corresponds to a box of a data set, and the transfers
// between the two.
//
// The box and the part have the same extents, except for those that are 1: an n x m array is the
// box [7,8) x [0,n) x [0,m) of a data set with time steps.
#pragma once

#include <array>
#include <cstddef>

#include "arrays/array_base.hpp"
#include "arrays/box.hpp"
#include "arrays/selection.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays::detail {

class ArrayPart {
 public:
  /// All of an array, as all of a data set. Requires: the array outlives this object, as below.
  explicit ArrayPart(const ArrayBase& array) noexcept;
  /// Errors: invalid_argument if the extents differ; out_of_range for a part outside the array.
  static rma::Result<ArrayPart> create(const ArrayBase& array, const Section& part,
                                       const Box& stored);

  /// The box of the data set.
  [[nodiscard]] const Box& stored() const noexcept { return stored_; }
  [[nodiscard]] const ArrayBase& array() const noexcept { return *array_; }
  /// One-sided. Starts to move the elements of `box`, which is inside stored(), between the array
  /// and local memory. `strides` are those of the data set's dimensions, in elements.
  [[nodiscard]] rma::Handle start(const Transfer& transfer, const Box& box, std::byte* first,
                                  const Strides& strides) const;

 private:
  ArrayPart(const ArrayBase& array, const Section& part, const Box& stored) noexcept
      : array_(&array), part_(part), stored_(stored) {}
  /// Sets stored_dim_; returns false if the extents differ.
  bool match() noexcept;

  const ArrayBase* array_;
  Section part_;
  Box stored_;
  std::array<int, max_dims> stored_dim_ = {};  ///< of each dimension of the array; −1: none
};

}  // namespace tessera::arrays::detail
