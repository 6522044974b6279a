// SPDX-License-Identifier: BSD-3-Clause
//
// A picture of where a sparse matrix has entries: row 0 above, a square a cell, darker where there
// are more entries, and empty where there are none.
#pragma once

#include <string>

#include "bench/support/matrix_pattern.hpp"

namespace tessera::bench::report {

/// The picture with its title, what the shades mean, and a folded table of that, as HTML.
/// Requires: at least one cell; all lines have as many.
std::string figure(const MatrixPattern& pattern);

}  // namespace tessera::bench::report
