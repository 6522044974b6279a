// SPDX-License-Identifier: BSD-3-Clause
//
// expect(): the snippets check with it what the guide says about them.
#pragma once

#include <stdexcept>
#include <string>

namespace guide {

/// Local. Throws std::runtime_error unless `holds`.
inline void expect(bool holds, const std::string& what) {
  if (!holds) {
    throw std::runtime_error("not as the guide says: " + what);
  }
}

}  // namespace guide
