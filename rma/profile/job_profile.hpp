// SPDX-License-Identifier: BSD-3-Clause
//
// JobProfile: the profiles of a job's ranks, or of those that are known, and sums over them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rma/profile/rank_profile.hpp"

namespace tessera::rma::detail {

/// How unevenly something is spread over ranks. `most_of_mean` is 1 if all ranks have as much, and
/// 0 if none has any.
struct Spread {
  std::int32_t max_rank = 0;
  double most = 0;
  double mean = 0;
  [[nodiscard]] double most_of_mean() const noexcept { return mean > 0 ? most / mean : 0; }
};

/// One kind of wait, over all ranks.
struct WaitSum {
  WaitTally all;
  Spread seconds;
};

/// The calls of one label, such as "sync rho", over all ranks.
struct LabelSum {
  std::string label;
  WaitTally all;
  Spread seconds;
};

/// One phase, over all ranks.
struct PhaseSum {
  struct Operations {
    std::string name;  ///< of arrays and regions
    OpTallies by_op{};
  };
  std::string path;  ///< "step/deposit"
  WaitTally all;
  Spread seconds;
  std::uint64_t left_open = 0;
  WaitTallies waits{};
  std::vector<LabelledWait> calls;     ///< the longest first
  std::vector<Operations> operations;  ///< those that moved most bytes first

  [[nodiscard]] std::uint64_t waiting_ns() const noexcept;
  /// Bytes of puts, gets, accumulates and atomics.
  [[nodiscard]] std::uint64_t moved_bytes() const noexcept;
};

/// Traffic from one rank or node to another.
struct Flow {
  std::int32_t from = 0;
  std::int32_t to = 0;
  Tally tally;
};

struct JobProfile {
  std::int32_t job_ranks = 1;
  std::int32_t job_nodes = 1;
  std::string missing;                ///< why some ranks are missing; empty: all are here
  std::vector<std::int32_t> node_of;  ///< by world rank
  std::vector<RankProfile> ranks;     ///< ascending

  [[nodiscard]] bool is_complete() const noexcept { return missing.empty(); }
  /// From the first start of these ranks to the last stop, each on its own clock.
  [[nodiscard]] double seconds() const noexcept;
  [[nodiscard]] KindTallies kinds() const;
  /// All names, in order of the bytes that were moved, most first. `max_bytes` is the sum of the
  /// ranks' own maxima.
  [[nodiscard]] std::vector<RegionCounts::Entry> regions() const;
  [[nodiscard]] WaitSum wait(Wait wait) const;
  /// All labels, first those in which ranks waited longest.
  [[nodiscard]] std::vector<LabelSum> labels() const;
  /// All phases. Each comes before the phases within it, and those that took longest come first.
  [[nodiscard]] std::vector<PhaseSum> phases() const;
  [[nodiscard]] Spread waiting() const;
  /// The bytes that ranks moved themselves.
  [[nodiscard]] Spread moved() const;
  /// What was moved from and to each rank's memory by the known ranks. It is the job's total only
  /// if the profile is complete.
  [[nodiscard]] Spread owned() const;
  /// Puts, gets, accumulates and atomics, in order of from and to.
  [[nodiscard]] std::vector<Flow> flows() const;
  /// The same between nodes.
  [[nodiscard]] std::vector<Flow> node_flows() const;

  /// For users: the table of TESSERA_PROFILE=summary.
  [[nodiscard]] std::string table() const;
  /// For programs: the file of TESSERA_PROFILE=json, as docs/profile.md describes.
  [[nodiscard]] std::string json() const;
};

/// "get strided", as tables and files name kinds; "lock" for an operation without forms.
std::string name_of_kind(std::size_t kind);

}  // namespace tessera::rma::detail
