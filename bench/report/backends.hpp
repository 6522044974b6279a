// SPDX-License-Identifier: BSD-3-Clause
//
// The meaning of candidates' names: which are baselines, and how each is drawn, so that it looks
// the same on every chart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::bench::report {

enum class Kind {
  ours,
  floor,      ///< does the same work in another way; the denominator of ratios
  yardstick,  ///< does different work: a triad, a computation
  unknown,    ///< belongs to Tessera only if a file says that its measurement is about it
};

Kind kind_of(std::string_view backend);

/// The name to print: Tessera's candidates are called Tessera, plus what distinguishes them from
/// each other.
std::string display_name(const std::string& backend);

/// The number of styles for series.
inline constexpr int styles = 8;
/// Reserved for MPI's windows and messages.
inline constexpr int mpi_style = 2;

/// The styles of series on one chart: each known backend's own one, which is the same on every
/// chart; the next free one for others.
std::vector<int> styles_of(const std::vector<std::string>& backends);

}  // namespace tessera::bench::report
