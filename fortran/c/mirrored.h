/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mirrored.h: arrays with a copy on each node, distributed over the members on that node; see
 * tessera.h.
 *
 *     tessera_mirrored_create(job, TESSERA_F64, 2, extents, NULL, &m);
 *     tessera_mirrored_load(m, NULL, NULL, tessera_part_whole(density));
 *     tessera_mirrored_local_copy(m, &here);                        this node's copy: an ordinary
 * array tessera_array_accumulate(here, lo, hi, values, NULL, NULL);       stays on the node
 *     tessera_mirrored_merge_into(m, NULL, NULL, tessera_part_whole(fock));
 *
 * Use them for data that all ranks read or add to often, and that fit in a node's memory. Between
 * two merges nothing crosses the network. A merge adds the copies in an order that depends only on
 * the number of nodes: all nodes, and all runs with as many nodes, get the same bits.
 *
 * Threads: one thread at a time for the team's collectives; a node's copy is like any array.
 * Errors: each names the array.
 */
#ifndef TESSERA_C_MIRRORED_H
#define TESSERA_C_MIRRORED_H

#include "fortran/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tessera_mirrored tessera_mirrored; /* an array with a copy on each node */

/* Collective over the team of `options`, which may be null. Makes copies of zeros, each distributed
 * evenly over the members on its node. `process_grid` and `holders` must not be given, as they
 * would differ among nodes. Cost: the array's size on each node. Errors: invalid_argument (also for
 * opaque elements), no_memory. */
int tessera_mirrored_create(tessera_job* job, tessera_type type, int64_t ndims,
                            const int64_t extents[], const tessera_array_options* options,
                            tessera_mirrored** mirrored);
/* Collective. Frees the memory. Sets *mirrored to null. */
int tessera_mirrored_free(tessera_mirrored** mirrored);

/* Local. This node's copy, an array on the team of this node's members. It is always the same
 * handle, which belongs to the mirrored array and ends with it. */
int tessera_mirrored_local_copy(const tessera_mirrored* mirrored, tessera_array** here);

/* Collective. Each element of every copy becomes the sum of that element over all copies.
 * Operations of members on their copies before the call are complete. Complete: everywhere at
 * return. Cost: during the call an array of this size over all members; each node sends and
 * receives its copy once, with one synchronisation of all members for each node. */
int tessera_mirrored_merge(tessera_mirrored* mirrored);
/* Collective. Each element of `to` becomes the sum of the corresponding elements of the box [lo,
 * hi) of all copies, which are not changed. Errors: also invalid_argument (extents or types differ,
 * or the team of `to` has other members), out_of_range. */
int tessera_mirrored_merge_into(tessera_mirrored* mirrored, const int64_t lo[], const int64_t hi[],
                                tessera_part to);
/* Collective. Copies `from` to the box [lo, hi) of every copy; no rank may write `from` meanwhile.
 * Errors: also invalid_argument (extents or types differ, or a member is not in the team of
 * `from`), out_of_range. */
int tessera_mirrored_load(tessera_mirrored* mirrored, const int64_t lo[], const int64_t hi[],
                          tessera_part from);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_MIRRORED_H */
