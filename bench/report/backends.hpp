// SPDX-License-Identifier: BSD-3-Clause
//
// What the names of candidates mean: which are floors, and how each is drawn, so that it looks the
// same on every chart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::bench::report {

enum class Kind {
  ours,
  floor,      ///< does the same in another way: what ours is divided by
  yardstick,  ///< does something else: a triad, a computation
  unknown,    ///< ours only where a file says that its measurement is about it
};

Kind kind_of(std::string_view backend);

/// What people read: ours are called Tessera, with what tells several of them apart.
std::string display_name(const std::string& backend);

/// How many ways there are to draw a series.
inline constexpr int styles = 8;
/// MPI's windows and messages have it, and nothing else.
inline constexpr int style_of_mpi = 2;

/// The styles of series that stand together: each backend's own one, which is the same on every
/// chart; for those that aren't known, the next that is free.
std::vector<int> styles_of(const std::vector<std::string>& backends);

}  // namespace tessera::bench::report
