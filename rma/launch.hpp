// SPDX-License-Identifier: BSD-3-Clause
//
// Starting a program as several ranks on this machine, without MPI: what tessera-run does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rma/base/result.hpp"

namespace tessera::rma {

struct LaunchOptions {
  std::int32_t ranks = 1;
  std::int32_t nodes = 0;  ///< emulated nodes to divide the ranks over; 0: as the settings say
  std::function<void(std::int32_t rank, int pid)> started;  ///< called for each process
  bool whole_lines = false;  ///< forwards the ranks' output line by line, unless ours is a terminal
  /// The same, also to a terminal, with "[rank] " before each line.
  bool tagged_lines = false;
  /// Called at the end if the output of `whole_lines` could not all be written, with the system's
  /// error; EINTR if it was not read and a signal had arrived.
  std::function<void(int error)> on_lost_output = {};
};

/// How one rank ended.
struct RankExit {
  std::int32_t rank = 0;
  int exit_code = 0;  ///< meaningful if signal is 0; that of end_job() if 0 would hide it
  int signal = 0;     ///< that ended the process, or 0
  bool was_signalled =
      false;  ///< it was still running when another rank ended the job, and was sent SIGTERM
};

/// Local. Starts `arguments[0]`, with the rest as its arguments, in `options.ranks` processes and
/// waits until all have ended. Returns how each ended.
///
/// Signals: forwards SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 to the processes; those of a
/// terminal reach them directly. If one of the first three ended a script, the processes that
/// remain below it get SIGTERM. A rank that is killed does not end the others; they get errors from
/// their own waits. If a rank calls end_job() (rma/bootstrap.hpp), the others get SIGTERM after it
/// has ended, and SIGKILL if they still run 2 s later. The rank itself gets both if it has not
/// ended after 2 s.
///
/// Ranks: the rank is the first process that starts a Job: the started process, or one below it (of
/// a script, of `perf stat`). It may start several jobs one after the other. A program that a rank
/// starts itself (`system()`) is a separate job of one rank, and ends alone.
///
/// Output: with `whole_lines` a rank's output waits while our reader reads nothing, as it would
/// without the launcher. After all ranks have ended, a signal ends the wait for the reader; a
/// signal that was forwarded to the ranks ends it after 2 s.
///
/// Requires: the caller has no other children that it waits for with wait(−1).
/// Errors: invalid_argument (no ranks, no program, more nodes than ranks); limit_exceeded, before
/// any process starts, if the system can't have that many.
Result<std::vector<RankExit>> launch(const std::vector<std::string>& arguments,
                                     const LaunchOptions& options);

}  // namespace tessera::rma
