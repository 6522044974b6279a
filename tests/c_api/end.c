/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The last rank ends the job, with the code that is given, while all others only compute.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "fortran/c/tessera.h"

int main(int argc, char** argv) {
  tessera_job* job = NULL;
  int64_t rank = 0;
  int64_t size = 0;
  if (argc != 2 || tessera_job_start(&job) != 0 || tessera_job_rank(job, &rank) != 0 ||
      tessera_job_size(job, &size) != 0 || tessera_job_barrier(job) != 0) {
    return 3;
  }
  if (rank == size - 1) {
    printf("the last words");
    tessera_end_job(atoi(argv[1]));
  }
  for (volatile int step = 0;; ++step) {
    if (step == INT32_MAX) {
      step = 0;
    }
  }
}
