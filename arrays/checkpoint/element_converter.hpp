// SPDX-License-Identifier: BSD-3-Clause
//
// ElementConverter: converts elements from the type of a data set to that of an array, with
// libhdf5. It is part of what libhdf5 does on each rank; hdf5_absent.cpp replaces it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "arrays/checkpoint/catalog.hpp"
#include "rma/base/result.hpp"
#include "rma/element.hpp"

namespace tessera::arrays::detail {

class ElementConverter {
 public:
  /// For elements that stay as they are, which costs nothing.
  ElementConverter() noexcept;
  /// From the type of `stored` to `type`, which holds every value of it; unset: opaque elements,
  /// which stay as they are. Errors: internal, with libhdf5's message; no_memory.
  static rma::Result<ElementConverter> create(const StoredArray& stored,
                                              std::optional<rma::ElementType> type);
  ElementConverter(ElementConverter&&) noexcept;
  ElementConverter& operator=(ElementConverter&&) noexcept;
  ~ElementConverter();

  /// Bytes of a buffer for each element, before and after the conversion.
  [[nodiscard]] std::int64_t max_bytes(const StoredArray& stored) const noexcept;
  /// Converts `count` elements in place; the buffer has max_bytes() for each. Errors: as create().
  [[nodiscard]] rma::Status convert(std::byte* elements, std::int64_t count) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::arrays::detail
