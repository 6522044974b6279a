// SPDX-License-Identifier: BSD-3-Clause
//
// LocalAccess<T>: the scoped right to load and store the elements that this rank owns, and its
// ghost cells, without any copy.
//
//     auto access = a.local().value();
//     auto u = access.view();                        // by global indices, ghost cells too
//     for (std::int64_t i = access.own().lo(0); i < access.own().hi(0); ++i) … u(i, j) …
//
// Other ranks may read and write the same elements meanwhile; synchronise with Array::sync() as
// between any two ranks.
#pragma once

#include <utility>

#include "arrays/array_base.hpp"
#include "arrays/view.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

template <class T>
class LocalAccess {
 public:
  /// Local. Errors: closed (the array was freed), unsupported (several blocks a rank).
  static rma::Result<LocalAccess> begin(ArrayBase& array) {
    auto right = try_begin(array);
    if (!right.ok()) {
      return std::move(right).status().context("local access to " + array.describe());
    }
    return LocalAccess(array, std::move(right).take());
  }

  /// Ends the access and reports; the destructor does so and logs.
  rma::Status end() { return right_.end(); }

  /// What this rank owns, without ghost cells.
  [[nodiscard]] const Box& own() const noexcept { return own_; }
  /// What view() covers: own() and the ghost cells around it.
  [[nodiscard]] const Box& with_ghosts() const noexcept { return with_ghosts_; }
  /// The elements by global indices.
  [[nodiscard]] GlobalView<T> view() const noexcept {
    return GlobalView<T>(raw(), with_ghosts_.lo());
  }
  /// The elements by local indices, ghost cells included.
  [[nodiscard]] LocalView<T> raw() const noexcept {
    return LocalView<T>(reinterpret_cast<T*>(right_.data()), with_ghosts_.extents(), order_);
  }

 private:
  static rma::Result<rma::LocalAccess> try_begin(ArrayBase& array) {
    TESSERA_RETURN_IF_ERROR(array.check_open());
    if (!array.distribution().is_one_block_per_rank()) {
      return rma::Status::error(rma::Code::unsupported,
                                "one view of them needs at most one block a rank");
    }
    return rma::LocalAccess::begin(array.region());
  }
  LocalAccess(const ArrayBase& array, rma::LocalAccess right)
      : right_(std::move(right)),
        own_(array.own_box()),
        with_ghosts_(own_.is_empty() ? own_ : own_.grown(array.distribution().ghosts())),
        order_(array.distribution().order()) {}

  rma::LocalAccess right_;
  Box own_;
  Box with_ghosts_;
  MemoryOrder order_;
};

}  // namespace tessera::arrays
