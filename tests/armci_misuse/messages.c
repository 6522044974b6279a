/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Misuses of the message layer, and of the end.
 */
#include "message.h"

#include "armcix.h"
#include "tests/armci_misuse/misuse.h"

static int values[16];
static double reals[16];
enum { tag = 7 };

static int me_before(void) {
  (void)armci_msg_me();
  return last_code();
}

/* --- messages --- */
static int send_to_n(void) {
  armci_msg_snd(tag, values, 4, size());
  return last_code();
}
static int send_negative(void) {
  armci_msg_snd(tag, values, -4, next());
  return last_code();
}
static int send_null(void) {
  armci_msg_snd(tag, NULL, 4, next());
  return last_code();
}
static int receive_from_minus_one(void) {
  armci_msg_rcv(tag, values, 4, NULL, -1);
  return last_code();
}
static int receive_into_null(void) {
  armci_msg_rcv(tag, NULL, 4, NULL, next());
  return last_code();
}
static int receive_any_negative(void) {
  (void)armci_msg_rcvany(tag, values, -4, NULL);
  return last_code();
}
static int message_longer_than_the_buffer(void) {
  armci_msg_snd(tag, values, 64, next());
  armci_msg_rcv(tag, values, 8, NULL, (me() + size() - 1) % size());
  return last_code();
}
static int any_message_longer_than_the_buffer(void) {
  armci_msg_snd(tag, values, 64, next());
  (void)armci_msg_rcvany(tag, values, 8, NULL);
  return last_code();
}

/* --- collectives with arguments that are wrong on all processes --- */
static int unknown_scope(void) {
  armci_msg_gop_scope(1, values, 1, "+", ARMCI_INT);
  return last_code();
}
static int unknown_operator(void) {
  armci_msg_igop(values, 1, "plus");
  return last_code();
}
static int null_operator(void) {
  armci_msg_dgop(reals, 1, NULL);
  return last_code();
}
static int unknown_type(void) {
  armci_msg_reduce(values, 1, "+", 1);
  return last_code();
}
static int bits_of_reals(void) {
  armci_msg_dgop(reals, 1, "band");
  return last_code();
}
static int negative_elements(void) {
  armci_msg_igop(values, -1, "+");
  return last_code();
}
static int null_elements(void) {
  armci_msg_igop(NULL, 4, "+");
  return last_code();
}
static int broadcast_from_n(void) {
  armci_msg_brdcst(values, 4, size());
  return last_code();
}
static int broadcast_of_null(void) {
  armci_msg_bcast(NULL, 4, 0);
  return last_code();
}
static int sum_on_a_null_group_pointer(void) {
  ARMCI_Group garbage = 77;
  armci_msg_group_igop(values, 1, "+", &garbage);
  return last_code();
}
static int barrier_of_group_minus_one(void) {
  ARMCI_Group none = -1;
  armci_msg_group_barrier(&none);
  return last_code();
}
static int select_a_sum(void) {
  armci_msg_sel(values, 4, "+", ARMCI_INT, 1);
  return last_code();
}
static int select_of_half_a_value(void) {
  armci_msg_sel(reals, 4, "min", ARMCI_DOUBLE, 1);
  return last_code();
}
static int tree_of_an_unknown_scope(void) {
  armci_msg_bintree(1, NULL, NULL, NULL, NULL);
  return last_code();
}
static int exchange_of_null(void) {
  armci_exchange_address(NULL, size());
  return last_code();
}
static int node_broadcast_of_too_many(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  armci_grp_clus_brdcst(values, 4, 1, size(), &world);
  return last_code();
}

/* --- the same, wrong at process 0 only: all return the error --- */
static int one_unknown_operator(void) {
  armci_msg_igop(values, 1, me() == 0 ? "plus" : "+");
  return last_code();
}
static int one_null_buffer(void) {
  armci_msg_brdcst(me() == 0 ? NULL : values, 4, 0);
  return last_code();
}
static int one_root_too_high(void) {
  armci_msg_brdcst(values, 4, me() == 0 ? size() : 0);
  return last_code();
}
static int one_select_of_nothing(void) {
  armci_msg_sel(values, 4, me() == 0 ? "+" : "min", ARMCI_INT, 1);
  return last_code();
}
static int one_exchange_of_too_few(void) {
  void* pointers[64] = {0};
  armci_exchange_address(pointers, me() == 0 ? 0 : size());
  return last_code();
}
static int another_number_of_elements(void) {
  armci_msg_igop(values, me() == 0 ? 2 : 1, "+");
  return last_code();
}
const struct misuse message_cases[] = {
    {"me_before", before, "armci_msg_me", FAIL3, "ARMCI is not running", me_before},
    {"me_after", after, "armci_msg_me", FAIL3, "ARMCI is not running", me_before},

    {"send_to_n", one, "armci_msg_snd", FAIL, "no process", send_to_n},
    {"send_negative", one, "armci_msg_snd", FAIL, "length -4", send_negative},
    {"send_null", one, "armci_msg_snd", FAIL, "length 4 at 0x0", send_null},
    {"receive_from_minus_one", one, "armci_msg_rcv", FAIL, "-1", receive_from_minus_one},
    {"receive_into_null", one, "armci_msg_rcv", FAIL, "length 4 at 0x0", receive_into_null},
    {"receive_any_negative", one, "armci_msg_rcvany", FAIL, "length -4", receive_any_negative},
    {"message_longer_than_the_buffer", all_ranks, "armci_msg_rcv", FAIL, "64 bytes|8",
     message_longer_than_the_buffer},
    {"any_message_longer_than_the_buffer", all_ranks, "armci_msg_rcvany", FAIL, "64 bytes|8",
     any_message_longer_than_the_buffer},

    {"unknown_scope", all_ranks, "armci_msg_gop_scope", FAIL, "1 is not a scope|SCOPE_ALL",
     unknown_scope},
    {"unknown_operator", all_ranks, "armci_msg_igop", FAIL, "'plus' is not a reduction",
     unknown_operator},
    {"null_operator", all_ranks, "armci_msg_dgop", FAIL, "'' is not a reduction", null_operator},
    {"unknown_type", all_ranks, "armci_msg_reduce", FAIL, "1 is not an element type|ARMCI_INT",
     unknown_type},
    {"bits_of_reals", all_ranks, "armci_msg_dgop", FAIL, "bit_and|float64", bits_of_reals},
    {"negative_elements", all_ranks, "armci_msg_igop", FAIL, "length -1", negative_elements},
    {"null_elements", all_ranks, "armci_msg_igop", FAIL, "length 4 at 0x0", null_elements},
    {"broadcast_from_n", all_ranks, "armci_msg_brdcst", FAIL, "the root is", broadcast_from_n},
    {"broadcast_of_null", all_ranks, "armci_msg_bcast", FAIL, "length 4 at 0x0", broadcast_of_null},
    {"sum_on_garbage", one, "armci_msg_group_igop", FAIL, "no group 77",
     sum_on_a_null_group_pointer},
    {"barrier_of_group_minus_one", one, "armci_msg_group_barrier", FAIL, "no group -1",
     barrier_of_group_minus_one},
    {"select_a_sum", all_ranks, "armci_msg_sel", FAIL, "'+' cannot select a value|min",
     select_a_sum},
    {"select_of_half_a_value", all_ranks, "armci_msg_sel", FAIL, "4 bytes|value of 8 bytes",
     select_of_half_a_value},
    {"tree_of_an_unknown_scope", all_ranks, "armci_msg_bintree", FAIL, "1 is not a scope",
     tree_of_an_unknown_scope},
    {"exchange_of_null", all_ranks, "armci_exchange_address", FAIL, "pointers at 0x0",
     exchange_of_null},
    {"node_broadcast_of_too_many", all_ranks, "armci_grp_clus_brdcst", FAIL,
     "processes from 1 on do not fit a group", node_broadcast_of_too_many},

    {"one_unknown_operator", one_of_all, "armci_msg_igop", FAIL, "", one_unknown_operator},
    {"one_null_buffer", one_of_all, "armci_msg_brdcst", FAIL, "", one_null_buffer},
    {"one_root_too_high", one_of_all, "armci_msg_brdcst", FAIL, "", one_root_too_high},
    {"one_select_of_nothing", one_of_all, "armci_msg_sel", FAIL, "", one_select_of_nothing},
    {"one_exchange_of_too_few", one_of_all, "armci_exchange_address", FAIL, "",
     one_exchange_of_too_few},
    {"another_number_of_elements", one_of_all, "armci_msg_igop", FAIL, "allreduce of 8 bytes",
     another_number_of_elements},
};
const int message_case_count = sizeof message_cases / sizeof *message_cases;
