// SPDX-License-Identifier: BSD-3-Clause
//
// The director of the fault tests: starts a worker program on real processes and signals one of
// them when it is ready. It reads the reports of the others, and checks that no process, file or
// descriptor is left.
//
// It ends only processes that it started, by their ids. Every run has a time limit; workers that
// still run then are killed, and Outcome::hung is set.
#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "rma/launch.hpp"

namespace tessera::fault {

/// A worker's report about one step.
struct Report {
  int rank = -1;
  std::string step;
  std::string code;     ///< "ok", "peer_lost", …
  int named_rank = -1;  ///< the rank that the status names, or −1
  long elapsed_ms = 0;
  std::string message;  ///< line ends are replaced by |
};

struct Plan {
  std::string scenario;
  int ranks = 3;
  int victim = 1;
  int signal = SIGKILL;                         ///< 0: no signal is sent
  std::chrono::milliseconds delay{10};          ///< from the victim's "ready" to the signal
  std::chrono::milliseconds continue_after{0};  ///< then SIGCONT; 0: none
  std::chrono::milliseconds time_limit{20'000};
  std::vector<std::pair<std::string, std::string>> environment = {};
};

struct Outcome {
  std::vector<rma::RankExit> exits;
  std::vector<Report> reports;
  bool hung = false;
  std::vector<std::string> leftovers;  ///< processes, files and descriptors; should be empty

  /// The report of `rank` about `step`; null if there is none.
  [[nodiscard]] const Report* find(int rank, const std::string& step) const;
  [[nodiscard]] int count(const std::string& step) const;
};

/// Runs fault_worker as `plan` says.
Outcome direct(const Plan& plan);

/// The outcome as text for failure messages.
std::string describe(const Outcome& outcome);

/// Sets variables of this process while the object exists. Child processes inherit them.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(const std::vector<std::pair<std::string, std::string>>& variables);
  ~ScopedEnvironment();
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  std::vector<std::pair<std::string, std::string>> before_;
  std::vector<std::string> unset_before_;
};

/// Finds what a run leaves: processes that carry its mark in their environment, entries of /dev/shm
/// and of a TMPDIR of its own, and descriptors of this process.
class Traces {
 public:
  Traces();
  ~Traces();
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  /// The variables for the run: the mark, and TMPDIR.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;
  /// What exists now and did not exist before. Processes get a moment to end.
  [[nodiscard]] std::vector<std::string> leftovers() const;

 private:
  std::string mark_;
  std::string folder_;
  std::vector<std::string> shared_before_;
  std::vector<std::string> descriptors_before_;
};

}  // namespace tessera::fault
