/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Domains, compared with the layout that the job was started with: consecutive processes share a
 * node, TESSERA_RANKS_PER_NODE of them or all.
 */
#include <stdlib.h>

#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

static int per_node(void) {
  const char* const given = getenv("TESSERA_RANKS_PER_NODE");
  return given == NULL ? nproc() : atoi(given);
}

static void domains_are_the_nodes(void) {
  const int size = per_node();
  const int nodes = (nproc() + size - 1) / size;
  CHECK_EQUAL(armci_domain_count(ARMCI_DOMAIN_SMP), nodes);
  CHECK_EQUAL(armci_domain_my_id(ARMCI_DOMAIN_SMP), me() / size);
  for (int node = 0; node < nodes; ++node) {
    const int rest = nproc() - node * size;
    const int members = rest < size ? rest : size;
    CHECK_EQUAL(armci_domain_nprocs(ARMCI_DOMAIN_SMP, node), members);
    for (int member = 0; member < members; ++member) {
      CHECK_EQUAL(armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, node, member), node * size + member);
    }
  }
}

static void processes_know_the_ranks_of_their_node(void) {
  const int size = per_node();
  for (int proc = 0; proc < nproc(); ++proc) {
    const int same = proc / size == me() / size;
    CHECK_EQUAL(armci_domain_id(ARMCI_DOMAIN_SMP, proc), proc / size);
    CHECK_EQUAL(armci_domain_same_id(ARMCI_DOMAIN_SMP, proc), same);
    CHECK_EQUAL(ARMCI_Same_node(proc), same);
    CHECK_EQUAL(armci_sameclusnode(proc), same);
  }
}

/* Scopes of the whole job and of a reversed group: the node's members, and the first of each
 * node. */
static void scopes_follow_the_nodes(void) {
  const int size = per_node();
  const int first = me() / size * size;
  const int last = first + size < nproc() ? first + size - 1 : nproc() - 1;
  const int nodes = (nproc() + size - 1) / size;
  int* const reversed = zeroed((size_t)nproc() * sizeof(int));
  ARMCI_Group group;
  for (int index = 0; index < nproc(); ++index) {
    reversed[index] = nproc() - 1 - index;
  }
  ARMCI_Group_create(nproc(), reversed, &group);
  int count[3] = {1, 1, 1};
  armci_msg_gop_scope(SCOPE_ALL, &count[0], 1, "+", ARMCI_INT);
  armci_msg_gop_scope(SCOPE_NODE, &count[1], 1, "+", ARMCI_INT);
  armci_msg_gop_scope(SCOPE_MASTERS, &count[2], 1, "+", ARMCI_INT);
  CHECK_EQUAL(count[0], nproc());
  CHECK_EQUAL(count[1], last - first + 1);
  CHECK_EQUAL(count[2], me() == first ? nodes : 1);
  count[1] = count[2] = 1;
  armci_msg_group_gop_scope(SCOPE_NODE, &count[1], 1, "+", ARMCI_INT, &group);
  armci_msg_group_gop_scope(SCOPE_MASTERS, &count[2], 1, "+", ARMCI_INT, &group);
  CHECK_EQUAL(count[1], last - first + 1);
  CHECK_EQUAL(count[2], me() == last ? nodes : 1);
  int from_first = me();
  armci_msg_clus_brdcst(&from_first, sizeof from_first);
  CHECK_EQUAL(from_first, first);
  int from_root = me();
  armci_msg_bcast_scope(SCOPE_MASTERS, &from_root, sizeof from_root, nodes - 1);
  CHECK_EQUAL(from_root, me() == first ? (nodes - 1) * size : me());
  int of_group = me();
  armci_msg_group_bcast_scope(SCOPE_NODE, &of_group, sizeof of_group, 0, &group);
  CHECK_EQUAL(of_group, last);
  int chosen[2] = {-me(), me()};
  armci_msg_sel_scope(SCOPE_NODE, chosen, sizeof chosen, "min", ARMCI_INT, 1);
  CHECK_EQUAL(chosen[1], last);
  int of_masters = 1;
  armci_msg_reduce_scope(SCOPE_MASTERS, &of_masters, 1, "+", ARMCI_INT);
  if (me() == 0) {
    CHECK_EQUAL(of_masters, nodes);
  }
  ARMCI_Group_free(&group);
  free(reversed);
}

static void node_reductions_of_all_types(void) {
  const int size = per_node();
  const int first = me() / size * size;
  const int last = first + size < nproc() ? first + size - 1 : nproc() - 1;
  int of_int = me();
  long of_long = me();
  long long of_long_long = me();
  float of_float = (float)me();
  double of_double = me();
  armci_msg_clus_igop(&of_int, 1, "max");
  armci_msg_clus_lgop(&of_long, 1, "min");
  armci_msg_clus_llgop(&of_long_long, 1, "max");
  armci_msg_clus_fgop(&of_float, 1, "min");
  armci_msg_clus_dgop(&of_double, 1, "max");
  CHECK_EQUAL(of_int, last);
  CHECK_EQUAL(of_long, first);
  CHECK_EQUAL(of_long_long, last);
  CHECK_REAL(of_float, first);
  CHECK_REAL(of_double, last);
}

/* Processes of a node share pages: loads on one see stores of another. */
static void pointers_on_the_node_are_for_loads_and_stores(void) {
  void** const at = shared_allocate((armci_size_t)sizeof(long) * nproc());
  for (int proc = 0; proc < nproc(); ++proc) {
    if (ARMCI_Same_node(proc)) {
      ((long*)at[proc])[me()] = 100 * me() + proc + 1;
    }
  }
  ARMCI_Barrier();
  for (int proc = 0; proc < nproc(); ++proc) {
    for (int from = 0; from < nproc() && ARMCI_Same_node(proc); ++from) {
      const int could_store = from / per_node() == proc / per_node();
      CHECK_EQUAL(((long*)at[proc])[from], could_store ? 100 * from + proc + 1 : 0);
    }
  }
  ARMCI_Barrier();
  for (int proc = 0; proc < nproc(); ++proc) {
    const int could_store = ARMCI_Same_node(proc);
    CHECK_EQUAL(ARMCI_GetValueLong((long*)at[proc] + me(), proc),
                could_store ? 100 * me() + proc + 1 : 0);
  }
  shared_free(at);
}

const Case locality_cases[] = {
    {"domains_are_the_nodes", domains_are_the_nodes},
    {"processes_know_the_ranks_of_their_node", processes_know_the_ranks_of_their_node},
    {"scopes_follow_the_nodes", scopes_follow_the_nodes},
    {"node_reductions_of_all_types", node_reductions_of_all_types},
    {"pointers_on_the_node_are_for_loads_and_stores",
     pointers_on_the_node_are_for_loads_and_stores},
    {NULL, NULL}};
