/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One misuse of ARMCI's interface a case: which function tells of it, with which code and words.
 */
#ifndef TESSERA_TESTS_ARMCI_MISUSE_H
#define TESSERA_TESTS_ARMCI_MISUSE_H

/* Who calls, and when. */
enum place {
  before,     /* all, before ARMCI_Init */
  after,      /* all, after ARMCI_Finalize */
  one,        /* the last process; the others are in a barrier */
  everybody,  /* all processes, collectively: each is told */
  one_of_all, /* all processes, collectively, one of them with what is wrong: each is told */
};

struct misuse {
  const char* name;
  enum place place;
  const char* function; /* that the message begins with */
  int code;
  const char* words; /* of the message, with | between them */
  int (*body)(void); /* returns what the function returns; told() where that is no code */
};

/* What the cases work on: 1024 zeroed bytes of each process. */
extern void** shared;
enum { shared_bytes = 1024 };

int me(void);
int size(void);
int next(void); /* the next process in a ring */
/* The code of what this process was told last. */
int told(void);

extern const struct misuse transfer_cases[];
extern const int transfer_case_count;
extern const struct misuse memory_cases[];
extern const int memory_case_count;
extern const struct misuse message_cases[];
extern const int message_case_count;

#endif
