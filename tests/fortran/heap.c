/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/heap.h"

#include <stdint.h>

int64_t test_heap_bytes(void);

int64_t test_heap_bytes(void) {
  return (int64_t)heap_bytes();
}
