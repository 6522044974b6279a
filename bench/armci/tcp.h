// SPDX-License-Identifier: BSD-3-Clause
//
// Bare TCP on loopback: a request of 8 bytes, then the data. The target itself serves, on its own
// core, so that only the library differs from the library's messages. `polls`: both ends call
// repeatedly instead of sleeping in the kernel.
//
// Errors: fail() of job.h.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tcp {
  int descriptor;
  bool polls;
};

/// Sends the target the command to connect, and waits until it has connected.
struct tcp open_tcp(bool polls);
/// Makes the target return to its receive.
void close_tcp(struct tcp tcp);

/// A request with a reply of `count` bytes of fill(…, tcp_salt).
void request_tcp(struct tcp tcp, char* bytes, long count);
/// Announces that many bytes, which send_tcp() then sends in any portions.
void announce_tcp(struct tcp tcp, long count);
void send_tcp(struct tcp tcp, const char* bytes, long count);
/// Waits until all that was sent has arrived.
void wait_for_arrival_tcp(struct tcp tcp);

/// The target's side, until close_tcp().
void serve_tcp(int port, bool polls);

enum { tcp_salt = 12 };

#ifdef __cplusplus
}
#endif
