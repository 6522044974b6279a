// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. WorkMatrix: a matrix in the layout that a variant computes in: the caller's array
// itself where it has that layout, else a copy over the same team.
//
//     auto work = WorkMatrix::of(map, team, layout);      // a copy, or the array itself
//     … compute on work.local<T>(), read other ranks' parts through work.map() …
//     work->store(map);
//
// Layouts are two-dimensional, column-major, and one local matrix on each rank.
//
// Memory: a copy takes the matrix's size / ranks, up to a block; elements move straight between the
// two arrays.
#pragma once

#include <cstdint>
#include <optional>

#include "arrays/array_base.hpp"
#include "linalg/blas.hpp"
#include "linalg/detail/matrix_map.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/result.hpp"

namespace tessera::linalg::detail {

/// Of rows and columns, where the matrix is a whole array of two dimensions; of others there is
/// none.
std::optional<arrays::Distribution> layout_of(const MatrixMap& map);

struct RankGrid {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};
/// All of so many ranks, as square as can be, with no fewer columns than rows.
RankGrid square_grid(std::int64_t ranks);
/// The widest square blocks that ScaLAPACK is given where nobody asks for any.
inline constexpr std::int64_t widest_square_block = 64;

class WorkMatrix {
 public:
  /// Whether the caller's array may be worked on itself, or must stay as it is.
  enum class Use : std::uint8_t { in_place, copy };

  /// Collective over `team`. The matrix in `layout`: for in_place the array itself where the matrix
  /// is all of it, on this team and has that layout. The array's dimensions may be columns and
  /// rows, as those of Fortran's arrays are. Errors: no_memory.
  static rma::Result<WorkMatrix> of(const MatrixMap& from, const rma::Team& team,
                                    const arrays::Distribution& layout, Use use);
  /// Collective over `team`. A matrix of zeros with elements like those of `like`.
  static rma::Result<WorkMatrix> zeros(const arrays::ArrayBase& like, const rma::Team& team,
                                       const arrays::Distribution& layout);

  /// Collective over the work's team. Copies the work's first rows and columns, as many as `to`
  /// has, there, and gives the error of any member's `mine`. Nothing is copied to itself.
  rma::Status store(const MatrixMap& to, rma::Status mine = {});

  [[nodiscard]] MatrixMap map() const noexcept {
    return copy_ ? MatrixMap{&*copy_, copy_->box(), 0, 1} : original_;
  }
  /// Has the elements; its dimensions may be the matrix's columns and rows.
  [[nodiscard]] arrays::ArrayBase& array() const noexcept {
    return copy_ ? *copy_ : *original_.array;
  }
  [[nodiscard]] rma::Team& team() const noexcept { return array().team(); }
  /// Of rows and columns.
  [[nodiscard]] const arrays::Distribution& layout() const noexcept { return layout_; }
  [[nodiscard]] bool is_copy() const noexcept { return copy_.has_value(); }

  /// What this rank has.
  template <class T>
  [[nodiscard]] LocalMatrix<T> local() const noexcept {
    const arrays::Extents extents = layout().local_extents(team().rank());
    return {reinterpret_cast<T*>(array().region().local()), extents[0], extents[1], 1, extents[0]};
  }

 private:
  explicit WorkMatrix(const arrays::Distribution& layout) : layout_(layout) {}
  rma::Status load(const MatrixMap& from) const;
  [[nodiscard]] std::byte* place_of(const arrays::Patch& block) const noexcept;

  mutable std::optional<arrays::ArrayBase> copy_;
  MatrixMap original_;
  arrays::Distribution layout_;
};

/// Collective. Makes a matrix Hermitian: the other triangle from the one given.
template <Scalar T>
rma::Status mirror_triangle(WorkMatrix& a, blas::Triangle triangle);

}  // namespace tessera::linalg::detail
