// SPDX-License-Identifier: BSD-3-Clause
//
// PeriodicPieces: a box that extends past the ends of a periodic array, as parts inside it.
//
//     extents {10}, box [8,13), periodic   →   [8,10) shift 0,   [0,3) shift 10
//
// A piece, moved by its shift, lies in the requested box: `inside.shifted(shift)`. A box may be
// longer than the array; elements then occur in several pieces.
#pragma once

#include <bitset>
#include <cstdint>
#include <iterator>

#include "arrays/box.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays {

/// A set of dimensions: PeriodicDims().set() for all, PeriodicDims(0b101) for 0 and 2.
using PeriodicDims = std::bitset<max_dims>;

struct PeriodicPiece {
  Box inside;   ///< indices inside the array
  Index shift;  ///< a multiple of the extent in each periodic dimension, else 0
};

/// A single-pass range of the pieces, in row-major order of their position in the box.
class PeriodicPieces {
 public:
  class Iterator {
   public:
    using value_type = PeriodicPiece;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(PeriodicPieces* pieces) noexcept : pieces_(pieces) {}
    const PeriodicPiece& operator*() const noexcept { return pieces_->piece_; }
    const PeriodicPiece* operator->() const noexcept { return &pieces_->piece_; }
    Iterator& operator++() noexcept {
      pieces_->advance();
      return *this;
    }
    void operator++(int) noexcept { pieces_->advance(); }
    [[nodiscard]] bool is_done() const noexcept { return pieces_->is_done_; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) noexcept {
      return it.is_done();
    }

   private:
    PeriodicPieces* pieces_;
  };

  /// Cuts a box into pieces. Errors: as check_inside() for the dimensions that are not periodic;
  /// out_of_range if a periodic dimension has extent 0 and the box is not empty.
  static rma::Result<PeriodicPieces> split(const Box& box, const Extents& extents,
                                           PeriodicDims periodic);

  Iterator begin() noexcept { return Iterator(this); }
  static std::default_sentinel_t end() noexcept { return {}; }

 private:
  PeriodicPieces(const Box& box, const Extents& extents, PeriodicDims periodic) noexcept;
  void advance() noexcept;
  void cut_piece() noexcept;

  Box box_;
  Extents extents_;
  Index first_;  // periods in which the box begins and ends, in each dimension
  Index last_;
  Index period_;
  PeriodicPiece piece_;
  bool is_done_ = false;
};

}  // namespace tessera::arrays
