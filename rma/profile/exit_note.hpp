// SPDX-License-Identifier: BSD-3-Clause
//
// ExitNote: a profiled job that the program doesn't stop leaves its profile when the process exits,
// by exit(), by the end of main() or by a Fortran STOP. Not after abort(), _exit() or a signal, and
// not in a child made by fork().
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace tessera::rma::detail {

class JobState;

class ExitNote {
 public:
  /// Has the process finish the job's profile at its exit, unless withdraw() comes first. Null
  /// where the system keeps no more such notes.
  static std::shared_ptr<ExitNote> leave(const std::shared_ptr<JobState>& job);

  /// True for the first caller, who finishes the profile.
  bool withdraw() noexcept { return is_due_.exchange(false); }

 private:
  explicit ExitNote(std::weak_ptr<JobState> job) noexcept : job_(std::move(job)) {}
  static void at_exit(int status, void* note);

  std::atomic<bool> is_due_{true};
  std::weak_ptr<JobState> job_;
};

}  // namespace tessera::rma::detail
