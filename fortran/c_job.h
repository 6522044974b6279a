/* SPDX-License-Identifier: BSD-3-Clause
 *
 * c_job.h: the parallel run, teams of its ranks, locks and shared counters; see c_api.h.
 *
 * Ranks of the whole job are called ranks; a place in a team is called a member. Threads: a team's
 * collectives by one thread at a time; all else by any thread.
 */
#ifndef TESSERA_C_JOB_H
#define TESSERA_C_JOB_H

#include "fortran/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- the run ---------------------------------------------------------------------------------- */

/* Collective over all ranks. Starts under tessera-run, mpirun or srun, or alone, whichever it is.
 * Errors: invalid_argument (settings), timed_out and peer_lost (others did not come), unreachable,
 * no_memory, limit_exceeded, unsupported, protocol (docs/errors.md). */
int tessera_job_start(tessera_job** job);
/* Collective over a communicator, given as MPI_Comm_c2f returns it. Errors: also invalid_argument
 * where MPI is not running, or for MPI_COMM_NULL; unsupported where the library was built without
 * MPI. */
int tessera_job_start_mpi(int communicator, tessera_job** job);
/* Local. This process is the whole job, whatever started it. */
int tessera_job_start_alone(tessera_job** job);
/* Collective, as tessera_job_start, or tessera_job_start_mpi where `communicator` is not null, with
 * `count` settings of the form "TESSERA_LOG=debug" (docs/tuning.md), which go before those of the
 * environment. Errors: also invalid_argument for one that is none, or that has no such value. */
int tessera_job_start_with(int64_t count, const char* const settings[], const int* communicator,
                           tessera_job** job);
/* Collective. Completes this rank's operations and leaves the run. Handles may still be freed,
 * which is local then, and asked about what they stand for; what reaches elements, own ones too, or
 * other ranks gives `closed`. Idempotent. Errors: what the last fence found. */
int tessera_job_stop(tessera_job* job);
/* Collective unless it was stopped. Stops the job and frees everything that was made with it; all
 * those handles are gone. Sets *job to null. */
int tessera_job_free(tessera_job** job);

/* Local; does not return. Ends this process with `code` (1 for 0, which would tell of success) and
 * all others of its job, also those that only compute: under mpirun with MPI, and under
 * tessera-run. Elsewhere the others are told by their own waits. Output is flushed, exit's handlers
 * don't run. Needs no job. */
void tessera_end_job(int code);

/* Local. This rank, and how many there are. */
int tessera_job_rank(const tessera_job* job, int64_t* rank);
int tessera_job_size(const tessera_job* job, int64_t* size);
/* Local. Nodes are numbered from 0 in the order of their lowest ranks. */
int tessera_job_node_count(const tessera_job* job, int64_t* count);
int tessera_job_node(const tessera_job* job, int64_t rank, int64_t* node);
/* Local. 1 when the rank shares this rank's memory. */
int tessera_job_shares_node(const tessera_job* job, int64_t rank, int* shares);
/* Local. 1 while the rank has neither left nor died, as far as this node can tell. */
int tessera_job_is_present(const tessera_job* job, int64_t rank, int* present);
/* Local. The name of the transport to a rank, and the value of a setting ("TESSERA_LOG"), as
 * texts: at most `capacity` bytes with the final zero are written to `text`, which may be null if
 * capacity is 0, and *length, unless it is null, is how long the whole text is without the zero. */
int tessera_job_transport(const tessera_job* job, int64_t rank, char* text, int64_t capacity,
                          int64_t* length);
int tessera_job_setting(const tessera_job* job, const char* name, char* text, int64_t capacity,
                        int64_t* length);

/* One-sided. Waits until what was detached is complete here: all, or what went to one rank. */
int tessera_job_wait_all(const tessera_job* job);
int tessera_job_wait_rank(const tessera_job* job, int64_t rank);
/* One-sided. Returns when all operations of this rank are complete at their targets: everywhere, or
 * at one rank. Reports errors of transfers that nobody waited for. */
int tessera_job_fence_all(const tessera_job* job);
int tessera_job_fence(const tessera_job* job, int64_t rank);
/* Collective over all ranks. A fence and a barrier. */
int tessera_job_barrier(const tessera_job* job);

/* One-sided. Tells a rank that what this one had put and accumulated there, and was complete here,
 * has come. *sent, unless it is null, is how often it was told so in all. Errors: out_of_range,
 * peer_lost. */
int tessera_job_notify(const tessera_job* job, int64_t rank, int64_t* sent);
/* Local. Sleeps until a rank has told this one so `count` times in all; *received, unless it is
 * null, is how often it has. Errors: out_of_range, invalid_argument (a negative count), peer_lost
 * (it is gone, and told it less often). */
int tessera_job_wait_for_notifications(const tessera_job* job, int64_t rank, int64_t count,
                                       int64_t* received);

/* Local. How many operations of a kind this rank made, and the bytes they moved: to all ranks, or
 * to one. Either result may be null. */
int tessera_job_traffic(const tessera_job* job, tessera_op op, int64_t* operations, int64_t* bytes);
int tessera_job_traffic_to(const tessera_job* job, int64_t rank, tessera_op op, int64_t* operations,
                           int64_t* bytes);

/* Local. How many bytes this process can still take on its machine: what the kernel calls
 * available, or what its control group leaves, whichever is less. Needs no job. */
int tessera_memory_available(int64_t* bytes);
/* Local. How many bytes of this rank's memory arrays take, and whatever else was made for remote
 * access; and a table of it, a line each, as a text (see tessera_job_transport). */
int tessera_job_memory_in_use(const tessera_job* job, int64_t* bytes);
int tessera_job_regions(const tessera_job* job, char* text, int64_t capacity, int64_t* length);
/* Local. Memory that transports use without copying or registering it; zeroed. */
int tessera_job_allocate_local(const tessera_job* job, int64_t bytes, void** memory);
int tessera_job_free_local(const tessera_job* job, void* memory);

/* --- teams ------------------------------------------------------------------------------------ */

/* Local. The team of all ranks, in rank order. */
int tessera_team_world(tessera_job* job, tessera_team** team);
/* Collective over the listed ranks, who all give the same list. Errors: invalid_argument (an empty
 * list, a rank twice or outside the job, the caller missing). */
int tessera_team_create(tessera_job* job, int64_t count, const int64_t ranks[],
                        tessera_team** team);
/* Collective on `parent`. Members that give the same color form a team, ordered by key; a negative
 * color gives a team of the caller alone. */
int tessera_team_split(const tessera_team* parent, int64_t color, int64_t key, tessera_team** team);
/* Local. Arrays on the team keep what they need. Sets *team to null. */
int tessera_team_free(tessera_team** team);

/* Local. This rank's place in the team, and how many members there are. */
int tessera_team_rank(const tessera_team* team, int64_t* member);
int tessera_team_size(const tessera_team* team, int64_t* size);
/* Local. The rank of a member; the member that a rank is, -1 if it is none. */
int tessera_team_world_rank(const tessera_team* team, int64_t member, int64_t* rank);
int tessera_team_member(const tessera_team* team, int64_t rank, int64_t* member);

/* Collective. Returns when all members have come. Errors of all collectives: peer_lost, closed,
 * invalid_argument (members called different collectives, or with different sizes). */
int tessera_team_barrier(const tessera_team* team);
/* Collective. Copies the root's bytes into everybody's. */
int tessera_team_broadcast(const tessera_team* team, void* data, int64_t bytes, int64_t root);
/* Collective. Equally many bytes of each member, one after the other in `all`. */
int tessera_team_allgather(const tessera_team* team, const void* mine, int64_t bytes, void* all);
/* Collective. Combines `count` elements of each member, in place: on all members, or at the root
 * only. The same result each time and on all members. */
int tessera_team_allreduce(const tessera_team* team, void* elements, int64_t count,
                           tessera_type type, tessera_reduction reduction);
int tessera_team_reduce(const tessera_team* team, void* elements, int64_t count, tessera_type type,
                        tessera_reduction reduction, int64_t root);
/* Collective. Makes one code of the members': TESSERA_OK if all give it, else on all of them the
 * code of the lowest member that gives another one, with its rank and its text as the last error.
 * `text` says what went wrong here; null: this thread's last error. So after an error of one member
 * all leave out the same collectives. Errors of its own: those of all collectives, and
 * invalid_argument for a number that is no code. */
int tessera_team_agree(const tessera_team* team, int code, const char* text);

/* --- locks ------------------------------------------------------------------------------------ */

/* Collective on `team`. Makes `count` locks at this rank; counts may differ, and be zero. */
int tessera_locks_create(const tessera_team* team, int64_t count, tessera_locks** locks);
/* Collective. No lock is held or waited for. Sets *locks to null. */
int tessera_locks_free(tessera_locks** locks);
/* Local. How many locks a member brought. */
int tessera_locks_count(const tessera_locks* locks, int64_t owner, int64_t* count);
/* One-sided. Waits until lock `index` of `owner` is this thread's. Errors: out_of_range, peer_lost
 * (its holder died; the lock is not taken). */
int tessera_locks_lock(const tessera_locks* locks, int64_t owner, int64_t index);
/* One-sided. The same without waiting; *taken is 1 if it is this thread's now. */
int tessera_locks_try_lock(const tessera_locks* locks, int64_t owner, int64_t index, int* taken);
/* One-sided. Errors: invalid_argument when this rank does not hold it. */
int tessera_locks_unlock(const tessera_locks* locks, int64_t owner, int64_t index);

/* --- shared counters -------------------------------------------------------------------------- */

/* Collective on `team`. A counter at zero, in the memory of its member `owner`. */
int tessera_counter_create(const tessera_team* team, int64_t owner, tessera_counter** counter);
/* Collective. Sets *counter to null. */
int tessera_counter_free(tessera_counter** counter);
/* One-sided. *value is what it was before `count` was added. */
int tessera_counter_next(const tessera_counter* counter, int64_t count, int64_t* value);
/* Collective. Sets it; nobody may draw meanwhile. */
int tessera_counter_reset(const tessera_counter* counter, int64_t value);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_JOB_H */
