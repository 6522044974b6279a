// SPDX-License-Identifier: BSD-3-Clause
//
// ProfileOwner: what a job's end needs from its profile (rma/profile/session.hpp implements it).
#pragma once

namespace tessera::rma::detail {

class JobState;
class Recorder;

class ProfileOwner {
 public:
  virtual ~ProfileOwner() = default;

  /// Where operations and waits are recorded.
  [[nodiscard]] virtual Recorder& recorder() noexcept = 0;
  /// Collective. Writes the profile. Requires: the recorder is closed, and this thread's counts are
  /// handed over. Errors only go to the log: the run itself succeeded.
  virtual void finish(JobState& job) = 0;
  /// Local, when the job is stopped: releases its references to the job.
  virtual void release() = 0;
};

}  // namespace tessera::rma::detail
