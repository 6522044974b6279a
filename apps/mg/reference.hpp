// SPDX-License-Identifier: BSD-3-Clause
//
// Reference: the whole benchmark in the plainest way, to test the fast kernels. One process,
// periodic indices by remainder, no ghosts, no blocking; class A takes about ten seconds and 1.5
// times the memory of u, v and r. For tests only.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/mg/problem.hpp"

namespace tessera::apps::mg::reference {

/// The n³ values of one level, x fastest. Indices wrap around.
class Cube {
 public:
  explicit Cube(std::int64_t edge);

  [[nodiscard]] std::int64_t edge() const { return edge_; }
  [[nodiscard]] double& operator()(std::int64_t z, std::int64_t y, std::int64_t x);
  [[nodiscard]] double operator()(std::int64_t z, std::int64_t y, std::int64_t x) const;

 private:
  [[nodiscard]] std::size_t offset(std::int64_t z, std::int64_t y, std::int64_t x) const;

  std::int64_t edge_;
  std::vector<double> values_;
};

/// The sum over the 27 neighbours of a point, weighted by `stencil`.
[[nodiscard]] double apply(const Stencil& stencil, const Cube& u, std::int64_t z, std::int64_t y,
                           std::int64_t x);

/// v - A u.
[[nodiscard]] Cube residual(const Cube& v, const Cube& u, const Stencil& a);

/// u += S r.
void smooth(Cube& u, const Cube& r, const Stencil& s);

/// The coarse grid of half the edge: coarse point c is the full weighting around fine 2c + 1.
[[nodiscard]] Cube restricted(const Cube& fine);

/// u += P coarse: trilinear interpolation, the transpose of `restricted` times 8.
void prolongate_add(Cube& u, const Cube& coarse);

/// The square root of the mean of squares.
[[nodiscard]] double norm(const Cube& r);

/// The right-hand side, made with a naive generator and a full sort.
[[nodiscard]] Cube right_hand_side(std::int64_t edge);

/// One V-cycle: from r = v - A u corrects u.
void cycle(Cube& u, const Cube& v, const Cube& r, const Stencil& smoother);

/// Runs `cycles` V-cycles of `problem` and returns the norm of the last residual.
[[nodiscard]] double run(const Problem& problem, std::int64_t cycles);

}  // namespace tessera::apps::mg::reference
