// SPDX-License-Identifier: BSD-3-Clause
#include "bench/verbs/parts.hpp"

namespace tessera::bench {

std::vector<Target> verbs_targets() {
  using Sense = Target::Sense;
  return {
      {verbs_target::word, "bare loop", Sense::time_at_most, 1.1},
      {verbs_target::large, "bare loop", Sense::speed_at_least, 0.95},
      {verbs_target::local_patches, "dense rows", Sense::speed_at_least, 0.90},
      {verbs_target::left, "all of it", Sense::speed_at_least, 0.99},
      {verbs_target::left_by_tessera, "bare loop", Sense::speed_at_least, 0.99},
  };
}

}  // namespace tessera::bench
