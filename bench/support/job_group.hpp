// SPDX-License-Identifier: BSD-3-Clause
//
// A rank group of the ranks of a Tessera job, however they were started. A rank that waits in it
// sleeps.
#pragma once

#include "bench/support/measure.hpp"
#include "rma/job.hpp"
#include "rma/tuning.hpp"

namespace tessera::bench {

class JobRankGroup : public RankGroup {
 public:
  /// All ranks of `job`, which must outlive the group. Its calls throw rma::Error if a rank is
  /// lost.
  explicit JobRankGroup(rma::Job& job) : job_(job) {}

  [[nodiscard]] int rank() const override { return job_.rank().value; }
  [[nodiscard]] int size() const override { return job_.size(); }
  void barrier() override;
  void broadcast(std::span<std::byte> bytes, int root) override;
  double maximum(double value) override;

 private:
  rma::Job& job_;
};

// start_job_on_same_ranks(): a second job with the same ranks and its own settings.
//
// A setting applies to a whole job. So each choice to compare gets its own job, and all of them
// take part in the same rounds. The threads of idle jobs sleep.

/// Collective over the ranks of `first`, which must outlive the new job. Throws rma::Error if the
/// job can't start.
rma::Job start_job_on_same_ranks(rma::Job& first, const rma::Settings& settings);

}  // namespace tessera::bench
