// SPDX-License-Identifier: BSD-3-Clause
//
// Candidate: one way to do a piece of work, to be measured against other ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::bench {

struct Candidate {
  std::string name;  ///< the backend: "shm", "memcpy", "armci-mpi"

  /// Does the work `repetitions` times. Only this is timed. Called on rank 0 alone, or on every
  /// rank when `cooperative`.
  std::function<void(std::int64_t repetitions)> run;

  /// Called once on every rank before anything else; may be collective; may be empty.
  std::function<void()> prepare = {};

  /// Does the work once in its own way and checks the data; called on every rank, outside the
  /// timed regions; may be empty. Returns what is wrong, or an empty string.
  std::function<std::string()> verify = {};

  /// Whether all ranks run it together (ping-pong, triad, collectives). A sample then starts at a
  /// barrier, and its time is that of the slowest rank.
  bool cooperative = false;

  /// Payload of one repetition over all ranks, for bandwidths; 0 when there is none.
  std::size_t bytes = 0;

  /// What one repetition counts as over all ranks: messages, draws, updates; none where rates say
  /// nothing that times don't.
  std::optional<double> operations = std::nullopt;
};

/// Appends a candidate that may be missing.
inline void add(std::vector<Candidate>& candidates, std::optional<Candidate> candidate) {
  if (candidate) {
    candidates.push_back(std::move(*candidate));
  }
}
inline void add(std::vector<Candidate>& candidates, std::vector<Candidate> more) {
  std::move(more.begin(), more.end(), std::back_inserter(candidates));
}

}  // namespace tessera::bench
