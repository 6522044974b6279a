/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups: unusual groups, children, splits, the default group, and their memory, fences and
 * collectives.
 */
#include <stdlib.h>

#include "rma/armci/armcix.h"
#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

/* A list of processes, and the caller's rank in it or -1. */
typedef struct {
  int size;
  int own_rank;
  int* process;
} List;

static List list_of(int first, int step) {
  List list = {0, -1, zeroed((size_t)nproc() * sizeof(int))};
  for (int proc = first; proc >= 0 && proc < nproc(); proc += step) {
    list.own_rank = proc == me() ? list.size : list.own_rank;
    list.process[list.size++] = proc;
  }
  return list;
}

/* Checks what must hold for a group of the listed processes. */
static void check_is(ARMCI_Group* group, const List* list) {
  int size = -1;
  int rank = -1;
  ARMCI_Group_size(group, &size);
  CHECK_OK(ARMCI_Group_rank(group, &rank));
  CHECK_EQUAL(size, list->size);
  CHECK_EQUAL(rank, list->own_rank);
  for (int index = 0; index < list->size; ++index) {
    CHECK_EQUAL(ARMCI_Absolute_id(group, index), list->process[index]);
  }
}

static void check_collectives(ARMCI_Group* group, const List* list) {
  int sum = me() + 1;
  int expected = 0;
  long largest = me();
  long long product = 2;
  float least = (float)me();
  double total = 0.5 * me();
  for (int index = 0; index < list->size; ++index) {
    expected += list->process[index] + 1;
  }
  armci_msg_group_igop(&sum, 1, "+", group);
  armci_msg_group_lgop(&largest, 1, "max", group);
  armci_msg_group_llgop(&product, 1, "*", group);
  armci_msg_group_fgop(&least, 1, "min", group);
  armci_msg_group_dgop(&total, 1, "+", group);
  CHECK_EQUAL(sum, expected);
  CHECK_EQUAL(product, 1LL << list->size);
  CHECK_REAL(total, 0.5 * (expected - list->size));
  const int first = list->process[0];
  const int last = list->process[list->size - 1];
  CHECK_EQUAL(largest, first > last ? first : last);
  CHECK_REAL(least, first < last ? first : last);
  for (int root = 0; root < list->size; ++root) {
    int word = list->own_rank == root ? 77 + root : -1;
    armci_msg_group_bcast_scope(SCOPE_ALL, &word, sizeof word, root, group);
    CHECK_EQUAL(word, 77 + root);
  }
  armci_msg_group_barrier(group);
}

/* Puts to all members; memory of a group names them by their ranks. */
static void check_memory(ARMCI_Group* group, const List* list) {
  void** const at = zeroed((size_t)list->size * sizeof(void*));
  CHECK_OK(ARMCI_Malloc_group(at, list->size * (armci_size_t)sizeof(int), group));
  for (int index = 0; index < list->size; ++index) {
    CHECK_OK(
        ARMCI_PutValueInt(1000 + me(), (int*)at[index] + list->own_rank, list->process[index]));
  }
  ARMCI_GroupFence(group);
  armci_msg_group_barrier(group);
  for (int index = 0; index < list->size; ++index) {
    CHECK_EQUAL(((int*)at[list->own_rank])[index], 1000 + list->process[index]);
  }
  armci_msg_group_barrier(group);
  CHECK_OK(ARMCI_Free_group(at[list->own_rank], group));
  CHECK_OK(ARMCI_Malloc_group_memdev(at, 64 * (list->own_rank + 1), group, "any"));
  memset(at[list->own_rank], 1, (size_t)(64 * (list->own_rank + 1)));
  CHECK_OK(ARMCI_Free_group(at[list->own_rank], group));
  free(at);
}

static void check_whole(ARMCI_Group* group, const List* list) {
  check_is(group, list);
  check_collectives(group, list);
  check_memory(group, list);
}

/* Programs call rank, size and free on all processes to find out which are members. */
static void check_not_in_it(ARMCI_Group* group) {
  int rank = 0;
  int size = 1;
  CHECK_EQUAL(*group, -1);
  ARMCIX_Error_clear();
  CHECK_EQUAL(ARMCI_Group_rank(group, &rank), FAIL);
  ARMCI_Group_size(group, &size);
  ARMCI_Group_free(group);
  CHECK_EQUAL(rank, -1);
  CHECK_EQUAL(size, 0);
  CHECK_EQUAL(*group, -1);
  CHECK_EQUAL(ARMCIX_Error_code(), 0);
}

/* Creates the group, on its members only or on all, and checks it. */
static void try_list(List list, int others_call) {
  ARMCI_Group group = 12345;
  if (list.size > 0 && (list.own_rank >= 0 || others_call)) {
    ARMCI_Group_create(list.size, list.process, &group);
    if (list.own_rank >= 0) {
      check_whole(&group, &list);
      ARMCI_Group_free(&group);
    }
    check_not_in_it(&group);
  }
  free(list.process);
}

static void groups_of_any_processes_in_any_order(void) {
  for (int others_call = 0; others_call < 2; ++others_call) {
    try_list(list_of(0, 1), others_call);
    try_list(list_of(nproc() - 1, -1), others_call);
    try_list(list_of(1, 2), others_call);
    try_list(list_of(nproc() - 1, -2), others_call);
    try_list(list_of(nproc() - 1, 1), others_call);
    try_list(list_of(2, 1), others_call);
    try_list(list_of(0, nproc()), others_call);
  }
}

/* Different groups at once, repeatedly. */
static void disjoint_groups_at_once(void) {
  for (int round = 0; round < 10; ++round) {
    try_list(list_of(me() % 2, 2), 0);
  }
}

static void children_number_by_their_parent(void) {
  const List all = list_of(nproc() - 1, -1);
  ARMCI_Group reversed;
  ARMCI_Group_create(all.size, all.process, &reversed);
  /* Ranks 0 and 1 of the parent, which are the last two processes, exchanged. */
  if (nproc() > 1) {
    int places[] = {1, 0};
    int processes[] = {nproc() - 2, nproc() - 1};
    List pair = {2, -1, processes};
    ARMCI_Group child = -5;
    pair.own_rank = me() == processes[0] ? 0 : me() == processes[1] ? 1 : -1;
    ARMCI_Group_create_child(2, places, &child, &reversed);
    if (pair.own_rank < 0) {
      CHECK_EQUAL(child, -1);
    } else {
      check_whole(&child, &pair);
      ARMCI_Group_free(&child);
    }
  }
  ARMCI_Group_free(&reversed);
  free(all.process);
}

static void splits_order_by_key(void) {
  ARMCI_Group world;
  ARMCI_Group part = -1;
  ARMCI_Group_get_world(&world);
  const List reversed = list_of(nproc() - 1, -1);
  CHECK_OK(ARMCIX_Group_split(&world, 3, -me(), &part));
  check_whole(&part, &reversed);
  ARMCI_Group_free(&part);
  const List own_parity = list_of(me() % 2, 2);
  CHECK_OK(ARMCIX_Group_split(&world, me() % 2, 0, &part));
  check_whole(&part, &own_parity);
  ARMCI_Group child = -1;
  CHECK_OK(ARMCIX_Group_split(&part, own_parity.own_rank / 2, own_parity.own_rank, &child));
  const int first = own_parity.own_rank / 2 * 2;
  int size = 0;
  ARMCI_Group_size(&child, &size);
  CHECK_EQUAL(size, own_parity.size - first < 2 ? own_parity.size - first : 2);
  CHECK_EQUAL(ARMCI_Absolute_id(&child, 0), own_parity.process[first]);
  ARMCI_Group_free(&child);
  ARMCI_Group_free(&part);
  free(reversed.process);
  free(own_parity.process);
}

static void negative_colors_form_groups_of_one(void) {
  ARMCI_Group world;
  ARMCI_Group alone = 0;
  int process = me();
  const List own = {1, 0, &process};
  ARMCI_Group_get_world(&world);
  CHECK_OK(ARMCIX_Group_split(&world, -1, 0, &alone));
  check_whole(&alone, &own);
  ARMCI_Group_free(&alone);
}

static void duplicates_are_groups_of_their_own(void) {
  const List reversed = list_of(nproc() - 1, -1);
  ARMCI_Group group;
  ARMCI_Group copy;
  ARMCI_Group_create(reversed.size, reversed.process, &group);
  CHECK_OK(ARMCIX_Group_dup(&group, &copy));
  CHECK(copy != group);
  check_whole(&copy, &reversed);
  ARMCI_Group_free(&group);
  check_whole(&copy, &reversed);
  ARMCI_Group_free(&copy);
  free(reversed.process);
}

/* Collective functions use the default group; processes are numbered over the job. */
static void default_group_owns_what_is_allocated(void) {
  List list = list_of(nproc() - 1, -2);
  ARMCI_Group group = -1;
  ARMCI_Group now = -1;
  if (list.own_rank >= 0) {
    ARMCI_Group_create(list.size, list.process, &group);
    ARMCI_Group_set_default(&group);
    ARMCI_Group_get_default(&now);
    CHECK_EQUAL(now, group);
    void** const at = zeroed((size_t)list.size * sizeof(void*));
    CHECK_OK(ARMCI_Malloc(at, (armci_size_t)sizeof(int) * list.size));
    for (int index = 0; index < list.size; ++index) {
      CHECK_OK(ARMCI_PutValueInt(me(), (int*)at[index] + list.own_rank, list.process[index]));
    }
    ARMCI_Barrier();
    for (int index = 0; index < list.size; ++index) {
      CHECK_EQUAL(((int*)at[list.own_rank])[index], list.process[index]);
    }
    CHECK_OK(ARMCI_Create_mutexes(1));
    ARMCI_Lock(0, list.process[0]);
    ARMCI_Unlock(0, list.process[0]);
    CHECK_OK(ARMCI_Destroy_mutexes());
    int count = 1;
    armci_msg_igop(&count, 1, "+");
    CHECK_EQUAL(count, list.size);
    int word = list.own_rank == list.size - 1 ? 9 : 0;
    armci_msg_bcast(&word, sizeof word, list.size - 1);
    CHECK_EQUAL(word, 9);
    CHECK_EQUAL(armci_msg_nproc(), nproc());
    CHECK_OK(ARMCI_Free(at[list.own_rank]));
    free(at);
    ARMCI_Group_get_world(&now);
    ARMCI_Group_set_default(&now);
    ARMCI_Group_free(&group);
  }
  free(list.process);
}

/* Children of a default group that is not the whole job. */
static void groups_are_created_in_the_default_group(void) {
  List list = list_of(nproc() - 1, -1);
  ARMCI_Group reversed;
  ARMCI_Group child;
  ARMCI_Group world;
  int first = 0;
  ARMCI_Group_get_world(&world);
  ARMCI_Group_create(list.size, list.process, &reversed);
  ARMCI_Group_set_default(&reversed);
  ARMCI_Group_create(1, &first, &child);
  if (me() == nproc() - 1) {
    CHECK_EQUAL(ARMCI_Absolute_id(&child, 0), nproc() - 1);
    ARMCI_Group_free(&child);
  } else {
    CHECK_EQUAL(child, -1);
  }
  ARMCI_Group_set_default(&world);
  ARMCI_Group_free(&reversed);
  free(list.process);
}

static void freed_default_group_gives_way_to_the_world(void) {
  List list = list_of(0, 1);
  ARMCI_Group group;
  ARMCI_Group now = -1;
  ARMCI_Group_create(list.size, list.process, &group);
  ARMCI_Group_set_default(&group);
  ARMCI_Group_free(&group);
  ARMCI_Group_get_default(&now);
  CHECK_EQUAL(now, 0);
  free(list.process);
}

static void memory_outlives_its_group(void) {
  const List reversed = list_of(nproc() - 1, -1);
  void** const at = zeroed((size_t)nproc() * sizeof(void*));
  ARMCI_Group group;
  ARMCI_Group_create(reversed.size, reversed.process, &group);
  CHECK_OK(ARMCI_Malloc_group(at, sizeof(int), &group));
  ARMCI_Group_free(&group);
  const int index = reversed.own_rank + 1 == nproc() ? 0 : reversed.own_rank + 1;
  CHECK_OK(ARMCI_PutValueInt(5 + me(), at[index], reversed.process[index]));
  ARMCI_Barrier();
  CHECK_EQUAL(*(int*)at[reversed.own_rank], 5 + neighbour(1));
  ARMCI_Barrier();
  CHECK_OK(ARMCI_Free(at[reversed.own_rank]));
  free(at);
  free(reversed.process);
}

static void many_groups_one_after_the_other(void) {
  List list = list_of(nproc() - 1, -1);
  for (int round = 0; round < effort(150); ++round) {
    ARMCI_Group group = -1;
    int one = 1;
    ARMCI_Group_create(list.size, list.process, &group);
    armci_msg_group_igop(&one, 1, "+", &group);
    CHECK_EQUAL(one, nproc());
    ARMCI_Group_free(&group);
  }
  free(list.process);
}

#ifdef TESSERA_ARMCI_HAS_MPI
/* Null unless MPI started the job; then it has the group's processes in their order. */
static void communicators_go_with_groups(void) {
  List list = list_of(nproc() - 1, -1);
  ARMCI_Group group;
  int running = 0;
  ARMCI_Group_create(list.size, list.process, &group);
  const MPI_Comm comm = armci_group_comm(&group);
  MPI_Initialized(&running);
  if (comm == MPI_COMM_NULL) {
    CHECK(!running);
  } else {
    int rank = -1;
    int size = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK_EQUAL(rank, list.own_rank);
    CHECK_EQUAL(size, list.size);
  }
  ARMCI_Group_free(&group);
  free(list.process);
}
#endif

const Case group_cases[] = {
    {"groups_of_any_processes_in_any_order", groups_of_any_processes_in_any_order},
    {"disjoint_groups_at_once", disjoint_groups_at_once},
    {"children_number_by_their_parent", children_number_by_their_parent},
    {"splits_order_by_key", splits_order_by_key},
    {"negative_colors_form_groups_of_one", negative_colors_form_groups_of_one},
    {"duplicates_are_groups_of_their_own", duplicates_are_groups_of_their_own},
    {"default_group_owns_what_is_allocated", default_group_owns_what_is_allocated},
    {"groups_are_created_in_the_default_group", groups_are_created_in_the_default_group},
    {"freed_default_group_gives_way_to_the_world", freed_default_group_gives_way_to_the_world},
    {"memory_outlives_its_group", memory_outlives_its_group},
    {"many_groups_one_after_the_other", many_groups_one_after_the_other},
#ifdef TESSERA_ARMCI_HAS_MPI
    {"communicators_go_with_groups", communicators_go_with_groups},
#endif
    {NULL, NULL}};
