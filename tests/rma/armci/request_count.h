/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request_count.h: counts what this process sends to other nodes over sockets, at the calls to the
 * kernel, and how much of it its main thread does.
 */
#ifndef TESSERA_TESTS_RMA_ARMCI_REQUEST_COUNT_H
#define TESSERA_TESTS_RMA_ARMCI_REQUEST_COUNT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Requests of this process since the last reset. Requires: no frame was on its way at that time. */
typedef struct {
  int puts;
  int gets;
  int accumulates;
  int atomics; /* single ones and lists */
} Requests;

void forget_requests(void);
Requests requests_sent(void);

/* Since the last reset, by the calling thread: replies sent to other nodes, and reads from a
 * socket. */
int answers_by_this_thread(void);
int reads_by_this_thread(void);
/* Since the last reset, by any thread: replies with data. */
int data_replies(void);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_TESTS_RMA_ARMCI_REQUEST_COUNT_H */
