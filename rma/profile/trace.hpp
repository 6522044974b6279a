// SPDX-License-Identifier: BSD-3-Clause
//
// Trace: the file of TESSERA_PROFILE=trace, in the Chrome trace event format. It is written rank by
// rank, so that no process holds the events of several ranks.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "rma/base/status.hpp"
#include "rma/profile/rank_profile.hpp"

namespace tessera::rma::detail {

/// Converts a time of a node's clock to rank 0's clock, by a line through the samples at start and
/// stop.
[[nodiscard]] std::int64_t on_common_clock(std::int64_t time_ns, const ClockSample& at_start,
                                           const ClockSample& at_stop) noexcept;

/// Removes a file that isn't finished, as it would not be valid JSON.
class TraceFile {
 public:
  TraceFile() = default;
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Errors: invalid_argument, naming the file and why it can't be written.
  Status open(const std::string& path);
  /// Times count from `origin_ns` on rank 0's clock. The node's samples are arguments, since only
  /// its first rank has them.
  void add(const RankProfile& rank, const ClockSample& at_start, const ClockSample& at_stop,
           std::int64_t origin_ns);
  /// Ends the file with its summary. Errors: as open().
  Status finish(std::int32_t job_ranks, const std::string& missing);

 private:
  void write(std::string_view text);
  void write_event(const std::string& event);

  std::string path_;
  std::FILE* file_ = nullptr;
  int error_ = 0;  ///< the system's, of the first write that failed
  bool has_events_ = false;
  std::uint64_t kept_ = 0;
  std::uint64_t dropped_ = 0;
  struct NodeClock {
    std::int32_t node;
    ClockSample sample;
  };
  std::vector<NodeClock> clocks_;
};

}  // namespace tessera::rma::detail
