/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much this process has allocated and not given back, all threads together. For C and C++.
 */
#pragma once

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* Of the sanitizers' allocator_interface.h, which GCC does not install. */
#ifdef __cplusplus
extern "C" {
#endif
size_t __sanitizer_get_current_allocated_bytes(void);
#ifdef __cplusplus
}
#endif
#else
#include <malloc.h>
#endif

/* Bytes, as they were asked for under a sanitizer, else as the allocator gave them. A sanitizer's
 * allocator stands in for malloc, of which mallinfo2() then knows nothing; and as nothing called it
 * before, several threads would initialise it at once, which ends the process. */
static inline size_t heap_bytes(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
#endif
}
