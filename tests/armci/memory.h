/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory.h: what the cases share: memory of all processes, contents that tell where they came from,
 * and what a strided transfer does, found out serially.
 */
#ifndef TESSERA_TESTS_ARMCI_MEMORY_H
#define TESSERA_TESTS_ARMCI_MEMORY_H

#include <stdint.h>

#include "rma/armci/armci.h"

/* The process's number, the number of processes, and the process `steps` further on. */
int me(void);
int nproc(void);
int neighbour(int steps);

/* Zeroed ordinary memory; ends the program where there is none. */
void* zeroed(size_t bytes);

/* ARMCI_Malloc of equally many bytes on all processes; the array is given back by the other. */
void** shared_allocate(armci_size_t bytes);
void shared_free(void** pointers);
/* The byte `offset` of a process's. */
char* shared_at(void** pointers, int proc, long offset);

/* Bytes that differ by `owner` and by place. */
unsigned char pattern_byte(int owner, size_t index);
void fill_pattern(void* memory, size_t bytes, int owner);

/* A strided transfer: blocks of count[0] bytes, and where the first begins on either side. */
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
/* The copy that the transfer is. */
void strided_copy(const Strided* shape, const char* source, char* target);

/* Numbers by chance, repeatable. */
typedef uint64_t Random;
uint64_t random_next(Random* state);
int random_below(Random* state, int limit);
/* The seed that TEST_SEED holds, or one of the time's, the same on all processes; printed
 * once. Collective. */
Random random_seed(const char* what);
/* How many rounds of a random case to do: fewer under sanitizers. */
int effort(int rounds);

#endif /* TESSERA_TESTS_ARMCI_MEMORY_H */
