// SPDX-License-Identifier: BSD-3-Clause
//
// A picture of where a sparse matrix has entries: row 0 at the top, one square per cell, darker for
// more entries, and empty for none.
#pragma once

#include <string>

#include "bench/support/matrix_pattern.hpp"

namespace tessera::bench::report {

/// The picture with its title, a legend of the shades, and a folded table of them, as HTML.
/// Requires: at least one cell; all rows have the same number.
std::string figure(const MatrixPattern& pattern);

}  // namespace tessera::bench::report
