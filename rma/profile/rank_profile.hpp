// SPDX-License-Identifier: BSD-3-Clause
//
// RankProfile: what one rank recorded, and its form as bytes, in which it is sent to rank 0 when
// the job ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/counters.hpp"
#include "rma/engine/region_counts.hpp"
#include "rma/profile/phase_log.hpp"
#include "rma/profile/waits.hpp"

namespace tessera::rma::detail {

/// How far rank 0's clock was ahead of a node's, at a time of the node's clock.
struct ClockSample {
  std::int64_t at_ns = 0;
  std::int64_t ahead_ns = 0;
  std::int64_t error_ns = -1;  ///< bound on the error; −1: nothing was measured
};

struct RankProfile {
  std::int32_t rank = 0;
  std::int32_t node = 0;
  std::int64_t start_ns = 0;  ///< on the rank's clock
  std::int64_t stop_ns = 0;
  std::uint64_t dropped_events = 0;
  ClockSample clock_at_start;  ///< of the node, measured by its first rank
  ClockSample clock_at_stop;
  WaitTallies waits{};
  std::vector<PeerTraffic> peers;
  std::vector<RegionCounts::Entry> regions;
  std::vector<WaitEvent> events;
  std::vector<LabelledWait> labels;
  std::vector<PhaseTotals> phases;

  [[nodiscard]] std::vector<std::byte> pack() const;
  /// Errors: protocol, for bytes that pack() did not make.
  static Result<RankProfile> unpack(std::span<const std::byte> bytes);

  [[nodiscard]] std::uint64_t waiting_ns() const noexcept;
};

constexpr double seconds_of(std::uint64_t nanoseconds) noexcept {
  return static_cast<double>(nanoseconds) * 1e-9;
}

}  // namespace tessera::rma::detail
