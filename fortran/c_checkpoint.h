/* SPDX-License-Identifier: BSD-3-Clause
 *
 * c_checkpoint.h: arrays in HDF5 files, written and read by all ranks together; see c_api.h.
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
 * A file of the given name is there whole, the old or the new one, whenever a program stops; a
 * damaged one is refused and not read as data (arrays/checkpoint.hpp, docs/checkpoints.md). A path
 * means the same file to all ranks.
 *
 * Errors of what is collective, on all members: invalid_argument (a path that can't be, names,
 * types, extents, or arguments that differ among members), limit_exceeded (no space left), protocol
 * (a damaged file), unsupported (a build without HDF5; later formats), unreachable (the device
 * fails), peer_lost.
 */
#ifndef TESSERA_C_CHECKPOINT_H
#define TESSERA_C_CHECKPOINT_H

#include "fortran/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tessera_checkpoint_writer tessera_checkpoint_writer; /* a file that is written */
typedef struct tessera_checkpoint tessera_checkpoint;               /* one that is read */

typedef struct tessera_checkpoint_options {
  int64_t struct_bytes; /* set by tessera_checkpoint_options_init */
  int64_t piece_bytes;  /* that are moved, and have a checksum, at a time; 1 to 2^30 */
} tessera_checkpoint_options;

static inline void tessera_checkpoint_options_init(tessera_checkpoint_options* options) {
  options->struct_bytes = sizeof *options;
  options->piece_bytes = INT64_C(1) << 20;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Collective over `team`, or all ranks of the job if it is null. Begins a new file beside `path`.
 * `options` may be null. */
int tessera_checkpoint_writer_create(tessera_job* job, const tessera_team* team, const char* path,
                                     const tessera_checkpoint_options* options,
                                     tessera_checkpoint_writer** writer);
/* Collective. Writes an array's elements under `name`; null: the array's own. The array's team has
 * the members of the writer's in the same order. */
int tessera_checkpoint_writer_add(const tessera_checkpoint_writer* writer,
                                  const tessera_array* array, const char* name);
/* Collective. Tells something about the whole, the same on all members. */
int tessera_checkpoint_writer_add_integer(const tessera_checkpoint_writer* writer, const char* name,
                                          int64_t value);
int tessera_checkpoint_writer_add_real(const tessera_checkpoint_writer* writer, const char* name,
                                       double value);
int tessera_checkpoint_writer_add_text(const tessera_checkpoint_writer* writer, const char* name,
                                       const char* value);
/* Collective. Completes the file and gives it its name; nothing can be added after that. */
int tessera_checkpoint_writer_commit(const tessera_checkpoint_writer* writer);
/* Local. Gives up what was not committed. Sets *writer to null. */
int tessera_checkpoint_writer_free(tessera_checkpoint_writer** writer);

/* --- reading ---------------------------------------------------------------------------------- */

/* Collective over `team`, or all ranks of the job if it is null. Reads what the file tells of its
 * arrays, and keeps it open. */
int tessera_checkpoint_open(tessera_job* job, const tessera_team* team, const char* path,
                            tessera_checkpoint** file);
/* Local. Sets *file to null. */
int tessera_checkpoint_free(tessera_checkpoint** file);

/* Local. How many arrays, and attributes, the file has, and their names by number from 0. Texts as
 * in tessera_job_transport. */
int tessera_checkpoint_array_count(const tessera_checkpoint* file, int64_t* count);
int tessera_checkpoint_array_name(const tessera_checkpoint* file, int64_t number, char* text,
                                  int64_t capacity, int64_t* length);
int tessera_checkpoint_attribute_count(const tessera_checkpoint* file, int64_t* count);
int tessera_checkpoint_attribute_name(const tessera_checkpoint* file, int64_t number, char* text,
                                      int64_t capacity, int64_t* length);

/* Local. What the file tells of an array; `extents` has room for TESSERA_MAX_DIMS numbers. *type is
 * that of an array to read it into, also where the file has another kind of elements of that size.
 * *has_checksums is 1 for what Tessera wrote. */
int tessera_checkpoint_array_info(const tessera_checkpoint* file, const char* name,
                                  tessera_type* type, int64_t* ndims, int64_t extents[],
                                  int* has_checksums);
/* Local. The name of its element type in the file, "float64". */
int tessera_checkpoint_type_name(const tessera_checkpoint* file, const char* name, char* text,
                                 int64_t capacity, int64_t* length);
/* Local. The distribution that it had, which the caller frees; null for files of others. */
int tessera_checkpoint_distribution(const tessera_checkpoint* file, const char* name,
                                    tessera_distribution** distribution);
/* Local. Errors: invalid_argument when there is none of that name, or it is of another kind. */
int tessera_checkpoint_integer(const tessera_checkpoint* file, const char* name, int64_t* value);
int tessera_checkpoint_real(const tessera_checkpoint* file, const char* name, double* value);
int tessera_checkpoint_text(const tessera_checkpoint* file, const char* name, char* text,
                            int64_t capacity, int64_t* length);

/* Collective. Makes an array of the type that the file has, and reads it: with this distribution;
 * or, if that is null, with the one it had, if there are as many ranks, else a regular one. */
int tessera_checkpoint_read(const tessera_checkpoint* file, const char* name,
                            const tessera_distribution* distribution, tessera_array** array);
/* Collective. Reads into an array of the same extents and type, however distributed. */
int tessera_checkpoint_read_into(const tessera_checkpoint* file, const char* name,
                                 const tessera_array* array);
/* Collective. Reads and compares checksums; keeps nothing. */
int tessera_checkpoint_verify(const tessera_checkpoint* file, const char* name);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_CHECKPOINT_H */
