/* SPDX-License-Identifier: BSD-3-Clause
 *
 * output.h: results for analysis in HDF5 files, written by all ranks together: parts of arrays,
 * groups, time steps, compression and attributes; see tessera.h. checkpoint.h reads them.
 *
 *     tessera_output* output = NULL;
 *     tessera_dataset_options options;
 *     tessera_dataset_options_init(&options);
 *     options.compression = 4;
 *     tessera_output_open(job, NULL, "run.h5", TESSERA_OUTPUT_CREATE, &output);
 *     tessera_output_append(output, t, NULL, NULL, "fields/T", &options);     one step
 *     tessera_output_set_text(output, "fields/T", "unit", "K");
 *     tessera_output_close(output);                                           now others can read
 * it tessera_output_free(&output);
 *
 * At every instant the file is as the last flush left it, or a later one, whatever crashes
 * (arrays/output.hpp). Errors of the collectives, on all members: those of checkpoint.h.
 */
#ifndef TESSERA_C_OUTPUT_H
#define TESSERA_C_OUTPUT_H

#include "fortran/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tessera_output tessera_output; /* a file that data sets are added to */

/* What opening does with a file of that name: refuses it, replaces it at the first flush, or adds
 * to it. */
typedef int tessera_output_mode;
enum { TESSERA_OUTPUT_CREATE = 0, TESSERA_OUTPUT_REPLACE = 1, TESSERA_OUTPUT_APPEND = 2 };

/* How a data set is stored. Lists have one number for each dimension of the array. */
typedef struct tessera_dataset_options {
  int64_t struct_bytes; /* set by tessera_dataset_options_init */
  const int64_t* steps; /* every steps[d]-th index of the part along dimension d; null: all */
  const int64_t* chunk; /* extents of the chunks; null: about 1 MiB, or none if none are needed */
  int compression;      /* 0 none, 1 fast to 9 small */
  int shuffle;          /* 1: sorts the bytes of elements before compression */
  int has_time;         /* 1: `time` is that of the step */
  double time;
} tessera_dataset_options;

static inline void tessera_dataset_options_init(tessera_dataset_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_bytes = sizeof *options;
  options->shuffle = 1;
}

/* Collective over `team`, or over all ranks of the job if it is null. */
int tessera_output_open(tessera_job* job, const tessera_team* team, const char* path,
                        tessera_output_mode mode, tessera_output** output);
/* Collective. Writes the box [lo, hi) of an array, all of it if both are null, as a new data set
 * `name`, for example "fields/T", whose groups are made; or as the next step of one, whose first
 * dimension counts steps. `options` may be null. */
int tessera_output_write(const tessera_output* output, const tessera_array* array,
                         const int64_t lo[], const int64_t hi[], const char* name,
                         const tessera_dataset_options* options);
int tessera_output_append(const tessera_output* output, const tessera_array* array,
                          const int64_t lo[], const int64_t hi[], const char* name,
                          const tessera_dataset_options* options);
/* Collective. Makes a group, and those that it is in. */
int tessera_output_create_group(const tessera_output* output, const char* name);

/* Collective. Sets an attribute of a data set, a group or, with "/", the file; the same on all
 * members. A number is one of any element type; `value` of a truth is 0 or 1. */
int tessera_output_set_number(const tessera_output* output, const char* object, const char* name,
                              tessera_type type, const void* value);
int tessera_output_set_truth(const tessera_output* output, const char* object, const char* name,
                             int value);
int tessera_output_set_text(const tessera_output* output, const char* object, const char* name,
                            const char* value);
int tessera_output_set_reals(const tessera_output* output, const char* object, const char* name,
                             int64_t count, const double values[]);

/* Collective. From the next flush on, an XDMF file beside the HDF5 file describes its data sets on
 * a uniform grid of 1 to 3 dimensions, for ParaView. `points` has the number of points along each
 * dimension; if it is null, the elements of the first data set are the points. */
int tessera_output_set_grid(const tessera_output* output, int64_t ndims, const double origin[],
                            const double spacing[], const int64_t points[]);

/* Local. The number of steps of a data set; 0 if there is no such data set. */
int tessera_output_steps(const tessera_output* output, const char* name, int64_t* steps);
/* Collective. Completes all that was written, so that others can read it. */
int tessera_output_flush(const tessera_output* output);
/* Collective. A flush; nothing can be written afterwards. */
int tessera_output_close(const tessera_output* output);
/* Collective. Discards what was not flushed. Sets *output to null. */
int tessera_output_free(tessera_output** output);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_OUTPUT_H */
