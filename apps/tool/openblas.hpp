// SPDX-License-Identifier: BSD-3-Clause
//
// What OpenBLAS says of itself. It is asked in a process of its own: it starts threads and takes
// memory when it is loaded, and ends the process where it doesn't get them.
#pragma once

#include <string>

namespace tessera::tool {

struct OpenblasReport {
  std::string config;  ///< empty: there is none, or it didn't answer in time
  int threads = 0;
};

/// Cost: one process; a second where it doesn't answer.
OpenblasReport ask_openblas();

}  // namespace tessera::tool
