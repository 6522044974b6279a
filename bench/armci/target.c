// SPDX-License-Identifier: BSD-3-Clause
#include "bench/armci/target.h"

#include <armci.h>

#include "bench/armci/live.h"
#include "bench/armci/tcp.h"

static const double ns_in_ms = 1e6;

void command_target(enum command command, int argument) {
  int words[2] = {(int)command, argument};
  send_message(words, (int)sizeof words, target_rank);
}

void wait_for_reply(void) {
  int words[2] = {0, 0};
  receive_message(words, (int)sizeof words, target_rank);
}

static void compute(double ns) {
  const double end = now_ns() + ns;
  while (now_ns() < end) {
  }
}

void execute_commands(void) {
  struct live live = {.rank = target_rank};
  while (true) {
    int words[2] = {command_end, 0};
    receive_message(words, (int)sizeof words, origin_rank);
    switch ((enum command)words[0]) {
      case command_end:
        return;
      case command_barriers:
        for (int i = 0; i < words[1]; ++i) {
          ARMCI_Barrier();
        }
        break;
      case command_compute:
        compute(words[1] * ns_in_ms);
        send_message(words, (int)sizeof words, origin_rank);
        break;
      case command_tcp_polling:
      case command_tcp_blocking:
        serve_tcp(words[1], words[0] == command_tcp_polling);
        break;
      case command_make_live:
        set_live_count(&live, words[1]);
        break;
    }
  }
}
