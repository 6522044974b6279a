// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fault/stage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "rma/transfer.hpp"

namespace tessera::fault {

using rma::Status;
using rma::TeamRank;

void Line::say(const std::string& text) const {
  if (write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    _exit(70);  // The director has ended.
  }
}

void Line::ready() const {
  say(fmt::format("ready {}\n", rank_));
}

void Line::report(std::string_view step, const Status& status, long elapsed_ms) const {
  std::string message = status.message().substr(0, 1000);
  std::replace(message.begin(), message.end(), '\n', '|');
  say(fmt::format("report {} {} {} {} {} {}\n", rank_, step, to_string(status.code()),
                  status.rank() ? status.rank()->value : -1, elapsed_ms, message));
}

void wait_for_the_end() {
  while (true) {
    pause();
  }
}

std::vector<rma::WorldRank> Stage::survivors() const {
  std::vector<rma::WorldRank> ranks;
  for (std::int32_t each = 0; each < job.size(); ++each) {
    if (each != victim) {
      ranks.push_back(rma::WorldRank{each});
    }
  }
  return ranks;
}

void Stage::wait_for_the_death() const {
  while (victim_lives()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

namespace {

Status expect(bool condition, std::string_view claim) {
  return condition ? Status()
                   : Status::error(rma::Code::internal, fmt::format("not true: {}", claim));
}

// A team's barrier does not fence, and a fence of all ranks would report the loss of the dead rank.
Status fence_and_meet(rma::Region& region, rma::Team& team) {
  TESSERA_RETURN_IF_ERROR(region.fence());
  return team.barrier();
}

Status use_region(Stage& stage, rma::Team& team) {
  constexpr std::size_t bytes = std::size_t{128} << 10;
  TESSERA_ASSIGN_OR_RETURN(rma::Region region, rma::Region::allocate(team, bytes));
  const TeamRank next{(team.rank().value + 1) % team.size()};
  const double value = 1.5 + team.rank().value;
  TESSERA_RETURN_IF_ERROR(put_value(stage.job, region.at(next, 64), value));
  TESSERA_RETURN_IF_ERROR(accumulate(stage.job, region.at(TeamRank{0}, 128), &value, sizeof value,
                                     rma::Scale::of(1.0)));
  TESSERA_RETURN_IF_ERROR(fence_and_meet(region, team));
  TESSERA_ASSIGN_OR_RETURN(const double there,
                           rma::get_value<double>(stage.job, region.at(next, 64)));
  TESSERA_RETURN_IF_ERROR(expect(there == value, "a put between survivors arrives"));
  TESSERA_ASSIGN_OR_RETURN(const double sum,
                           rma::get_value<double>(stage.job, region.at(TeamRank{0}, 128)));
  const int n = team.size();
  TESSERA_RETURN_IF_ERROR(
      expect(sum == 1.5 * n + n * (n - 1) / 2.0, "accumulates of survivors add up"));
  return region.free();
}

Status use_locks(Stage& stage, rma::Team& team) {
  TESSERA_ASSIGN_OR_RETURN(rma::Region counter, rma::Region::allocate(team, 8));
  TESSERA_ASSIGN_OR_RETURN(rma::LockSet locks, rma::LockSet::create(team, 1));
  constexpr int turns = 50;
  for (int i = 0; i < turns; ++i) {
    TESSERA_RETURN_IF_ERROR(locks.lock(TeamRank{0}, 0));
    TESSERA_ASSIGN_OR_RETURN(const auto seen,
                             rma::get_value<std::int64_t>(stage.job, counter.at(TeamRank{0})));
    TESSERA_RETURN_IF_ERROR(put_value(stage.job, counter.at(TeamRank{0}), seen + 1));
    TESSERA_RETURN_IF_ERROR(locks.unlock(TeamRank{0}, 0));
  }
  TESSERA_RETURN_IF_ERROR(fence_and_meet(counter, team));
  TESSERA_ASSIGN_OR_RETURN(const auto all,
                           rma::get_value<std::int64_t>(stage.job, counter.at(TeamRank{0})));
  TESSERA_RETURN_IF_ERROR(
      expect(all == std::int64_t{turns} * team.size(), "a lock among survivors excludes"));
  TESSERA_RETURN_IF_ERROR(locks.free());
  return counter.free();
}

}  // namespace

Status carry_on(Stage& stage) {
  // A survivor that finds out about the death first may free its memory while messages for it are
  // still under way. The next fence reports them.
  stage.job.fence_all().ignore("of the time before");
  const std::vector<rma::WorldRank> members = stage.survivors();
  TESSERA_ASSIGN_OR_RETURN(rma::Team team, rma::Team::create(stage.job, members));
  TESSERA_ASSIGN_OR_RETURN(const auto count, team.allreduce(std::int64_t{1}, rma::Reduction::sum));
  TESSERA_RETURN_IF_ERROR(expect(count == std::ssize(members), "all survivors are in the team"));
  TESSERA_RETURN_IF_ERROR(use_region(stage, team));
  TESSERA_RETURN_IF_ERROR(use_locks(stage, team));
  return team.barrier();
}

}  // namespace tessera::fault
