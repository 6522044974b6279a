/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request_count.h: what this process sends to other nodes over sockets, seen where the library
 * gives it to the kernel; and what its main thread does of it.
 */
#ifndef TESSERA_TESTS_RMA_ARMCI_REQUEST_COUNT_H
#define TESSERA_TESTS_RMA_ARMCI_REQUEST_COUNT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Requests of this process that were sent since the last forgetting. Requires: no frame was on its
 * way at that time. */
typedef struct {
  int puts;
  int gets;
  int accumulates;
} Requests;

void forget_requests(void);
Requests requests_sent(void);

/* Since the last forgetting, by the thread that called it: answers that were sent to other nodes,
 * and times that something was read from a socket. */
int answers_by_this_thread(void);
int reads_by_this_thread(void);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_TESTS_RMA_ARMCI_REQUEST_COUNT_H */
