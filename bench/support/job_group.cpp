// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/job_group.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rma/bootstrap.hpp"

namespace tessera::bench {

void JobRankGroup::barrier() {
  rma::require(job_.world().barrier());
}

void JobRankGroup::broadcast(std::span<std::byte> bytes, int root) {
  rma::require(job_.world().broadcast(bytes, rma::TeamRank{root}));
}

double JobRankGroup::maximum(double value) {
  return job_.world().allreduce(value, rma::Reduction::max).value();
}

namespace {

/// Lets further jobs of the same ranks start, and keeps what the first job still needs.
class SameRanks final : public rma::Bootstrap {
 public:
  /// `first` must outlive this.
  explicit SameRanks(rma::Bootstrap& first) : first_(first) {}

  [[nodiscard]] std::string_view name() const noexcept override { return first_.name(); }
  [[nodiscard]] rma::WorldRank rank() const noexcept override { return first_.rank(); }
  [[nodiscard]] std::int32_t size() const noexcept override { return first_.size(); }
  [[nodiscard]] bool is_one_process() const noexcept override { return first_.is_one_process(); }
  [[nodiscard]] bool is_mpi_world() const noexcept override { return first_.is_mpi_world(); }
  [[nodiscard]] std::optional<int> mpi_communicator() const noexcept override {
    return first_.mpi_communicator();
  }
  [[nodiscard]] std::optional<rma::WorldRank> first_lost() const noexcept override {
    return first_.first_lost();
  }
  rma::Result<std::vector<std::byte>> allgather(std::span<const std::byte> mine,
                                                std::chrono::milliseconds timeout) override {
    return first_.allgather(mine, timeout);
  }

 private:
  rma::Bootstrap& first_;
};

}  // namespace

rma::Job start_job_on_same_ranks(rma::Job& first, const rma::Settings& settings) {
  return rma::Job::start({.bootstrap = std::make_shared<SameRanks>(first.bootstrap()),
                          .settings = settings,
                          .transports = {}})
      .value();
}

}  // namespace tessera::bench
