// SPDX-License-Identifier: BSD-3-Clause
//
// ProfileSession: a job's profile from its start to its end, when rank 0 collects and writes what
// the ranks recorded (docs/decisions/0022).
//
//     stop      a rank that stops raises its flag at rank 0 and waits for the verdict
//     verdict   "together" if all have come; "alone" if one is gone or too late
//     together  each rank puts its record into a region; rank 0 gets one after the other
//     alone     each rank writes what it has; rank 0 (or the first remaining rank) prints it
//
// Threads: start, finish and release as the collectives of the world team.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "rma/engine/profile_owner.hpp"
#include "rma/profile/exit_hook.hpp"
#include "rma/profile/rank_profile.hpp"
#include "rma/profile/recorder.hpp"
#include "rma/region.hpp"

namespace tessera::rma {
class Job;
}

namespace tessera::rma::detail {

class JobState;

class ProfileSession final : public ProfileOwner {
 public:
  /// Collective over all ranks, which must all have the same Settings::profile, not "off". Gives
  /// the job its profile: JobState::set_profile().
  static Status start(JobState& job);

  [[nodiscard]] Recorder& recorder() noexcept override { return recorder_; }
  void finish(JobState& job) override;
  /// The same at the exit of a process that has not stopped the job. If the process failed, this
  /// rank's profile is written alone, at once, since the others may be waiting for this rank. Does
  /// nothing after finish().
  void finish_at_exit(JobState& job, bool is_success);
  void release() override;

 private:
  ProfileSession(const JobState& job, Region control);
  void finish_once(JobState& job, bool can_wait);

  enum class Verdict : std::int32_t { none, together, alone };
  [[nodiscard]] bool is_trace() const noexcept { return mode_ == "trace"; }
  [[nodiscard]] bool is_root() const noexcept { return rank_.value == 0; }
  [[nodiscard]] RemoteAddress arrival_of(WorldRank rank) const noexcept;
  [[nodiscard]] RemoteAddress ping_of(std::int32_t node) const noexcept;
  [[nodiscard]] std::atomic_ref<std::int32_t> own_flag(const RemoteAddress& at) const noexcept;

  [[nodiscard]] RankProfile record(const Job& job);
  bool wait_for_all(Job& job);
  bool wait_for_arrivals(Job& job);
  bool wait_for_verdict(Job& job);
  void send_verdict(Job& job, Verdict verdict);
  void measure_clock(Job& job, ClockSample& sample);
  Status answer_pings(Job& job, WorldRank leader, std::int32_t first);
  Status send_pings(Job& job, std::int32_t first, ClockSample& sample);
  Status finish_together(Job& job, const RankProfile& own);
  using Action = std::function<void(const RankProfile&)>;
  Status for_each_rank(Job& job, const Region& records, const RankProfile& own,
                       const Action& action) const;
  Status write_all(Job& job, const Region& records, const RankProfile& own);
  Status write_trace(Job& job, const Region& records, const RankProfile& own) const;
  Status write_own_trace(const RankProfile& own, const std::string& file) const;
  void finish_alone(Job& job, RankProfile own);
  /// Where this rank's profile is written if the ranks don't come together.
  [[nodiscard]] std::string own_file() const;

  std::string mode_;
  std::string file_;  ///< with the folder in which the job started
  std::int64_t wait_ms_;
  WorldRank rank_;
  std::int32_t job_ranks_;
  Recorder recorder_;
  Region control_;
  std::int64_t start_ns_ = 0;
  std::int32_t pings_ = 0;  ///< so far
  ClockSample clock_at_start_;
  ClockSample clock_at_stop_;
  std::string missing_;  ///< why the ranks did not come together
  std::shared_ptr<ExitHook> exit_hook_;
};

}  // namespace tessera::rma::detail
