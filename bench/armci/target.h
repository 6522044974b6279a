// SPDX-License-Identifier: BSD-3-Clause
//
// The target while the origin measures: it waits in a receive of the message layer, and executes
// the commands that it receives.
#pragma once

#include "bench/armci/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

enum command {
  command_end,
  command_barriers,     ///< argument: their number
  command_compute,      ///< argument: duration in ms, without a call of the library; then replies
  command_tcp_polling,  ///< argument: port; serves the TCP baselines on loopback (tcp.h)
  command_tcp_blocking,
  command_make_live  ///< argument: the number of allocations; 0 frees all (live.h)
};

/// The origin sends a command to the target.
void command_target(enum command command, int argument);
/// Waits for the reply to command_compute.
void wait_for_reply(void);
/// The target executes commands until command_end.
void execute_commands(void);

#ifdef __cplusplus
}
#endif
