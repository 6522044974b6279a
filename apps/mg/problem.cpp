// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/problem.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>

#include "apps/mg/initial.hpp"

namespace tessera::apps::mg {
namespace {

constexpr double operations_per_point = 58.0;

constexpr Stencil small_smoother{-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0, 0.0};
constexpr Stencil large_smoother{-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0, 0.0};

// Ghosts of the widest layout that fused sweeps need, and rows padded to cache lines.
constexpr std::int64_t ghost_width = 4;
constexpr std::int64_t row_padding = 16;
constexpr std::int64_t sweep_planes = 12;

std::int64_t ceiling_quotient(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

std::int64_t padded_plane_points(std::int64_t ny, std::int64_t nx) {
  return (ny + 2 * ghost_width) * (nx + row_padding);
}

}  // namespace

std::int64_t Problem::levels() const {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(edge))) - 1;
}

const std::array<Problem, 6>& problems() {
  static const std::array<Problem, 6> all{{
      {'S', 32, 4, 0.5307707005734e-04, small_smoother},
      {'W', 128, 4, 0.6467329375339e-05, small_smoother},
      {'A', 256, 4, 0.2433365309069e-05, small_smoother},
      {'B', 256, 20, 0.1800564401355e-05, large_smoother},
      {'C', 512, 20, 0.5706732285740e-06, large_smoother},
      {'D', 1024, 50, 0.1583275060440e-09, large_smoother},
  }};
  return all;
}

ParsedClass parse_class(std::string_view text) {
  if (text.size() == 1) {
    const int upper = std::toupper(static_cast<unsigned char>(text.front()));
    for (const Problem& problem : problems()) {
      if (problem.name == upper) {
        return {problem, {}};
      }
    }
  }
  return {std::nullopt,
          "unknown problem class '" + std::string(text) + "': choose one of S, W, A, B, C, D"};
}

bool is_verified(const Problem& problem, double norm) {
  // Written so that NaN is not verified.
  return std::abs(norm - problem.verified_norm) <= norm_tolerance * problem.verified_norm;
}

double initial_norm(const Problem& problem) {
  const double edge = static_cast<double>(problem.edge);
  return std::sqrt(2.0 * static_cast<double>(charges) / (edge * edge * edge));  // +1 and -1 each
}

bool is_reduced(const Problem& problem, double norm) {
  // Written so that NaN is false.
  return std::isfinite(norm) && norm < initial_norm(problem);
}

double operations(const Problem& problem, std::int64_t cycles) {
  const double edge = static_cast<double>(problem.edge);
  return operations_per_point * edge * edge * edge * static_cast<double>(cycles);
}

double rate_mops(const Problem& problem, std::int64_t cycles, double seconds) {
  return operations(problem, cycles) / seconds * 1e-6;
}

Index3 near_cubic_factors(std::int64_t ranks) {
  Index3 best{ranks, 1, 1};
  for (std::int64_t x = 1; x * x * x <= ranks; ++x) {
    if (ranks % x != 0) {
      continue;
    }
    const std::int64_t rest = ranks / x;
    for (std::int64_t y = x; y * y <= rest; ++y) {
      if (rest % y == 0 && rest / y + y + x < best.z + best.y + best.x) {
        best = {rest / y, y, x};
      }
    }
  }
  return best;
}

std::int64_t replicated_edge(std::int64_t edge, std::int64_t ranks) {
  // One rank needs no exchanges. With several ranks, a cube of edge 32 costs each rank as much time
  // as a few exchanges.
  constexpr std::int64_t cheap_edge = 32;
  return ranks == 1 ? edge / 2 : std::min(edge / 2, cheap_edge);
}

Index3 process_grid(std::int64_t edge, std::int64_t ranks) {
  // If the number of blocks is at most the number of points along the replicated level, each block
  // keeps a point however often bounds are halved on the way there.
  const std::int64_t max_blocks = replicated_edge(edge, ranks);
  for (std::int64_t working = ranks; working > 1; --working) {
    const Index3 factors = near_cubic_factors(working);
    if (factors.z <= max_blocks) {  // the largest of the three
      return factors;
    }
  }
  return {1, 1, 1};
}

std::int64_t memory_bytes(const Problem& problem, std::int64_t ranks) {
  const Index3 parts = process_grid(problem.edge, ranks);
  std::int64_t doubles = 0;
  for (std::int64_t n = problem.edge; n >= 2; n /= 2) {
    const std::int64_t nz = ceiling_quotient(n, parts.z);
    const std::int64_t plane =
        padded_plane_points(ceiling_quotient(n, parts.y), ceiling_quotient(n, parts.x));
    doubles += 2 * (nz + 2 * ghost_width) * plane;  // u and v, or u and r below the finest level
    if (n == problem.edge) {
      doubles += sweep_planes * plane;
    }
  }
  return doubles * static_cast<std::int64_t>(sizeof(double)) * ranks;
}

}  // namespace tessera::apps::mg
