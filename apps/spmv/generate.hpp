// SPDX-License-Identifier: BSD-3-Clause
//
// Generated matrices; each rank makes its own rows:
//
//     fe2d:N             bilinear finite elements for −∇²u on a square, N x N interior nodes;
//                        symmetric positive definite, up to 9 entries in a row
//     stencil27:N        N x N x N points, 26 on the diagonal and −1 for each neighbour; symmetric
//                        positive definite
//     convection:N,P     −∇²u + P (1, ½)·∇u on a square by upwind differences, N x N interior
//     points;
//                        unsymmetric except for P = 0. P is by default 100
//     random:N,K,SEED    N rows of K entries in random columns, and a dominant diagonal;
//                        unsymmetric. K is by default 8 and SEED 1
//
// The entries are the same for any number of ranks.
#pragma once

#include <cstdint>
#include <string>

#include "apps/spmv/matrix_file.hpp"
#include "rma/base/result.hpp"

namespace tessera::apps::spmv {

enum class GeneratorKind : std::uint8_t { fe2d, stencil27, convection, random };

struct Generator {
  GeneratorKind kind = GeneratorKind::fe2d;
  std::int64_t edge = 0;   ///< N
  double strength = 100;   ///< P
  std::int64_t dense = 8;  ///< K
  std::int64_t seed = 1;

  /// The number of rows, and of columns.
  [[nodiscard]] std::int64_t rows() const noexcept;
  /// The largest number of entries in a row.
  [[nodiscard]] std::int64_t most_in_row() const noexcept;
  [[nodiscard]] bool is_symmetric() const noexcept {
    return kind == GeneratorKind::fe2d || kind == GeneratorKind::stencil27 ||
           (kind == GeneratorKind::convection && strength == 0);
  }
  /// The entries of one row; repeated entries are summed.
  /// Requires: 0 ≤ row < rows().
  void give_row(std::int64_t row, const EntrySink<double>& sink) const;
};

/// Parses a text such as "fe2d:100". Errors: invalid_argument, with the list of generators.
rma::Result<Generator> parse_generator(const std::string& text);

/// A 64-bit hash of a number, the same on all machines.
std::uint64_t mixed(std::uint64_t number) noexcept;

}  // namespace tessera::apps::spmv
