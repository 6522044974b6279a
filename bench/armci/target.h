// SPDX-License-Identifier: BSD-3-Clause
//
// What the target does while the origin measures: it waits in a receive of the message layer, and
// does what it is told there.
#pragma once

#include "bench/armci/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

enum command {
  command_end,
  command_barriers,     ///< argument: how many
  command_compute,      ///< argument: for how many ms, without a call of the library; then answers
  command_tcp_polling,  ///< argument: port; serves the raw floors on loopback (tcp.h)
  command_tcp_blocking,
  command_make_live  ///< argument: how many allocations there shall be; 0 frees all (live.h)
};

/// The origin tells the target.
void command_target(enum command command, int argument);
/// Waits for the answer to command_compute.
void await_target(void);
/// The target obeys until command_end.
void obey_origin(void);

#ifdef __cplusplus
}
#endif
