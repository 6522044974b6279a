// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices that are made and not read, each rank its own rows:
//
//     fe2d:N             bilinear finite elements for −∇²u on a square, N x N nodes inside;
//     symmetric
//                        positive definite, up to 9 entries a row
//     stencil27:N        N x N x N points, 26 in the middle and −1 for each neighbour; symmetric
//                        positive definite
//     convection:N,P     −∇²u + P (1, ½)·∇u on a square by upwind differences, N x N points inside;
//                        unsymmetric but for P = 0. P is 100 if it isn't given
//     random:N,K,SEED    N rows of K entries at random places, and a diagonal that dominates;
//                        unsymmetric. K is 8 and SEED 1 if they aren't given
//
// The entries are the same for any number of ranks.
#pragma once

#include <cstdint>
#include <string>

#include "apps/spmv/matrix_file.hpp"
#include "rma/result.hpp"

namespace tessera::apps::spmv {

enum class GeneratorKind : std::uint8_t { fe2d, stencil27, convection, random };

struct Generator {
  GeneratorKind kind = GeneratorKind::fe2d;
  std::int64_t edge = 0;   ///< N
  double strength = 100;   ///< P
  std::int64_t dense = 8;  ///< K
  std::int64_t seed = 1;

  /// Of rows and of columns.
  [[nodiscard]] std::int64_t rows() const noexcept;
  /// No row has more.
  [[nodiscard]] std::int64_t most_in_row() const noexcept;
  [[nodiscard]] bool is_symmetric() const noexcept {
    return kind == GeneratorKind::fe2d || kind == GeneratorKind::stencil27 ||
           (kind == GeneratorKind::convection && strength == 0);
  }
  /// The entries of one row; a place may come more than once, and is a sum then.
  /// Requires: 0 ≤ row < rows().
  void give_row(std::int64_t row, const EntrySink<double>& sink) const;
};

/// "fe2d:100" and the like. Errors: invalid_argument, which tells what there is.
rma::Result<Generator> parse_generator(const std::string& text);

/// 64 well mixed bits of a number, the same everywhere.
std::uint64_t mixed(std::uint64_t number) noexcept;

}  // namespace tessera::apps::spmv
