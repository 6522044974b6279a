/* SPDX-License-Identifier: BSD-3-Clause
 *
 * c_api.h: Tessera from C: arrays spread over many processes, reached by global indices.
 *
 *     #include "fortran/c_api.h"
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
 * Each function does what the one of C++ does that docs/c-api.md names beside it: it checks
 * pointers, converts, calls, and converts back. Headers by what they are about: c_types.h, c_job.h,
 * c_arrays.h, c_mirrored.h, c_operations.h, c_linalg.h, c_sparse.h, c_checkpoint.h.
 *
 * Errors: every function returns 0 or one of the codes of c_types.h, and tessera_last_error() has
 * the text. Nothing ends the process, and no exception leaves a function. What one member of a team
 * does wrong in a collective fails on all of them; but a null or freed handle is the error of who
 * gives it, and the others wait until he comes with another call or leaves.
 *
 * Handles are pointers that a function sets and its counterpart frees and sets to null; freeing a
 * null handle does nothing. A few bytes of a freed handle stay until tessera_job_free (of an access
 * one byte), so that the use of a copy of it is told, with the name of what it was. That of a
 * tessera_handle isn't.
 *
 * Indices are 0-based, the last dimension is the fastest; sizes, ranks and indices are int64_t.
 * Outputs are the last arguments, and unchanged when a function fails.
 *
 * Threads: as each header says; the last error is each thread's own.
 */
#ifndef TESSERA_C_API_H
#define TESSERA_C_API_H

#include "fortran/c_arrays.h"
#include "fortran/c_checkpoint.h"
#include "fortran/c_job.h"
#include "fortran/c_linalg.h"
#include "fortran/c_mirrored.h"
#include "fortran/c_operations.h"
#include "fortran/c_sparse.h"
#include "fortran/c_types.h"

#endif /* TESSERA_C_API_H */
