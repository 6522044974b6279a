// SPDX-License-Identifier: BSD-3-Clause
//
// MA's C interface, as programs use it. The argument chooses a case.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macdecls.h"

static int failures = 0;

static void check(Integer is_right, const char* what) {
  if (!is_right) {
    printf("FAILED: %s\n", what);
    ++failures;
  }
}

// Through pointer and index the same element is addressed.
static void use_all_types(void) {
  Integer handle = 0;
  MA_AccessIndex index = 0;
  void* pointer = NULL;
  check(MA_push_get(MT_DBL, 10, "dbl", &handle, &index), "push");
  check(MA_get_pointer(handle, &pointer), "pointer");
  check(pointer == (void*)&ma_cb_dbl[index], "index of MT_DBL");
  check((Pointer)ma_cb_dbl == MA_get_mbase(MT_DBL), "base of MT_DBL");
  check(MA_pop_stack(handle), "pop");
  check(MA_alloc_get(MT_LDCPL, 10, "ldcpl", &handle, &index), "allocate");
  check(MA_get_pointer(handle, &pointer), "pointer");
  check(pointer == (void*)&ma_cb_ldcpl[index], "index of MT_LDCPL");
  check(MA_free_heap(handle), "free");
  check(MA_push_get(MT_CHAR, 3, "char", &handle, &index), "push");
  check(MA_get_pointer(handle, &pointer), "pointer");
  check(pointer == (void*)&ma_cb_char[index], "index of MT_CHAR");
  MA_AccessIndex again = 0;
  check(MA_get_index(handle, &again) && again == index, "index again");
  check(MA_chop_stack(handle), "chop");
}

static void inquire(void) {
  const Integer heap = MA_inquire_heap(MT_INT);
  const Integer stack = MA_inquire_stack(MT_INT);
  check(heap >= 2000 && stack >= 1000, "heap and stack");
  check(MA_inquire_heap_check_stack(MT_INT) == heap, "heap, with the stack");
  check(MA_inquire_stack_check_heap(MT_INT) == stack, "stack, with the heap");
  check(MA_inquire_heap_no_partition(MT_INT) == MA_inquire_avail(MT_INT), "heap, all");
  check(MA_inquire_stack_no_partition(MT_INT) == MA_inquire_avail(MT_INT), "stack, all");
  check(MA_sizeof(MT_DBL, 4, MT_CHAR) == 32, "size");
  check(MA_sizeof_overhead(MT_CHAR) >= 16, "overhead");
  Integer bits = 0;
  check(MA_get_numalign(&bits) && bits == 6, "alignment");
  check(MA_set_numalign(4) && MA_get_numalign(&bits) && bits == 4, "other alignment");
  check(MA_set_numalign(6), "alignment again");
}

static void iterate(void) {
  Integer handles[3];
  check(MA_allocate_heap(MT_INT, 5, "one", &handles[0]), "allocate");
  check(MA_push_stack(MT_INT, 5, "two", &handles[1]), "push");
  check(MA_allocate_heap(MT_INT, 5, "three", &handles[2]), "allocate");
  Integer iterator = 0;
  Integer handle = 0;
  int found = 0;
  check(MA_init_memhandle_iterator(&iterator), "iterator");
  while (MA_get_next_memhandle(&iterator, &handle)) {
    check(handle == handles[0] || handle == handles[1] || handle == handles[2], "handle");
    ++found;
  }
  check(found == 3, "number of blocks");
  MA_summarize_allocated_blocks();
  check(MA_free_heap_piece(handles[0], 2), "free a piece");
  check(MA_free_heap_piece(handles[0], 3), "free the rest");
  check(MA_free_heap(handles[2]), "free");
  check(MA_pop_stack(handles[1]), "pop");
  MA_print_stats(MA_TRUE);
}

/* As in MA, only the named block has to be undamaged. */
static void chop_over_damage(void) {
  Integer below = 0;
  Integer above = 0;
  MA_AccessIndex index = 0;
  check(MA_push_stack(MT_INT, 1, "below", &below), "push");
  check(MA_push_get(MT_INT, 0, "above", &above, &index), "push nothing");
  ma_cb_int[index] = 0;
  check(!MA_verify_allocator_stuff(), "damage above is found");
  check(MA_chop_stack(below), "chop over damage");
  check(MA_verify_allocator_stuff(), "nothing is left of it");
}

static void flags(void) {
  check(MA_set_error_print(MA_FALSE) == MA_TRUE, "errors are printed at first");
  check(MA_set_error_print(MA_FALSE) == MA_FALSE, "the flag is kept");
  check(MA_set_hard_fail(MA_FALSE) == MA_FALSE, "errors do not end the program at first");
  check(!MA_pop_stack(12345), "a wrong handle is refused");
  check(MA_set_auto_verify(MA_TRUE) == MA_FALSE, "nothing is verified at first");
  Integer handle = 0;
  MA_AccessIndex index = 0;
  check(MA_push_get(MT_INT, 5, "five", &handle, &index), "push");
  const int kept = ma_cb_int[index + 5];
  ma_cb_int[index + 5] = 0;
  check(!MA_verify_allocator_stuff(), "damage is found");
  check(!MA_pop_stack(handle), "verified at each call");
  ma_cb_int[index + 5] = kept;
  check(MA_verify_allocator_stuff(), "damage was repaired");
  check(MA_pop_stack(handle), "pop");
  check(MA_set_auto_verify(MA_FALSE) == MA_TRUE, "all was verified");
  chop_over_damage();
  MA_set_error_print(MA_TRUE);
}

static void callback(const char* message, int code) {
  printf("callback: %s, code %d\n", message, code);
  exit(3);
}

int main(int argc, char** argv) {
  const char* end = argc > 1 ? argv[1] : "";
  check(!MA_initialized(), "not initialized");
  if (!MA_init(MT_INT, 1000, 2000)) {
    return 1;
  }
  check(MA_initialized(), "initialized");
  use_all_types();
  inquire();
  iterate();
  flags();
  if (strcmp(end, "error") == 0) {
    MA_pop_stack(12345);
  } else if (strcmp(end, "hard") == 0) {
    MA_set_hard_fail(MA_TRUE);
    MA_pop_stack(12345);
    printf("not reached\n");
  } else if (strcmp(end, "callback") == 0) {
    MA_set_hard_fail(MA_TRUE);
    MA_set_error_callback(callback);
    MA_pop_stack(12345);
    printf("not reached\n");
  } else if (strcmp(end, "trace") == 0) {
    MA_trace(MA_TRUE);
    MA_inquire_avail(MT_INT);
    MA_trace(MA_FALSE);
    MA_inquire_heap(MT_INT);
  } else if (strcmp(end, "damage") == 0) {
    Integer handle = 0;
    MA_AccessIndex index = 0;
    MA_push_get(MT_INT, 5, "five", &handle, &index);
    ma_cb_int[index - 1] = 0;
    check(!MA_verify_allocator_stuff(), "damage is found");
  }
  if (failures == 0) {
    printf("MA is right\n");
  }
  return failures == 0 ? 0 : 1;
}
