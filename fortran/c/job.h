/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job.h: the parallel run, teams of its ranks, locks and shared counters; see tessera.h.
 *
 * "Rank" means a rank of the whole job; a "member" is a rank's number in a team.
 *
 * Threads: one thread at a time for the collectives of a team; any thread for everything else.
 */
#ifndef TESSERA_C_JOB_H
#define TESSERA_C_JOB_H

#include "fortran/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- the run ---------------------------------------------------------------------------------- */

/* Collective over all ranks. Starts the job under tessera-run, mpirun or srun, or as a single
 * process. Errors: invalid_argument (settings), timed_out and peer_lost (other ranks did not
 * start), unreachable, no_memory, limit_exceeded, unsupported, protocol (docs/errors.md). */
int tessera_job_start(tessera_job** job);
/* Collective over a communicator, given as MPI_Comm_c2f returns it. Errors: also invalid_argument
 * (MPI is not running, or MPI_COMM_NULL), unsupported (a library built without MPI). */
int tessera_job_start_mpi(int communicator, tessera_job** job);
/* Local. This process is the whole job, however it was started. */
int tessera_job_start_alone(tessera_job** job);
/* Collective. Starts as tessera_job_start, or as tessera_job_start_mpi if `communicator` is not
 * null, with `count` settings of the form "TESSERA_LOG=debug" (docs/tuning.md). They override those
 * of the environment. Errors: also invalid_argument for an unknown setting or a value that it
 * cannot have. */
int tessera_job_start_with(int64_t count, const char* const settings[], const int* communicator,
                           tessera_job** job);
/* Collective. Completes this rank's operations and leaves the run. After it, handles may still be
 * freed, which is then local, and queried. A call that accesses elements, also own ones, or other
 * ranks returns `closed`. Idempotent. Errors: what the last fence found. */
int tessera_job_stop(tessera_job* job);
/* Collective, unless the job was stopped. Stops the job and frees everything that was made with it,
 * so all those handles become invalid. Sets *job to null. */
int tessera_job_free(tessera_job** job);

/* Local; does not return. Ends this process with exit code `code` (1 if it is 0, which would mean
 * success) and all other processes of the job, also those that only compute: under mpirun with MPI,
 * and under tessera-run. Elsewhere the other ranks get an error from their next wait. Flushes
 * output; functions registered with atexit do not run. Needs no job. */
void tessera_end_job(int code);

/* Local. This rank, and the number of ranks. */
int tessera_job_rank(const tessera_job* job, int64_t* rank);
int tessera_job_size(const tessera_job* job, int64_t* size);
/* Local. Nodes are numbered from 0 in the order of their lowest ranks. */
int tessera_job_node_count(const tessera_job* job, int64_t* count);
int tessera_job_node(const tessera_job* job, int64_t rank, int64_t* node);
/* Local. *shares is 1 if the rank shares memory with this rank. */
int tessera_job_shares_node(const tessera_job* job, int64_t rank, int* shares);
/* Local. *present is 1 while the rank has neither left nor died, as far as this node knows. */
int tessera_job_is_present(const tessera_job* job, int64_t rank, int* present);
/* Local. The name of the transport to a rank, and the value of a setting ("TESSERA_LOG"), as texts.
 * At most `capacity` bytes with the final zero are written to `text`, which may be null if capacity
 * is 0. *length, unless it is null, becomes the length of the whole text without the zero. */
int tessera_job_transport(const tessera_job* job, int64_t rank, char* text, int64_t capacity,
                          int64_t* length);
int tessera_job_setting(const tessera_job* job, const char* name, char* text, int64_t capacity,
                        int64_t* length);

/* Local. Begins and ends a phase of this thread, such as "deposit", for profiles (docs/profile.md)
 * and TESSERA_CHECK=races. Phases nest. The end must name the innermost phase; null ends any.
 * Errors: invalid_argument (no name; this thread is in no phase, or in another one; nothing ends
 * then). A job without a profile and without the check records no phases, and compares no names. */
int tessera_job_begin_phase(const tessera_job* job, const char* name);
int tessera_job_end_phase(const tessera_job* job, const char* name);

/* One-sided. Waits until all detached transfers, or those with one rank, are complete here. */
int tessera_job_wait_all(const tessera_job* job);
int tessera_job_wait_rank(const tessera_job* job, int64_t rank);
/* One-sided. Returns when all operations of this rank are complete at their targets: on all ranks,
 * or on one. Reports errors of transfers that the program did not wait for. */
int tessera_job_fence_all(const tessera_job* job);
int tessera_job_fence(const tessera_job* job, int64_t rank);
/* Collective over all ranks. A fence of all operations, and a barrier. */
int tessera_job_barrier(const tessera_job* job);

/* One-sided. Notifies a rank. When it sees the notification, it also sees everything that this rank
 * had put and accumulated there and that was complete here. *sent, unless it is null, becomes the
 * total number of notifications sent to that rank. Errors: out_of_range, peer_lost. */
int tessera_job_notify(const tessera_job* job, int64_t rank, int64_t* sent);
/* Local. Sleeps until `rank` has sent this rank `count` notifications in total. *received, unless
 * it is null, becomes the number received. Errors: out_of_range, invalid_argument (a negative
 * count), peer_lost (the rank is gone, and it sent fewer). */
int tessera_job_wait_for_notifications(const tessera_job* job, int64_t rank, int64_t count,
                                       int64_t* received);

/* Local. The number of operations of a kind that this rank made, and the bytes they moved: to all
 * ranks, or to one. Either result may be null. */
int tessera_job_traffic(const tessera_job* job, tessera_op op, int64_t* operations, int64_t* bytes);
int tessera_job_traffic_to(const tessera_job* job, int64_t rank, tessera_op op, int64_t* operations,
                           int64_t* bytes);

/* Local. Bytes of memory that this process can still allocate: the memory that the kernel reports
 * as available, or what its control group leaves, whichever is less. Needs no job. */
int tessera_memory_available(int64_t* bytes);
/* Local. Bytes of this rank's memory that arrays and other remotely accessible memory take; and a
 * table of them, one line each, as a text (see tessera_job_transport). */
int tessera_job_memory_in_use(const tessera_job* job, int64_t* bytes);
int tessera_job_regions(const tessera_job* job, char* text, int64_t capacity, int64_t* length);
/* Local. Zeroed memory that transports use without copying or registering it. */
int tessera_job_allocate_local(const tessera_job* job, int64_t bytes, void** memory);
int tessera_job_free_local(const tessera_job* job, void* memory);

/* --- teams ------------------------------------------------------------------------------------ */

/* Local. The team of all ranks, in rank order. */
int tessera_team_world(tessera_job* job, tessera_team** team);
/* Collective over the listed ranks, which all give the same list. Errors: invalid_argument (an
 * empty list, a rank twice or outside the job, the caller is not in the list). */
int tessera_team_create(tessera_job* job, int64_t count, const int64_t ranks[],
                        tessera_team** team);
/* Collective over `parent`. Members that give the same color form a team, ordered by key. A
 * negative color gives a team of the caller alone. */
int tessera_team_split(const tessera_team* parent, int64_t color, int64_t key, tessera_team** team);
/* Local. Arrays on the team stay valid. Sets *team to null. */
int tessera_team_free(tessera_team** team);

/* Local. This rank's member number in the team, and the number of members. */
int tessera_team_rank(const tessera_team* team, int64_t* member);
int tessera_team_size(const tessera_team* team, int64_t* size);
/* Local. The rank of a member; the member number of a rank, or -1 if it is not a member. */
int tessera_team_world_rank(const tessera_team* team, int64_t member, int64_t* rank);
int tessera_team_member(const tessera_team* team, int64_t rank, int64_t* member);

/* Collective. Returns when all members have called it. Errors of all collectives: peer_lost,
 * closed, invalid_argument (members called different collectives, or with different sizes). */
int tessera_team_barrier(const tessera_team* team);
/* Collective. Copies the root's bytes to all members. */
int tessera_team_broadcast(const tessera_team* team, void* data, int64_t bytes, int64_t root);
/* Collective. Collects `bytes` bytes of each member, in the order of the members, in `all`. */
int tessera_team_allgather(const tessera_team* team, const void* mine, int64_t bytes, void* all);
/* Collective. Combines `count` elements of each member, in place: on all members, or only on the
 * root. The result is the same in each run, and on all members. */
int tessera_team_allreduce(const tessera_team* team, void* elements, int64_t count,
                           tessera_type type, tessera_reduction reduction);
int tessera_team_reduce(const tessera_team* team, void* elements, int64_t count, tessera_type type,
                        tessera_reduction reduction, int64_t root);

/* Blocks of members in a buffer, in the following functions: member m's block has counts[m]
 * elements of `element_bytes` bytes, from element offsets[m] on. If offsets are null, blocks follow
 * each other. Counts may be zero. Buffers that are written do not overlap others. Errors: also
 * invalid_argument (a negative count or offset, blocks that overlap where they are written, a
 * member that expects another number of elements than is sent). */

/* Collective. Sends send_counts[m] elements to each member m, and receives receive_counts[m]. */
int tessera_team_alltoallv(const tessera_team* team, const void* send, const int64_t send_counts[],
                           const int64_t send_offsets[], void* receive,
                           const int64_t receive_counts[], const int64_t receive_offsets[],
                           int64_t element_bytes);
/* Collective. Sends `bytes` bytes to each member, and receives as many. */
int tessera_team_alltoall(const tessera_team* team, const void* send, int64_t bytes, void* receive);
/* Collective. Gathers `count` elements of each member at the root, or at all members. In gatherv
 * members other than the root may pass null for `all`, counts and offsets. In allgatherv all
 * members give the same counts; offsets may differ. */
int tessera_team_gatherv(const tessera_team* team, const void* own, int64_t count, void* all,
                         const int64_t counts[], const int64_t offsets[], int64_t element_bytes,
                         int64_t root);
int tessera_team_allgatherv(const tessera_team* team, const void* own, int64_t count, void* all,
                            const int64_t counts[], const int64_t offsets[], int64_t element_bytes);
/* Collective. Sends each member its block of the root's elements; it receives `count`. Other
 * members than the root may pass null for `all`, counts and offsets. */
int tessera_team_scatterv(const tessera_team* team, const void* all, const int64_t counts[],
                          const int64_t offsets[], void* own, int64_t count, int64_t element_bytes,
                          int64_t root);
/* Collective. Combines `count` elements in place with those of the members before this one, in the
 * order of the members: with this member's own, or without. Without, the first member gets what a
 * reduction of no elements gives: 0 for sums, 1 for products. */
int tessera_team_scan(const tessera_team* team, void* elements, int64_t count, tessera_type type,
                      tessera_reduction reduction);
int tessera_team_exclusive_scan(const tessera_team* team, void* elements, int64_t count,
                                tessera_type type, tessera_reduction reduction);
/* Collective. Starts a barrier or an allreduce; it is complete after tessera_handle_wait. Until
 * then the program must not use the elements. The handle is as for tessera_array_put_async. All
 * members start these and call the team's other collectives in the same order. They make progress
 * by themselves. Errors are returned by the wait. */
int tessera_team_barrier_async(const tessera_team* team, tessera_handle** handle);
int tessera_team_allreduce_async(const tessera_team* team, void* elements, int64_t count,
                                 tessera_type type, tessera_reduction reduction,
                                 tessera_handle** handle);

/* Collective. Agrees on one error code: TESSERA_OK if all members give it. Otherwise all members
 * return the code of the lowest member that gives another one, with that member's rank and text as
 * the last error. `text` says what failed here; null means this thread's last error. After an error
 * on one member, all members can so skip the same collectives. Errors of its own: those of all
 * collectives, and invalid_argument for a number that is not an error code. */
int tessera_team_agree(const tessera_team* team, int code, const char* text);

/* --- locks ------------------------------------------------------------------------------------ */

/* Collective over `team`. Makes `count` locks at this rank; counts may differ, and be zero. */
int tessera_locks_create(const tessera_team* team, int64_t count, tessera_locks** locks);
/* Collective. No lock may be held or waited for. Sets *locks to null. */
int tessera_locks_free(tessera_locks** locks);
/* Local. The number of locks at a member. */
int tessera_locks_count(const tessera_locks* locks, int64_t owner, int64_t* count);
/* One-sided. Waits until this thread holds lock `index` of `owner`. Errors: out_of_range, peer_lost
 * (its holder died; the lock is not taken). */
int tessera_locks_lock(const tessera_locks* locks, int64_t owner, int64_t index);
/* One-sided. The same without waiting; *taken is 1 if this thread holds the lock now. */
int tessera_locks_try_lock(const tessera_locks* locks, int64_t owner, int64_t index, int* taken);
/* One-sided. Errors: invalid_argument if this rank does not hold the lock. */
int tessera_locks_unlock(const tessera_locks* locks, int64_t owner, int64_t index);

/* --- shared counters -------------------------------------------------------------------------- */

/* Collective over `team`. Makes a counter with value zero, in the memory of member `owner`. */
int tessera_counter_create(const tessera_team* team, int64_t owner, tessera_counter** counter);
/* Collective. Sets *counter to null. */
int tessera_counter_free(tessera_counter** counter);
/* One-sided. Adds `count`; *value becomes the value before. */
int tessera_counter_next(const tessera_counter* counter, int64_t count, int64_t* value);
/* Collective. Sets the value; no member may call tessera_counter_next meanwhile. */
int tessera_counter_reset(const tessera_counter* counter, int64_t value);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_JOB_H */
