// SPDX-License-Identifier: BSD-3-Clause
//
// Stage: what a scenario of the fault tests plays on. One rank of a job that one rank, the victim,
// will not survive; and the line to the director (run.hpp), who kills it and hears the survivors.
//
// A scenario has two roles. The victim says ready() when it stands where it shall die and never
// returns; the survivors return what the library told them. What every scenario has in common is in
// worker.cpp: afterwards the survivors must still be able to work without the victim.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/region.hpp"

namespace tessera::fault {

/// The pipe to the director. Each line is one write, so that lines of several ranks stay whole.
class Line {
 public:
  Line(int fd, int rank) : fd_(fd), rank_(rank) {}

  /// "I stand where I shall be struck."
  void ready() const;
  /// Tells what the library returned for `step`, and how long the step took.
  void report(std::string_view step, const rma::Status& status, long elapsed_ms = 0) const;

 private:
  void say(const std::string& text) const;
  int fd_;
  int rank_;
};

/// Sleeps until somebody ends this process.
[[noreturn]] void wait_for_the_end();

struct Stage {
  rma::Job& job;
  const Line& line;
  int victim;
  rma::Region& region;  ///< of the world team, `slice_bytes` each
  rma::LockSet& locks;  ///< of the world team, two each

  static constexpr std::size_t slice_bytes = std::size_t{256} << 10;

  [[nodiscard]] int rank() const { return job.rank().value; }
  [[nodiscard]] bool victim_lives() const { return job.is_present(rma::WorldRank{victim}); }
  /// The lowest rank but the victim.
  [[nodiscard]] int first_survivor() const { return victim == 0 ? 1 : 0; }
  [[nodiscard]] std::vector<rma::WorldRank> survivors() const;
  /// Sleeps until this rank's library says that the victim is gone.
  void wait_for_the_death() const;
};

struct Scenario {
  std::string_view name;
  void (*victim)(Stage& stage);  ///< returns only where it leaves in good order
  rma::Status (*survivor)(Stage& stage);
};

/// All scenarios in which the job has started.
const Scenario* find_scenario(std::string_view name);

/// What survivors must still be able to do: a team, a region, transfers and locks of their own.
rma::Status carry_on(Stage& stage);

/// The scenarios "node:…", of three nodes of two ranks; reports for itself.
rma::Status play_on_nodes(std::string_view name, rma::Job& job, const Line& line);

}  // namespace tessera::fault
