// SPDX-License-Identifier: BSD-3-Clause
#include <armci.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/armci/bench.h"

enum { segment_bytes = max_bytes + 2 * page_bytes };

static char* next_page(void* address) {
  const uintptr_t place = (uintptr_t)address;
  return (char*)address + (page_bytes - place % page_bytes) % page_bytes;
}

static void* local_block(void) {
  void* block = ARMCI_Malloc_local(max_bytes + page_bytes);
  if (block == NULL) {
    fail("ARMCI_Malloc_local returned out of memory");
  }
  memset(block, 0, max_bytes + page_bytes);
  return block;
}

static char* model(void) {
  char* bytes = calloc(1, max_bytes);
  if (bytes == NULL) {
    fail("out of memory");
  }
  return bytes;
}

void allocate_memory(struct bench* bench) {
  struct memory* memory = &bench->memory;
  void** segments = calloc((size_t)bench->job.ranks, sizeof *segments);
  if (segments == NULL || ARMCI_Malloc(segments, segment_bytes) != 0) {
    fail("ARMCI_Malloc failed");
  }
  memory->own_segment = segments[bench->job.rank];
  memset(memory->own_segment, 0, segment_bytes);
  memory->remote = next_page(segments[target_rank]);
  memory->words = memory->remote + max_bytes;
  free(segments);
  memory->local_block = local_block();
  memory->scratch_block = local_block();
  memory->local = next_page(memory->local_block);
  memory->scratch = next_page(memory->scratch_block);
  memory->model_local = model();
  memory->model_remote = model();
  if (ARMCI_Create_mutexes(1) != 0) {
    fail("ARMCI_Create_mutexes failed");
  }
  ARMCI_Barrier();
}

void free_memory(struct bench* bench) {
  ARMCI_Destroy_mutexes();
  ARMCI_Free(bench->memory.own_segment);
  ARMCI_Free_local(bench->memory.local_block);
  ARMCI_Free_local(bench->memory.scratch_block);
  free(bench->memory.model_local);
  free(bench->memory.model_remote);
}
