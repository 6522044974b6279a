/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Misuses of transfers, handles, atomic operations and mutexes.
 */
#include <stdint.h>

#include "armcix.h"
#include "message.h"
#include "tests/armci_misuse/misuse.h"

static char local[shared_bytes];
static int integer = 1;
static double number = 1;

static char* there(int offset) {
  return (char*)shared[next()] + offset;
}

/* --- outside of ARMCI_Init and ARMCI_Finalize --- */
static int put_outside(void) {
  return ARMCI_Put(local, local, 8, 0);
}
static int wait_outside(void) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  return ARMCI_Wait(&handle);
}
static int lock_outside(void) {
  ARMCI_Lock(0, 0);
  return last_code();
}
static int barrier_outside(void) {
  ARMCI_Barrier();
  return last_code();
}

/* --- pointers and processes --- */
static int put_to_the_stack(void) {
  int here = 0;
  return ARMCI_Put(&integer, &here, sizeof here, next() == me() ? -1 : next());
}
static int put_after_the_end(void) {
  return ARMCI_Put(local, there(shared_bytes), 1, next());
}
static int put_over_the_end(void) {
  return ARMCI_Put(local, there(shared_bytes - 4), 8, next());
}
static int get_before_the_start(void) {
  return ARMCI_Get(there(-8), local, 16, next());
}
static int put_to_the_wrong_process(void) {
  return ARMCI_Put(local, shared[0], 8, 1);
}
/* Also if the memory is mapped here, and a store would work. */
static int put_to_anothers_as_own(void) {
  return ARMCI_Put(local, shared[0], 16, me());
}
static int accumulate_to_anothers_as_own(void) {
  return ARMCI_Acc(ARMCI_ACC_INT, &integer, local, shared[0], 16, me());
}
static int put_a_segment_to_anothers_as_own(void) {
  void* sources[] = {local, local + 64};
  void* targets[] = {shared[me()], shared[0]};
  armci_giov_t set = {
      .src_ptr_array = sources, .dst_ptr_array = targets, .bytes = 8, .ptr_array_len = 2};
  return ARMCI_PutV(&set, 1, me());
}
static int put_to_minus_one(void) {
  return ARMCI_Put(local, there(0), 8, -1);
}
static int get_from_n(void) {
  return ARMCI_Get(there(0), local, 8, size());
}
static int put_to_null(void) {
  return ARMCI_Put(local, NULL, 8, next());
}
static int put_from_null(void) {
  return ARMCI_Put(NULL, there(0), 8, next());
}
static int get_to_null(void) {
  return ARMCI_Get(there(0), NULL, 16, next());
}
static int put_to_freed_memory(void) {
  void* pointers[64];
  ARMCI_Malloc(pointers, 64);
  ARMCI_Free(pointers[me()]);
  return ARMCI_Put(local, pointers[next()], 8, next());
}
static int put_value_to_null(void) {
  return ARMCI_PutValueInt(1, NULL, next());
}
static int get_value_from_n(void) {
  (void)ARMCI_GetValueDouble(there(0), size());
  return last_code();
}

/* --- lengths and shapes --- */
static int negative_bytes(void) {
  return ARMCI_Put(local, there(0), -8, next());
}
static int negative_copy(void) {
  ARMCI_Copy(local, local + 64, -1);
  return last_code();
}
static int copy_from_null(void) {
  ARMCI_Copy(NULL, local, 8);
  return last_code();
}
static int strided(int levels, int* strides, int* count) {
  return ARMCI_PutS(local, strides, there(0), strides, count, levels, next());
}
static int null_strides(void) {
  int count[] = {8, 2};
  return strided(1, NULL, count);
}
static int null_counts(void) {
  int strides[] = {16};
  return strided(1, strides, NULL);
}
static int nine_levels(void) {
  int strides[9] = {8, 8, 8, 8, 8, 8, 8, 8, 8};
  int count[10] = {8, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  return strided(9, strides, count);
}
static int negative_levels(void) {
  int count[] = {8};
  return strided(-1, NULL, count);
}
static int negative_count(void) {
  int strides[] = {16};
  int count[] = {8, -2};
  return strided(1, strides, count);
}
static int strides_over_the_end(void) {
  int strides[] = {512};
  int count[] = {8, 3};
  return strided(1, strides, count);
}
static int pack_without_buffer(void) {
  int strides[] = {16};
  int count[] = {8, 2};
  armci_write_strided(local, 1, strides, count, NULL);
  return last_code();
}
static int unpack_nine_levels(void) {
  int strides[9] = {8, 8, 8, 8, 8, 8, 8, 8, 8};
  int count[10] = {8, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  armci_read_strided(local, 9, strides, count, local);
  return last_code();
}

/* --- vectors --- */
static int vector_of(void* target0, void* target1, int bytes, int segments) {
  void* sources[] = {local, local + 64};
  void* targets[] = {target0, target1};
  armci_giov_t set = {.src_ptr_array = sources,
                      .dst_ptr_array = targets,
                      .bytes = bytes,
                      .ptr_array_len = segments};
  return ARMCI_PutV(&set, 1, next());
}
static int negative_segments(void) {
  return vector_of(there(0), there(64), 8, -2);
}
static int segment_over_the_end(void) {
  return vector_of(there(0), there(shared_bytes - 4), 8, 2);
}
static int null_segment(void) {
  return vector_of(there(0), NULL, 8, 2);
}
static int null_pointer_array(void) {
  armci_giov_t set = {.src_ptr_array = NULL, .dst_ptr_array = NULL, .bytes = 8, .ptr_array_len = 2};
  return ARMCI_GetV(&set, 1, next());
}
static int null_sets(void) {
  return ARMCI_PutV(NULL, 2, next());
}
static int negative_sets(void) {
  armci_giov_t set = {0};
  return ARMCI_AccV(ARMCI_ACC_INT, &integer, &set, -1, next());
}
static int null_descriptors(void) {
  return ARMCIX_PutS_dscr(NULL, 1, next());
}

/* --- accumulates --- */
static int unknown_accumulate(void) {
  return ARMCI_Acc(1, &integer, local, there(0), 8, next());
}
static int null_scale(void) {
  return ARMCI_Acc(ARMCI_ACC_DBL, NULL, local, there(0), 8, next());
}
static int half_an_element(void) {
  return ARMCI_Acc(ARMCI_ACC_DBL, &number, local, there(0), 12, next());
}
static int accumulate_from_null(void) {
  return ARMCI_Acc(ARMCI_ACC_DBL, &number, NULL, there(0), 16, next());
}

/* --- flags and notifications --- */
static int flag_in_no_memory(void) {
  return ARMCI_Put_flag(local, there(0), 8, NULL, 1, next());
}
static int unaligned_flag(void) {
  return ARMCI_Put_flag(local, there(0), 8, (int*)(void*)there(65), 1, next());
}
static int notify_no_process(void) {
  return armci_notify(-1);
}
static int wait_for_no_process(void) {
  return armci_notify_wait(size(), NULL);
}

/* --- non-blocking --- */
static int start_a_put_to_null(void) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  return ARMCI_NbPut(local, NULL, 8, next(), &handle);
}
static int start_an_implicit_get_from_n(void) {
  return ARMCI_NbGet(there(0), local, 8, size(), NULL);
}
static int start_an_aggregated_put_to_null(void) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  return ARMCI_NbPut(local, NULL, 8, next(), &handle);
}
static int test_a_null_handle(void) {
  return ARMCI_Test(NULL);
}
static int aggregate_with_a_null_handle(void) {
  ARMCI_SET_AGGREGATE_HANDLE(NULL);
  return last_code();
}
static int wait_for_process_minus_one(void) {
  return ARMCI_WaitProc(-1);
}

/* --- atomic operations and fences --- */
static int unknown_rmw(void) {
  long before_it = 0;
  return ARMCI_Rmw(99, &before_it, there(0), 1, next());
}
static int rmw_without_local(void) {
  return ARMCI_Rmw(ARMCI_FETCH_AND_ADD, NULL, there(0), 1, next());
}
static int unaligned_rmw(void) {
  long before_it = 0;
  return ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before_it, there(4), 1, next());
}
static int rmw_of_unaligned_own(void) {
  long before_it = 0;
  static char own[16];
  return ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before_it, own + 1 + (uintptr_t)own % 2, 1, me());
}
static int rmw_of_null_own(void) {
  int before_it = 0;
  return ARMCI_Rmw(ARMCI_SWAP, &before_it, NULL, 1, me());
}
static int rmw_after_the_end(void) {
  int before_it = 0;
  return ARMCI_Rmw(ARMCI_SWAP, &before_it, there(shared_bytes), 1, next());
}
static int rmw_at_process_n(void) {
  int before_it = 0;
  return ARMCI_Rmw(ARMCI_SWAP, &before_it, there(0), 1, size());
}
static int fence_process_n(void) {
  ARMCI_Fence(size());
  return last_code();
}

/* --- mutexes --- */
static int lock_without_mutexes(void) {
  ARMCI_Lock(0, next());
  return last_code();
}
static int destroy_no_mutexes(void) {
  return ARMCI_Destroy_mutexes();
}
static int negative_mutexes(void) {
  return ARMCI_Create_mutexes(me() == 0 ? -1 : 2);
}
static int mutexes_twice(void) {
  ARMCI_Create_mutexes(2);
  const int code = ARMCI_Create_mutexes(2);
  ARMCI_Destroy_mutexes();
  return code;
}
/* Does `misuse` while there are two mutexes at each process. */
static int with_mutexes(void (*misuse)(void)) {
  ARMCI_Create_mutexes(2);
  misuse();
  const int code = last_code();
  ARMCI_Destroy_mutexes();
  return code;
}
static void do_unlock(void) {
  ARMCI_Unlock(1, next());
}
static void do_lock_2(void) {
  ARMCI_Lock(2, next());
}
static void do_lock_minus_1(void) {
  ARMCI_Lock(-1, next());
}
static void do_lock_at_n(void) {
  ARMCI_Lock(0, size());
}
static int unlock_what_is_not_held(void) {
  return with_mutexes(do_unlock);
}
static int lock_mutex_2_of_2(void) {
  return with_mutexes(do_lock_2);
}
static int lock_mutex_minus_1(void) {
  return with_mutexes(do_lock_minus_1);
}
static int lock_at_process_n(void) {
  return with_mutexes(do_lock_at_n);
}
static int null_mutex_set(void) {
  ARMCIX_Lock_hdl(NULL, 0, 0);
  return last_code();
}
static int garbage_mutex_set(void) {
  return ARMCIX_Trylock_hdl((armcix_mutex_hdl_t)(void*)local, 0, 0);
}
static int destroyed_mutex_set(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(1, &world);
  ARMCIX_Destroy_mutexes_hdl(set);
  return ARMCIX_Destroy_mutexes_hdl(set);
}

const struct misuse transfer_cases[] = {
    {"put_before", before, "ARMCI_Put", FAIL3, "ARMCI is not running|ARMCI_Init", put_outside},
    {"wait_before", before, "ARMCI_Wait", FAIL3, "ARMCI is not running", wait_outside},
    {"lock_before", before, "ARMCI_Lock", FAIL3, "ARMCI is not running", lock_outside},
    {"barrier_before", before, "ARMCI_Barrier", FAIL3, "ARMCI is not running", barrier_outside},
    /* after the end */
    {"put_after", after, "ARMCI_Put", FAIL3, "ARMCI is not running|ARMCI_Finalize", put_outside},
    {"wait_after", after, "ARMCI_Wait", FAIL3, "ARMCI is not running", wait_outside},
    {"barrier_after", after, "ARMCI_Barrier", FAIL3, "ARMCI is not running", barrier_outside},

    {"put_to_the_stack", one, "ARMCI_Put", FAIL2, "lies in no region|ARMCI_Malloc",
     put_to_the_stack},
    {"put_after_the_end", one, "ARMCI_Put", FAIL2, "1024 bytes|ARMCI_Malloc", put_after_the_end},
    {"put_over_the_end", one, "ARMCI_Put", FAIL2, "bytes [1020, 1028)|1024", put_over_the_end},
    {"get_before_the_start", one, "ARMCI_Get", FAIL2, "|ARMCI_Malloc", get_before_the_start},
    {"put_to_the_wrong_process", one, "ARMCI_Put", FAIL2, "not in rank 1's slice",
     put_to_the_wrong_process},
    {"put_to_anothers_as_own", one, "ARMCI_Put", FAIL2, "'s slice", put_to_anothers_as_own},
    {"accumulate_to_anothers_as_own", one, "ARMCI_Acc", FAIL2, "'s slice",
     accumulate_to_anothers_as_own},
    {"put_a_segment_to_anothers_as_own", one, "ARMCI_PutV", FAIL2, "'s slice",
     put_a_segment_to_anothers_as_own},
    {"put_to_minus_one", one, "ARMCI_Put", FAIL, "no rank -1", put_to_minus_one},
    {"get_from_n", one, "ARMCI_Get", FAIL, "there is no rank|ranks 0 to", get_from_n},
    {"put_to_null", one, "ARMCI_Put", FAIL2, "lies in no region", put_to_null},
    {"put_from_null", one, "ARMCI_Put", FAIL, "put of 8 bytes|null", put_from_null},
    {"get_to_null", one, "ARMCI_Get", FAIL, "get of 16 bytes|null", get_to_null},
    {"put_to_freed_memory", all_ranks, "ARMCI_Put", FAIL2, "lies in no region|ARMCI_Free",
     put_to_freed_memory},
    {"put_value_to_null", one, "ARMCI_PutValueInt", FAIL2, "lies in no region", put_value_to_null},
    {"get_value_from_n", one, "ARMCI_GetValueDouble", FAIL, "there is no rank", get_value_from_n},

    {"negative_bytes", one, "ARMCI_Put", FAIL, "-8 bytes", negative_bytes},
    {"negative_copy", one, "ARMCI_Copy", FAIL, "-1 bytes", negative_copy},
    {"copy_from_null", one, "ARMCI_Copy", FAIL, "8 bytes from 0x0", copy_from_null},
    {"null_strides", one, "ARMCI_PutS", FAIL, "array of source strides is null|1 stride level",
     null_strides},
    {"null_counts", one, "ARMCI_PutS", FAIL, "counts is null", null_counts},
    {"nine_levels", one, "ARMCI_PutS", FAIL, "9 stride levels|MAX_STRIDE_LEVEL, 8", nine_levels},
    {"negative_levels", one, "ARMCI_PutS", FAIL, "-1 stride levels", negative_levels},
    {"negative_count", one, "ARMCI_PutS", FAIL, "count -2", negative_count},
    {"strides_over_the_end", one, "ARMCI_PutS", FAIL2, "bytes [0, 1032)", strides_over_the_end},
    {"pack_without_buffer", one, "armci_write_strided", FAIL, "null", pack_without_buffer},
    {"unpack_nine_levels", one, "armci_read_strided", FAIL, "9 stride levels", unpack_nine_levels},

    {"negative_segments", one, "ARMCI_PutV", FAIL, "set 0 has -2 segments of 8 bytes",
     negative_segments},
    {"segment_over_the_end", one, "ARMCI_PutV", FAIL2, "1028)|1024 bytes", segment_over_the_end},
    {"null_segment", one, "ARMCI_PutV", FAIL2, "lies in no region", null_segment},
    {"null_pointer_array", one, "ARMCI_GetV", FAIL, "set 0 of 2 segments|null", null_pointer_array},
    {"null_sets", one, "ARMCI_PutV", FAIL, "array of 2 sets is null", null_sets},
    {"negative_sets", one, "ARMCI_AccV", FAIL, "-1 sets", negative_sets},
    {"null_descriptors", one, "ARMCIX_PutS_dscr", FAIL, "1 sets at 0x0", null_descriptors},

    {"unknown_accumulate", one, "ARMCI_Acc", FAIL, "1 is not an accumulate", unknown_accumulate},
    {"null_scale", one, "ARMCI_Acc", FAIL, "scale factor is null", null_scale},
    {"half_an_element", one, "ARMCI_Acc", FAIL, "12 bytes|float64|8 bytes", half_an_element},
    {"accumulate_from_null", one, "ARMCI_Acc", FAIL, "16 bytes|null", accumulate_from_null},

    {"flag_in_no_memory", one, "ARMCI_Put_flag", FAIL2, "lies in no region", flag_in_no_memory},
    {"unaligned_flag", one, "ARMCI_Put_flag", FAIL, "offset 65|aligned", unaligned_flag},
    {"notify_no_process", one, "armci_notify", FAIL, "no process -1", notify_no_process},
    {"wait_for_no_process", one, "armci_notify_wait", FAIL, "there is no process",
     wait_for_no_process},

    {"start_a_put_to_null", one, "ARMCI_NbPut", FAIL2, "lies in no region", start_a_put_to_null},
    {"start_an_implicit_get_from_n", one, "ARMCI_NbGet", FAIL, "there is no rank",
     start_an_implicit_get_from_n},
    {"start_an_aggregated_put_to_null", one, "ARMCI_NbPut", FAIL2, "lies in no region",
     start_an_aggregated_put_to_null},
    {"test_a_null_handle", one, "ARMCI_Test", FAIL, "handle is null", test_a_null_handle},
    {"aggregate_with_a_null_handle", one, "ARMCI_SET_AGGREGATE_HANDLE", FAIL, "handle is null",
     aggregate_with_a_null_handle},
    {"wait_for_process_minus_one", one, "ARMCI_WaitProc", FAIL, "no process -1",
     wait_for_process_minus_one},

    {"unknown_rmw", one, "ARMCI_Rmw", FAIL, "99 is not a read-modify-write", unknown_rmw},
    {"rmw_without_local", one, "ARMCI_Rmw", FAIL, "null", rmw_without_local},
    {"unaligned_rmw", one, "ARMCI_Rmw", FAIL, "8 bytes at offset 4|aligned", unaligned_rmw},
    {"rmw_of_unaligned_own", one, "ARMCI_Rmw", FAIL, "8-byte word at address|not aligned",
     rmw_of_unaligned_own},
    {"rmw_of_null_own", one, "ARMCI_Rmw", FAIL, "which is null", rmw_of_null_own},
    {"rmw_after_the_end", one, "ARMCI_Rmw", FAIL2, "not in rank", rmw_after_the_end},
    {"rmw_at_process_n", one, "ARMCI_Rmw", FAIL, "there is no rank", rmw_at_process_n},
    {"fence_process_n", one, "ARMCI_Fence", FAIL, "there is no rank", fence_process_n},

    {"lock_without_mutexes", one, "ARMCI_Lock", FAIL, "no mutexes|ARMCI_Create_mutexes",
     lock_without_mutexes},
    {"destroy_no_mutexes", all_ranks, "ARMCI_Destroy_mutexes", FAIL, "no mutexes",
     destroy_no_mutexes},
    {"negative_mutexes", one_of_all, "ARMCI_Create_mutexes", FAIL, "on rank 0|-1 locks",
     negative_mutexes},
    {"mutexes_twice", all_ranks, "ARMCI_Create_mutexes", FAIL,
     "already|ARMCI_Destroy_mutexes first", mutexes_twice},
    {"unlock_what_is_not_held", all_ranks, "ARMCI_Unlock", FAIL, "lock 1 of rank|does not hold",
     unlock_what_is_not_held},
    {"lock_mutex_2_of_2", all_ranks, "ARMCI_Lock", FAIL2, "no lock 2 at rank|which has 2",
     lock_mutex_2_of_2},
    {"lock_mutex_minus_1", all_ranks, "ARMCI_Lock", FAIL2, "no lock -1", lock_mutex_minus_1},
    {"lock_at_process_n", all_ranks, "ARMCI_Lock", FAIL, "not one of those", lock_at_process_n},
    {"null_mutex_set", one, "ARMCIX_Lock_hdl", FAIL, "set of mutexes is null", null_mutex_set},
    {"garbage_mutex_set", one, "ARMCIX_Trylock_hdl", FAIL, "no set of mutexes", garbage_mutex_set},
    {"destroyed_mutex_set", all_ranks, "ARMCIX_Destroy_mutexes_hdl", FAIL, "no set of mutexes",
     destroyed_mutex_set},
};
const int transfer_case_count = sizeof transfer_cases / sizeof *transfer_cases;
