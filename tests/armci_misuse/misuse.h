/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The misuses of ARMCI's interface, one for each case: the function that reports it, its code and
 * its words.
 */
#ifndef TESSERA_TESTS_ARMCI_MISUSE_H
#define TESSERA_TESTS_ARMCI_MISUSE_H

/* The callers, and the time. */
enum scope {
  before,     /* all, before ARMCI_Init */
  after,      /* all, after ARMCI_Finalize */
  one,        /* the last process; the others are in a barrier */
  all_ranks,  /* all processes, collectively: each returns the error */
  one_of_all, /* all processes, collectively, one of them with the error: each returns it */
};

struct misuse {
  const char* name;
  enum scope scope;
  const char* function; /* the beginning of the message */
  int code;
  const char* words; /* in the message, with | between them */
  int (*body)(void); /* returns the function's result, or the last error's code */
};

/* Memory of the cases: 1024 zeroed bytes of each process. */
extern void** shared;
enum { shared_bytes = 1024 };

int me(void);
int size(void);
int next(void); /* the next process in a ring */
/* The code of this process's last error. */
int last_code(void);

extern const struct misuse transfer_cases[];
extern const int transfer_case_count;
extern const struct misuse memory_cases[];
extern const int memory_case_count;
extern const struct misuse message_cases[];
extern const int message_case_count;

#endif
