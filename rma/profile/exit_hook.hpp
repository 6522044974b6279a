// SPDX-License-Identifier: BSD-3-Clause
//
// ExitHook: makes a profiled job that the program doesn't stop write its profile when the process
// exits, by exit(), by the end of main() or by a Fortran STOP. It does nothing after abort(),
// _exit() or a signal, or in a child made by fork().
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace tessera::rma::detail {

class JobState;
class ProfileSession;

class ExitHook {
 public:
  /// Registers the job's profile to be finished at the exit of the process, unless claim() comes
  /// first. Null if the system cannot register more exit handlers.
  static std::shared_ptr<ExitHook> install(const std::shared_ptr<JobState>& job,
                                           ProfileSession& profile);

  /// True for the first caller, which must then finish the profile.
  bool claim() noexcept { return is_due_.exchange(false); }

 private:
  ExitHook(std::weak_ptr<JobState> job, ProfileSession& profile) noexcept
      : job_(std::move(job)), profile_(profile) {}
  static void at_exit(int status, void* hook);

  std::atomic<bool> is_due_{true};
  std::weak_ptr<JobState> job_;
  ProfileSession& profile_;  ///< of that job, as long as it exists
};

}  // namespace tessera::rma::detail
