/* SPDX-License-Identifier: BSD-3-Clause
 *
 * c_arrays.h: distributions, and arrays: making them, asking about them, and reaching their
 * elements; see c_api.h.
 *
 * Boxes are half-open, `lo <= index < hi`, with a number for each dimension; the last dimension is
 * the fastest in local memory. Null bounds, both, are the whole array. Strides are in elements, one
 * for each dimension; null strides mean that local memory has the elements of the box and nothing
 * else.
 *
 * Completion: blocking puts and accumulates return when their source may be reused, gets when the
 * data is here; tessera_array_fence, _sync and the job's fences complete at the owners. Errors of
 * all transfers: out_of_range (nothing was sent), invalid_argument, closed, peer_lost.
 *
 * Threads: transfers and handles of one's own by any thread; collectives by one at a time a team.
 */
#ifndef TESSERA_C_ARRAYS_H
#define TESSERA_C_ARRAYS_H

#include "fortran/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- distributions: which of `nranks` members has which elements ------------------------------ */

/* All local: every member makes the same one. `options` may be null. Errors: invalid_argument,
 * which says what does not fit. */

/* Local. One block for each member, as even as possible. */
int tessera_distribution_regular(tessera_job* job, int64_t nranks, int64_t ndims,
                                 const int64_t extents[],
                                 const tessera_distribution_options* options,
                                 tessera_distribution** distribution);
/* Local. One block for each member. Dimension d is cut into counts[d] blocks, and `starts` holds
 * where they begin, all of dimension 0, then all of dimension 1, ...; the first of each is 0. */
int tessera_distribution_irregular(tessera_job* job, int64_t nranks, int64_t ndims,
                                   const int64_t extents[], const int64_t counts[],
                                   const int64_t starts[],
                                   const tessera_distribution_options* options,
                                   tessera_distribution** distribution);
/* Local. Blocks of `block` elements along each dimension, dealt round robin. */
int tessera_distribution_block_cyclic(tessera_job* job, int64_t nranks, int64_t ndims,
                                      const int64_t extents[], const int64_t block[],
                                      const tessera_distribution_options* options,
                                      tessera_distribution** distribution);
/* Local. Tiles on a grid of members that is laid over them again and again. */
int tessera_distribution_tiled(tessera_job* job, int64_t nranks, int64_t ndims,
                               const int64_t extents[], const int64_t tile[], const int64_t grid[],
                               const tessera_distribution_options* options,
                               tessera_distribution** distribution);
/* Local. The same with tiles that begin where `starts` tells, as for irregular ones. */
int tessera_distribution_tiled_irregular(tessera_job* job, int64_t nranks, int64_t ndims,
                                         const int64_t extents[], const int64_t counts[],
                                         const int64_t starts[], const int64_t grid[],
                                         const tessera_distribution_options* options,
                                         tessera_distribution** distribution);
/* Local. Blocks on a cyclic grid, each member's as one dense matrix, as ScaLAPACK wants them;
 * `order` is TESSERA_COLUMN_MAJOR for ScaLAPACK's own. */
int tessera_distribution_scalapack(tessera_job* job, int64_t nranks, int64_t ndims,
                                   const int64_t extents[], const int64_t block[],
                                   const int64_t grid[], tessera_order order,
                                   tessera_distribution** distribution);
/* Local. One block for each of the members in `holders`. */
int tessera_distribution_restricted(tessera_job* job, int64_t nranks, int64_t ndims,
                                    const int64_t extents[], int64_t holder_count,
                                    const int64_t holders[],
                                    const tessera_distribution_options* options,
                                    tessera_distribution** distribution);
/* Local. Blocks as for tiled irregular ones, each given to the member that `owners` names: the
 * owner of every block, in the order of the options. */
int tessera_distribution_dealt(tessera_job* job, int64_t nranks, int64_t ndims,
                               const int64_t extents[], const int64_t counts[],
                               const int64_t starts[], const int64_t owners[],
                               const tessera_distribution_options* options,
                               tessera_distribution** distribution);
/* Local. The grid of blocks that a regular distribution would choose; of the options min_block,
 * process_grid, ranks_per_node and order count. */
int tessera_process_grid_choose(int64_t nranks, int64_t ndims, const int64_t extents[],
                                const tessera_distribution_options* options, int64_t grid[]);
/* Local. Arrays keep what they need. Sets *distribution to null. */
int tessera_distribution_free(tessera_distribution** distribution);

/* Local. Sizes; `extents` has room for TESSERA_MAX_DIMS numbers. */
int tessera_distribution_shape(const tessera_distribution* distribution, int64_t* ndims,
                               int64_t extents[], int64_t* nranks);
/* Local. Who has an element, and where: in elements from the start of the owner's memory. Either
 * result may be null. Errors: out_of_range. */
int tessera_distribution_locate(const tessera_distribution* distribution, const int64_t index[],
                                int64_t* owner, int64_t* offset);
/* Local. How many blocks a member has, and how many elements its memory, gaps included. */
int tessera_distribution_block_count(const tessera_distribution* distribution, int64_t member,
                                     int64_t* count);
int tessera_distribution_local_elements(const tessera_distribution* distribution, int64_t member,
                                        int64_t* elements);
/* Local. One of a member's blocks. */
int tessera_distribution_block(const tessera_distribution* distribution, int64_t member,
                               int64_t number, tessera_patch* block);
/* Local. The parts of a box that lie in one block each, as tessera_array_patches. */
int tessera_distribution_patches(const tessera_distribution* distribution, const int64_t lo[],
                                 const int64_t hi[], int64_t capacity, tessera_patch patches[],
                                 int64_t* count);
/* Local. How members keep their blocks; `ghosts` has room for TESSERA_MAX_DIMS numbers. Each result
 * may be null. */
int tessera_distribution_layout(const tessera_distribution* distribution, tessera_order* order,
                                tessera_storage* storage, int64_t ghosts[]);
/* How blocks are dealt to members: at most one each; on a grid of members that is laid over the
 * blocks again and again; round robin; as a list tells, which restricted distributions have. */
typedef int tessera_deal;
enum {
  TESSERA_DEAL_GRID = 0,
  TESSERA_DEAL_CYCLIC_GRID = 1,
  TESSERA_DEAL_ROUND_ROBIN = 2,
  TESSERA_DEAL_TABLE = 3
};
/* Local. How blocks are dealt, how many there are along each dimension, and the grid of members,
 * which is that of the blocks where members have none. `blocks` and `grid` have room for
 * TESSERA_MAX_DIMS numbers. Each result may be null. */
int tessera_distribution_grid(const tessera_distribution* distribution, tessera_deal* deal,
                              int64_t blocks[], int64_t grid[]);
/* Local. A member's place in the grid of members; there is room for TESSERA_MAX_DIMS numbers.
 * Errors: unsupported where members have no grid, out_of_range for a member beyond it. */
int tessera_distribution_coordinates(const tessera_distribution* distribution, int64_t member,
                                     int64_t coordinates[]);
/* Local. The shape of a member's memory, ghost cells included. Errors: unsupported for several
 * blocks a member that are not one local matrix. */
int tessera_distribution_local_extents(const tessera_distribution* distribution, int64_t member,
                                       int64_t extents[]);
/* Local. *same is 1 when both put every element at the same place. */
int tessera_distribution_compare(const tessera_distribution* a, const tessera_distribution* b,
                                 int* same);
/* Local. One line for people; texts as in tessera_job_transport. */
int tessera_distribution_describe(const tessera_distribution* distribution, char* text,
                                  int64_t capacity, int64_t* length);
/* Local. What each member has, a line for each block, as a text. */
int tessera_distribution_print(const tessera_distribution* distribution, int64_t most_lines,
                               char* text, int64_t capacity, int64_t* length);

/* --- making arrays ---------------------------------------------------------------------------- */

/* Collective over the team of `options`, which may be null. An array of zeros, one block for each
 * member. All members succeed, or none. Errors: invalid_argument, no_memory. */
int tessera_array_create(tessera_job* job, tessera_type type, int64_t ndims,
                         const int64_t extents[], const tessera_array_options* options,
                         tessera_array** array);
/* Collective. The same with any distribution; of `options` only the name, the team and what is
 * said of memory count. */
int tessera_array_create_distributed(tessera_job* job, tessera_type type,
                                     const tessera_distribution* distribution,
                                     const tessera_array_options* options, tessera_array** array);
/* Collective. The same in `bytes` of memory that this process has already, which keeps its contents
 * and outlives the array. */
int tessera_array_attach(tessera_job* job, tessera_type type,
                         const tessera_distribution* distribution, void* memory, int64_t bytes,
                         const tessera_array_options* options, tessera_array** array);
/* Collective. An array in the memory of `base`, which outlives it. `name` may be null. */
int tessera_array_overlay(const tessera_array* base, tessera_type type,
                          const tessera_distribution* distribution, const char* name,
                          tessera_array** array);
/* Collective. A new array of zeros like another one. */
int tessera_array_duplicate(const tessera_array* array, const char* name, tessera_array** copy);
/* Collective. Gives the memory back; operations on it are complete. Sets *array to null. */
int tessera_array_free(tessera_array** array);

/* --- asking ----------------------------------------------------------------------------------- */

/* Local, as all questions are. `extents`, `lo` and `hi` have room for the array's dimensions. */
int tessera_array_ndims(const tessera_array* array, int64_t* ndims);
int tessera_array_extents(const tessera_array* array, int64_t extents[]);
int tessera_array_type(const tessera_array* array, tessera_type* type);
/* Local. "array 'A' (float64, 100 x 100)". Texts as in tessera_job_transport. */
int tessera_array_describe(const tessera_array* array, char* text, int64_t capacity,
                           int64_t* length);
int tessera_array_name(const tessera_array* array, char* text, int64_t capacity, int64_t* length);
/* Local. The array's distribution and team, as handles that the caller frees. */
int tessera_array_distribution(const tessera_array* array, tessera_distribution** distribution);
int tessera_array_team(const tessera_array* array, tessera_team** team);
/* Local. What this rank, or a member, owns without ghost cells; lo = hi = 0 if nothing.
 * Errors: unsupported for several blocks a member. */
int tessera_array_own_box(const tessera_array* array, int64_t lo[], int64_t hi[]);
int tessera_array_box_of(const tessera_array* array, int64_t member, int64_t lo[], int64_t hi[]);
/* Local. The member that owns an element. */
int tessera_array_owner(const tessera_array* array, const int64_t index[], int64_t* owner);
/* Local. The parts of a box that lie in one block each: the first `capacity` go to `patches`, which
 * may be null if capacity is 0, and *count is how many there are. */
int tessera_array_patches(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                          int64_t capacity, tessera_patch patches[], int64_t* count);

/* --- transfers -------------------------------------------------------------------------------- */

/* One-sided. Write, read, or add to the elements of a box. `alpha`, a number of the array's type,
 * is the factor of an accumulate; null: 1. Accumulates are atomic for each element. */
int tessera_array_put(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                      const void* from, const int64_t strides[]);
int tessera_array_get(const tessera_array* array, const int64_t lo[], const int64_t hi[], void* to,
                      const int64_t strides[]);
int tessera_array_accumulate(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                             const void* from, const int64_t strides[], const void* alpha);

/* One-sided. The same, started only. A handle that is null becomes a new one; one that stands for
 * transfers under way takes these as well. It has to be waited for, or detached. What is wrong with
 * a transfer is told by its wait. */
int tessera_array_put_async(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                            const void* from, const int64_t strides[], tessera_handle** handle);
int tessera_array_get_async(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                            void* to, const int64_t strides[], tessera_handle** handle);
int tessera_array_accumulate_async(const tessera_array* array, const int64_t lo[],
                                   const int64_t hi[], const void* from, const int64_t strides[],
                                   const void* alpha, tessera_handle** handle);

/* One-sided. Completes what a handle stands for, here; returns the first error. Sets *handle to
 * null, which stands for nothing, and waiting for that is no error. */
int tessera_handle_wait(tessera_handle** handle);
/* One-sided. Waits for all, and returns the first error. */
int tessera_handle_wait_all(int64_t count, tessera_handle* handles[]);
/* One-sided. *done is 1 if waiting would not block; the handle is still to be waited for. */
int tessera_handle_test(tessera_handle* handle, int* done);
/* One-sided. Leaves the transfers to tessera_job_wait_all and the fences. Sets *handle to null. */
int tessera_handle_detach(tessera_handle** handle);

/* One-sided. Every steps[dim]-th element of a box. Here and below, a null `handle` (not a pointer
 * to a null handle) makes the call a blocking one. */
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

/* One-sided. A box that may reach over the ends of the dimensions whose bits, 1 << dim, are set in
 * `periodic`: there the array repeats itself. */
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

/* One-sided. `bytes` bytes from byte `offset` of each element; local memory holds them side by
 * side, and its strides count them. For an accumulate `type` tells what they are. */
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

/* One-sided. One element. */
int tessera_array_put_element(const tessera_array* array, const int64_t index[], const void* value);
int tessera_array_get_element(const tessera_array* array, const int64_t index[], void* value);

/* One-sided. Changes one element of a whole number of 4 or 8 bytes in one step at its owner, and
 * sets *before to what it was: adds, stores, or stores if it is what was expected. All numbers are
 * of the array's type. Complete: here and at the owner. */
int tessera_array_fetch_add(const tessera_array* array, const int64_t index[],
                            const void* increment, void* before);
int tessera_array_swap(const tessera_array* array, const int64_t index[], const void* desired,
                       void* before);
int tessera_array_compare_swap(const tessera_array* array, const int64_t index[],
                               const void* expected, const void* desired, void* before);

/* Flags: elements of an array of TESSERA_I32, whose owners wait for them. Who sees the value of a
 * flag also sees what was put and accumulated to the flag's owner before, and was complete here. */

/* One-sided. Stores `value` in a flag. Complete: here. Errors: invalid_argument (elements of
 * another type), out_of_range, closed, peer_lost. */
int tessera_array_raise_flag(const tessera_array* flags, const int64_t index[], int32_t value);
/* One-sided. As tessera_array_put, and then raises a flag, which may be any rank's: who sees it
 * sees all of the box. Complete: `from` may be reused. Errors: of both; nothing is put where the
 * flag or the box is wrong. Cost: between nodes one message where the box is the flag's owner's and
 * has at most 64 KiB; also a fence where some of it is another's. */
int tessera_array_put_with_flag(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                                const void* from, const int64_t strides[],
                                const tessera_array* flags, const int64_t index[], int32_t value);
/* Local. Sleeps until a flag that this rank owns is `value`, or is something else than `value`:
 * *now. `writer` is the member of the array's team that raises it. Errors: invalid_argument
 * (another member's flag), out_of_range, closed, peer_lost (the writer is gone, and the flag is not
 * so). */
int tessera_array_wait_for_flag(const tessera_array* flags, const int64_t index[], int32_t value,
                                int64_t writer);
int tessera_array_wait_for_flag_change(const tessera_array* flags, const int64_t index[],
                                       int32_t value, int64_t writer, int32_t* now);

/* One-sided. `count` elements at listed places: `places` has the indices one after the other. */
int tessera_array_gather(const tessera_array* array, int64_t count, const int64_t places[],
                         void* values);
int tessera_array_scatter(const tessera_array* array, int64_t count, const int64_t places[],
                          const void* values);
int tessera_array_scatter_accumulate(const tessera_array* array, int64_t count,
                                     const int64_t places[], const void* values, const void* alpha);

/* One-sided. Returns when this rank's operations on the array are complete at their owners. */
int tessera_array_fence(const tessera_array* array);
/* Collective. Everybody's fence, and a barrier: all see what anybody wrote. */
int tessera_array_sync(const tessera_array* array);

/* --- how an array is used --------------------------------------------------------------------- */

/* Collective. Refuses other uses until the next such call. For TESSERA_ACCESS_READ_ONLY, gets may
 * be served from a copy on each node (copy_on_each_node = 1), or so many bytes of what this rank
 * got from other nodes are kept. For TESSERA_ACCESS_ACCUMULATE_ONLY, copy_on_each_node = 1 keeps
 * accumulates on the node; what was added there is added to the array when the mode ends. */
int tessera_array_set_access_mode(const tessera_array* array, tessera_access_mode mode,
                                  int copy_on_each_node, int64_t cache_bytes);
/* Local. What it is used for now. */
int tessera_array_access_mode(const tessera_array* array, tessera_access_mode* mode);

/* Local. The right to load and store the elements of this rank's block `number`, and its ghost
 * cells; 0 is the only block of most arrays, and legal where this rank has none. `access` has to be
 * ended. Errors: closed, invalid_argument (the access mode forbids it), out_of_range. */
int tessera_access_begin(const tessera_array* array, int64_t number, tessera_local_block* block,
                         tessera_access** access);
/* Local. Sets *access to null. */
int tessera_access_end(tessera_access** access);

/* Collective. Plans the exchange of the ghost cells of `array`, which outlives it. `options` may be
 * null. Errors, on all members: invalid_argument (no ghosts, widths beyond them). */
int tessera_halo_create(const tessera_array* array, const tessera_halo_options* options,
                        tessera_halo** halo);
/* Collective. Finishes an update under way. Sets *halo to null. */
int tessera_halo_free(tessera_halo** halo);
/* Collective. Makes all ghost cells equal to the elements they stand for. */
int tessera_halo_update(tessera_halo* halo);
/* Collective. The same, started: until tessera_halo_finish, this rank neither touches its ghost
 * cells nor changes its own elements. */
int tessera_halo_start(tessera_halo* halo);
int tessera_halo_finish(tessera_halo* halo);
/* One-sided. Tells the neighbours that they may write this rank's ghost cells for the next update,
 * so that they needn't wait when they start it; until that is finished, this rank doesn't touch
 * them. Each rank may do so or leave it. Waits for no other rank. Errors: invalid_argument (an
 * update is under way). */
int tessera_halo_post(tessera_halo* halo);
/* Local. Bytes that one update brings to this rank from others. */
int tessera_halo_bytes(const tessera_halo* halo, int64_t* bytes);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_ARRAYS_H */
