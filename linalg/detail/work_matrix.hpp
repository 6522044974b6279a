// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. WorkMatrix: a matrix in the layout in which a variant computes. It is the caller's
// array itself, if that has the layout, else a copy on the same team.
//
//     auto work = WorkMatrix::of(map, team, layout);      // a copy, or the array itself
//     … compute on work.local<T>(), read other ranks' parts through work.map() …
//     work->store(map);
//
// Layouts are two-dimensional and column-major, with one local matrix on each rank.
//
// Memory: a copy takes the matrix's size / ranks, plus at most one block; elements move directly
// between the two arrays.
#pragma once

#include <cstdint>
#include <optional>

#include "arrays/array_base.hpp"
#include "linalg/blas.hpp"
#include "linalg/detail/matrix_map.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/base/result.hpp"

namespace tessera::linalg::detail {

/// The layout, in rows and columns, if the matrix is a whole array of two dimensions; else unset.
std::optional<arrays::Distribution> layout_of(const MatrixMap& map);

struct RankGrid {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};
/// A grid of all `ranks` ranks, as square as possible, with at least as many columns as rows.
RankGrid square_grid(std::int64_t ranks);
/// The widest square blocks for ScaLAPACK if the caller doesn't give a width.
inline constexpr std::int64_t max_square_block = 64;

class WorkMatrix {
 public:
  /// Whether the caller's array may be changed, or must keep its values.
  enum class Use : std::uint8_t { in_place, copy };

  /// Collective over `team`. The matrix in `layout`. With in_place it is the array itself, if the
  /// matrix is the whole array, the array is on this team, and has that layout. The array's
  /// dimensions may be columns and rows, as for Fortran's arrays. Errors: no_memory.
  static rma::Result<WorkMatrix> of(const MatrixMap& from, const rma::Team& team,
                                    const arrays::Distribution& layout, Use use);
  /// Collective over `team`. A matrix of zeros with the element type of `like`.
  static rma::Result<WorkMatrix> zeros(const arrays::ArrayBase& like, const rma::Team& team,
                                       const arrays::Distribution& layout);

  /// Collective over the work matrix's team. Copies its first rows and columns, as many as `to`
  /// has, to `to`, and returns the error of any member's `own_status`. Does nothing if `to` is the
  /// array itself.
  rma::Status store(const MatrixMap& to, rma::Status own_status = {});

  [[nodiscard]] MatrixMap map() const noexcept {
    return copy_ ? MatrixMap{&*copy_, copy_->box(), 0, 1} : original_;
  }
  /// The array of the elements; its dimensions may be the matrix's columns and rows.
  [[nodiscard]] arrays::ArrayBase& array() const noexcept {
    return copy_ ? *copy_ : *original_.array;
  }
  [[nodiscard]] rma::Team& team() const noexcept { return array().team(); }
  /// The layout, in rows and columns.
  [[nodiscard]] const arrays::Distribution& layout() const noexcept { return layout_; }
  [[nodiscard]] bool is_copy() const noexcept { return copy_.has_value(); }

  /// This rank's part.
  template <class T>
  [[nodiscard]] LocalMatrix<T> local() const noexcept {
    const arrays::Extents extents = layout().local_extents(team().rank());
    return {reinterpret_cast<T*>(array().region().local()), extents[0], extents[1], 1, extents[0]};
  }

 private:
  explicit WorkMatrix(const arrays::Distribution& layout) : layout_(layout) {}
  rma::Status load(const MatrixMap& from) const;
  [[nodiscard]] std::byte* address_of(const arrays::Patch& block) const noexcept;

  mutable std::optional<arrays::ArrayBase> copy_;
  MatrixMap original_;
  arrays::Distribution layout_;
};

/// Collective. Makes a matrix Hermitian: overwrites the other triangle from the one given.
template <Scalar T>
rma::Status mirror_triangle(WorkMatrix& a, blas::Triangle triangle);

}  // namespace tessera::linalg::detail
