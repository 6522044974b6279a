/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/armci/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rma/armci/message.h"
#include "tests/armci/check.h"

int me(void) {
  return armci_msg_me();
}

int nproc(void) {
  return armci_msg_nproc();
}

int neighbour(int steps) {
  return (me() + steps) % nproc();
}

void* zeroed(size_t bytes) {
  void* const memory = calloc(bytes == 0 ? 1 : bytes, 1);
  if (memory == NULL) {
    ARMCI_Error("the test has no memory left", 1);
  }
  return memory;
}

void** shared_allocate(armci_size_t bytes) {
  void** const pointers = zeroed((size_t)nproc() * sizeof(void*));
  CHECK_OK(ARMCI_Malloc(pointers, bytes));
  return pointers;
}

void shared_free(void** pointers) {
  armci_msg_barrier();
  CHECK_OK(ARMCI_Free(pointers[me()]));
  free(pointers);
}

char* shared_at(void** pointers, int proc, long offset) {
  return (char*)pointers[proc] + offset;
}

unsigned char pattern_byte(int owner, size_t index) {
  const uint64_t mixed = ((uint64_t)owner + 1) * 0x9e3779b97f4a7c15U + index * 0xc2b2ae3d27d4eb4fU;
  return (unsigned char)((mixed ^ mixed >> 29U) >> 17U);
}

void fill_pattern(void* memory, size_t bytes, int owner) {
  unsigned char* const to = memory;
  for (size_t index = 0; index < bytes; ++index) {
    to[index] = pattern_byte(owner, index);
  }
}

long strided_blocks(const Strided* shape) {
  long blocks = 1;
  for (int level = 0; level < shape->levels; ++level) {
    blocks *= shape->count[level + 1];
  }
  return shape->count[0] == 0 ? 0 : blocks;
}

long strided_offset(const Strided* shape, const int* strides, long number) {
  long offset = 0;
  for (int level = 0; level < shape->levels; ++level) {
    offset += number % shape->count[level + 1] * strides[level];
    number /= shape->count[level + 1];
  }
  return offset;
}

void strided_copy(const Strided* shape, const char* source, char* target) {
  const long blocks = strided_blocks(shape);
  for (long number = 0; number < blocks; ++number) {
    memcpy(target + shape->target_start + strided_offset(shape, shape->target, number),
           source + shape->source_start + strided_offset(shape, shape->source, number),
           (size_t)shape->count[0]);
  }
}

uint64_t random_next(Random* state) {
  uint64_t mixed = *state += 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ mixed >> 30U) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ mixed >> 27U) * 0x94d049bb133111ebU;
  return mixed ^ mixed >> 31U;
}

int random_below(Random* state, int limit) {
  return (int)(random_next(state) % (uint64_t)limit);
}

Random random_seed(const char* what) {
  const char* const given = getenv("TEST_SEED");
  unsigned long seed = given == NULL ? (unsigned long)time(NULL) : strtoul(given, NULL, 0);
  armci_msg_brdcst(&seed, (int)sizeof seed, 0);
  if (me() == 0) {
    printf("        %s: TEST_SEED=%lu\n", what, seed);
  }
  return seed;
}

int effort(int rounds) {
#ifdef TESSERA_SANITIZED
  return rounds / 4 + 1;
#else
  return rounds;
#endif
}
