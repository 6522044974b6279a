/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flags and notifications: who sees the one sees the data.
 */
#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

enum { rounds = 20, length = 40 };

static int64_t right(void) {
  return (member + 1) % members;
}
static int64_t left(void) {
  return (member + members - 1) % members;
}

/* An element for each member, in order, of which it owns its own. */
static tessera_array* make_flags(void) {
  return make_array(TESSERA_I32, 1, &members, "flags");
}

/* In each round every member puts `length` elements of its right neighbour's, from the `first`
 * element of its part, and checks its own after the flag has come. */
typedef int (*Send)(const tessera_array* data, const double* values, const tessera_array* flags,
                    int32_t value);

static int put_and_raise(const tessera_array* data, const double* values,
                         const tessera_array* flags, int32_t value) {
  const int64_t to = right();
  const int64_t lo = to * length;
  const int64_t hi = lo + length;
  const int code = tessera_array_put(data, &lo, &hi, values, NULL);
  return code != 0 ? code : tessera_array_raise_flag(flags, &to, value);
}

static int put_together(const tessera_array* data, const double* values, const tessera_array* flags,
                        int32_t value) {
  const int64_t to = right();
  const int64_t lo = to * length;
  const int64_t hi = lo + length;
  return tessera_array_put_with_flag(data, &lo, &hi, values, NULL, flags, &to, value);
}

static void go_around(Send send) {
  tessera_array* const data = make_vector(members * length, "data");
  tessera_array* const flags = make_flags();
  double values[length];
  double seen[length];
  const int64_t lo = member * length;
  const int64_t hi = lo + length;
  for (int32_t round = 1; round <= rounds; ++round) {
    for (int i = 0; i < length; ++i) {
      values[i] = (double)(1000 * round + 100 * member + i);
    }
    CHECK_OK(send(data, values, flags, round));
    CHECK_OK(tessera_array_wait_for_flag(flags, &member, round, left()));
    CHECK_OK(tessera_array_get(data, &lo, &hi, seen, NULL));
    for (int i = 0; i < length; ++i) {
      CHECK_REAL(seen[i], (double)(1000 * round + 100 * left() + i));
    }
    CHECK_OK(tessera_team_barrier(team)); /* all have checked */
  }
  release(flags);
  release(data);
}

static void come_behind_puts(void) {
  go_around(put_and_raise);
}
static void come_with_puts(void) {
  go_around(put_together);
}

/* A box with elements of all members: all of it has arrived when the flag is seen. Large enough
 * that a flag that is too early would be noticed; and with strides. */
static void come_behind_all_owners(void) {
  enum { rows = 512, columns = 48 };
  const int64_t extents[2] = {rows, columns};
  const int64_t strides[2] = {2 * columns, 2};
  static double wide[rows * columns * 2];
  static double seen[rows * columns];
  tessera_array* const data = make_array(TESSERA_F64, 2, extents, "data");
  tessera_array* const flags = make_flags();
  const int64_t last = members - 1;
  for (int32_t round = 1; round <= 3; ++round) {
    if (member == 0) {
      for (int i = 0; i < rows * columns; ++i) {
        wide[2 * i] = (double)(i + round);
      }
      CHECK_OK(tessera_array_put_with_flag(data, NULL, NULL, wide, strides, flags, &last, round));
    }
    if (member == last) {
      int32_t now = -1;
      CHECK_OK(tessera_array_wait_for_flag_change(flags, &last, round - 1, 0, &now));
      CHECK_EQUAL(now, round);
      CHECK_OK(tessera_array_get(data, NULL, NULL, seen, NULL));
      int wrong = 0;
      for (int i = 0; i < rows * columns; ++i) {
        wrong += seen[i] != (double)(i + round);
      }
      CHECK_EQUAL(wrong, 0);
    }
    CHECK_OK(tessera_team_barrier(team));
  }
  release(flags);
  release(data);
}

/* Only the flag; and in an array of another team than the data's. */
static void come_with_nothing(void) {
  tessera_array* const data = make_vector(8, "data");
  tessera_array* const flags = make_flags();
  const int64_t to = right();
  const int64_t none = 3;
  int32_t now = 0;
  CHECK_OK(tessera_array_put_with_flag(data, &none, &none, NULL, NULL, flags, &to, INT32_MIN));
  CHECK_OK(tessera_array_wait_for_flag_change(flags, &member, 0, left(), &now));
  CHECK_EQUAL(now, INT32_MIN);
  CHECK_ALL(data, zero);
  release(flags);
  release(data);
}

static void are_refused(void) {
  tessera_array* const data = make_vector(8, "data");
  tessera_array* flags = make_flags();
  tessera_array* const freed = flags;
  const int64_t beyond = members;
  const int64_t lo = 2;
  const int64_t hi = 9;
  const int64_t first = 0;
  double values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int32_t now = 77;
  CHECK_ERROR(tessera_array_raise_flag(data, &first, 1), TESSERA_INVALID_ARGUMENT,
              "raising a flag of array 'data' (float64, 8): its elements can't be flags");
  CHECK_HAS(tessera_last_error(), "TESSERA_I32");
  CHECK_ERROR(tessera_array_raise_flag(flags, &beyond, 1), TESSERA_OUT_OF_RANGE,
              "raising a flag of array 'flags'");
  CHECK_ERROR(tessera_array_raise_flag(flags, NULL, 1), TESSERA_INVALID_ARGUMENT, "index is null");
  CHECK_ERROR(tessera_array_raise_flag(NULL, &first, 1), TESSERA_INVALID_ARGUMENT,
              "the array is null");
  CHECK_ERROR(tessera_array_put_with_flag(data, &lo, &hi, values, NULL, flags, &first, 1),
              TESSERA_OUT_OF_RANGE, "put of [2,9) of array 'data'");
  CHECK_ERROR(tessera_array_put_with_flag(data, NULL, NULL, NULL, NULL, flags, &first, 1),
              TESSERA_INVALID_ARGUMENT, "the local buffer is null");
  CHECK_ERROR(tessera_array_put_with_flag(data, NULL, NULL, values, NULL, NULL, &first, 1),
              TESSERA_INVALID_ARGUMENT, "the array is null");
  CHECK_ERROR(tessera_array_put_with_flag(data, NULL, NULL, values, NULL, data, &first, 1),
              TESSERA_INVALID_ARGUMENT, "its elements can't be flags");
  CHECK_ERROR(tessera_array_wait_for_flag(flags, &member, 1, members), TESSERA_OUT_OF_RANGE,
              "there is no member");
  CHECK_ERROR(tessera_array_wait_for_flag(flags, &member, 1, -1), TESSERA_OUT_OF_RANGE,
              "there is no member -1");
  CHECK_ERROR(tessera_array_wait_for_flag_change(flags, &member, 1, 0, NULL),
              TESSERA_INVALID_ARGUMENT, "result is null");
  if (members > 1) {
    const int64_t other = right();
    CHECK_ERROR(tessera_array_wait_for_flag(flags, &other, 1, 0), TESSERA_INVALID_ARGUMENT,
                "waiting for a flag of array 'flags'");
    CHECK_HAS(tessera_last_error(), "read others with get");
    CHECK_ERROR(tessera_array_wait_for_flag_change(flags, &other, 0, 0, &now),
                TESSERA_INVALID_ARGUMENT, "waits for it");
  }
  CHECK_EQUAL(now, 77);
  CHECK_ALL(data, zero);
  CHECK_OK(tessera_array_set_access_mode(flags, TESSERA_ACCESS_READ_ONLY, 0, 0));
  CHECK_ERROR(tessera_array_raise_flag(flags, &first, 1), TESSERA_INVALID_ARGUMENT,
              "raising a flag of array 'flags'");
  CHECK_OK(tessera_array_free(&flags));
  CHECK_ERROR(tessera_array_raise_flag(freed, &first, 1), TESSERA_CLOSED, "'flags' was freed");
  CHECK_ERROR(tessera_array_wait_for_flag(freed, &member, 1, 0), TESSERA_CLOSED,
              "'flags' was freed");
  release(data);
}

/* After a notification the data are there; notifications are counted for each pair of ranks. */
static void notifications_come_behind_puts(void) {
  tessera_array* const data = make_vector(members * length, "data");
  const int64_t lo = right() * length;
  const int64_t hi = lo + length;
  const int64_t own_lo = member * length;
  const int64_t own_hi = own_lo + length;
  int64_t to = -1;
  int64_t from = -1;
  int64_t received = -1;
  int64_t first = -1;
  int64_t sent = -1;
  double values[length];
  double seen[length];
  CHECK_OK(tessera_team_world_rank(team, right(), &to));
  CHECK_OK(tessera_team_world_rank(team, left(), &from));
  CHECK_OK(tessera_job_wait_for_notifications(job, from, 0, &received)); /* of cases before */
  CHECK_OK(tessera_team_barrier(team));
  for (int64_t round = 1; round <= rounds; ++round) {
    for (int i = 0; i < length; ++i) {
      values[i] = (double)(1000 * round + 100 * member + i);
    }
    CHECK_OK(tessera_array_put(data, &lo, &hi, values, NULL));
    CHECK_OK(tessera_job_notify(job, to, &sent));
    first = round == 1 ? sent : first;
    CHECK_EQUAL(sent, first + round - 1);
    int64_t so_far = -1;
    CHECK_OK(tessera_job_wait_for_notifications(job, from, received + round, &so_far));
    CHECK_EQUAL(so_far, received + round);
    CHECK_OK(tessera_array_get(data, &own_lo, &own_hi, seen, NULL));
    CHECK_REAL(seen[length - 1], (double)(1000 * round + 100 * left() + length - 1));
    CHECK_OK(tessera_team_barrier(team));
  }
  release(data);
}

static void notifications_are_refused(void) {
  int64_t ranks = -1;
  int64_t count = 77;
  CHECK_OK(tessera_job_size(job, &ranks));
  CHECK_ERROR(tessera_job_notify(job, ranks, &count), TESSERA_OUT_OF_RANGE, "there is no rank");
  CHECK_ERROR(tessera_job_notify(NULL, 0, &count), TESSERA_INVALID_ARGUMENT, "the job is null");
  CHECK_ERROR(tessera_job_wait_for_notifications(job, -1, 0, &count), TESSERA_OUT_OF_RANGE,
              "there is no rank -1");
  CHECK_ERROR(tessera_job_wait_for_notifications(job, 0, -3, &count), TESSERA_INVALID_ARGUMENT,
              "-3 notifications are not possible");
  CHECK_EQUAL(count, 77);
  CHECK_OK(tessera_job_wait_for_notifications(job, 0, 0, NULL));
}

const Case flag_cases[] = {{"come_behind_puts", come_behind_puts},
                           {"come_with_puts", come_with_puts},
                           {"come_behind_all_owners", come_behind_all_owners},
                           {"come_with_nothing", come_with_nothing},
                           {"are_refused", are_refused},
                           {"notifications_come_behind_puts", notifications_come_behind_puts},
                           {"notifications_are_refused", notifications_are_refused},
                           {NULL, NULL}};
