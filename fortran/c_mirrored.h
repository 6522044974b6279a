/* SPDX-License-Identifier: BSD-3-Clause
 *
 * c_mirrored.h: arrays with a copy on each node, which the members on that node have together; see
 * c_api.h.
 *
 *     tessera_mirrored_create(job, TESSERA_F64, 2, extents, NULL, &m);
 *     tessera_mirrored_load(m, NULL, NULL, tessera_part_whole(density));
 *     tessera_mirrored_here(m, &here);                        an ordinary array of this node's
 *     tessera_array_accumulate(here, lo, hi, values, NULL, NULL);       stays on the node
 *     tessera_mirrored_merge_into(m, NULL, NULL, tessera_part_whole(fock));
 *
 * They are for what everybody reads or adds to all the time, and what a node has room for: between
 * two merges nothing goes over the network. A sum adds the copies in an order that the number of
 * nodes determines: all nodes, and all runs of as many, have the same bits.
 *
 * Threads: collectives by one thread at a time of the team; a node's copy as any array. Errors:
 * each names the array.
 */
#ifndef TESSERA_C_MIRRORED_H
#define TESSERA_C_MIRRORED_H

#include "fortran/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tessera_mirrored tessera_mirrored; /* an array with a copy on each node */

/* Collective over the team of `options`, which may be null. Copies of zeros, each cut evenly over
 * the members on its node. `process_grid` and `holders` must not be given: they would be others on
 * each node. Cost: the array's size on each node. Errors: invalid_argument (also for elements that
 * are only moved), no_memory. */
int tessera_mirrored_create(tessera_job* job, tessera_type type, int64_t ndims,
                            const int64_t extents[], const tessera_array_options* options,
                            tessera_mirrored** mirrored);
/* Collective. Gives the memory back. Sets *mirrored to null. */
int tessera_mirrored_free(tessera_mirrored** mirrored);

/* Local. This node's copy, an array on the team of this node's members; always the same handle,
 * which belongs to the mirrored array and ends with it. */
int tessera_mirrored_here(const tessera_mirrored* mirrored, tessera_array** here);

/* Collective. Each element of every copy becomes the sum of those of all copies; what members did
 * to their copies before is complete. Complete: everywhere at return. Cost: an array of this size
 * over all members, for as long as it takes; each node sends and receives its copy once, and all
 * meet as often as there are nodes. */
int tessera_mirrored_merge(tessera_mirrored* mirrored);
/* Collective. Each element of `to` becomes the sum of those at its place in the box [lo, hi) of all
 * copies, which stay as they are. Errors: also invalid_argument when extents or types differ, or
 * the team of `to` has other members; out_of_range. */
int tessera_mirrored_merge_into(tessera_mirrored* mirrored, const int64_t lo[], const int64_t hi[],
                                tessera_part to);
/* Collective. The box [lo, hi) of every copy becomes what `from` has, which nobody writes
 * meanwhile. Errors: also invalid_argument when extents or types differ, or a member is not in the
 * team of `from`; out_of_range. */
int tessera_mirrored_load(tessera_mirrored* mirrored, const int64_t lo[], const int64_t hi[],
                          tessera_part from);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_MIRRORED_H */
