// SPDX-License-Identifier: BSD-3-Clause
//
// Problem: the classes of the NAS Parallel Benchmark MG and how a run is verified and measured.
//
// MG solves the discrete Poisson problem A u = v on a periodic cube with a fixed number of V-cycles
// (Bailey et al., "The NAS Parallel Benchmarks", RNR-94-007, section 2.2; classes C and D and the
// verification values from NPB 2 and 3). A class fixes the edge of the grid, the number of cycles
// and the smoother. A run is verified if the L2 norm of the last residual agrees with the published
// value to a relative 1e-8.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/mg/grid.hpp"

namespace tessera::apps::mg {

/// One class of the benchmark.
struct Problem {
  char name = 'S';
  std::int64_t edge = 0;       ///< points per dimension on the finest level, a power of two
  std::int64_t cycles = 0;     ///< V-cycles in the timed part
  double verified_norm = 0.0;  ///< published L2 norm of the residual after `cycles`
  Stencil smoother;            ///< S in u += S r

  /// log2 of the edge: the number of levels. Level 1 has edge 2, level `levels()` is the finest.
  [[nodiscard]] std::int64_t levels() const;
};

/// The relative deviation from the published norm that counts as correct.
inline constexpr double norm_tolerance = 1e-8;

/// The discrete Laplacian A of all classes.
inline constexpr Stencil laplacian{-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0};

/// All classes, smallest first.
[[nodiscard]] const std::array<Problem, 6>& problems();

/// The result of parse_class(): a problem, or a sentence for the user.
struct ParsedClass {
  std::optional<Problem> problem;
  std::string error;
};

/// The class named by `text`, one letter in either case.
[[nodiscard]] ParsedClass parse_class(std::string_view text);

/// Whether `norm` is the published norm of `problem` within the tolerance. Only for problem.cycles
/// cycles.
[[nodiscard]] bool is_verified(const Problem& problem, double norm);

/// The L2 norm of the residual before the first V-cycle, which is that of the right-hand side.
[[nodiscard]] double initial_norm(const Problem& problem);

/// Whether `norm` is finite and less than before the first V-cycle: the check for numbers of cycles
/// without a published norm.
[[nodiscard]] bool is_reduced(const Problem& problem, double norm);

/// The operations NPB credits to `cycles` V-cycles, 58 for each fine point and cycle.
[[nodiscard]] double operations(const Problem& problem, std::int64_t cycles);

/// The rate in Mop/s of a timed part of `seconds`.
[[nodiscard]] double rate_mops(const Problem& problem, std::int64_t cycles, double seconds);

/// An upper estimate of the bytes that all `ranks` ranks together need: u, v and the residuals of
/// every level with their ghost layers, and the sweep buffers of each rank. Assumes that boxes are
/// split as evenly as process_grid() allows.
[[nodiscard]] std::int64_t memory_bytes(const Problem& problem, std::int64_t ranks);

/// How a cube is split among `ranks`: three factors of `ranks`, as near to each other as possible,
/// the largest in z (whose faces are contiguous) and the smallest in x.
[[nodiscard]] Index3 near_cubic_factors(std::int64_t ranks);

/// The edge of the largest level that every rank holds whole, if `ranks` ranks share a problem of
/// `edge`.
[[nodiscard]] std::int64_t replicated_edge(std::int64_t edge, std::int64_t ranks);

/// How a problem of `edge` is split among `ranks`: near_cubic_factors() of the largest number of
/// ranks that each can have a part of every level down to replicated_edge(). The others hold
/// nothing.
[[nodiscard]] Index3 process_grid(std::int64_t edge, std::int64_t ranks);

}  // namespace tessera::apps::mg
