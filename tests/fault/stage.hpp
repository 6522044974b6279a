// SPDX-License-Identifier: BSD-3-Clause
//
// Stage: what a scenario of the fault tests works with. It is one rank of a job in which one rank,
// the victim, dies, and a pipe to the director (run.hpp), which kills the victim and reads the
// survivors' reports.
//
// A scenario has two roles. The victim calls ready() at the point where it is to die and never
// returns; the survivors return the status that they got from the library. worker.cpp does what all
// scenarios have in common: afterwards the survivors must still be able to work without the victim.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/region.hpp"

namespace tessera::fault {

/// The pipe to the director. Each line is one write, so that lines of several ranks do not mix.
class Line {
 public:
  Line(int fd, int rank) : fd_(fd), rank_(rank) {}

  /// Reports that this rank is ready to be killed.
  void ready() const;
  /// Reports the status that the library returned for `step`, and the time that the step took.
  void report(std::string_view step, const rma::Status& status, long elapsed_ms = 0) const;

 private:
  void say(const std::string& text) const;
  int fd_;
  int rank_;
};

/// Sleeps until a signal ends this process.
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
  /// The lowest rank that is not the victim.
  [[nodiscard]] int first_survivor() const { return victim == 0 ? 1 : 0; }
  [[nodiscard]] std::vector<rma::WorldRank> survivors() const;
  /// Sleeps until this rank's library no longer counts the victim as present.
  void wait_for_the_death() const;
};

struct Scenario {
  std::string_view name;
  void (*victim)(Stage& stage);  ///< returns only if it stops the job properly
  rma::Status (*survivor)(Stage& stage);
};

/// The scenario of this name, of those in which the victim dies after the start of the job; null if
/// there is none.
const Scenario* find_scenario(std::string_view name);

/// What survivors must still be able to do: make a team, a region and locks of their own, and use
/// them.
rma::Status carry_on(Stage& stage);

/// Appends time steps to a file until that fails; output_scenario.cpp.
rma::Status append_steps(Stage& stage);
void append_steps_to_the_end(Stage& stage);

/// Runs a scenario "node:…", which has several nodes; these scenarios report themselves.
rma::Status play_on_nodes(std::string_view name, rma::Job& job, const Line& line);

}  // namespace tessera::fault
