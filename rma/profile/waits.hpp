// SPDX-License-Identifier: BSD-3-Clause
//
// Waits: the kinds of waits that profiles distinguish.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rma/counters.hpp"

namespace tessera::rma::detail {

enum class Wait : std::uint8_t {
  put,         ///< a blocking one to another node
  get,         ///< a blocking one to another node
  accumulate,  ///< a blocking one to another node
  atomic,      ///< a blocking one to another node
  handle,      ///< for non-blocking operations that were not complete yet
  fence,
  lock,    ///< that another rank held, or on another node
  notice,  ///< for a flag or a notification
  barrier,
  broadcast,
  allgather,
  reduce,    ///< and allreduce, scan
  exchange,  ///< alltoallv, gatherv, scatterv
  agree,     ///< the meetings of sync, fill and other operations on arrays
  team,      ///< making a team
  memory,    ///< making and freeing regions and lock sets
};
inline constexpr std::size_t wait_count = 16;
// Waits for transfers have the numbers of their operations.
static_assert(static_cast<int>(Wait::put) == static_cast<int>(Op::put) &&
              static_cast<int>(Wait::get) == static_cast<int>(Op::get) &&
              static_cast<int>(Wait::accumulate) == static_cast<int>(Op::accumulate));

std::string_view to_string(Wait wait) noexcept;

/// How often a rank waited, the total and the longest time, and the bytes of the operations.
struct WaitTally {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
};
using WaitTallies = std::array<WaitTally, wait_count>;

/// All waits of a rank in calls with one label, such as "sync rho".
struct LabelledWait {
  std::string label;
  WaitTally tally;
};

/// One wait, or one phase, for traces.
struct WaitEvent {
  std::int64_t begin_ns = 0;  ///< on the rank's clock
  std::int64_t duration_ns = 0;
  std::uint64_t bytes = 0;
  std::int32_t peer = -1;  ///< the rank that it waited for; −1: several
  std::uint32_t thread = 0;
  /// Its index among the rank's labels, or of a phase among its phases, plus one; 0: none.
  std::uint32_t label = 0;
  Wait wait = Wait::put;
  bool is_phase = false;
};

}  // namespace tessera::rma::detail
