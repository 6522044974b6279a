// SPDX-License-Identifier: BSD-3-Clause
//
// OpenBLAS's own report. A separate process loads it, because OpenBLAS starts threads, takes
// memory, and ends the process if it does not get them.
#pragma once

#include <string>

namespace tessera::tool {

struct OpenblasReport {
  std::string config;  ///< empty: not installed, or no answer in time
  int threads = 0;
};

/// Cost: one process; a second if it does not answer.
OpenblasReport query_openblas();

}  // namespace tessera::tool
