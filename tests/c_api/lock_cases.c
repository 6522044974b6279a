/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

/* Each member adds to one element by get and put, which is only right with a lock. */
static void exclude_each_other(void) {
  enum { turns = 20 };
  const int64_t owner = members - 1;
  const int64_t at = 0;
  tessera_locks* locks = NULL;
  tessera_array* const array = make_vector(1, "guarded");
  double value = -1;
  CHECK_OK(tessera_locks_create(team, member == owner ? 3 : 0, &locks));
  for (int turn = 0; turn < turns; ++turn) {
    CHECK_OK(tessera_locks_lock(locks, owner, 2));
    CHECK_OK(tessera_array_get_element(array, &at, &value));
    value += 1;
    CHECK_OK(tessera_array_put_element(array, &at, &value));
    CHECK_OK(tessera_array_fence(array));
    CHECK_OK(tessera_locks_unlock(locks, owner, 2));
  }
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_get_element(array, &at, &value));
  CHECK_REAL(value, (double)(turns * members));
  CHECK_OK(tessera_locks_free(&locks));
  CHECK(locks == NULL);
  release(array);
}

static void are_tried_and_counted(void) {
  tessera_locks* locks = NULL;
  int64_t count = -1;
  int taken = -1;
  CHECK_OK(tessera_locks_create(team, member + 1, &locks));
  for (int64_t owner = 0; owner < members; ++owner) {
    CHECK_OK(tessera_locks_count(locks, owner, &count));
    CHECK_EQUAL(count, owner + 1);
  }
  CHECK_OK(tessera_locks_try_lock(locks, member, member, &taken));
  CHECK_EQUAL(taken, 1);
  CHECK_OK(tessera_team_barrier(team));
  if (members > 1) {
    const int64_t right = (member + 1) % members;
    CHECK_OK(tessera_locks_try_lock(locks, right, right, &taken));
    CHECK_EQUAL(taken, 0);
  }
  CHECK_OK(tessera_team_barrier(team));
  CHECK_OK(tessera_locks_unlock(locks, member, member));
  CHECK_ERROR(tessera_locks_unlock(locks, member, member), TESSERA_INVALID_ARGUMENT,
              "tessera_locks_unlock");
  CHECK_ERROR(tessera_locks_lock(locks, members, 0), TESSERA_OUT_OF_RANGE, "there is no member");
  CHECK_ERROR(tessera_locks_lock(locks, 0, 7), TESSERA_OUT_OF_RANGE, "there is no lock 7");
  CHECK_ERROR(tessera_locks_count(locks, -1, &count), TESSERA_OUT_OF_RANGE, "no member -1");
  CHECK_ERROR(tessera_locks_try_lock(locks, 0, 0, NULL), TESSERA_INVALID_ARGUMENT, "null");
  CHECK_OK(tessera_locks_free(&locks));
  CHECK_ERROR(tessera_locks_create(team, -1, &locks), TESSERA_INVALID_ARGUMENT,
              "tessera_locks_create");
}

/* All members draw; together they draw each number once. */
static void counters_give_each_number_once(void) {
  enum { draws = 25 };
  tessera_counter* counter = NULL;
  int32_t drawn[16 * draws] = {0};
  int64_t value = -1;
  CHECK_OK(tessera_counter_create(team, members - 1, &counter));
  for (int i = 0; i < draws; ++i) {
    CHECK_OK(tessera_counter_next(counter, 1, &value));
    if (CHECK(value >= 0 && value < members * draws)) {
      drawn[value] += 1;
    }
  }
  CHECK_OK(tessera_team_allreduce(team, drawn, members * draws, TESSERA_I32, TESSERA_SUM));
  for (int64_t i = 0; i < members * draws; ++i) {
    CHECK_EQUAL(drawn[i], 1);
  }
  CHECK_OK(tessera_counter_reset(counter, 1000));
  CHECK_OK(tessera_team_barrier(team));
  CHECK_OK(tessera_counter_next(counter, 0, &value));
  CHECK_EQUAL(value, 1000);
  CHECK_ERROR(tessera_counter_next(counter, 1, NULL), TESSERA_INVALID_ARGUMENT, "null");
  CHECK_OK(tessera_counter_free(&counter));
  CHECK(counter == NULL);
  CHECK_ERROR(tessera_counter_create(team, members, &counter), TESSERA_OUT_OF_RANGE,
              "there is no member");
}

const Case lock_cases[] = {{"exclude_each_other", exclude_each_other},
                           {"are_tried_and_counted", are_tried_and_counted},
                           {"counters_give_each_number_once", counters_give_each_number_once},
                           {NULL, NULL}};
