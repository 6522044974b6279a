// SPDX-License-Identifier: BSD-3-Clause
//
// ForkGuard: a child that a rank makes by fork() is no rank. It has copies of the job's objects,
// connections and mapped memory, but none of its threads: what it did with them would be done in
// its parent's name, in the middle of the parent's conversations. So the job is stopped there, and
// nothing of it is ever destroyed.
#pragma once

namespace tessera::rma::detail {

class JobState;

class ForkGuard {
 public:
  /// From now on a child finds `job` stopped: JobState::leave_to_parent().
  explicit ForkGuard(JobState& job);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  /// Whether one of this process's jobs is its parent's.
  static bool is_in_child() noexcept;

 private:
  JobState& job_;
};

}  // namespace tessera::rma::detail
