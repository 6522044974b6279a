// SPDX-License-Identifier: BSD-3-Clause
//
// Starting a program as several ranks on this machine, without MPI: what tessera-run does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rma/result.hpp"

namespace tessera::rma {

struct LaunchOptions {
  std::int32_t ranks = 1;
  std::int32_t nodes = 0;  ///< emulated nodes to split the ranks over; 0: leave it to the settings
  std::function<void(std::int32_t rank, int pid)> started;  ///< told of each process
  bool whole_lines = false;  ///< pass their output on by lines, where ours is not a terminal
  /// The same, also to a terminal, with "[rank] " in front of each line.
  bool tagged_lines = false;
  /// Called at the end where `whole_lines` could not all be written, with the system's error; EINTR
  /// where nobody read them and a signal had come.
  std::function<void(int error)> on_lost_output = {};
};

/// How one rank ended.
struct RankExit {
  std::int32_t rank = 0;
  int exit_code = 0;  ///< meaningful when signal is 0; that of end_job() where 0 would hide it
  int signal = 0;     ///< that ended the process, or 0
  bool was_told =
      false;  ///< it was still running when another had ended the job, and was told to end
};

/// Local. Starts `arguments[0]` with the rest as its arguments in `options.ranks` processes, passes
/// SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 on to them, which get a terminal's by themselves,
/// and waits until all have ended. What a script has left below it when it ended by one of the
/// first three gets SIGTERM. A rank that is killed does not take the others with it; they are told
/// by their own waits. One that calls end_job() (rma/bootstrap.hpp) does: when it has ended the
/// others get SIGTERM, and SIGKILL when they still run after 2 s. So does it itself when it hasn't
/// ended after 2 s. The rank is the first process that starts a Job, be it the one that is started
/// or one below it (of a script, of `perf stat`); it may start several jobs one after the other. A
/// program that a rank starts itself (`system()`) is a job of its own, of one rank, and ends alone.
/// With `whole_lines` a rank's output waits while our reader takes nothing, as it would without us.
/// When all have ended, a signal ends the wait for the reader; one that was passed on to them does
/// after 2 s. Returns how each ended. Requires: the caller has no other children that it waits for
/// by wait(−1). Errors: invalid_argument (no ranks, no program, more nodes than ranks);
/// limit_exceeded, before any is started if more are asked for than the system can have.
Result<std::vector<RankExit>> launch(const std::vector<std::string>& arguments,
                                     const LaunchOptions& options);

}  // namespace tessera::rma
