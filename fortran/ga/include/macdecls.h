/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MA, a memory allocator with a heap and a stack in one segment of memory.
 *
 * MA_init() gets the segment. The heap grows from its lower end and the stack from its upper end.
 * The sizes given to MA_init() divide the segment; this division binds only the inquiries that
 * respect it. A block is known by its handle. Its elements are addressed by a pointer, or by an
 * index into the base array of its type (ma_cb_dbl[index] in C, dbl_mb(index) in Fortran).
 *
 * Errors: functions with a Boolean result return MA_FALSE and change nothing, and print a message
 * to standard error (MA_set_error_print), or end the program (MA_set_hard_fail). Threads: one at a
 * time. */
#ifndef MACDECLS_H_
#define MACDECLS_H_

#include "macommon.h"
#include "matypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MT_CHAR MT_C_CHAR
#define MT_INT MT_C_INT
#define MT_LONGINT MT_C_LONGINT
#define MT_LONGLONG MT_C_LONGLONG
#define MT_REAL MT_C_FLOAT
#define MT_DBL MT_C_DBL
#define MT_LDBL MT_C_LDBL
#define MT_SCPL MT_C_SCPL
#define MT_DCPL MT_C_DCPL
#define MT_LDCPL MT_C_LDCPL
#define MT_C_FIRST MT_CHAR
#define MT_C_LAST MT_LDCPL

/* The segment. Sizes are in elements of the type; a negative one takes the default of 64 MiB. */
extern Boolean MA_init(Integer datatype, Integer nominal_stack, Integer nominal_heap);
extern Boolean MA_initialized(void);

/* Blocks of the heap. The last function frees elements at the end of a block. */
extern Boolean MA_allocate_heap(Integer datatype, Integer nelem, const char* name,
                                Integer* memhandle);
extern Boolean MA_alloc_get(Integer datatype, Integer nelem, const char* name, Integer* memhandle,
                            MA_AccessIndex* index);
extern Boolean MA_free_heap(Integer memhandle);
extern Boolean MA_free_heap_piece(Integer memhandle, Integer nelem);

/* Blocks of the stack. MA_pop_stack frees the newest; MA_chop_stack also all that are newer. */
extern Boolean MA_push_stack(Integer datatype, Integer nelem, const char* name, Integer* memhandle);
extern Boolean MA_push_get(Integer datatype, Integer nelem, const char* name, Integer* memhandle,
                           MA_AccessIndex* index);
extern Boolean MA_pop_stack(Integer memhandle);
extern Boolean MA_chop_stack(Integer memhandle);

/* Where a block is. `pointer` is the address of a pointer. */
extern Boolean MA_get_index(Integer memhandle, MA_AccessIndex* index);
extern Boolean MA_get_pointer(Integer memhandle, void* pointer);
extern Pointer MA_get_mbase(Integer datatype);

/* All blocks, one at a call. */
extern Boolean MA_init_memhandle_iterator(Integer* ithandle);
extern Boolean MA_get_next_memhandle(Integer* ithandle, Integer* memhandle);

/* The largest block that could be had now, in elements. Of heap and stack: up to the division of
 * the segment; the same, but not beyond what the other uses; all that the other does not use. */
extern Integer MA_inquire_avail(Integer datatype);
extern Integer MA_inquire_heap(Integer datatype);
extern Integer MA_inquire_heap_check_stack(Integer datatype);
extern Integer MA_inquire_heap_no_partition(Integer datatype);
extern Integer MA_inquire_stack(Integer datatype);
extern Integer MA_inquire_stack_check_heap(Integer datatype);
extern Integer MA_inquire_stack_no_partition(Integer datatype);

/* The number of elements of the second type that hold nelem1 of the first; the number that holds
 * the memory that a block needs at most besides its elements. */
extern Integer MA_sizeof(Integer datatype1, Integer nelem1, Integer datatype2);
extern Integer MA_sizeof_overhead(Integer datatype);

/* Blocks begin at multiples of 2^value bytes, 0 <= value <= 30. The default is 6. */
extern Boolean MA_get_numalign(Integer* value);
extern Boolean MA_set_numalign(Integer value);

/* Checks each block, and prints what is damaged. With auto_verify, at each call. */
extern Boolean MA_verify_allocator_stuff(void);
extern Boolean MA_set_auto_verify(Boolean value);

/* Errors. These return the value before. The callback gets a message and a code, and ends
 * the program instead of MA. */
extern Boolean MA_set_error_print(Boolean value);
extern Boolean MA_set_hard_fail(Boolean value);
extern void MA_set_error_callback(void (*func)(const char*, int));

extern void MA_print_stats(Boolean printroutines);
extern void MA_summarize_allocated_blocks(void);
extern void MA_trace(Boolean value);

/* The base arrays. */
extern char ma_cb_char[];
extern int ma_cb_int[];
extern long ma_cb_long[];
extern long long ma_cb_longlong[];
extern float ma_cb_float[];
extern double ma_cb_dbl[];
extern MA_LongDouble ma_cb_ldbl[];
extern MA_SingleComplex ma_cb_scpl[];
extern MA_DoubleComplex ma_cb_dcpl[];
extern MA_LongDoubleComplex ma_cb_ldcpl[];

#ifdef __cplusplus
}
#endif

#endif
