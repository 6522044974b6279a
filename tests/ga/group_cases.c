/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups, the default group, nodes, and mutexes.
 */
#include "tests/ga/cases.h"

static void halves(void) {
  const int world = GA_Pgroup_get_world();
  const int me = GA_Nodeid();
  const int all = GA_Nnodes();
  CHECK_EQUAL(world, -1);
  CHECK_EQUAL(GA_Pgroup_get_default(), world);
  const int half = GA_Pgroup_split(world, 2);
  const int each = (all + 1) / 2;
  CHECK_EQUAL(half, 1);
  CHECK_EQUAL(GA_Pgroup_nodeid(half), me % each);
  CHECK_EQUAL(GA_Pgroup_absolute_id(half, 0), me / each * each);
  GA_Pgroup_set_default(half);
  CHECK_EQUAL(GA_Nodeid(), me % each);
  CHECK_EQUAL(GA_Nnodes(), GA_Pgroup_nnodes(half));
  int one = 1;
  GA_Igop(&one, 1, "+");
  CHECK_EQUAL(one, GA_Nnodes());
  int dims[] = {10};
  const int array = NGA_Create(C_INT, 1, dims, "of a half", NULL);
  CHECK_EQUAL(GA_Get_pgroup(array), half);
  GA_Zero(array);
  GA_Sync();
  GA_Destroy(array);
  GA_Pgroup_set_default(world);
  CHECK_EQUAL(GA_Nnodes(), all);
  GA_Pgroup_sync(half);
  CHECK_EQUAL(GA_Pgroup_destroy(half), 1);
}

static void colours(void) {
  const int odd = GA_Pgroup_split_irreg(GA_Pgroup_get_world(), GA_Nodeid() % 2);
  CHECK_EQUAL(GA_Pgroup_nodeid(odd), GA_Nodeid() / 2);
  int sum = GA_Nodeid();
  GA_Pgroup_igop(odd, &sum, 1, "min");
  CHECK_EQUAL(sum, GA_Nodeid() % 2);
  GA_Pgroup_destroy(odd);
  const int self = GA_Pgroup_self();
  CHECK_EQUAL(GA_Pgroup_nnodes(self), 1);
  GA_Pgroup_destroy(self);
}

/* Those who are not members know the group as one that they are not in. */
static void members_only(void) {
  int list[] = {0};
  const int group = GA_Pgroup_create(list, 1);
  CHECK_EQUAL(GA_Pgroup_nnodes(group), 1);
  CHECK_EQUAL(GA_Pgroup_nodeid(group), GA_Nodeid() == 0 ? 0 : -1);
  GA_Pgroup_destroy(group);
}

static void nodes(void) {
  int all = 0;
  for (int node = 0; node < GA_Cluster_nnodes(); ++node) {
    for (int i = 0; i < GA_Cluster_nprocs(node); ++i) {
      CHECK_EQUAL(GA_Cluster_proc_nodeid(GA_Cluster_procid(node, i)), node);
      ++all;
    }
  }
  CHECK_EQUAL(all, GA_Nnodes());
  CHECK_EQUAL(GA_Cluster_proc_nodeid(GA_Nodeid()), GA_Cluster_nodeid());
  CHECK_EQUAL(GA_Cluster_nprocs(-1), GA_Cluster_nprocs(GA_Cluster_nodeid()));
}

/* One mutex guards one element. */
static void counts(void) {
  int dims[] = {3};
  int value = 0;
  const int array = NGA_Create(C_INT, 1, dims, "guarded", NULL);
  GA_Zero(array);
  CHECK_EQUAL(GA_Create_mutexes(3), 1);
  for (int turn = 0; turn < 30; ++turn) {
    int at[] = {turn % 3};
    GA_Lock(turn % 3);
    NGA_Get(array, at, at, &value, at);
    ++value;
    NGA_Put(array, at, at, &value, at);
    GA_Unlock(turn % 3);
  }
  GA_Sync();
  for (int i = 0; i < 3; ++i) {
    NGA_Get(array, &i, &i, &value, &i);
    CHECK_EQUAL(value, 10 * GA_Nnodes());
  }
  CHECK_EQUAL(GA_Destroy_mutexes(), 1);
  GA_Destroy(array);
}

const Case group_cases[] = {
    {"halves", halves}, {"colours", colours}, {"members_only", members_only},
    {"nodes", nodes},   {"counts", counts},   {NULL, NULL}};
