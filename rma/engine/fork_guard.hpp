// SPDX-License-Identifier: BSD-3-Clause
//
// ForkGuard: makes the job unusable in a child that a rank makes by fork(). The child has copies of
// the job's objects, connections and mapped memory, but none of its threads. Its operations would
// appear as its parent's, in the middle of the parent's messages. So the job is stopped in the
// child, and none of its objects is ever destroyed there.
#pragma once

namespace tessera::rma::detail {

class JobState;

class ForkGuard {
 public:
  /// From now on `job` is stopped in children: JobState::close_in_forked_child().
  explicit ForkGuard(JobState& job);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  /// Whether this process is a child that has copies of its parent's jobs.
  static bool is_in_child() noexcept;

 private:
  JobState& job_;
};

}  // namespace tessera::rma::detail
