/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two-sided messages, broadcasts, trees and the exchange of pointers.
 */
#include <stdlib.h>

#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

enum { tag = 7 };

static void messages_of_all_sizes_go_around(void) {
  static const int sizes[] = {0, 1, 8, 63, 64, 65, 1000, 4096, 8191, 65536, 300001};
  enum { largest = 300001 };
  char* const source = zeroed(largest);
  char* const buffer = zeroed(largest);
  const int to = neighbour(1);
  const int from = neighbour(nproc() - 1);
  for (int number = 0; number < (int)(sizeof sizes / sizeof sizes[0]); ++number) {
    int length = -1;
    fill_pattern(source, (size_t)sizes[number], me() + number);
    if (me() % 2 == 0) {
      armci_msg_snd(tag, source, sizes[number], to);
      armci_msg_rcv(tag, buffer, largest, &length, from);
    } else {
      armci_msg_rcv(tag, buffer, largest, &length, from);
      armci_msg_snd(tag, source, sizes[number], to);
    }
    CHECK_EQUAL(length, sizes[number]);
    fill_pattern(source, (size_t)sizes[number], from + number);
    CHECK_BYTES(buffer, source, sizes[number]);
  }
  free(source);
  free(buffer);
}

/* Messages of a tag arrive in their order, even with others between them. */
static void messages_of_a_tag_come_in_order(void) {
  enum { many = 100 };
  const int to = neighbour(1);
  const int from = neighbour(nproc() - 1);
  for (int number = 0; number < many; ++number) {
    int value = 1000 * me() + number;
    armci_msg_snd(tag + number % 3, &value, sizeof value, to);
  }
  for (int residue = 2; residue >= 0; --residue) {
    for (int number = residue; number < many; number += 3) {
      int value = -1;
      armci_msg_rcv(tag + residue, &value, sizeof value, NULL, from);
      CHECK_EQUAL(value, 1000 * from + number);
    }
  }
}

/* More messages than fit: a process that waits for room receives incoming messages meanwhile. */
static void all_send_before_they_receive(void) {
  enum { many = 1000, bytes = 500 };
  char message[bytes];
  char model[bytes];
  const int to = neighbour(1);
  const int from = neighbour(nproc() - 1);
  for (int number = 0; number < many; ++number) {
    fill_pattern(message, bytes, me() + number);
    armci_msg_snd(tag, message, bytes, to);
  }
  for (int number = 0; number < many; ++number) {
    armci_msg_rcv(tag, message, bytes, NULL, from);
    fill_pattern(model, bytes, from + number);
    CHECK_BYTES(message, model, bytes);
  }
}

/* Process 0 gets one message from each of the others, in any order, and checks the sender. */
static void receive_from_anybody(void) {
  enum { rounds = 10 };
  if (me() != 0) {
    for (int round = 0; round < rounds; ++round) {
      int value = 100 * me() + round;
      armci_msg_snd(tag, &value, sizeof value, 0);
    }
    return;
  }
  int* const next = zeroed((size_t)nproc() * sizeof(int));
  for (int number = 0; number < rounds * (nproc() - 1); ++number) {
    int value = -1;
    int length = 0;
    const int from = armci_msg_rcvany(tag, &value, sizeof value, &length);
    if (!CHECK(from > 0 && from < nproc())) {
      break;
    }
    CHECK_EQUAL(length, sizeof value);
    CHECK_EQUAL(value, 100 * from + next[from]);
    ++next[from];
  }
  for (int proc = 1; proc < nproc(); ++proc) {
    CHECK_EQUAL(next[proc], rounds);
  }
  free(next);
}

static void messages_to_oneself(void) {
  long value = 40 + me();
  long seen = 0;
  int length = 0;
  armci_msg_snd(tag, &value, sizeof value, me());
  armci_msg_rcv(tag, &seen, sizeof seen, &length, me());
  CHECK_EQUAL(seen, value);
  CHECK_EQUAL(length, sizeof seen);
}

static void broadcasts_from_every_root(void) {
  static const int sizes[] = {0, 1, 100, 4096, 100003};
  char* const buffer = zeroed(100003);
  char* const model = zeroed(100003);
  for (int root = 0; root < nproc(); ++root) {
    for (int number = 0; number < 5; ++number) {
      const size_t bytes = (size_t)sizes[number];
      fill_pattern(model, bytes, root + number);
      for (int kind = 0; kind < 3; ++kind) {
        memset(buffer, 0, bytes);
        if (me() == root) {
          memcpy(buffer, model, bytes);
        }
        if (kind == 0) {
          armci_msg_bcast(buffer, sizes[number], root);
        } else if (kind == 1) {
          armci_msg_brdcst(buffer, sizes[number], root);
        } else {
          armci_msg_bcast_scope(SCOPE_ALL, buffer, sizes[number], root);
        }
        CHECK_BYTES(buffer, model, bytes);
      }
    }
  }
  free(buffer);
  free(model);
}

/* From the first of some members of a group; the other members take no part. */
static void broadcast_among_some_of_a_group(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  for (int first = 0; first < nproc(); ++first) {
    for (int count = 1; count <= nproc() - first; ++count) {
      int word = me();
      armci_grp_clus_brdcst(&word, sizeof word, first, count, &world);
      const int is_one = me() >= first && me() < first + count;
      CHECK_EQUAL(word, is_one ? first : me());
    }
  }
}

/* If a process names another its child, it is the parent of that process; all are below the
 * root. */
static void trees_are_trees(void) {
  int root = -2;
  int up = -2;
  int left = -2;
  int right = -2;
  int* const parents = zeroed((size_t)nproc() * sizeof(int));
  int* const children = zeroed((size_t)nproc() * 2 * sizeof(int));
  armci_msg_bintree(SCOPE_ALL, &root, &up, &left, &right);
  parents[me()] = up + 1;
  children[2 * me()] = left + 1;
  children[2 * me() + 1] = right + 1;
  armci_msg_igop(parents, nproc(), "+");
  armci_msg_igop(children, 2 * nproc(), "+");
  int roots = 0;
  for (int proc = 0; proc < nproc(); ++proc) {
    roots += parents[proc] == 0;
    for (int side = 0; side < 2; ++side) {
      const int child = children[2 * proc + side] - 1;
      CHECK(child < 0 || parents[child] - 1 == proc);
    }
    int at = proc;
    for (int step = 0; step < nproc() && at != root; ++step) {
      at = parents[at] - 1;
    }
    CHECK_EQUAL(at, root);
  }
  CHECK_EQUAL(roots, 1);
  CHECK_EQUAL(parents[root], 0);
  armci_msg_bintree(SCOPE_NODE, &root, &up, &left, &right);
  CHECK(ARMCI_Same_node(root));
  CHECK(up < 0 || ARMCI_Same_node(up));
  armci_msg_bintree(SCOPE_MASTERS, &root, &up, &left, &right);
  CHECK(root == -1 || root == 0);
  CHECK(up < 0 || !ARMCI_Same_node(up));
  free(parents);
  free(children);
}

static void exchanged_pointers_name_others_memory(void) {
  void** const at = shared_allocate(128);
  void** const inside = zeroed((size_t)nproc() * sizeof(void*));
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  for (int with_group = 0; with_group < 2; ++with_group) {
    inside[me()] = shared_at(at, me(), 64 + 8 * with_group);
    if (with_group) {
      armci_exchange_address_grp(inside, nproc(), &world);
    } else {
      armci_exchange_address(inside, nproc());
    }
    for (int proc = 0; proc < nproc(); ++proc) {
      CHECK_POINTER(inside[proc], shared_at(at, proc, 64 + 8 * with_group));
    }
    CHECK_OK(ARMCI_PutValueLong(me(), inside[neighbour(1)], neighbour(1)));
    ARMCI_Barrier();
    CHECK_EQUAL(*(long*)inside[me()], neighbour(nproc() - 1));
    ARMCI_Barrier();
  }
  long private_word = 0;
  inside[me()] = &private_word;
  armci_exchange_address(inside, nproc());
  CHECK_POINTER(inside[me()], &private_word);
  free(inside);
  shared_free(at);
}

/* Without ARMCI_Malloc's array: each process knows only its own pointer, as in Global Arrays. */
static void exchanged_pointers_of_a_reversed_group(void) {
  int* const reversed = zeroed((size_t)nproc() * sizeof(int));
  void** const at = shared_allocate(64);
  void** const exchanged = zeroed((size_t)nproc() * sizeof(void*));
  ARMCI_Group group;
  for (int index = 0; index < nproc(); ++index) {
    reversed[index] = nproc() - 1 - index;
  }
  ARMCI_Group_create(nproc(), reversed, &group);
  exchanged[nproc() - 1 - me()] = at[me()];
  armci_exchange_address_grp(exchanged, nproc(), &group);
  for (int index = 0; index < nproc(); ++index) {
    CHECK_POINTER(exchanged[index], at[nproc() - 1 - index]);
  }
  ARMCI_Group_free(&group);
  free(exchanged);
  free(reversed);
  shared_free(at);
}

static void the_timer_runs(void) {
  const double before = armci_timer();
  double after = before;
  for (long step = 0; step < 100000000 && after == before; ++step) {
    after = armci_timer();
  }
  CHECK(after > before);
}

const Case message_cases[] = {
    {"messages_of_all_sizes_go_around", messages_of_all_sizes_go_around},
    {"messages_of_a_tag_come_in_order", messages_of_a_tag_come_in_order},
    {"all_send_before_they_receive", all_send_before_they_receive},
    {"receive_from_anybody", receive_from_anybody},
    {"messages_to_oneself", messages_to_oneself},
    {"broadcasts_from_every_root", broadcasts_from_every_root},
    {"broadcast_among_some_of_a_group", broadcast_among_some_of_a_group},
    {"trees_are_trees", trees_are_trees},
    {"exchanged_pointers_name_others_memory", exchanged_pointers_name_others_memory},
    {"exchanged_pointers_of_a_reversed_group", exchanged_pointers_of_a_reversed_group},
    {"the_timer_runs", the_timer_runs},
    {NULL, NULL}};
