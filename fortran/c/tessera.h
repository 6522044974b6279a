/* SPDX-License-Identifier: BSD-3-Clause
 *
 * tessera.h: Tessera from C: arrays spread over many processes, reached by global indices.
 *
 *     #include <tessera/tessera.h>
 *
 *     tessera_job* job = NULL;
 *     tessera_array* a = NULL;
 *     const int64_t extents[2] = {1000, 1000}, lo[2] = {10, 10}, hi[2] = {20, 20};
 *     double block[10][10];
 *     if (tessera_job_start(&job) != 0 ||
 *         tessera_array_create(job, TESSERA_F64, 2, extents, NULL, &a) != 0 ||
 *         tessera_array_get(a, lo, hi, block, NULL) != 0) {
 *       fprintf(stderr, "%s\n", tessera_last_error());
 *     }
 *     tessera_job_free(&job);
 *
 *     cc program.c $(pkg-config --cflags --libs tessera_c)
 *
 * Each function checks its pointers, converts its arguments, calls the C++ function that
 * docs/c-api.md lists for it, and converts the results back. The headers by topic: types.h,
 * job.h, arrays.h, mirrored.h, operations.h, linalg.h, sparse.h, checkpoint.h, output.h.
 *
 * Errors: every function returns 0 or an error code of types.h, and tessera_last_error() returns
 * the text. Only tessera_end_job ends the process, and no exception leaves a function. A wrong
 * argument of one member fails a collective on all members. A null or freed handle is different:
 * the call fails only on that rank, and the other members wait until that rank calls a collective
 * again or leaves.
 *
 * Handles are pointers. A function sets the handle; its counterpart frees it and sets it to null.
 * Freeing a null handle does nothing. A few bytes of a freed handle (one byte for an access) stay
 * allocated until tessera_job_free, so that the use of a copy of the handle is an error that names
 * what it was. The use of a copy of a freed tessera_handle is not detected.
 *
 * Indices are 0-based, and the last dimension is the fastest. Sizes, ranks and indices are int64_t.
 * Outputs are the last arguments, and unchanged if a function fails.
 *
 * Threads: as each header says. Each thread has its own last error.
 */
#ifndef TESSERA_C_API_H
#define TESSERA_C_API_H

#include "fortran/c/arrays.h"
#include "fortran/c/checkpoint.h"
#include "fortran/c/job.h"
#include "fortran/c/linalg.h"
#include "fortran/c/mirrored.h"
#include "fortran/c/operations.h"
#include "fortran/c/output.h"
#include "fortran/c/sparse.h"
#include "fortran/c/types.h"

#endif /* TESSERA_C_API_H */
