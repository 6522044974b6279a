/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names that Fortran programs call MA by. Lengths of texts come last. */
#ifndef TESSERA_GA_MA_FORTRAN_NAMES_H
#define TESSERA_GA_MA_FORTRAN_NAMES_H

#include <stddef.h>

#include "fortran/ga/include/macdecls.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void ma_error_callback(const char*, int);

Integer ma_init_(const Integer* kind, const Integer* stack, const Integer* heap);
Integer ma_initialized_(void);
Integer ma_allocate_heap_(const Integer* kind, const Integer* elements, const char* name,
                          Integer* handle, size_t length);
Integer ma_alloc_get_(const Integer* kind, const Integer* elements, const char* name,
                      Integer* handle, MA_AccessIndex* index, size_t length);
Integer ma_push_stack_(const Integer* kind, const Integer* elements, const char* name,
                       Integer* handle, size_t length);
Integer ma_push_get_(const Integer* kind, const Integer* elements, const char* name,
                     Integer* handle, MA_AccessIndex* index, size_t length);
Integer ma_free_heap_(const Integer* handle);
Integer ma_free_heap_piece_(const Integer* handle, const Integer* elements);
Integer ma_pop_stack_(const Integer* handle);
Integer ma_chop_stack_(const Integer* handle);
Integer ma_get_index_(const Integer* handle, MA_AccessIndex* index);
Integer ma_init_memhandle_iterator_(Integer* iterator);
Integer ma_get_next_memhandle_(Integer* iterator, Integer* handle);
Integer ma_inquire_avail_(const Integer* kind);
Integer ma_inquire_heap_(const Integer* kind);
Integer ma_inquire_heap_check_stack_(const Integer* kind);
Integer ma_inquire_heap_no_partition_(const Integer* kind);
Integer ma_inquire_stack_(const Integer* kind);
Integer ma_inquire_stack_check_heap_(const Integer* kind);
Integer ma_inquire_stack_no_partition_(const Integer* kind);
Integer ma_sizeof_(const Integer* from, const Integer* elements, const Integer* to);
Integer ma_sizeof_overhead_(const Integer* kind);
Integer ma_get_numalign_(Integer* value);
Integer ma_set_numalign_(const Integer* value);
Integer ma_verify_allocator_stuff_(void);
Integer ma_set_auto_verify_(const Integer* value);
Integer ma_set_error_print_(const Integer* value);
Integer ma_set_hard_fail_(const Integer* value);
void ma_print_stats_(const Integer* with_calls);
void ma_summarize_allocated_blocks_(void);
void ma_trace_(const Integer* value);
void ma_set_error_callback_(ma_error_callback* callback);
Integer ma_set_sizes_(void);

/* Sets the addresses of the program's COMMON blocks, for a library whose symbols were not joined to
 * the program's. Requires: there is no block. A null pointer keeps what is known. */
void ma_hook_commons_(void* byte, void* integer, void* truth, void* real, void* dbl, void* scpl,
                      void* dcpl);

#ifdef __cplusplus
}
#endif

#endif
