// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces the verbs baseline in a build without RDMA devices.
#include "bench/baselines/verbs_baseline.hpp"

namespace tessera::bench {

std::unique_ptr<VerbsBaseline> make_verbs_baseline(RankGroup&, const BaselineOptions&,
                                                   std::string& missing) {
  missing =
      "verbs: this build has no RDMA devices (Debian: libibverbs-dev, and -DTESSERA_VERBS=ON)";
  return nullptr;
}

}  // namespace tessera::bench
