/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Misuses ARMCI's interface.
 *
 *     misuse --list     name, callers, function, code and words of each case, with tabs
 *     misuse CASE       one case; ends with 0 if it did not end the job
 *     misuse --all      all cases in one job, with TESSERA_ARMCI_ERRORS=return: checks that each
 *                       returns the right error, and that everything works afterwards
 */
#include "tests/armci_misuse/misuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armcix.h"
#include "message.h"

void** shared;
static int my_rank;
static int ranks;
static int failures;

int me(void) {
  return my_rank;
}
int size(void) {
  return ranks;
}
int next(void) {
  return (my_rank + 1) % ranks;
}
int last_code(void) {
  return ARMCIX_Error_code();
}

struct table {
  const struct misuse* cases;
  int count;
};

static struct table table_at(int number) {
  const struct table tables[] = {{transfer_cases, transfer_case_count},
                                 {memory_cases, memory_case_count},
                                 {message_cases, message_case_count}};
  return tables[number];
}
enum { tables = 3 };

static void wrong(const struct misuse* each, const char* what) {
  fprintf(stderr, "[%d] %s: %s; returned code %d: %s\n", my_rank, each->name, what,
          ARMCIX_Error_code(), ARMCIX_Error_message());
  ++failures;
}

static void check_error(const struct misuse* each, int returned) {
  const char* const message = ARMCIX_Error_message();
  char words[512];
  if (ARMCIX_Error_code() != each->code || returned != each->code) {
    wrong(each, "another code");
  }
  if (strncmp(message, each->function, strlen(each->function)) != 0 ||
      message[strlen(each->function)] != ':') {
    wrong(each, "the message does not begin with the function");
  }
  if (strstr(message, "hint: ") == NULL) {
    wrong(each, "the message has no remedy");
  }
  strcpy(words, each->words);
  for (char* word = strtok(words, "|"); word != NULL; word = strtok(NULL, "|")) {
    if (strstr(message, word) == NULL) {
      wrong(each, word);
    }
  }
}

/* After an error everything works as before. */
static void check_use(const struct misuse* each) {
  const int value = 1000 + my_rank;
  int seen = 0;
  if (ARMCI_Put((void*)&value, shared[next()], sizeof value, next()) != 0) {
    wrong(each, "a put fails afterwards");
  }
  ARMCI_Barrier();
  if (ARMCI_Get(shared[my_rank], &seen, sizeof seen, my_rank) != 0 ||
      seen != 1000 + (my_rank + ranks - 1) % ranks) {
    wrong(each, "a put is not seen afterwards");
  }
  armci_msg_igop(&seen, 1, "+");
  if (seen != 1000 * ranks + ranks * (ranks - 1) / 2) {
    wrong(each, "a sum is wrong afterwards");
  }
}

static int takes_part(enum scope scope) {
  return scope != one || my_rank == ranks - 1;
}

static void run_and_check(enum scope from, enum scope to) {
  for (int number = 0; number < tables; ++number) {
    const struct table table = table_at(number);
    for (int i = 0; i < table.count; ++i) {
      const struct misuse* const each = &table.cases[i];
      if (each->scope < from || each->scope > to) {
        continue;
      }
      ARMCIX_Error_clear();
      if (takes_part(each->scope)) {
        check_error(each, each->body());
      }
      if (from == one) {
        armci_msg_barrier();
        check_use(each);
      }
    }
  }
}

static void begin(void) {
  if (ARMCI_Init() != 0) {
    fprintf(stderr, "ARMCI_Init: %s\n", ARMCIX_Error_message());
    exit(1);
  }
  my_rank = armci_msg_me();
  ranks = armci_msg_nproc();
  shared = calloc((size_t)ranks, sizeof *shared);
  ARMCI_Malloc(shared, shared_bytes);
}

static void end(void) {
  ARMCI_Free(shared[my_rank]);
  free(shared);
  shared = NULL;
  ARMCI_Finalize();
}

static int run_all(void) {
  run_and_check(before, before);
  begin();
  run_and_check(one, one_of_all);
  end();
  run_and_check(after, after);
  return failures == 0 ? 0 : 1;
}

static int run_one(const struct misuse* each) {
  if (each->scope == before) {
    each->body();
  }
  begin();
  if (each->scope >= one && takes_part(each->scope)) {
    each->body();
  }
  armci_msg_barrier();
  end();
  if (each->scope == after) {
    each->body();
  }
  return 0;
}

static int list(void) {
  const char* const scopes[] = {"before", "after", "one", "all_ranks", "one_of_all"};
  for (int number = 0; number < tables; ++number) {
    const struct table table = table_at(number);
    for (int i = 0; i < table.count; ++i) {
      const struct misuse* const each = &table.cases[i];
      printf("%s\t%s\t%s\t%d\t%s\n", each->name, scopes[each->scope], each->function, each->code,
             each->words);
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    return list();
  }
  if (argc == 2 && strcmp(argv[1], "--all") == 0) {
    return run_all();
  }
  for (int number = 0; argc == 2 && number < tables; ++number) {
    const struct table table = table_at(number);
    for (int i = 0; i < table.count; ++i) {
      if (strcmp(table.cases[i].name, argv[1]) == 0) {
        return run_one(&table.cases[i]);
      }
    }
  }
  fprintf(stderr, "misuse: one argument, --list, --all, or the name of a case\n");
  return 2;
}
