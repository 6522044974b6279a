/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much this process has allocated and not given back, all threads together. For C and C++.
 */
#pragma once

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* From the sanitizers' allocator_interface.h, which GCC does not install. */
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

/* Bytes: as requested under a sanitizer, otherwise as allocated. A sanitizer's allocator replaces
 * malloc, so mallinfo2() would not count it. And several threads would initialise mallinfo2() at
 * the same time, which ends the process. */
static inline size_t heap_bytes(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
#endif
}
