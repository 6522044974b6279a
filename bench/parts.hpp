// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of all suites, and their targets. All ranks call a part together. The suites' files say
// what they compare with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

// --- suite rma: one-sided communication between rank 0 and rank 1; some are in suite net, too
// -----

/// Put, get and accumulate of one run, over the sizes of -m; and put with a fence.
void measure_contiguous(Session& session);
/// Rows of 16, 64 and 1024 bytes.
void measure_strided(Session& session);
/// 1000 scattered doubles: as one list, and as 1000 non-blocking gets.
void measure_scattered(Session& session);
/// fetch_add, swap, compare_swap; lock and unlock without contention.
void measure_atomics(Session& session);
/// Barrier, broadcast, allreduce, reduce, allgather; `bench` is the suite that they are a part of.
void measure_collectives(Session& session, const std::string& bench = "rma");
/// Put, get and accumulate with -W messages outstanding and one fence after them, as osu_put_bw.
void measure_window(Session& session);
/// The same puts, by ranks 0 and 1 to each other.
void measure_both_ways(Session& session);
/// Small puts and gets by 1, 2, 4 … pairs of ranks at once, as osu_mbw_mr.
void measure_rate_of_pairs(Session& session);
/// 1000 words: one call each, as one list, as an aggregate.
void measure_aggregation(Session& session);
/// Barrier, fence of one rank, fence of all, for different numbers of participating ranks.
void measure_sync(Session& session);
/// All ranks get from rank 0: each its own part, or all one block; and how evenly they are served.
void measure_reads(Session& session);
/// Tasks drawn from a shared counter in chunks, by 1, 2, 4 … ranks; also from a counter for each
/// node that draws from a common one.
void measure_tasks(Session& session);
/// The same operations on rank 0's NUMA node, on another NUMA node of its node, and on another
/// node, if such ranks exist.
void measure_locations(Session& session);
/// Ranks that accumulate on the same memory, take the same lock, draw from the same counter.
void measure_contention(Session& session, const std::string& bench = "rma");
/// The ghost exchange of periodic arrays with two and three dimensions.
void measure_ghosts(Session& session);

/// 1, 2, 4 … and the most. Requires: most > 0.
std::vector<int> doubling_to(int most);
/// The first and every second size of a list.
std::vector<std::int64_t> every_second(const std::vector<std::int64_t>& sizes);
/// The target's name for two ranks that accumulate on one rank, on the "same bytes" or "bytes
/// apart".
std::string contention_target(const std::string& where);
/// The design's limits for same-node transfers (rows "shm").
std::vector<Target> shm_targets();

/// Collective over the session's ranks. All ranks repeat `once` for 10 ms, several times. Records
/// fewest / most of the ranks' counts as `subject` of `backend`, and prints it in a remark. 1 is
/// fair. Records nothing for a single rank.
void measure_fairness(Session& session, const Subject& subject, const std::string& backend,
                      const std::function<void()>& once);

// --- suite armci: calls of the ARMCI interface by Tessera and by ARMCI-MPI
// -------------------------

void measure_armci_contiguous(Session& session);
/// 1 to 1024 rows of 16 and 1024 bytes.
void measure_armci_strided(Session& session);
/// 1000 scattered doubles as lists, in non-blocking calls, and with an aggregate handle.
void measure_armci_lists(Session& session);
/// Atomics, a mutex of the target, a put and its fence, a barrier.
void measure_armci_synchronisation(Session& session);
/// Small calls while the target receives, waits in a barrier, or computes.
void measure_armci_progress(Session& session);
/// How much of a get a computation hides.
void measure_armci_overlap(Session& session);
/// Gets from one and from each of up to 5000 allocations.
void measure_armci_allocations(Session& session);

// --- suite net: one-sided communication between ranks 0 and 1 on different nodes
// -------------------- Puts and accumulates have a fence after them, because the baselines'
// requests also have replies. If they are not, the title says so.

/// Runs `part` if ranks 0 and 1 are on different nodes; otherwise prints a remark that says how to
/// get that. `bench` is the suite that it is a part of.
std::function<void(Session&)> between_nodes(std::function<void(Session&)> part,
                                            const std::string& bench = "net");

/// Put, get, accumulate, fetch_add, swap; lock and unlock without contention; round trips of bare
/// messages.
void measure_net_latency(Session& session);
/// The same on rank 0's node and across nodes; lock and unlock separately. Needs a rank on rank 0's
/// node and one on another; otherwise prints a remark.
void measure_net_locations(Session& session);
/// Many small messages outstanding.
void measure_net_rate(Session& session);
/// Large puts and gets: one after the other, and four outstanding.
void measure_net_bandwidth(Session& session);
/// Puts, gets and accumulates with -W of them outstanding.
void measure_net_window(Session& session);
/// Rows of 16 and 1024 bytes; square patches in one call and in one call per row.
void measure_net_strided(Session& session);
/// Large transfers and square patches by each of the protocols that settings choose.
void measure_net_protocols(Session& session);
/// Patches of larger local arrays: packed, direct, and by the library's choice.
void measure_net_local_patches(Session& session);
/// 1000 scattered doubles: as one list, as an aggregate, and in 1000 non-blocking calls.
void measure_net_scattered(Session& session);
/// How much of a get a computation hides, while the target sleeps and while it computes.
void measure_net_overlap(Session& session);
/// The same for smaller gets, with growing computations: from where on the total time grows.
void measure_net_overlap_steps(Session& session);
/// Small operations at unpredictable moments, while the target computes.
void measure_net_progress(Session& session);
/// fence_all after changes of none, some and all of the other ranks; by rank 0 and by all ranks.
void measure_net_fence(Session& session);
/// The processor time of an idle agent.
void measure_net_idle(Session& session);

/// The design's limits between nodes (rows "tcp" and "idle agent").
std::vector<Target> net_targets();

namespace net_target {

inline constexpr const char* get_awake = "get 8 B, agent awake: time / polling TCP";
inline constexpr const char* get_asleep = "get 8 B, agent blocks: time / blocking TCP";
inline constexpr const char* stream = "from 1 MiB, 4 outstanding: speed / raw stream";
inline constexpr const char* request = "from 1 MiB, one blocking: speed / raw request";
inline constexpr const char* long_rows = "1024 rows of 1 KiB: speed / contiguous";
inline constexpr const char* vector = "1000 doubles, one list: time / round trip";
inline constexpr const char* aggregate = "1000 doubles, aggregate: time / one list";
inline constexpr const char* separate = "1000 doubles, 1000 calls: time / round trip";
inline constexpr const char* overlap_idle = "get 4 MiB, target idle: part hidden";
inline constexpr const char* overlap_busy = "get 4 MiB, target computing: hidden / raw";
inline constexpr const char* idle_agent = "idle agent: part of a core";

}  // namespace net_target

// --- suite verbs: puts and gets between ranks 0 and 1 over RDMA devices
// ----------------------------- A bare loop on libibverbs (bench/baselines/verbs_baseline.hpp)
// takes part in the same rounds.

class VerbsPair;

/// Runs `part` between nodes if rank 0 reaches rank 1 over RDMA devices; otherwise prints a remark.
std::function<void(Session&)> over_devices(std::function<void(VerbsPair&)> part);

/// Blocking puts and gets of 8 B to 4 KiB.
void measure_verbs_latency(VerbsPair& pair);
/// 64 KiB to 4 MiB, with registered memory and with memory that is not registered.
void measure_verbs_bandwidth(VerbsPair& pair);
/// Rows of 16 B to 8 KiB, compared with the same number of bytes in one piece ([ARMCI06], figure
/// 18).
void measure_verbs_strided(VerbsPair& pair);
/// Patches of larger local arrays: packed, direct, and by the library's choice.
void measure_verbs_local_patches(VerbsPair& pair);
/// The processor time that a transfer leaves to a simultaneous computation ([ARMCI06], figure 19).
void measure_verbs_overlap(VerbsPair& pair);
/// Puts from registered memory, from memory used before, and from memory new each time.
void measure_verbs_registration(VerbsPair& pair);

/// The design's limits for RDMA devices (rows "verbs").
std::vector<Target> verbs_targets();

namespace verbs_target {

inline constexpr const char* word = "verbs put, get 8 B: time / bare loop";
inline constexpr const char* large = "verbs from 64 KiB: speed / bare loop";
inline constexpr const char* local_patches = "verbs local patches: speed / dense rows";
inline constexpr const char* left = "verbs from 64 KiB: part left over";
inline constexpr const char* left_by_tessera = "verbs from 64 KiB: left, bare loop's aside";

}  // namespace verbs_target

// --- suite mpi: Tessera on MPI's windows ([ARMCIMPI12], figures 3 to 6)
// -----------------------------

/// Runs `part` if rank 0 reaches rank 1 by transport mpi; otherwise prints a remark that says how
/// to get that.
std::function<void(Session&)> over_windows(std::function<void(Session&)> part);

/// Put, get and accumulate of one run, over the sizes of -m; locally complete, and complete at the
/// target.
void measure_windows_contiguous(Session& session);
/// 1 to 1024 segments of 16 and 1024 bytes, as lists and as rows, by each method.
void measure_windows_lists(Session& session);
/// Puts and gets with local memory of the library, of MPI and of the user.
void measure_windows_buffers(Session& session);
/// Finding the region of an address among 5000.
void measure_windows_translation(Session& session);
/// Coupled cluster on this transport and on native ones, in the same rounds.
void measure_windows_ccsd(Session& session);

/// The design's limits for transport mpi.
std::vector<Target> windows_targets();

namespace windows_target {

inline constexpr const char* put = "mpi put 8 B to 64 KiB: time / bare MPI";
inline constexpr const char* get = "mpi get 8 B to 64 KiB: time / bare MPI";
inline constexpr const char* accumulate = "mpi accumulate 8 B to 64 KiB: time / bare MPI";
inline constexpr const char* contiguous = "mpi contiguous: time / ARMCI-MPI";
inline constexpr const char* lists = "mpi lists from 64 segments: speed / ARMCI-MPI";
inline constexpr const char* rows = "mpi rows from 64 segments: speed / ARMCI-MPI";
inline constexpr const char* translation = "translation among 5000 regions: ns";

}  // namespace windows_target

// --- suite scale: agents with very many nodes ([CLUSTERED10], figures 6 to 8)
// -----------------------

/// How much an agent's process grows if N processes, 12 per node, communicate with it: in the
/// current configuration, with agents in clusters, and with buffers for each client. Rank 0 alone
/// creates the agent's real objects.
void measure_scale_memory(Session& session);
/// The same for this job: how much the processes with agents grow while all ranks communicate with
/// all.
void measure_scale_job(Session& session);
/// Gets and puts from rank 0 to a node that it contacts directly, compared with a node to which
/// another agent forwards its requests. Needs agents in clusters.
void measure_scale_forward(Session& session);
/// The limits for the memory of agents.
std::vector<Target> scale_targets();

// --- suites of arrays and matrices
// --------------------------------------------------------------------

/// Square boxes in one block of rank 1, and one that extends over all blocks.
void measure_patches(Session& session);
/// Boxes of three and four dimensions inside of one block, compared with the bare strided call, the
/// same bytes in one piece, and MPI's subarray types.
void measure_boxes(Session& session);
std::vector<Target> patch_targets();
/// Lists of 1000 to 10⁶ elements per rank, as far as -m allows, spread over the whole matrix.
void measure_elements(Session& session);
std::vector<Target> element_targets();
/// All ranks get, or accumulate to, patches of their own choice at once. Times include the
/// beginning and the end of the access mode.
void measure_modes(Session& session);

/// An array file, compared with bare system calls that do the same with each rank's own memory.
void measure_checkpoint_write(Session& session);
void measure_checkpoint_read(Session& session);
/// Reads what all ranks have written: by all ranks, by half of them, and by one.
void measure_checkpoint_restart(Session& session);

/// One block per rank to blocks of 64 dealt cyclically, and back.
void measure_redistribution(Session& session);
/// One block per rank to one block per rank.
void measure_transposition(Session& session);
/// For each edge of --edges: C = A B of square matrices, distributed in several ways.
void measure_gemm(Session& session);
std::vector<Target> gemm_targets();

/// y = A x, compared with the loop that each rank would run on its rows if it had all of x.
void measure_spmv(Session& session);
std::vector<Target> spmv_targets();
/// Products between nodes, by each way to read other ranks' elements; each rank's communication.
void measure_spmv_modes(Session& session);
std::vector<Target> spmv_mode_targets();
/// Conjugate gradients, as in HPCG but without its preconditioner.
void measure_cg(Session& session);
/// Checks the name of a matrix given by --matrix. Returns an error message, or an empty text.
std::string check_matrix(const std::string& name);

// --- applications, and memory
// -------------------------------------------------------------------------

/// NAS MG, as tessera-mg runs it, alternating with the STREAM triad.
void measure_mg(Session& session);
/// An error message for a list of classes such as "A,B"; empty if the list is right.
std::string check_mg_classes(const std::string& classes);
/// The design's limits for operations per byte, by class, on one and two ranks.
std::vector<Target> mg_targets();

/// HPC Challenge's RandomAccess; see bench/apps/gups.cpp for what differs.
void measure_gups(Session& session);

/// The contractions and triples of coupled cluster. The numbers of orbitals are limited by -m, the
/// bytes of a matrix of pairs.
void measure_ccsd(Session& session);
/// A job that does it, and its name.
struct CcsdJob {
  std::string name;
  rma::Job* job = nullptr;
};
/// The same by several jobs of the same ranks, all in the same rounds; the last one is the subject.
/// `bench` is the suite that it is a part of.
void measure_ccsd_by_jobs(Session& session, const std::string& bench,
                          const std::vector<CcsdJob>& jobs);
std::vector<Target> ccsd_targets();

struct PeakWork {
  std::string name;
  std::string size;       ///< printed: "n = 2000"
  std::int64_t data = 0;  ///< bytes of a rank's share; of the rank with the largest share
  // bytes per rank that the work takes in addition, according to its documentation
  std::int64_t buffers = 0;
  std::function<void()> run;  ///< collective; allocates the data and frees them
};
/// Measures the peak of the rank with the highest one: its own pages, and its share of the shared
/// memory of its node. Divided by the limit, 1.3 × data + buffers, it is one case of
/// peak_targets().
void measure_peak(Session& session, const PeakWork& work);
/// Operations on whole arrays, with square matrices of the largest of --edges.
void measure_memory(Session& session);
/// NAS MG of the first class of --classes, a sparse matrix, coupled cluster.
void measure_application_memory(Session& session);
std::vector<Target> peak_targets();

}  // namespace tessera::bench
