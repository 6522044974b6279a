// SPDX-License-Identifier: BSD-3-Clause
//
// The director of the fault tests: starts a worker program on real processes, strikes one of them
// when it says that it stands where it shall, listens to the others, and sees to it that nothing
// and nobody is left behind.
//
// Ends only processes that it started, by their ids. Every run has a time limit; who is still there
// then is ended, and Outcome::hung says so.
#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "rma/launch.hpp"

namespace tessera::fault {

/// What a worker told about one step.
struct Report {
  int rank = -1;
  std::string step;
  std::string code;     ///< "ok", "peer_lost", …
  int named_rank = -1;  ///< the rank that the status names, or −1
  long elapsed_ms = 0;
  std::string message;  ///< with | for line ends
};

struct Plan {
  std::string scenario;
  int ranks = 3;
  int victim = 1;
  int signal = SIGKILL;                         ///< 0: nobody is struck
  std::chrono::milliseconds delay{10};          ///< from the victim's "ready" to the blow
  std::chrono::milliseconds continue_after{0};  ///< then SIGCONT; 0: none
  std::chrono::milliseconds time_limit{20'000};
  std::vector<std::pair<std::string, std::string>> environment = {};
};

struct Outcome {
  std::vector<rma::RankExit> exits;
  std::vector<Report> reports;
  bool hung = false;
  std::vector<std::string> left_behind;  ///< processes, files and descriptors; should be empty

  /// The report of `rank` about `step`; null when there is none.
  [[nodiscard]] const Report* find(int rank, const std::string& step) const;
  [[nodiscard]] int count(const std::string& step) const;
};

/// Runs fault_worker as `plan` says.
Outcome direct(const Plan& plan);

/// For the description of a failure.
std::string describe(const Outcome& outcome);

/// Sets variables of this process for a scope. Children inherit them.
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

/// Watches for what a run could leave behind: processes that carry its mark in their environment,
/// entries of /dev/shm and of a TMPDIR of its own, and descriptors of this process.
class Traces {
 public:
  Traces();
  ~Traces();
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  /// Variables for the run: the mark, and TMPDIR.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;
  /// What is there now and was not before. Processes get a moment to end.
  [[nodiscard]] std::vector<std::string> left_behind() const;

 private:
  std::string mark_;
  std::string folder_;
  std::vector<std::string> shared_before_;
  std::vector<std::string> descriptors_before_;
};

}  // namespace tessera::fault
