// SPDX-License-Identifier: BSD-3-Clause
//
// Patch: the part of a box that lies in one block, and where that part is in its owner's memory.
// Patches: the walk over all patches of a box; every array operation is this loop.
//
//     box [1,5) x [2,9)          |        |            a box cut into six patches; their owners
//                           +----+--------+---+        may coincide where blocks are dealt
//                           | 0  |   1    | 2 |        cyclically
//                       ----+----+--------+---+----
//                           | 3  |   4    | 5 |
//                           +----+--------+---+
//
// A rank's memory is called its slice of the array; offsets and strides count elements from the
// slice's start. copy_shape() turns a patch and the strides of a local buffer into the byte
// pattern that rma moves.
//
// Cost: Patches allocates nothing and keeps nothing that grows with the number of ranks or blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "arrays/box.hpp"
#include "arrays/index.hpp"
#include "rma/rank.hpp"
#include "rma/shape.hpp"

namespace tessera::arrays {

namespace detail {
struct DistributionData;
}  // namespace detail

struct Patch {
  Box box;                                     ///< global indices
  rma::TeamRank owner;                         ///< the rank whose slice holds it
  MemoryOrder order = MemoryOrder::row_major;  ///< of the owner's memory
  std::int64_t offset = 0;  ///< of box.lo(), in elements from the start of the owner's slice
  Strides strides;          ///< in the owner's slice, in elements
};

/// A single-pass range over the patches of a box, made by Distribution::patches(). They tile the
/// box, in row-major order of the blocks, rotated where the caller asked for it.
/// Requires: the distribution outlives it.
class Patches {
 public:
  class Iterator {
   public:
    using value_type = Patch;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(Patches* patches) noexcept : patches_(patches) {}
    const Patch& operator*() const noexcept { return patches_->patch_; }
    const Patch* operator->() const noexcept { return &patches_->patch_; }
    Iterator& operator++() noexcept {
      patches_->advance();
      return *this;
    }
    void operator++(int) noexcept { patches_->advance(); }
    [[nodiscard]] bool is_done() const noexcept { return patches_->remaining_ == 0; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) noexcept {
      return it.is_done();
    }

   private:
    Patches* patches_;
  };

  /// For Distribution::patches(), which says what these are.
  Patches(const detail::DistributionData& data, const Box& box, std::int64_t rotation) noexcept;

  Iterator begin() noexcept { return Iterator(this); }
  static std::default_sentinel_t end() noexcept { return {}; }

  /// The patches not yet passed; right after creation, all.
  [[nodiscard]] std::int64_t remaining() const noexcept { return remaining_; }

 private:
  void rotate(std::int64_t rotation) noexcept;
  void advance() noexcept {
    if (--remaining_ > 0) {
      step();
    }
  }
  void step() noexcept;
  void cut_patch() noexcept;
  void cut_single() noexcept;

  const detail::DistributionData* data_;
  std::int64_t remaining_ = 0;
  Box box_;
  Index first_;  // the blocks that the box touches, both ends included
  Index last_;
  Index block_;  // that of patch_
  Patch patch_;
};

/// The transfer between a patch of an array and local memory with `local` strides (in elements):
/// levels from the fastest dimension of the remote side up, as few as possible, the run as long
/// as both sides are contiguous. Requires: the patch's sizes in bytes fit 63 bits.
rma::CopyShape copy_shape(const Patch& patch, const Strides& local,
                          std::size_t element_bytes) noexcept;

/// The same for any pair of strided patterns of `extents` elements; `order` tells the dimension
/// from which to begin.
rma::CopyShape copy_shape(const Extents& extents, MemoryOrder order, const Strides& local,
                          const Strides& remote, std::size_t element_bytes) noexcept;

namespace detail {
/// One member of a structure that is an array's element: ArrayBase::Field.
struct Field {
  std::size_t offset = 0;  ///< bytes from the start of the element
  std::size_t bytes = 0;
};
}  // namespace detail

/// The transfer of one field of each element: `local` strides count fields, which are packed there,
/// `remote` ones elements.
rma::CopyShape field_shape(const Extents& extents, MemoryOrder order, const Strides& local,
                           const detail::Field& field, const Strides& remote,
                           std::size_t element_bytes) noexcept;

}  // namespace tessera::arrays
