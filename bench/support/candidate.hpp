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
  /// rank if `cooperative`.
  std::function<void(std::int64_t repetitions)> run;

  /// Called once on every rank before anything else; may be collective; may be empty.
  std::function<void()> prepare = {};

  /// Does the work once and checks the data; called on every rank, outside the timed regions; may
  /// be empty. Returns an error message, or an empty string.
  std::function<std::string()> verify = {};

  /// Whether all ranks run it together (ping-pong, triad, collectives). A sample then starts at a
  /// barrier, and its time is that of the slowest rank.
  bool cooperative = false;

  /// Payload of one repetition over all ranks, for bandwidths; 0 if none is defined.
  std::size_t bytes = 0;

  /// Number of operations in one repetition over all ranks: messages, draws, updates. Empty if a
  /// rate would add nothing to the time.
  std::optional<double> operations = std::nullopt;
};

/// Appends a candidate, if it exists.
inline void add(std::vector<Candidate>& candidates, std::optional<Candidate> candidate) {
  if (candidate) {
    candidates.push_back(std::move(*candidate));
  }
}
inline void add(std::vector<Candidate>& candidates, std::vector<Candidate> more) {
  std::move(more.begin(), more.end(), std::back_inserter(candidates));
}

}  // namespace tessera::bench
