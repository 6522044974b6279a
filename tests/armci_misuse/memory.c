/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Misuses of memory, of groups, and of functions that locate processes.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "armcix.h"
#include "tests/armci_misuse/misuse.h"

/* --- collective memory --- */
static int malloc_before(void) {
  void* pointers[64];
  return ARMCI_Malloc(pointers, 64);
}
static int malloc_into_null(void) {
  void* pointers[64];
  return ARMCI_Malloc(me() == 0 ? NULL : pointers, 64);
}
static int malloc_negative(void) {
  void* pointers[64];
  return ARMCI_Malloc(pointers, me() == 0 ? -64 : 64);
}
static int malloc_more_than_exists(void) {
  void* pointers[64];
  const int code = ARMCI_Malloc(pointers, me() == 0 ? LONG_MAX / 4 : 64);
  return code;
}
static int free_an_inner_pointer(void) {
  void* pointers[64];
  ARMCI_Malloc(pointers, 64);
  const int code = ARMCI_Free((char*)pointers[me()] + (me() == size() - 1 ? 8 : 0));
  ARMCI_Free(pointers[me()]);
  return code;
}
static int free_twice(void) {
  void* pointers[64];
  ARMCI_Malloc(pointers, 64);
  ARMCI_Free(pointers[me()]);
  return ARMCI_Free(pointers[me()]);
}
static int free_what_was_never_allocated(void) {
  int here = 0;
  return ARMCI_Free(&here);
}
static int free_anothers_pointer(void) {
  return ARMCI_Free(shared[next()]);
}
static int free_different_allocations(void) {
  void* first[64];
  void* second[64];
  ARMCI_Malloc(first, 64);
  ARMCI_Malloc(second, 64);
  const int code = ARMCI_Free(me() == 0 ? first[me()] : second[me()]);
  ARMCI_Free(first[me()]);
  ARMCI_Free(second[me()]);
  return code;
}

/* --- local memory --- */
static int negative_local(void) {
  (void)ARMCI_Malloc_local(-1);
  return last_code();
}
static int free_local_twice(void) {
  void* memory = ARMCI_Malloc_local(64);
  ARMCI_Free_local(memory);
  return ARMCI_Free_local(memory);
}
static int free_local_of_the_heap(void) {
  void* memory = malloc(64);
  const int code = ARMCI_Free_local(memory);
  free(memory);
  return code;
}

/* --- memory of one process --- */
static int memget_into_null(void) {
  ARMCI_Memget(64, NULL, 0);
  return last_code();
}
static int memget_with_a_flag(void) {
  armci_meminfo_t info;
  ARMCI_Memget(64, &info, 1);
  return last_code();
}
static int memget_of_nothing(void) {
  armci_meminfo_t info;
  ARMCI_Memget(0, &info, 0);
  return last_code();
}
static int memget_of_too_much(void) {
  armci_meminfo_t info;
  ARMCI_Memget((size_t)1 << 50, &info, 0);
  return last_code();
}
static int memctl_twice(void) {
  armci_meminfo_t info;
  ARMCI_Memget(64, &info, 0);
  ARMCI_Memctl(&info);
  ARMCI_Memctl(&info);
  return last_code();
}
static int memctl_of_a_copy(void) {
  armci_meminfo_t info;
  ARMCI_Memget(64, &info, 0);
  armci_meminfo_t copy = info;
  ARMCI_Memctl(&info);
  ARMCI_Memctl(&copy);
  return last_code();
}
static int memctl_of_garbage(void) {
  armci_meminfo_t info;
  memset(&info, 0x5a, sizeof info);
  ARMCI_Memctl(&info);
  return last_code();
}
static int memat_of_garbage(void) {
  armci_meminfo_t info;
  memset(&info, 0x5a, sizeof info);
  (void)ARMCI_Memat(&info, 0);
  return last_code();
}
static int memat_of_null(void) {
  (void)ARMCI_Memat(NULL, 0);
  return last_code();
}
static int memat_after_memctl(void) {
  armci_meminfo_t info;
  ARMCI_Memget(64, &info, 0);
  ARMCI_Memctl(&info);
  (void)ARMCI_Memat(&info, 0);
  return last_code();
}
static int memat_after_the_end(void) {
  armci_meminfo_t info;
  ARMCI_Memget(64, &info, 0);
  (void)ARMCI_Memat(&info, 65);
  const int code = last_code();
  ARMCI_Memctl(&info);
  return code;
}

/* --- access --- */
static int access_to_the_stack(void) {
  int here = 0;
  ARMCI_Access_begin(&here);
  return last_code();
}
static int end_of_no_access(void) {
  ARMCI_Access_end(shared[me()]);
  return last_code();
}
static int unknown_mode(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  return ARMCIX_Mode_set(me() == 0 ? 32 : ARMCIX_MODE_ALL, shared[me()], &world);
}
static int mode_that_allows_nothing(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  return ARMCIX_Mode_set(ARMCIX_MODE_READ_ONLY | ARMCIX_MODE_ACCUMULATE_ONLY, shared[me()], &world);
}
static int modes_that_differ(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  return ARMCIX_Mode_set(me() == 0 ? ARMCIX_MODE_READ_ONLY : ARMCIX_MODE_ALL, shared[me()], &world);
}
static int mode_within_an_access(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  if (me() == 0) {
    ARMCI_Access_begin(shared[me()]);
  }
  const int code = ARMCIX_Mode_set(ARMCIX_MODE_NO_LOAD_STORE, shared[me()], &world);
  if (me() == 0) {
    ARMCI_Access_end(shared[me()]);
  }
  return code;
}
static int put_in_read_only(void) {
  ARMCI_Group world;
  long value = 1;
  ARMCI_Group_get_world(&world);
  ARMCIX_Mode_set(ARMCIX_MODE_READ_ONLY, shared[me()], &world);
  const int code = ARMCI_Put(&value, shared[next()], sizeof value, next());
  ARMCIX_Mode_set(ARMCIX_MODE_ALL, shared[me()], &world);
  return code;
}

/* --- existing memory of the program --- */
static int attach_null(void) {
  void* pointers[64];
  long word = 0;
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  return ARMCIX_Attach(pointers, me() == 0 ? NULL : &word, sizeof word, &world);
}
static int attach_negative(void) {
  void* pointers[64];
  long word = 0;
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  return ARMCIX_Attach(pointers, &word, me() == 0 ? -8 : 8, &world);
}
static int attach_into_null(void) {
  void* pointers[64];
  long word = 0;
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  return ARMCIX_Attach(me() == 0 ? NULL : pointers, &word, sizeof word, &world);
}
static int detach_what_was_allocated(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  return ARMCIX_Detach(shared[me()], &world);
}
static int detach_inside_or_free(int detaches) {
  void* pointers[64];
  long words[4] = {0};
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  ARMCIX_Attach(pointers, words, sizeof words, &world);
  const int code =
      detaches ? ARMCIX_Detach(words + (me() == 0 ? 1 : 0), &world) : ARMCI_Free(words);
  ARMCIX_Detach(words, &world);
  return code;
}
static int detach_an_inner_pointer(void) {
  return detach_inside_or_free(1);
}
static int free_what_was_attached(void) {
  return detach_inside_or_free(0);
}
static int access_without_loads(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  ARMCIX_Mode_set(ARMCIX_MODE_NO_LOAD_STORE, shared[me()], &world);
  ARMCI_Access_begin(shared[me()]);
  const int code = last_code();
  ARMCIX_Mode_set(ARMCIX_MODE_ALL, shared[me()], &world);
  return code;
}
static int mode_of_the_stack(void) {
  int here = 0;
  (void)ARMCIX_Mode_get(&here);
  return last_code();
}

/* --- groups --- */
static ARMCI_Group world(void) {
  ARMCI_Group group = -1;
  ARMCI_Group_get_world(&group);
  return group;
}
static int malloc_on_group_minus_one(void) {
  void* pointers[64];
  ARMCI_Group none = -1;
  return ARMCI_Malloc_group(pointers, 64, &none);
}
static int malloc_on_a_null_group(void) {
  void* pointers[64];
  return ARMCI_Malloc_group(pointers, 64, NULL);
}
static int rank_in_garbage(void) {
  ARMCI_Group garbage = 0x5a5a5a5a;
  int rank = 0;
  return ARMCI_Group_rank(&garbage, &rank);
}
static int rank_into_null(void) {
  ARMCI_Group group = world();
  return ARMCI_Group_rank(&group, NULL);
}
static int rank_in_null(void) {
  int rank = 0;
  return ARMCI_Group_rank(NULL, &rank);
}
static int size_into_null(void) {
  ARMCI_Group group = world();
  ARMCI_Group_size(&group, NULL);
  return last_code();
}
static int default_into_null(void) {
  ARMCI_Group_get_default(NULL);
  return last_code();
}
static int world_into_null(void) {
  ARMCI_Group_get_world(NULL);
  return last_code();
}
static int set_default_to_null(void) {
  ARMCI_Group_set_default(NULL);
  return last_code();
}
static int set_default_to_garbage(void) {
  ARMCI_Group garbage = 77;
  ARMCI_Group_set_default(&garbage);
  return last_code();
}
static int free_the_world(void) {
  ARMCI_Group group = world();
  ARMCI_Group_free(&group);
  return last_code();
}
static int free_a_group_twice(void) {
  ARMCI_Group parent = world();
  ARMCI_Group group = -1;
  ARMCIX_Group_dup(&parent, &group);
  ARMCI_Group copy = group;
  ARMCI_Group_free(&group);
  ARMCI_Group_free(&copy);
  return last_code();
}
static int group_of_null(void) {
  ARMCI_Group group = -1;
  ARMCI_Group_create(2, NULL, &group);
  return last_code();
}
static int group_of_minus_one(void) {
  int members[] = {0};
  ARMCI_Group group = -1;
  ARMCI_Group_create(-1, members, &group);
  return last_code();
}
static int group_into_null(void) {
  int members[] = {0, 1};
  ARMCI_Group_create(2, members, NULL);
  return last_code();
}
static int group_with_process_n(void) {
  int members[] = {0, size()};
  ARMCI_Group group = -1;
  ARMCI_Group_create(2, members, &group);
  return last_code();
}
static int group_with_one_process_twice(void) {
  int members[] = {me(), me()};
  ARMCI_Group group = -1;
  ARMCI_Group_create(2, members, &group);
  return last_code();
}
static int split_into_null(void) {
  ARMCI_Group parent = world();
  return ARMCIX_Group_split(&parent, 0, 0, NULL);
}
static int member_n(void) {
  ARMCI_Group group = world();
  (void)ARMCI_Absolute_id(&group, size());
  return last_code();
}
static int fence_of_garbage(void) {
  ARMCI_Group garbage = 77;
  ARMCI_GroupFence(&garbage);
  return last_code();
}

/* --- domains --- */
static int unknown_domain(void) {
  (void)armci_domain_count(1);
  return last_code();
}
static int domain_of_process_n(void) {
  (void)armci_domain_id(ARMCI_DOMAIN_SMP, size());
  return last_code();
}
static int processes_of_domain_n(void) {
  (void)armci_domain_nprocs(ARMCI_DOMAIN_SMP, armci_domain_count(ARMCI_DOMAIN_SMP));
  return last_code();
}
static int process_99_of_a_domain(void) {
  (void)armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, 0, 99);
  return last_code();
}
static int node_of_process_minus_one(void) {
  (void)ARMCI_Same_node(-1);
  return last_code();
}

const struct misuse memory_cases[] = {
    {"malloc_before", before, "ARMCI_Malloc", FAIL3, "ARMCI is not running", malloc_before},
    {"malloc_after", after, "ARMCI_Malloc", FAIL3, "ARMCI is not running", malloc_before},
    {"malloc_into_null", one_of_all, "ARMCI_Malloc", FAIL, "on rank 0|pointers is null",
     malloc_into_null},
    {"malloc_negative", one_of_all, "ARMCI_Malloc", FAIL, "on rank 0|-64 bytes", malloc_negative},
    {"malloc_more_than_exists", one_of_all, "ARMCI_Malloc", FAIL5, "", malloc_more_than_exists},
    {"free_an_inner_pointer", one_of_all, "ARMCI_Free", FAIL, "not at its start",
     free_an_inner_pointer},
    {"free_twice", all_ranks, "ARMCI_Free", FAIL2, "lies in no region", free_twice},
    {"free_what_was_never_allocated", all_ranks, "ARMCI_Free", FAIL2, "lies in no region",
     free_what_was_never_allocated},
    {"free_anothers_pointer", all_ranks, "ARMCI_Free", FAIL2, "not in rank 0's slice",
     free_anothers_pointer},
    {"free_different_allocations", all_ranks, "ARMCI_Free", FAIL, "different allocations",
     free_different_allocations},

    {"negative_local", one, "ARMCI_Malloc_local", FAIL, "-1 bytes", negative_local},
    {"free_local_twice", one, "ARMCI_Free_local", FAIL, "0x", free_local_twice},
    {"free_local_of_the_heap", one, "ARMCI_Free_local", FAIL, "0x", free_local_of_the_heap},

    {"memget_into_null", one, "ARMCI_Memget", FAIL, "armci_meminfo_t is null", memget_into_null},
    {"memget_with_a_flag", one, "ARMCI_Memget", FAIL, "memflg is 1", memget_with_a_flag},
    {"memget_of_nothing", one, "ARMCI_Memget", FAIL, "0 bytes", memget_of_nothing},
    {"memget_of_too_much", one, "ARMCI_Memget", FAIL6, "TESSERA_TUNE=armci_memget",
     memget_of_too_much},
    /* infos */
    {"memctl_twice", one, "ARMCI_Memctl", FAIL, "names no memory", memctl_twice},
    {"memctl_of_a_copy", one, "ARMCI_Memctl", FAIL, "already freed", memctl_of_a_copy},
    {"memctl_of_garbage", one, "ARMCI_Memctl", FAIL, "of process 1515870810", memctl_of_garbage},
    {"memat_of_garbage", one, "ARMCI_Memat", FAIL, "of process 1515870810", memat_of_garbage},
    {"memat_of_null", one, "ARMCI_Memat", FAIL, "armci_meminfo_t is null", memat_of_null},
    {"memat_after_memctl", one, "ARMCI_Memat", FAIL, "names no memory", memat_after_memctl},
    {"memat_after_the_end", one, "ARMCI_Memat", FAIL2,
     "byte 65 is outside of the memory of 64 bytes", memat_after_the_end},

    {"access_to_the_stack", one, "ARMCI_Access_begin", FAIL2, "lies in no region",
     access_to_the_stack},
    {"end_of_no_access", one, "ARMCI_Access_end", FAIL, "no access", end_of_no_access},
    {"unknown_mode", one_of_all, "ARMCIX_Mode_set", FAIL, "on rank 0|32 is not a combination",
     unknown_mode},
    /* modes */
    {"mode_that_allows_nothing", all_ranks, "ARMCIX_Mode_set", FAIL,
     "allows nothing|give one of the two", mode_that_allows_nothing},
    {"modes_that_differ", one_of_all, "ARMCIX_Mode_set", FAIL,
     "gave another access mode|all members must give the same", modes_that_differ},
    /* accesses */
    {"mode_within_an_access", one_of_all, "ARMCIX_Mode_set", FAIL,
     "on rank 0|1 accesses to the memory have not ended", mode_within_an_access},
    {"put_in_read_only", all_ranks, "ARMCI_Put", FAIL,
     "put on region 'ARMCI_Malloc' (region|is read_only|ARMCIX_Mode_set", put_in_read_only},
    /* attached memory */
    {"attach_null", one_of_all, "ARMCIX_Attach", FAIL, "on rank 0|8 bytes of memory to attach",
     attach_null},
    {"attach_negative", one_of_all, "ARMCIX_Attach", FAIL, "on rank 0|-8 bytes", attach_negative},
    {"attach_into_null", one_of_all, "ARMCIX_Attach", FAIL, "on rank 0|pointers is null",
     attach_into_null},
    /* the wrong end */
    {"detach_what_was_allocated", all_ranks, "ARMCIX_Detach", FAIL,
     "allocated by ARMCI_Malloc|free it with ARMCI_Free", detach_what_was_allocated},
    {"detach_an_inner_pointer", one_of_all, "ARMCIX_Detach", FAIL, "on rank 0|not at its start",
     detach_an_inner_pointer},
    {"free_what_was_attached", all_ranks, "ARMCI_Free", FAIL,
     "the program's own|detach it with ARMCIX_Detach", free_what_was_attached},
    {"access_without_loads", all_ranks, "ARMCI_Access_begin", FAIL, "without loads|ARMCIX_Mode_set",
     access_without_loads},
    {"mode_of_the_stack", one, "ARMCIX_Mode_get", FAIL2, "lies in no region", mode_of_the_stack},

    {"malloc_on_group_minus_one", one, "ARMCI_Malloc_group", FAIL, "no group -1|not a member",
     malloc_on_group_minus_one},
    {"malloc_on_a_null_group", one, "ARMCI_Malloc_group", FAIL, "group is null",
     malloc_on_a_null_group},
    {"rank_in_garbage", one, "ARMCI_Group_rank", FAIL, "no group 1515870810", rank_in_garbage},
    {"rank_into_null", one, "ARMCI_Group_rank", FAIL, "pointer for the rank is null",
     rank_into_null},
    {"rank_in_null", one, "ARMCI_Group_rank", FAIL, "group is null", rank_in_null},
    {"size_into_null", one, "ARMCI_Group_size", FAIL, "pointer for the size is null",
     size_into_null},
    {"default_into_null", one, "ARMCI_Group_get_default", FAIL, "pointer for the group is null",
     default_into_null},
    {"world_into_null", one, "ARMCI_Group_get_world", FAIL, "pointer for the group is null",
     world_into_null},
    {"set_default_to_null", one, "ARMCI_Group_set_default", FAIL, "group is null",
     set_default_to_null},
    {"set_default_to_garbage", one, "ARMCI_Group_set_default", FAIL, "no group 77",
     set_default_to_garbage},
    {"free_the_world", all_ranks, "ARMCI_Group_free", FAIL, "can't be freed", free_the_world},
    {"free_a_group_twice", all_ranks, "ARMCI_Group_free", FAIL, "no group|freed",
     free_a_group_twice},
    {"group_of_null", one, "ARMCI_Group_create", FAIL, "2 processes at 0x0", group_of_null},
    {"group_of_minus_one", one, "ARMCI_Group_create", FAIL, "-1 processes", group_of_minus_one},
    {"group_into_null", one, "ARMCI_Group_create", FAIL, "new group is null", group_into_null},
    {"group_with_process_n", all_ranks, "ARMCI_Group_create", FAIL, "no process",
     group_with_process_n},
    {"group_with_one_process_twice", one, "ARMCI_Group_create", FAIL, "twice",
     group_with_one_process_twice},
    {"split_into_null", all_ranks, "ARMCIX_Group_split", FAIL, "new group is null",
     split_into_null},
    {"member_n", one, "ARMCI_Absolute_id", FAIL, "has no rank", member_n},
    {"fence_of_garbage", one, "ARMCI_GroupFence", FAIL, "no group 77", fence_of_garbage},

    {"unknown_domain", one, "armci_domain_count", FAIL, "no kind of domain 1", unknown_domain},
    {"domain_of_process_n", one, "armci_domain_id", FAIL, "no process", domain_of_process_n},
    {"processes_of_domain_n", one, "armci_domain_nprocs", FAIL, "no domain", processes_of_domain_n},
    {"process_99_of_a_domain", one, "armci_domain_glob_proc_id", FAIL, "none with number 99",
     process_99_of_a_domain},
    {"node_of_process_minus_one", one, "ARMCI_Same_node", FAIL, "no process -1",
     node_of_process_minus_one},
};
const int memory_case_count = sizeof memory_cases / sizeof *memory_cases;
