/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tests/c_api/cases.h"

static void are_made_of_lists(void) {
  int64_t reversed[64];
  int64_t rank = -1;
  int64_t place = -1;
  tessera_team* back = NULL;
  for (int64_t i = 0; i < members; ++i) {
    reversed[i] = members - 1 - i;
  }
  CHECK_OK(tessera_team_create(job, members, reversed, &back));
  CHECK_OK(tessera_team_rank(back, &place));
  CHECK_EQUAL(place, members - 1 - member);
  CHECK_OK(tessera_team_world_rank(back, 0, &rank));
  CHECK_EQUAL(rank, members - 1);
  CHECK_OK(tessera_team_member(back, 0, &place));
  CHECK_EQUAL(place, members - 1);
  CHECK_ERROR(tessera_team_world_rank(back, members, &rank), TESSERA_OUT_OF_RANGE,
              "there is no member");
  CHECK_ERROR(tessera_team_member(back, -1, &rank), TESSERA_OUT_OF_RANGE, "there is no rank -1");
  CHECK_OK(tessera_team_free(&back));
  CHECK(back == NULL);
  CHECK_ERROR(tessera_team_create(job, 0, reversed, &back), TESSERA_INVALID_ARGUMENT,
              "tessera_team_create");
  CHECK_ERROR(tessera_team_create(job, 1, NULL, &back), TESSERA_INVALID_ARGUMENT, "ranks is null");
  reversed[0] = -5;
  CHECK_ERROR(tessera_team_create(job, 1, reversed, &back), TESSERA_INVALID_ARGUMENT,
              "entry 0 of the ranks is -5");
}

static void are_split(void) {
  tessera_team* part = NULL;
  tessera_team* own = NULL;
  int64_t size = -1;
  int64_t place = -1;
  int64_t rank = -1;
  CHECK_OK(tessera_team_split(team, member % 2, -member, &part));
  CHECK_OK(tessera_team_size(part, &size));
  CHECK_OK(tessera_team_rank(part, &place));
  CHECK_EQUAL(size, (members + 1 - member % 2) / 2);
  CHECK_EQUAL(place, size - 1 - member / 2);
  CHECK_OK(tessera_team_world_rank(part, place, &rank));
  CHECK_EQUAL(rank, member);
  CHECK_OK(tessera_team_split(team, -1, 0, &own));
  CHECK_OK(tessera_team_size(own, &size));
  CHECK_EQUAL(size, 1);
  if (members > 1) {
    CHECK_OK(tessera_team_member(own, (member + 1) % members, &place));
    CHECK_EQUAL(place, -1);
  }
  CHECK_OK(tessera_team_free(&own));
  CHECK_OK(tessera_team_free(&part));
  CHECK_ERROR(tessera_team_split(team, INT64_MAX, 0, &part), TESSERA_INVALID_ARGUMENT,
              "do not fit into 32 bits");
}

static void exchange_bytes(void) {
  int64_t all[64];
  char text[6] = "";
  const int64_t root = members - 1;
  if (member == root) {
    memcpy(text, "hello", sizeof text);
  }
  CHECK_OK(tessera_team_broadcast(team, text, sizeof text, root));
  CHECK_TEXT(text, "hello");
  const int64_t mine = 10 * member;
  CHECK_OK(tessera_team_allgather(team, &mine, sizeof mine, all));
  for (int64_t i = 0; i < members; ++i) {
    CHECK_EQUAL(all[i], 10 * i);
  }
  CHECK_OK(tessera_team_allgather(team, NULL, 0, NULL));
  CHECK_OK(tessera_team_barrier(team));
  CHECK_ERROR(tessera_team_broadcast(team, text, 1, members), TESSERA_OUT_OF_RANGE,
              "there is no member");
  CHECK_ERROR(tessera_team_broadcast(team, NULL, 1, 0), TESSERA_INVALID_ARGUMENT, "bytes is null");
  if (members > 1) {
    char allowed[96];
    snprintf(allowed, sizeof allowed, "with %lld members, each can contribute at most %lld",
             (long long)members, (long long)(INT64_MAX / members));
    CHECK_ERROR(tessera_team_allgather(team, &mine, INT64_MAX, all), TESSERA_INVALID_ARGUMENT,
                allowed);
  }
  CHECK_ERROR(tessera_team_allgather(team, &mine, -8, all), TESSERA_INVALID_ARGUMENT, "-8");
}

static void reduce_elements(void) {
  double sums[2] = {(double)member, 1};
  int32_t bits = 1 << (member % 30);
  int64_t largest = member;
  const double product = (double)(members * (members - 1) / 2);
  CHECK_OK(tessera_team_allreduce(team, sums, 2, TESSERA_F64, TESSERA_SUM));
  CHECK_REAL(sums[0], product);
  CHECK_REAL(sums[1], (double)members);
  CHECK_OK(tessera_team_allreduce(team, &bits, 1, TESSERA_I32, TESSERA_BIT_OR));
  CHECK_EQUAL(bits, (1 << members) - 1);
  CHECK_OK(tessera_team_reduce(team, &largest, 1, TESSERA_I64, TESSERA_MAX, 0));
  CHECK_EQUAL(largest, member == 0 ? members - 1 : member);
  CHECK_ERROR(tessera_team_allreduce(team, sums, 2, TESSERA_F64, 10), TESSERA_INVALID_ARGUMENT,
              "no reduction 10");
  CHECK_ERROR(tessera_team_allreduce(team, sums, 2, tessera_type_opaque(8), TESSERA_SUM),
              TESSERA_INVALID_ARGUMENT, "no element type");
  CHECK_ERROR(tessera_team_allreduce(team, NULL, 2, TESSERA_F64, TESSERA_SUM),
              TESSERA_INVALID_ARGUMENT, "elements is null");
  CHECK_ERROR(tessera_team_reduce(team, sums, 2, TESSERA_F64, TESSERA_SUM, -1),
              TESSERA_OUT_OF_RANGE, "no member -1");
  CHECK_ERROR(tessera_team_reduce(team, sums, 2, TESSERA_C64, TESSERA_MIN, 0),
              TESSERA_INVALID_ARGUMENT, "tessera_team_reduce");
}

/* Element i of what `from` sends to `to`, and how many there are. */
static double sent_element(int64_t from, int64_t to, int64_t i) {
  return (double)(from * 1000000 + to * 1000 + i);
}
static int64_t sent_count(int64_t from, int64_t to) {
  return (from * 3 + to * 2) % 4;
}

/* Blocks are stored with gaps of one element, from the last member to the first. */
static int64_t arrange(int64_t (*count_of)(int64_t, int64_t), int is_sent, int64_t counts[],
                       int64_t offsets[]) {
  int64_t end = 0;
  for (int64_t i = members - 1; i >= 0; --i) {
    counts[i] = is_sent ? count_of(member, i) : count_of(i, member);
    offsets[i] = end + 1;
    end = offsets[i] + counts[i];
  }
  return end;
}

static void exchange_blocks(void) {
  double send[400];
  double receive[400];
  int64_t send_counts[64];
  int64_t send_offsets[64];
  int64_t receive_counts[64];
  int64_t receive_offsets[64];
  int64_t arriving[64];
  arrange(sent_count, 1, send_counts, send_offsets);
  arrange(sent_count, 0, receive_counts, receive_offsets);
  CHECK_OK(tessera_team_alltoall(team, send_counts, sizeof *send_counts, arriving));
  for (int64_t i = 0; i < members; ++i) {
    CHECK_EQUAL(arriving[i], receive_counts[i]);
    for (int64_t j = 0; j < send_counts[i]; ++j) {
      send[send_offsets[i] + j] = sent_element(member, i, j);
    }
  }
  CHECK_OK(tessera_team_alltoallv(team, send, send_counts, send_offsets, receive, receive_counts,
                                  receive_offsets, sizeof *send));
  for (int64_t i = 0; i < members; ++i) {
    for (int64_t j = 0; j < receive_counts[i]; ++j) {
      CHECK_REAL(receive[receive_offsets[i] + j], sent_element(i, member, j));
    }
  }
  CHECK_ERROR(tessera_team_alltoallv(team, send, send_counts, NULL, receive, NULL, NULL, 8),
              TESSERA_INVALID_ARGUMENT, "counts is null");
  CHECK_ERROR(
      tessera_team_alltoallv(team, send, send_counts, NULL, receive, receive_counts, NULL, -8),
      TESSERA_INVALID_ARGUMENT, "elements of -8 bytes");
  receive_counts[0] = -1;
  CHECK_ERROR(
      tessera_team_alltoallv(team, send, send_counts, NULL, receive, receive_counts, NULL, 8),
      TESSERA_INVALID_ARGUMENT, "the count of member 0 in the receive buffer is -1");
  receive_counts[0] = sent_count(0, member) + 1;
  CHECK_ERROR(
      tessera_team_alltoallv(team, send, send_counts, NULL, receive, receive_counts, NULL, 8),
      TESSERA_INVALID_ARGUMENT, "which expects");
  CHECK_ERROR(tessera_team_alltoall(team, NULL, 8, arriving), TESSERA_INVALID_ARGUMENT,
              "buffer is null");
}

static void gather_and_scatter_blocks(void) {
  double own[8];
  double all[400];
  double back[8];
  int64_t counts[64];
  int64_t total = 0;
  const int64_t root = members - 1;
  const int64_t mine = 1 + member % 3;
  for (int64_t i = 0; i < members; ++i) {
    counts[i] = 1 + i % 3;
    total += counts[i];
  }
  for (int64_t i = 0; i < mine; ++i) {
    own[i] = sent_element(member, 0, i);
  }
  for (int to_all = 0; to_all < 2; ++to_all) {
    memset(all, 0, sizeof all);
    if (to_all) {
      CHECK_OK(tessera_team_allgatherv(team, own, mine, all, counts, NULL, sizeof *own));
    } else {
      CHECK_OK(tessera_team_gatherv(team, own, mine, member == root ? all : NULL,
                                    member == root ? counts : NULL, NULL, sizeof *own, root));
    }
    int64_t at = 0;
    for (int64_t i = 0; i < members && (to_all || member == root); ++i) {
      for (int64_t j = 0; j < counts[i]; ++j) {
        CHECK_REAL(all[at], sent_element(i, 0, j));
        ++at;
      }
    }
    CHECK(at == 0 || at == total);
  }
  CHECK_OK(tessera_team_scatterv(team, all, counts, NULL, back, mine, sizeof *own, root));
  for (int64_t i = 0; i < mine; ++i) {
    CHECK_REAL(back[i], own[i]);
  }
  CHECK_ERROR(tessera_team_gatherv(team, own, mine, all, counts, NULL, sizeof *own, members),
              TESSERA_OUT_OF_RANGE, "there is no member");
  CHECK_ERROR(tessera_team_scatterv(team, all, counts, NULL, back, -1, sizeof *own, root),
              TESSERA_INVALID_ARGUMENT, "-1");
}

static void scan_elements(void) {
  double sums[2] = {(double)member, 1};
  int64_t largest = -member;
  CHECK_OK(tessera_team_scan(team, sums, 2, TESSERA_F64, TESSERA_SUM));
  CHECK_REAL(sums[0], (double)(member * (member + 1) / 2));
  CHECK_REAL(sums[1], (double)(member + 1));
  CHECK_OK(tessera_team_exclusive_scan(team, &largest, 1, TESSERA_I64, TESSERA_MAX));
  CHECK_EQUAL(largest, member == 0 ? INT64_MIN : 0);
  CHECK_ERROR(tessera_team_scan(team, sums, 2, TESSERA_F64, 10), TESSERA_INVALID_ARGUMENT,
              "no reduction 10");
  CHECK_ERROR(tessera_team_exclusive_scan(team, NULL, 2, TESSERA_F64, TESSERA_SUM),
              TESSERA_INVALID_ARGUMENT, "elements is null");
}

static void start_without_waiting(void) {
  tessera_handle* both = NULL;
  tessera_handle* handle = NULL;
  int64_t sum = member;
  double largest = -(double)member;
  int32_t done = 0;
  CHECK_OK(tessera_team_allreduce_async(team, &sum, 1, TESSERA_I64, TESSERA_SUM, &both));
  CHECK_OK(tessera_team_allreduce_async(team, &largest, 1, TESSERA_F64, TESSERA_MAX, &both));
  CHECK_OK(tessera_team_barrier_async(team, &handle));
  CHECK_OK(tessera_team_barrier(team));
  CHECK_OK(tessera_handle_wait(&both));
  CHECK(both == NULL);
  CHECK_EQUAL(sum, members * (members - 1) / 2);
  CHECK_REAL(largest, 0.0);
  while (!done) {
    CHECK_OK(tessera_handle_test(handle, &done));
  }
  CHECK_OK(tessera_handle_wait(&handle));
  CHECK_ERROR(tessera_team_barrier_async(team, NULL), TESSERA_INVALID_ARGUMENT, "handle is null");
  CHECK_OK(tessera_team_allreduce_async(team, &sum, -1, TESSERA_I64, TESSERA_SUM, &handle));
  CHECK_ERROR(tessera_handle_wait(&handle), TESSERA_INVALID_ARGUMENT,
              "-1 elements cannot be reduced");
  CHECK_OK(tessera_team_allreduce_async(team, &sum, 1, TESSERA_I64, 77, &handle));
  CHECK_ERROR(tessera_handle_wait(&handle), TESSERA_INVALID_ARGUMENT, "is not defined for");
}

/* If one member cannot take part, the others do not wait. */
static void hear_of_one_members_mistake(void) {
  double value = 1;
  if (members == 1) {
    return;
  }
  const int code =
      tessera_team_allreduce(team, member == 1 ? NULL : &value, 1, TESSERA_F64, TESSERA_SUM);
  CHECK_EQUAL(code, TESSERA_INVALID_ARGUMENT);
  CHECK_HAS(tessera_last_error(), member == 1 ? "elements is null" : "tessera_team_allreduce");
  CHECK_OK(tessera_team_barrier(team));
}

/* Members that call different collectives, or the same with different sizes, get an error; the team
 * works afterwards. */
static void tell_different_collectives(void) {
  double values[3] = {1, 1, 1};
  const int is_odd = member == members - 1;
  if (members == 1) {
    return;
  }
  const int code =
      is_odd ? tessera_team_broadcast(team, values, sizeof values, 0) : tessera_team_barrier(team);
  CHECK_ERROR(code, TESSERA_INVALID_ARGUMENT, "called different collectives");
  CHECK_HAS(tessera_last_error(), "called barrier");
  CHECK_HAS(tessera_last_error(), "called broadcast of 24 bytes from member 0");
  CHECK_OK(tessera_team_barrier(team));
  CHECK_ERROR(tessera_team_allreduce(team, values, is_odd ? 2 : 3, TESSERA_F64, TESSERA_SUM),
              TESSERA_INVALID_ARGUMENT, "called allreduce of 16 bytes");
  CHECK_HAS(tessera_last_error(), "called allreduce of 24 bytes");
  int32_t one = 1;
  CHECK_OK(tessera_team_allreduce(team, &one, 1, TESSERA_I32, TESSERA_SUM));
  CHECK_EQUAL(one, members);
}

/* One member's error becomes that of all, with its text and rank. */
static void agree_on_a_code(void) {
  CHECK_OK(tessera_team_agree(team, TESSERA_OK, NULL));
  const int is_last = member == members - 1;
  CHECK_ERROR(tessera_team_agree(team, is_last ? TESSERA_UNREACHABLE : TESSERA_OK,
                                 is_last ? "no input file" : NULL),
              TESSERA_UNREACHABLE, "no input file");
  CHECK_EQUAL(tessera_last_error_rank(), members - 1);
  /* Of two errors it is that of the lower member; without a text, the text of its last error. */
  int64_t rank = -1;
  int code = tessera_team_world_rank(team, members, &rank);
  CHECK_EQUAL(code, TESSERA_OUT_OF_RANGE);
  code = tessera_team_agree(team, member == 0 ? code : TESSERA_PROTOCOL, NULL);
  CHECK_EQUAL(code, TESSERA_OUT_OF_RANGE);
  CHECK_HAS(tessera_last_error(), "there is no member");
  CHECK_ERROR(tessera_team_agree(team, member == 0 ? 77 : TESSERA_OK, NULL),
              TESSERA_INVALID_ARGUMENT, "77 is not an error code");
  CHECK_ERROR(tessera_team_agree(NULL, TESSERA_OK, NULL), TESSERA_INVALID_ARGUMENT,
              "the team is null");
  CHECK_OK(tessera_team_barrier(team));
}

const Case team_cases[] = {{"are_made_of_lists", are_made_of_lists},
                           {"are_split", are_split},
                           {"exchange_bytes", exchange_bytes},
                           {"reduce_elements", reduce_elements},
                           {"exchange_blocks", exchange_blocks},
                           {"gather_and_scatter_blocks", gather_and_scatter_blocks},
                           {"scan_elements", scan_elements},
                           {"start_without_waiting", start_without_waiting},
                           {"hear_of_one_members_mistake", hear_of_one_members_mistake},
                           {"tell_different_collectives", tell_different_collectives},
                           {"agree_on_a_code", agree_on_a_code},
                           {NULL, NULL}};
