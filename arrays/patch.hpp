// SPDX-License-Identifier: BSD-3-Clause
//
// Patch: the part of a box that lies in one block, and its location in the owner's memory. Patches:
// the range of all patches of a box; every array operation is a loop over it.
//
//     box [1,5) x [2,9)          |        |            a box cut into six patches; several may have
//                           +----+--------+---+        the same owner if blocks are assigned to
//                           | 0  |   1    | 2 |        ranks cyclically
//                       ----+----+--------+---+----
//                           | 3  |   4    | 5 |
//                           +----+--------+---+
//
// A rank's memory is called its slice of the array; offsets and strides are in elements, from the
// start of the slice. copy_shape() turns a patch and the strides of a local buffer into the byte
// pattern that rma moves.
//
// Cost: a Patches object allocates nothing, and its size doesn't depend on the number of ranks or
// blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "arrays/box.hpp"
#include "arrays/index.hpp"
#include "rma/base/rank.hpp"
#include "rma/shape.hpp"

namespace tessera::arrays {

namespace detail {
struct DistributionData;
}  // namespace detail

struct Patch {
  Box box;                                     ///< global indices
  rma::TeamRank owner;                         ///< the rank whose slice holds it
  MemoryOrder order = MemoryOrder::row_major;  ///< the order of the owner's memory
  std::int64_t offset = 0;  ///< of box.lo(), in elements from the start of the slice
  Strides strides;          ///< in the owner's slice, in elements
};

/// A single-pass range over the patches of a box, made by Distribution::patches(). Patches tile the
/// box, in row-major order of the blocks, rotated if the caller requested it. Requires: the
/// distribution outlives it.
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

  /// For Distribution::patches(), which documents the arguments.
  Patches(const detail::DistributionData& data, const Box& box, std::int64_t rotation) noexcept;

  Iterator begin() noexcept { return Iterator(this); }
  static std::default_sentinel_t end() noexcept { return {}; }

  /// The number of patches that were not visited yet; after creation, of all patches.
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
  Index first_;  // the first and last block that the box touches
  Index last_;
  Index block_;  // the block of patch_
  Patch patch_;
};

/// The transfer between a patch of an array and local memory with `local` strides (in elements).
/// Levels are ordered from the fastest dimension of the remote side; there are as few as possible,
/// and the run is as long as both sides are contiguous. Requires: the patch's sizes in bytes fit 63
/// bits.
rma::CopyShape copy_shape(const Patch& patch, const Strides& local,
                          std::size_t element_bytes) noexcept;

/// As above for any pair of strided patterns of `extents` elements; `order` gives the dimension to
/// begin with.
rma::CopyShape copy_shape(const Extents& extents, MemoryOrder order, const Strides& local,
                          const Strides& remote, std::size_t element_bytes) noexcept;

/// One field of elements that are structures.
struct ElementField {
  std::size_t offset = 0;  ///< bytes from the start of the element
  std::size_t bytes = 0;
};

/// The transfer of one field of each element. `local` strides count fields, which are packed there;
/// `remote` strides count elements.
rma::CopyShape field_shape(const Extents& extents, MemoryOrder order, const Strides& local,
                           const ElementField& field, const Strides& remote,
                           std::size_t element_bytes) noexcept;

}  // namespace tessera::arrays
