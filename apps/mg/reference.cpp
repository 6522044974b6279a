// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <numeric>

namespace tessera::apps::mg::reference {
namespace {

/// Calls body(z, y, x) for all points of a level of edge n.
template <typename Body>
void for_each_point(std::int64_t n, Body body) {
  for (std::int64_t z = 0; z < n; ++z) {
    for (std::int64_t y = 0; y < n; ++y) {
      for (std::int64_t x = 0; x < n; ++x) {
        body(z, y, x);
      }
    }
  }
}

}  // namespace

Cube::Cube(std::int64_t edge)
    : edge_(edge), values_(static_cast<std::size_t>(edge * edge * edge), 0.0) {}

std::size_t Cube::offset(std::int64_t z, std::int64_t y, std::int64_t x) const {
  // Edges are powers of two and indices at most n and at least -1, so a mask computes the
  // remainder.
  const std::int64_t mask = edge_ - 1;
  return static_cast<std::size_t>(((z & mask) * edge_ + (y & mask)) * edge_ + (x & mask));
}

double& Cube::operator()(std::int64_t z, std::int64_t y, std::int64_t x) {
  return values_[offset(z, y, x)];
}

double Cube::operator()(std::int64_t z, std::int64_t y, std::int64_t x) const {
  return values_[offset(z, y, x)];
}

double apply(const Stencil& stencil, const Cube& u, std::int64_t z, std::int64_t y,
             std::int64_t x) {
  // By distance: the point, faces, edges, corners.
  std::array<double, 4> sums{};
  for (std::int64_t dz = -1; dz <= 1; ++dz) {
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      for (std::int64_t dx = -1; dx <= 1; ++dx) {
        const auto distance = static_cast<std::size_t>(std::abs(dz) + std::abs(dy) + std::abs(dx));
        sums[distance] += u(z + dz, y + dy, x + dx);
      }
    }
  }
  return stencil.centre * sums[0] + stencil.face * sums[1] + stencil.edge * sums[2] +
         stencil.corner * sums[3];
}

Cube residual(const Cube& v, const Cube& u, const Stencil& a) {
  Cube r(u.edge());
  for_each_point(u.edge(), [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    r(z, y, x) = v(z, y, x) - apply(a, u, z, y, x);
  });
  return r;
}

void smooth(Cube& u, const Cube& r, const Stencil& s) {
  for_each_point(u.edge(), [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    u(z, y, x) += apply(s, r, z, y, x);
  });
}

Cube restricted(const Cube& fine) {
  constexpr Stencil full_weighting{1.0 / 2.0, 1.0 / 4.0, 1.0 / 8.0, 1.0 / 16.0};
  Cube coarse(fine.edge() / 2);
  for_each_point(coarse.edge(), [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    coarse(z, y, x) = apply(full_weighting, fine, 2 * z + 1, 2 * y + 1, 2 * x + 1);
  });
  return coarse;
}

void prolongate_add(Cube& u, const Cube& coarse) {
  // Fine 2c + 1 is at coarse c; fine 2c is midway between c - 1 and c.
  for_each_point(u.edge(), [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    double sum = 0.0;
    for (const std::int64_t cz : {(z - 1) >> 1, z >> 1}) {
      for (const std::int64_t cy : {(y - 1) >> 1, y >> 1}) {
        for (const std::int64_t cx : {(x - 1) >> 1, x >> 1}) {
          sum += coarse(cz, cy, cx);
        }
      }
    }
    u(z, y, x) += 0.125 * sum;
  });
}

double norm(const Cube& r) {
  double sum = 0.0;
  for_each_point(r.edge(), [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    sum += r(z, y, x) * r(z, y, x);
  });
  return std::sqrt(sum / static_cast<double>(r.edge() * r.edge() * r.edge()));
}

Cube right_hand_side(std::int64_t edge) {
  constexpr std::uint64_t modulus = std::uint64_t{1} << 46;
  const std::int64_t points = edge * edge * edge;
  std::vector<std::uint64_t> values(static_cast<std::size_t>(points));
  std::uint64_t x = 314159265;
  for (std::uint64_t& value : values) {
    // 5^13, one factor at a time: nothing overflows.
    for (int i = 0; i < 13; ++i) {
      x = x * 5 % modulus;
    }
    value = x;
  }
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  Cube v(edge);
  const auto set = [&](std::int64_t index, double charge) {
    // Cube takes the remainders.
    v(index / (edge * edge), index / edge, index) = charge;
  };
  for (std::size_t i = 0; i < 10; ++i) {
    set(order[i], -1.0);
    set(order[order.size() - 1 - i], 1.0);
  }
  return v;
}

void cycle(Cube& u, const Cube& v, const Cube& r, const Stencil& smoother) {
  // Down: restrict the residual to every level; levels[0] is the finest.
  std::vector<Cube> residuals{r};
  while (residuals.back().edge() > 2) {
    residuals.push_back(restricted(residuals.back()));
  }
  // Up: on each coarse level the correction starts from the prolongated one of the level below.
  Cube correction(residuals.back().edge());
  smooth(correction, residuals.back(), smoother);
  for (std::size_t level = residuals.size() - 2; level > 0; --level) {
    Cube finer(residuals[level].edge());
    prolongate_add(finer, correction);
    const Cube rest = residual(residuals[level], finer, laplacian);
    smooth(finer, rest, smoother);
    correction = finer;
  }
  prolongate_add(u, correction);
  smooth(u, residual(v, u, laplacian), smoother);
}

double run(const Problem& problem, std::int64_t cycles) {
  const Cube v = right_hand_side(problem.edge);
  Cube u(problem.edge);
  Cube r = residual(v, u, laplacian);
  for (std::int64_t i = 0; i < cycles; ++i) {
    cycle(u, v, r, problem.smoother);
    r = residual(v, u, laplacian);
  }
  return norm(r);
}

}  // namespace tessera::apps::mg::reference
