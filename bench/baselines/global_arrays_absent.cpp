// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces Global Arrays in a build without it.
#include "bench/baselines/global_arrays.hpp"

namespace tessera::bench {

std::unique_ptr<GlobalArrays> GlobalArrays::start(RankGroup&, std::string& missing) {
  missing = "global arrays: this build has no Global Arrays (Debian: libglobalarrays-dev)";
  return nullptr;
}

}  // namespace tessera::bench
