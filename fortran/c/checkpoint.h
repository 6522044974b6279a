/* SPDX-License-Identifier: BSD-3-Clause
 *
 * checkpoint.h: arrays in HDF5 files, written and read by all ranks together; see tessera.h.
 *
 *     tessera_checkpoint_writer* writer = NULL;
 *     tessera_checkpoint_writer_create(job, NULL, "run.h5", NULL, &writer);
 *     tessera_checkpoint_writer_add(writer, a, NULL);
 *     tessera_checkpoint_writer_add_integer(writer, "step", 12);
 *     tessera_checkpoint_writer_commit(writer);            only now there is a new run.h5
 *     tessera_checkpoint_writer_free(&writer);
 *
 *     tessera_checkpoint* file = NULL;
 *     tessera_checkpoint_open(job, NULL, "run.h5", &file);
 *     tessera_checkpoint_read(file, "A", NULL, &a);        on any number of ranks
 *     tessera_checkpoint_free(&file);
 *
 * Whenever a program stops, the file of the given name is complete: it is the old or the new one. A
 * damaged file is an error and is not read as data (arrays/checkpoint.hpp, docs/checkpoints.md). A
 * path must mean the same file on all ranks.
 *
 * Errors of the collectives, on all members: invalid_argument (an impossible path, wrong names,
 * types or extents, or arguments that differ among members), limit_exceeded (no space on the
 * device), protocol (a damaged file), unsupported (a build without HDF5; a file of a later format),
 * unreachable (the device fails), peer_lost.
 */
#ifndef TESSERA_C_CHECKPOINT_H
#define TESSERA_C_CHECKPOINT_H

#include "fortran/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tessera_checkpoint_writer tessera_checkpoint_writer; /* a file being written */
typedef struct tessera_checkpoint tessera_checkpoint;               /* a file opened for reading */

typedef struct tessera_checkpoint_options {
  int64_t struct_bytes; /* set by tessera_checkpoint_options_init */
  int64_t piece_bytes;  /* bytes in each write and checksum; 1 to 2^30 */
} tessera_checkpoint_options;

static inline void tessera_checkpoint_options_init(tessera_checkpoint_options* options) {
  options->struct_bytes = sizeof *options;
  options->piece_bytes = INT64_C(1) << 20;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Collective over `team`, or over all ranks of the job if it is null. Begins a new temporary file
 * beside `path`. `options` may be null. */
int tessera_checkpoint_writer_create(tessera_job* job, const tessera_team* team, const char* path,
                                     const tessera_checkpoint_options* options,
                                     tessera_checkpoint_writer** writer);
/* Collective. Writes an array's elements under `name`; null means the array's own name. The array's
 * team must have the members of the writer's team in the same order. */
int tessera_checkpoint_writer_add(const tessera_checkpoint_writer* writer,
                                  const tessera_array* array, const char* name);
/* Collective. Adds an attribute of the whole file, the same on all members. */
int tessera_checkpoint_writer_add_integer(const tessera_checkpoint_writer* writer, const char* name,
                                          int64_t value);
int tessera_checkpoint_writer_add_real(const tessera_checkpoint_writer* writer, const char* name,
                                       double value);
int tessera_checkpoint_writer_add_text(const tessera_checkpoint_writer* writer, const char* name,
                                       const char* value);
/* Collective. Completes the file and renames it to `path`; nothing can be added after that. */
int tessera_checkpoint_writer_commit(const tessera_checkpoint_writer* writer);
/* Local. Discards a file that was not committed. Sets *writer to null. */
int tessera_checkpoint_writer_free(tessera_checkpoint_writer** writer);

/* --- reading ---------------------------------------------------------------------------------- */

/* Collective over `team`, or over all ranks of the job if it is null. Reads the description of the
 * file's arrays, and keeps the file open. */
int tessera_checkpoint_open(tessera_job* job, const tessera_team* team, const char* path,
                            tessera_checkpoint** file);
/* Local. Sets *file to null. */
int tessera_checkpoint_free(tessera_checkpoint** file);

/* Local. The number of arrays and of attributes of the file, and their names by number from 0.
 * Texts as in tessera_job_transport. */
int tessera_checkpoint_array_count(const tessera_checkpoint* file, int64_t* count);
int tessera_checkpoint_array_name(const tessera_checkpoint* file, int64_t number, char* text,
                                  int64_t capacity, int64_t* length);
int tessera_checkpoint_attribute_count(const tessera_checkpoint* file, int64_t* count);
int tessera_checkpoint_attribute_name(const tessera_checkpoint* file, int64_t number, char* text,
                                      int64_t capacity, int64_t* length);

/* Local. The file's description of an array; `extents` has room for TESSERA_MAX_DIMS numbers. *type
 * is the type of an array into which it can be read. If the file has another kind of elements, that
 * type has the same size. *has_checksums is 1 for files that Tessera wrote. */
int tessera_checkpoint_array_info(const tessera_checkpoint* file, const char* name,
                                  tessera_type* type, int64_t* ndims, int64_t extents[],
                                  int* has_checksums);
/* Local. The name of the array's element type in the file, for example "float64". */
int tessera_checkpoint_type_name(const tessera_checkpoint* file, const char* name, char* text,
                                 int64_t capacity, int64_t* length);
/* Local. The distribution with which the array was written, as a handle that the caller frees; null
 * for files of other programs. */
int tessera_checkpoint_distribution(const tessera_checkpoint* file, const char* name,
                                    tessera_distribution** distribution);
/* Local. Errors: invalid_argument if there is no attribute of that name, or it has another type. */
int tessera_checkpoint_integer(const tessera_checkpoint* file, const char* name, int64_t* value);
int tessera_checkpoint_real(const tessera_checkpoint* file, const char* name, double* value);
int tessera_checkpoint_text(const tessera_checkpoint* file, const char* name, char* text,
                            int64_t capacity, int64_t* length);

/* Local. The same for an attribute of an array or a group, or of the file with "/". A number is
 * converted to `type`, which has to hold it; a truth is 0 or 1. */
int tessera_checkpoint_number_of(const tessera_checkpoint* file, const char* object,
                                 const char* name, tessera_type type, void* value);
int tessera_checkpoint_truth_of(const tessera_checkpoint* file, const char* object,
                                const char* name, int* value);
int tessera_checkpoint_text_of(const tessera_checkpoint* file, const char* object, const char* name,
                               char* text, int64_t capacity, int64_t* length);

/* Collective. Makes an array of the file's type, and reads into it. It has the given distribution;
 * if that is null, the one with which it was written if the number of ranks is the same, and
 * otherwise a regular one. */
int tessera_checkpoint_read(const tessera_checkpoint* file, const char* name,
                            const tessera_distribution* distribution, tessera_array** array);
/* Collective. Reads into an array of the same extents and type, with any distribution. */
int tessera_checkpoint_read_into(const tessera_checkpoint* file, const char* name,
                                 const tessera_array* array);
/* Collective. Reads the box [lo, hi) of the stored array into a part of an array. Their extents are
 * the same except for those that are 1, so a time step is read into an array without that
 * dimension. */
int tessera_checkpoint_read_part(const tessera_checkpoint* file, const char* name,
                                 const int64_t lo[], const int64_t hi[], tessera_part to);
/* Collective. Reads the array and compares its checksums; keeps nothing. */
int tessera_checkpoint_verify(const tessera_checkpoint* file, const char* name);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_CHECKPOINT_H */
