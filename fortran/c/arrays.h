/* SPDX-License-Identifier: BSD-3-Clause
 *
 * arrays.h: distributions and arrays: how to make and query them, and access to their elements;
 * see tessera.h.
 *
 * Boxes are half-open, `lo <= index < hi`, with one number for each dimension. Null bounds, both,
 * mean the whole array. The last dimension is the fastest in local memory. Strides are in elements,
 * one for each dimension; null strides mean that local memory holds the elements of the box
 * densely.
 *
 * Completion: a blocking put or accumulate returns when its source may be reused, a get when its
 * data have arrived. tessera_array_fence, tessera_array_sync and the job's fences complete
 * operations at the owners. Errors of all transfers: out_of_range (nothing was sent),
 * invalid_argument, closed, peer_lost.
 *
 * Threads: any thread for transfers, and for handles that it does not share with other threads; one
 * thread at a time for the collectives of a team.
 */
#ifndef TESSERA_C_ARRAYS_H
#define TESSERA_C_ARRAYS_H

#include "fortran/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- distributions: which of `nranks` members has which elements ------------------------------ */

/* Making a distribution is local: every member makes the same one. `options` may be null. Errors:
 * invalid_argument, with the argument that does not fit. */

/* Local. One block for each member, as even as possible. */
int tessera_distribution_regular(tessera_job* job, int64_t nranks, int64_t ndims,
                                 const int64_t extents[],
                                 const tessera_distribution_options* options,
                                 tessera_distribution** distribution);
/* Local. One block for each member. Dimension d is cut into counts[d] blocks. `starts` lists where
 * they begin: all blocks of dimension 0, then all of dimension 1, and so on; the first of each
 * dimension is 0. */
int tessera_distribution_irregular(tessera_job* job, int64_t nranks, int64_t ndims,
                                   const int64_t extents[], const int64_t counts[],
                                   const int64_t starts[],
                                   const tessera_distribution_options* options,
                                   tessera_distribution** distribution);
/* Local. Blocks of `block` elements along each dimension, assigned to members round robin. */
int tessera_distribution_block_cyclic(tessera_job* job, int64_t nranks, int64_t ndims,
                                      const int64_t extents[], const int64_t block[],
                                      const tessera_distribution_options* options,
                                      tessera_distribution** distribution);
/* Local. Tiles, assigned cyclically in each dimension to a grid of members. */
int tessera_distribution_tiled(tessera_job* job, int64_t nranks, int64_t ndims,
                               const int64_t extents[], const int64_t tile[], const int64_t grid[],
                               const tessera_distribution_options* options,
                               tessera_distribution** distribution);
/* Local. The same with tiles that begin at `starts`, as for irregular distributions. */
int tessera_distribution_tiled_irregular(tessera_job* job, int64_t nranks, int64_t ndims,
                                         const int64_t extents[], const int64_t counts[],
                                         const int64_t starts[], const int64_t grid[],
                                         const tessera_distribution_options* options,
                                         tessera_distribution** distribution);
/* Local. ScaLAPACK's distribution: blocks on a cyclic grid, and each member's blocks as one dense
 * matrix. `order` is TESSERA_COLUMN_MAJOR for ScaLAPACK's own order. */
int tessera_distribution_scalapack(tessera_job* job, int64_t nranks, int64_t ndims,
                                   const int64_t extents[], const int64_t block[],
                                   const int64_t grid[], tessera_order order,
                                   tessera_distribution** distribution);
/* Local. One block for each of the members in `holders`; the others own nothing. */
int tessera_distribution_restricted(tessera_job* job, int64_t nranks, int64_t ndims,
                                    const int64_t extents[], int64_t holder_count,
                                    const int64_t holders[],
                                    const tessera_distribution_options* options,
                                    tessera_distribution** distribution);
/* Local. Blocks as in tiled irregular distributions, with any owners. `owners` lists the member
 * that owns each block, with blocks in the order that the options give. */
int tessera_distribution_with_owners(tessera_job* job, int64_t nranks, int64_t ndims,
                                     const int64_t extents[], const int64_t counts[],
                                     const int64_t starts[], const int64_t owners[],
                                     const tessera_distribution_options* options,
                                     tessera_distribution** distribution);
/* Local. The grid of blocks that a regular distribution would choose. Of the options only
 * min_block, process_grid, ranks_per_node and order are used. */
int tessera_process_grid_choose(int64_t nranks, int64_t ndims, const int64_t extents[],
                                const tessera_distribution_options* options, int64_t grid[]);
/* Local. Arrays with this distribution stay valid. Sets *distribution to null. */
int tessera_distribution_free(tessera_distribution** distribution);

/* Local. Dimensions, extents and members; `extents` has room for TESSERA_MAX_DIMS numbers. */
int tessera_distribution_shape(const tessera_distribution* distribution, int64_t* ndims,
                               int64_t extents[], int64_t* nranks);
/* Local. The owner of an element, and its offset in elements from the start of the owner's memory.
 * Either result may be null. Errors: out_of_range. */
int tessera_distribution_locate(const tessera_distribution* distribution, const int64_t index[],
                                int64_t* owner, int64_t* offset);
/* Local. The number of blocks of a member, and of elements of its memory, gaps included. */
int tessera_distribution_block_count(const tessera_distribution* distribution, int64_t member,
                                     int64_t* count);
int tessera_distribution_local_elements(const tessera_distribution* distribution, int64_t member,
                                        int64_t* elements);
/* Local. One of a member's blocks. */
int tessera_distribution_block(const tessera_distribution* distribution, int64_t member,
                               int64_t number, tessera_patch* block);
/* Local. The parts of a box that each lie in one block, as in tessera_array_patches. */
int tessera_distribution_patches(const tessera_distribution* distribution, const int64_t lo[],
                                 const int64_t hi[], int64_t capacity, tessera_patch patches[],
                                 int64_t* count);
/* Local. How members store their blocks; `ghosts` has room for TESSERA_MAX_DIMS numbers. Each
 * result may be null. */
int tessera_distribution_layout(const tessera_distribution* distribution, tessera_order* order,
                                tessera_storage* storage, int64_t ghosts[]);
/* How blocks are assigned to members: at most one block for each member; cyclically, by a grid of
 * members; round robin; or by a table, as in restricted distributions. */
typedef int tessera_block_map;
enum {
  TESSERA_BLOCK_MAP_GRID = 0,
  TESSERA_BLOCK_MAP_CYCLIC_GRID = 1,
  TESSERA_BLOCK_MAP_ROUND_ROBIN = 2,
  TESSERA_BLOCK_MAP_TABLE = 3
};
/* Local. How blocks are assigned, the number of blocks along each dimension, and the grid of
 * members. If members have no grid of their own, it is the grid of blocks. `blocks` and `grid` have
 * room for TESSERA_MAX_DIMS numbers. Each result may be null. */
int tessera_distribution_grid(const tessera_distribution* distribution,
                              tessera_block_map* block_map, int64_t blocks[], int64_t grid[]);
/* Local. A member's coordinates in the grid of members; there is room for TESSERA_MAX_DIMS numbers.
 * Errors: unsupported (members have no grid), out_of_range (a member outside the grid). */
int tessera_distribution_coordinates(const tessera_distribution* distribution, int64_t member,
                                     int64_t coordinates[]);
/* Local. The extents of a member's memory, ghost cells included. Errors: unsupported for several
 * blocks that are not stored as one local matrix. */
int tessera_distribution_local_extents(const tessera_distribution* distribution, int64_t member,
                                       int64_t extents[]);
/* Local. *same is 1 if both give every element the same owner and offset. */
int tessera_distribution_compare(const tessera_distribution* a, const tessera_distribution* b,
                                 int* same);
/* Local. One readable line; texts as in tessera_job_transport. */
int tessera_distribution_describe(const tessera_distribution* distribution, char* text,
                                  int64_t capacity, int64_t* length);
/* Local. What each member owns, one line for each block, as a text. At most `most_lines` lines; one
 * more line counts the members left out. */
int tessera_distribution_print(const tessera_distribution* distribution, int64_t most_lines,
                               char* text, int64_t capacity, int64_t* length);

/* --- making arrays ---------------------------------------------------------------------------- */

/* Collective over the team of `options`, which may be null. Makes an array of zeros, with one block
 * for each member. All members succeed, or none. Errors: invalid_argument, no_memory. */
int tessera_array_create(tessera_job* job, tessera_type type, int64_t ndims,
                         const int64_t extents[], const tessera_array_options* options,
                         tessera_array** array);
/* Collective. The same with any distribution. Of `options` only the name, the team and the memory's
 * settings are used. */
int tessera_array_create_distributed(tessera_job* job, tessera_type type,
                                     const tessera_distribution* distribution,
                                     const tessera_array_options* options, tessera_array** array);
/* Collective. The same in `bytes` bytes of the caller's memory. The memory keeps its contents and
 * must outlive the array. */
int tessera_array_attach(tessera_job* job, tessera_type type,
                         const tessera_distribution* distribution, void* memory, int64_t bytes,
                         const tessera_array_options* options, tessera_array** array);
/* Collective. An array in the memory of `base`, which must outlive it. `name` may be null. */
int tessera_array_overlay(const tessera_array* base, tessera_type type,
                          const tessera_distribution* distribution, const char* name,
                          tessera_array** array);
/* Collective. A new array of zeros with the type, distribution and team of `array`. */
int tessera_array_duplicate(const tessera_array* array, const char* name, tessera_array** copy);
/* Collective. Frees the memory; operations on it are complete. Sets *array to null. */
int tessera_array_free(tessera_array** array);

/* --- queries ---------------------------------------------------------------------------------- */

/* Local, as all queries are. `extents`, `lo` and `hi` have room for the array's dimensions. */
int tessera_array_ndims(const tessera_array* array, int64_t* ndims);
int tessera_array_extents(const tessera_array* array, int64_t extents[]);
int tessera_array_type(const tessera_array* array, tessera_type* type);
/* Local. "array 'A' (float64, 100 x 100)". Texts as in tessera_job_transport. */
int tessera_array_describe(const tessera_array* array, char* text, int64_t capacity,
                           int64_t* length);
int tessera_array_name(const tessera_array* array, char* text, int64_t capacity, int64_t* length);
/* Local. The array's distribution and team, as new handles that the caller frees. */
int tessera_array_distribution(const tessera_array* array, tessera_distribution** distribution);
int tessera_array_team(const tessera_array* array, tessera_team** team);
/* Local. What this rank, or a member, owns without ghost cells; lo = hi = 0 if it owns nothing.
 * Errors: unsupported if members own several blocks. */
int tessera_array_own_box(const tessera_array* array, int64_t lo[], int64_t hi[]);
int tessera_array_box_of(const tessera_array* array, int64_t member, int64_t lo[], int64_t hi[]);
/* Local. The member that owns an element. */
int tessera_array_owner(const tessera_array* array, const int64_t index[], int64_t* owner);
/* Local. The parts of a box that each lie in one block. The first `capacity` go to `patches`, which
 * may be null if capacity is 0; *count becomes the number of all of them. */
int tessera_array_patches(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                          int64_t capacity, tessera_patch patches[], int64_t* count);

/* --- transfers -------------------------------------------------------------------------------- */

/* One-sided. Writes, reads, or adds to the elements of a box. `alpha`, a number of the array's
 * type, is the factor of an accumulate; null means 1. Accumulates are atomic for each element. */
int tessera_array_put(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                      const void* from, const int64_t strides[]);
int tessera_array_get(const tessera_array* array, const int64_t lo[], const int64_t hi[], void* to,
                      const int64_t strides[]);
int tessera_array_accumulate(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                             const void* from, const int64_t strides[], const void* alpha);

/* One-sided. Combines the elements of a box with local ones by an operation without a factor.
 * Accumulates of all operations are atomic against each other, for each element. Blocks if `handle`
 * is null (not if it points to a null handle). Errors: also unsupported (an operation that the
 * elements don't have). */
int tessera_array_accumulate_by(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                                tessera_accumulate_op op, const void* from, const int64_t strides[],
                                tessera_handle** handle);

/* One-sided. Non-blocking put, get and accumulate. A null handle becomes a new handle; a handle of
 * pending transfers takes this transfer too. The caller must wait for the handle, or detach it.
 * Errors of the transfer are returned by the wait. */
int tessera_array_put_async(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                            const void* from, const int64_t strides[], tessera_handle** handle);
int tessera_array_get_async(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                            void* to, const int64_t strides[], tessera_handle** handle);
int tessera_array_accumulate_async(const tessera_array* array, const int64_t lo[],
                                   const int64_t hi[], const void* from, const int64_t strides[],
                                   const void* alpha, tessera_handle** handle);

/* One-sided. Waits until the transfers of a handle are complete here, and returns their first
 * error. Sets *handle to null. Waiting for a null handle succeeds at once. */
int tessera_handle_wait(tessera_handle** handle);
/* One-sided. Waits for all of them, and returns the first error. */
int tessera_handle_wait_all(int64_t count, tessera_handle* handles[]);
/* One-sided. *done is 1 if a wait would not block. The caller must still wait for the handle. */
int tessera_handle_test(tessera_handle* handle, int* done);
/* One-sided. Hands the transfers to tessera_job_wait_all and the fences. Sets *handle to null. */
int tessera_handle_detach(tessera_handle** handle);

/* One-sided. The same for every steps[dim]-th element of a box. Here and below, the call blocks if
 * `handle` is null (not if it points to a null handle). */
int tessera_array_put_section(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                              const int64_t steps[], const void* from, const int64_t strides[],
                              tessera_handle** handle);
int tessera_array_get_section(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                              const int64_t steps[], void* to, const int64_t strides[],
                              tessera_handle** handle);
int tessera_array_accumulate_section(const tessera_array* array, const int64_t lo[],
                                     const int64_t hi[], const int64_t steps[], const void* from,
                                     const int64_t strides[], const void* alpha,
                                     tessera_handle** handle);
int tessera_array_accumulate_section_by(const tessera_array* array, const int64_t lo[],
                                        const int64_t hi[], const int64_t steps[],
                                        tessera_accumulate_op op, const void* from,
                                        const int64_t strides[], tessera_handle** handle);

/* One-sided. The same for a box that may reach over the ends of the dimensions whose bits, 1 <<
 * dim, are set in `periodic`. The array is periodic in those dimensions. */
int tessera_array_put_periodic(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                               int64_t periodic, const void* from, const int64_t strides[],
                               tessera_handle** handle);
int tessera_array_get_periodic(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                               int64_t periodic, void* to, const int64_t strides[],
                               tessera_handle** handle);
int tessera_array_accumulate_periodic(const tessera_array* array, const int64_t lo[],
                                      const int64_t hi[], int64_t periodic, const void* from,
                                      const int64_t strides[], const void* alpha,
                                      tessera_handle** handle);
int tessera_array_accumulate_periodic_by(const tessera_array* array, const int64_t lo[],
                                         const int64_t hi[], int64_t periodic,
                                         tessera_accumulate_op op, const void* from,
                                         const int64_t strides[], tessera_handle** handle);

/* One-sided. The same for `bytes` bytes from byte `offset` of each element. Local memory holds
 * these fields side by side, and its strides count fields. For an accumulate `type` is the type of
 * the field. */
int tessera_array_put_field(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                            int64_t offset, int64_t bytes, const void* from,
                            const int64_t strides[], tessera_handle** handle);
int tessera_array_get_field(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                            int64_t offset, int64_t bytes, void* to, const int64_t strides[],
                            tessera_handle** handle);
int tessera_array_accumulate_field(const tessera_array* array, const int64_t lo[],
                                   const int64_t hi[], int64_t offset, tessera_type type,
                                   const void* from, const int64_t strides[], const void* alpha,
                                   tessera_handle** handle);
int tessera_array_accumulate_field_by(const tessera_array* array, const int64_t lo[],
                                      const int64_t hi[], int64_t offset, tessera_type type,
                                      tessera_accumulate_op op, const void* from,
                                      const int64_t strides[], tessera_handle** handle);

/* One-sided. Put and get of one element. */
int tessera_array_put_element(const tessera_array* array, const int64_t index[], const void* value);
int tessera_array_get_element(const tessera_array* array, const int64_t index[], void* value);

/* One-sided. Atomically changes one element at its owner, and sets *before to its old value.
 * fetch_add adds `increment`; swap stores `desired`; compare_swap stores it if the old value was
 * `expected`. Elements are integers of 4 or 8 bytes, and all numbers have the array's type.
 * Complete: here and at the owner. */
int tessera_array_fetch_add(const tessera_array* array, const int64_t index[],
                            const void* increment, void* before);
int tessera_array_swap(const tessera_array* array, const int64_t index[], const void* desired,
                       void* before);
int tessera_array_compare_swap(const tessera_array* array, const int64_t index[],
                               const void* expected, const void* desired, void* before);

/* One-sided. Changes `count` listed elements atomically, each as the functions above do; the list
 * as a whole is not atomic. `places` is as in tessera_array_gather. `operands` has a number for
 * each element, and `expected` also, for TESSERA_ATOMIC_COMPARE_SWAP; for other operations it may
 * be null. `before` receives the old values; it stays allocated until the wait. Blocks if `handle`
 * is null. Errors: also unsupported (minimum and maximum of unsigned elements). If an index is
 * wrong, nothing is changed. Cost: between nodes one message for each owner and 4096 elements. */
int tessera_array_change_elements(const tessera_array* array, int64_t count, const int64_t places[],
                                  tessera_atomic_op op, const void* operands, const void* expected,
                                  void* before, tessera_handle** handle);

/* Flags are elements of an array of TESSERA_I32 for which their owners can wait. A rank that sees
 * the value of a flag also sees what its writer had put and accumulated to the flag's owner before,
 * if that was complete at the writer. */

/* One-sided. Stores `value` in a flag. Complete: here. Errors: invalid_argument (elements of
 * another type), out_of_range, closed, peer_lost. */
int tessera_array_raise_flag(const tessera_array* flags, const int64_t index[], int32_t value);
/* One-sided. As tessera_array_put, and then raises a flag, of any rank: a rank that sees the flag
 * sees all of the box. Complete: `from` may be reused. Errors: those of both; if the flag or the
 * box is wrong, nothing is put. Cost: between nodes one message, if the flag's owner owns the whole
 * box and it has at most 64 KiB; also a fence, if another member owns some of it. */
int tessera_array_put_with_flag(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                                const void* from, const int64_t strides[],
                                const tessera_array* flags, const int64_t index[], int32_t value);
/* Local. Sleeps until a flag that this rank owns has the value `value`, or any other value than
 * `value`, which becomes *now. `writer` is the member of the array's team that raises the flag.
 * Errors: invalid_argument (another member's flag), out_of_range, closed, peer_lost (the writer is
 * gone, and the flag does not have the value). */
int tessera_array_wait_for_flag(const tessera_array* flags, const int64_t index[], int32_t value,
                                int64_t writer);
int tessera_array_wait_for_flag_change(const tessera_array* flags, const int64_t index[],
                                       int32_t value, int64_t writer, int32_t* now);

/* One-sided. Get, put and accumulate of `count` listed elements: `places` has their indices one
 * after the other. */
int tessera_array_gather(const tessera_array* array, int64_t count, const int64_t places[],
                         void* values);
int tessera_array_scatter(const tessera_array* array, int64_t count, const int64_t places[],
                          const void* values);
int tessera_array_scatter_accumulate(const tessera_array* array, int64_t count,
                                     const int64_t places[], const void* values, const void* alpha);
int tessera_array_scatter_accumulate_by(const tessera_array* array, int64_t count,
                                        const int64_t places[], tessera_accumulate_op op,
                                        const void* values);

/* One-sided. Returns when this rank's operations on the array are complete at their owners. */
int tessera_array_fence(const tessera_array* array);
/* Collective. A fence of all members, and a barrier: then each member sees what any member
 * wrote. */
int tessera_array_sync(const tessera_array* array);

/* Collective. Makes dimension `dim` longer. Elements keep their indices and values, new ones are
 * zero, and ghost cells are zero until they are updated. Plans of ghost cells, and accesses, of the
 * memory from before are closed. Errors, which leave the array as it was: invalid_argument (no such
 * dimension, a shorter extent, an access mode), unsupported (an overlay), no_memory. Cost: memory
 * for the old and the new array, and a copy of all elements. */
int tessera_array_grow(const tessera_array* array, int64_t dim, int64_t extent);

/* --- how an array is used --------------------------------------------------------------------- */

/* Collective. Sets the access mode: other uses are refused until the next such call. For
 * TESSERA_ACCESS_READ_ONLY, gets may be served from a copy on each node (copy_on_each_node = 1), or
 * this rank keeps up to cache_bytes bytes that it got from other nodes. For
 * TESSERA_ACCESS_ACCUMULATE_ONLY, copy_on_each_node = 1 collects accumulates on the node, and adds
 * them to the array when the mode ends. */
int tessera_array_set_access_mode(const tessera_array* array, tessera_access_mode mode,
                                  int copy_on_each_node, int64_t cache_bytes);
/* Local. The present access mode. */
int tessera_array_access_mode(const tessera_array* array, tessera_access_mode* mode);

/* Local. Permission to load and store the elements of this rank's block `number`, and its ghost
 * cells. Most arrays have only block 0, which may be used also if it is empty. The caller must end
 * the access. Errors: closed, invalid_argument (the access mode forbids it), out_of_range. */
int tessera_access_begin(const tessera_array* array, int64_t number, tessera_local_block* block,
                         tessera_access** access);
/* Local. Sets *access to null. */
int tessera_access_end(tessera_access** access);

/* Collective. Plans the exchange of the ghost cells of `array`, which must outlive the plan.
 * `options` may be null. Errors, on all members: invalid_argument (no ghost cells, or widths larger
 * than the array's). */
int tessera_halo_create(const tessera_array* array, const tessera_halo_options* options,
                        tessera_halo** halo);
/* Collective. Finishes a started update. Sets *halo to null. */
int tessera_halo_free(tessera_halo** halo);
/* Collective. Makes all ghost cells equal to the elements that they are copies of. */
int tessera_halo_update(tessera_halo* halo);
/* Collective. The reverse: adds each ghost cell to the element that it is a copy of, and sets it to
 * zero. Errors: also unsupported (opaque elements), invalid_argument (after tessera_halo_post). */
int tessera_halo_accumulate(tessera_halo* halo);
/* Collective. An update in two steps. Until tessera_halo_finish, this rank must neither touch its
 * ghost cells nor change its own elements. */
int tessera_halo_start(tessera_halo* halo);
int tessera_halo_finish(tessera_halo* halo);
/* One-sided. Allows the neighbours to write this rank's ghost cells for the next update, so that
 * they need not wait when they start it. Until that update is finished, this rank must not touch
 * its ghost cells. Optional on each rank. Does not wait for other ranks. Errors: invalid_argument
 * (an update is started and not finished). */
int tessera_halo_post(tessera_halo* halo);
/* Local. Bytes that one update moves to this rank from others. */
int tessera_halo_bytes(const tessera_halo* halo, int64_t* bytes);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_ARRAYS_H */
