/* SPDX-License-Identifier: BSD-3-Clause
 * A work queue that grows while ranks work: a linked list in a shared array, guarded by a lock. A
 * task counts one prime factor of a number; the rest is a new task, which any rank may take.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/work_queue
 */
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

enum { rows_taken, tasks_open, factors, counts_end, largest = 300, capacity = 4000 };
static tessera_array *counts, *list;   /* a row of the list: a number, and the next row's index */
static const int64_t head[2] = {0, 1}; /* has the first task's row, 0 for none */
static tessera_locks* locks;           /* rank 0 has one */
static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", tessera_last_error());
    exit(1);
  }
}
static int64_t add_to(int64_t which, int64_t more) {
  int64_t before = 0;
  check(tessera_array_fetch_add(counts, &which, &more, &before));
  return before;
}
static void push(int64_t number) {
  const int64_t row = add_to(rows_taken, 1) + 1, lo[2] = {row, 0}, hi[2] = {row + 1, 2};
  int64_t task[2] = {number, 0};
  add_to(tasks_open, 1);
  check(tessera_locks_lock(locks, 0, 0));
  check(tessera_array_get_element(list, head, &task[1]));
  check(tessera_array_put(list, lo, hi, task, NULL));
  check(tessera_array_put_element(list, head, &row));
  check(tessera_array_fence(list)); /* arrives before others can take the lock */
  check(tessera_locks_unlock(locks, 0, 0));
}
static int64_t pop(void) { /* 0 if the queue is empty now */
  int64_t row = 0, task[2] = {0, 0};
  check(tessera_locks_lock(locks, 0, 0));
  check(tessera_array_get_element(list, head, &row));
  if (row > 0) {
    check(tessera_array_get(list, (int64_t[]){row, 0}, (int64_t[]){row + 1, 2}, task, NULL));
    check(tessera_array_put_element(list, head, &task[1]));
    check(tessera_array_fence(list));
  }
  check(tessera_locks_unlock(locks, 0, 0));
  return task[0];
}
int main(void) {
  int64_t rank = 0;
  tessera_job* job = NULL;
  tessera_team* world = NULL;
  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_team_world(job, &world));
  check(tessera_array_create(job, TESSERA_I64, 2, (int64_t[]){capacity, 2}, NULL, &list));
  check(tessera_array_create(job, TESSERA_I64, 1, (int64_t[]){counts_end}, NULL, &counts));
  check(tessera_locks_create(world, rank == 0, &locks));
  for (int64_t number = 2; rank == 0 && number <= largest; ++number) {
    push(number);
  }
  check(tessera_job_barrier(job));
  while (add_to(tasks_open, 0) > 0) {
    const int64_t number = pop();
    int64_t divisor = 2;
    for (; divisor < number && number % divisor != 0; ++divisor) {
    }
    if (divisor < number) {
      push(number / divisor);
    }
    add_to(factors, number > 0);
    add_to(tasks_open, number > 0 ? -1 : 0); /* after everything else of this task */
  }
  const int64_t found = add_to(factors, 0);
  if (rank == 0) {
    printf("the numbers up to %d have %d prime factors\n", largest, (int)found);
  }
  check(tessera_job_free(&job));
  return found == 796 ? 0 : 1;
}
