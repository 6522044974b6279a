// SPDX-License-Identifier: BSD-3-Clause
//
// LocalAccess<T>: the scoped right to load and store the elements that this rank owns, and its
// ghost cells, in place and without a copy.
//
//     auto access = a.local().value();
//     auto u = access.view();                        // by global indices, ghost cells too
//     for (std::int64_t i = access.own().lo(0); i < access.own().hi(0); ++i) … u(i, j) …
//
// LocalBlocks<T>: the same for any number of blocks on a rank, as block-cyclic distributions have.
//
//     auto blocks = a.local_blocks().value();
//     for (std::int64_t k = 0; k < blocks.size(); ++k) … auto u = blocks[k]; u.box(); u(i, j) …
//
// With a const array, or as LocalAccess<const T>, the elements can only be read.
//
// Other ranks may read and write the same elements at the same time. Synchronise with Array::sync()
// before another rank reads what this rank stored, and before this rank loads what another one put.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "arrays/array_base.hpp"
#include "arrays/view.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

namespace detail {
/// The array type on which an access to elements of type T may begin: const for elements of const
/// type.
template <class T>
using AccessedArray = std::conditional_t<std::is_const_v<T>, const ArrayBase, ArrayBase>;
}  // namespace detail

template <class T>
class LocalAccess {
 public:
  /// Local. Begins an access to the one block that this rank owns. Errors: closed (the array was
  /// freed), invalid_argument (the array's access mode forbids it), unsupported (the distribution
  /// has several blocks on a rank; use LocalBlocks).
  static rma::Result<LocalAccess> begin(detail::AccessedArray<T>& array) {
    auto right = try_begin(array);
    if (!right.ok()) {
      return std::move(right).status().context("local access to " + array.describe());
    }
    return LocalAccess(array, std::move(right).take());
  }

  /// Local. Ends the access and returns its status. The destructor ends it too, and logs an error.
  rma::Status end() {
    use_.end();
    return right_.end();
  }

  /// The box that this rank owns, without ghost cells; it may be empty.
  [[nodiscard]] const Box& own() const noexcept { return own_; }
  /// The box that view() covers: own() and the ghost cells around it.
  [[nodiscard]] const Box& with_ghosts() const noexcept { return with_ghosts_; }
  /// The elements, indexed by global indices.
  [[nodiscard]] GlobalView<T> view() const noexcept {
    return GlobalView<T>(raw(), with_ghosts_.lo());
  }
  /// The elements, indexed by local indices from 0, ghost cells included.
  [[nodiscard]] LocalView<T> raw() const noexcept {
    return LocalView<T>(reinterpret_cast<T*>(right_.data()), with_ghosts_.extents(),
                        dense_strides(with_ghosts_.extents(), order_), state_.get());
  }

 private:
  static rma::Result<rma::LocalAccess> try_begin(const ArrayBase& array) {
    TESSERA_RETURN_IF_ERROR(array.check_local_access());
    if (!array.distribution().is_one_block_per_rank()) {
      return array.name_rank(
          rma::Status::error(rma::Code::unsupported,
                             "local() needs a distribution with at most one block on each rank")
              .hint("use local_blocks(), which gives a view of each block"));
    }
    return rma::LocalAccess::begin(array.region());
  }
  LocalAccess(const ArrayBase& array, rma::LocalAccess right)
      : right_(std::move(right)),
        own_(array.own_box()),
        with_ghosts_(own_.is_empty() ? own_ : own_.grown(array.distribution().ghosts())),
        order_(array.distribution().order()),
        state_(array.state()),
        use_(array.begin_local_use(!std::is_const_v<T>)) {}

  rma::LocalAccess right_;
  Box own_;
  Box with_ghosts_;
  MemoryOrder order_;
  std::shared_ptr<const detail::ArrayState> state_;
  detail::LocalUse use_;
};

template <class T>
class LocalBlocks {
 public:
  /// Local. Begins an access to all blocks that this rank owns. Errors: closed (the array was
  /// freed), invalid_argument (the array's access mode forbids it).
  static rma::Result<LocalBlocks> begin(detail::AccessedArray<T>& array) {
    auto right = try_begin(array);
    if (!right.ok()) {
      return std::move(right).status().context("local access to " + array.describe());
    }
    return LocalBlocks(array, std::move(right).take());
  }

  /// Local. Ends the access and returns its status. The destructor ends it too, and logs an error.
  rma::Status end() {
    use_.end();
    return right_.end();
  }

  /// The number of blocks that this rank owns.
  [[nodiscard]] std::int64_t size() const noexcept { return distribution_.block_count(rank_); }
  /// The block with this number, indexed by global indices, without ghost cells. Requires: 0 ≤
  /// number < size().
  [[nodiscard]] GlobalView<T> operator[](std::int64_t number) const noexcept {
    const Patch block = distribution_.block(rank_, number);
    return GlobalView<T>(
        LocalView<T>(data() + block.offset, block.box.extents(), block.strides, state_.get()),
        block.box.lo());
  }
  /// This rank's whole slice of the array, in the layout of the distribution. With
  /// Storage::local_matrix it is a dense matrix of local_extents().
  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(right_.data()); }

 private:
  static rma::Result<rma::LocalAccess> try_begin(const ArrayBase& array) {
    TESSERA_RETURN_IF_ERROR(array.check_local_access());
    return rma::LocalAccess::begin(array.region());
  }
  LocalBlocks(const ArrayBase& array, rma::LocalAccess right)
      : right_(std::move(right)),
        distribution_(array.distribution()),
        rank_(array.team().rank()),
        state_(array.state()),
        use_(array.begin_local_use(!std::is_const_v<T>)) {}

  rma::LocalAccess right_;
  Distribution distribution_;
  rma::TeamRank rank_;
  std::shared_ptr<const detail::ArrayState> state_;
  detail::LocalUse use_;
};

}  // namespace tessera::arrays
