// SPDX-License-Identifier: BSD-3-Clause
#include "bench/net/parts.hpp"

namespace tessera::bench {

std::vector<Target> net_targets() {
  using Sense = Target::Sense;
  return {
      {net_target::get_awake, "tcp polling", Sense::time_at_most, 1.15},
      {net_target::get_asleep, "tcp blocking", Sense::time_at_most, 1.15},
      {net_target::stream, "tcp", Sense::speed_at_least, 0.95},
      {net_target::request, "tcp", Sense::speed_at_least, 0.95},
      {net_target::long_rows, "contiguous", Sense::speed_at_least, 0.90},
      {net_target::vector, "tcp polling", Sense::time_at_most, 4},
      {net_target::aggregate, "one list", Sense::time_at_most, 1.3},
      {net_target::separate, "tcp polling", Sense::time_at_most, 16},
      {net_target::overlap_idle, "computation", Sense::speed_at_least, 0.90},
      {net_target::overlap_busy, "tcp with helpers", Sense::speed_at_least, 0.95},
      {net_target::idle_agent, "a core", Sense::time_at_most, 0.01},
  };
}

}  // namespace tessera::bench
