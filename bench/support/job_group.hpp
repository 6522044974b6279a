// SPDX-License-Identifier: BSD-3-Clause
//
// A rank group of the ranks of a Tessera job, however they were started. A rank that waits in it
// sleeps.
#pragma once

#include "bench/support/rank_group.hpp"
#include "rma/job.hpp"

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

}  // namespace tessera::bench
