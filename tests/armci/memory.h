/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory.h: helpers of the cases: memory of all processes, patterns that show the origin of bytes,
 * and a serial model of strided transfers.
 */
#ifndef TESSERA_TESTS_ARMCI_MEMORY_H
#define TESSERA_TESTS_ARMCI_MEMORY_H

#include <stdint.h>

#include "rma/armci/armci.h"

/* The process's number, the number of processes, and the process `steps` further on. */
int me(void);
int nproc(void);
int neighbour(int steps);

/* Zeroed ordinary memory; ends the program if there is no memory. */
void* zeroed(size_t bytes);

/* ARMCI_Malloc of the same size on all processes; shared_free frees the array and the memory. */
void** shared_allocate(armci_size_t bytes);
void shared_free(void** pointers);
/* The byte `offset` of a process's memory. */
char* shared_at(void** pointers, int proc, long offset);

/* Bytes that differ by `owner` and by index. */
unsigned char pattern_byte(int owner, size_t index);
void fill_pattern(void* memory, size_t bytes, int owner);

/* A strided transfer: blocks of count[0] bytes, and the offset of the first on either side. */
typedef struct {
  int levels;
  int count[ARMCI_MAX_STRIDE_LEVEL + 1];
  int source[ARMCI_MAX_STRIDE_LEVEL];
  int target[ARMCI_MAX_STRIDE_LEVEL];
  long source_start;
  long target_start;
} Strided;

long strided_blocks(const Strided* shape);
/* The offset of a block, numbered with the first level fastest. */
long strided_offset(const Strided* shape, const int* strides, long number);
/* The result of the transfer, as a serial copy. */
void strided_copy(const Strided* shape, const char* source, char* target);

/* Random numbers, repeatable. */
typedef uint64_t Random;
uint64_t random_next(Random* state);
int random_below(Random* state, int limit);
/* The seed in TEST_SEED, or else one from the time, the same on all processes; prints it once.
 * Collective. */
Random random_seed(const char* what);
/* How many rounds of a random case to do: fewer under sanitizers. */
int effort(int rounds);

#endif /* TESSERA_TESTS_ARMCI_MEMORY_H */
