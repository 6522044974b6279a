// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>
#include <string.h>

#include "bench/armci/bench.h"

void report_start(const struct bench* bench) {
  printf("{\"program\": \"armci_bench\", \"ranks\": %d, \"core\": %d}\n", bench->job.ranks,
         bench->job.core);
  fflush(stdout);
}

void report(struct bench* bench, struct result* result) {
  const double value = median_of(&result->samples);
  if (strcmp(result->state, "wrong") == 0) {
    bench->is_wrong = true;
  }
  printf(
      "{\"case\": \"%s\", \"bytes\": %ld, \"unit\": \"%s\", \"state\": \"%s\", \"note\": \"%s\", ",
      result->name, result->bytes, result->unit, result->state, result->note);
  printf("\"value\": %.6g, \"samples\": [", value);
  for (int i = 0; i < result->samples.count; ++i) {
    printf("%s%.6g", i == 0 ? "" : ", ", result->samples.value[i]);
  }
  printf("]}\n");
  fflush(stdout);
}

void report_end(void) {
  printf("{\"end\": true}\n");
  fflush(stdout);
}
