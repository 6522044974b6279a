// SPDX-License-Identifier: BSD-3-Clause
//
// expect(): how the snippets of the guide prove what the guide says of them.
#pragma once

#include <stdexcept>
#include <string>

namespace guide {

/// Local. Ends the program, by an exception, unless `holds`.
inline void expect(bool holds, const std::string& what) {
  if (!holds) {
    throw std::runtime_error("not as the guide says: " + what);
  }
}

}  // namespace guide
