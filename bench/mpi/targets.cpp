// SPDX-License-Identifier: BSD-3-Clause
#include "bench/mpi/parts.hpp"

namespace tessera::bench {

std::vector<Target> windows_targets() {
  using Sense = Target::Sense;
  return {
      {windows_target::put, "mpi", Sense::time_at_most, 1.1},
      {windows_target::get, "mpi", Sense::time_at_most, 1.1},
      {windows_target::accumulate, "mpi", Sense::time_at_most, 1.1},
      {windows_target::contiguous, "armci-mpi", Sense::time_at_most, 1},
      {windows_target::lists, "armci-mpi", Sense::speed_at_least, 1.5},
      {windows_target::rows, "armci-mpi", Sense::speed_at_least, 1.5},
      {windows_target::translation, "a nanosecond", Sense::time_at_most, 40},
  };
}

}  // namespace tessera::bench
