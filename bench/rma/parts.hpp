// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "rma": one-sided communication between rank 0 and rank 1. Suite "net" has some
// of them, too.
#pragma once

#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

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
/// All ranks get from rank 0: each its own part, or all one block; and how evenly they are
/// served.
void measure_reads(Session& session);
/// Tasks drawn from a shared counter in chunks, by 1, 2, 4 … ranks; also from a counter for each
/// node that draws from a common one.
void measure_tasks(Session& session);
/// The same operations on rank 0's NUMA node, on another NUMA node of its node, and on another
/// node, if such ranks exist.
void measure_locations(Session& session);

/// 1, 2, 4 … and the most. Requires: most > 0.
std::vector<int> doubling_to(int most);
/// The first and every second size of a list.
std::vector<std::int64_t> every_second(const std::vector<std::int64_t>& sizes);

/// Ranks that accumulate on the same memory, take the same lock, draw from the same counter.
void measure_contention(Session& session, const std::string& bench = "rma");

/// The target's name for two ranks that accumulate on one rank, on the "same bytes" or "bytes
/// apart".
std::string contention_target(const std::string& where);

/// Suite "armci": calls of the ARMCI interface by Tessera and by ARMCI-MPI. Of the sizes of -m;
void measure_armci_contiguous(Session& session);
/// 1 to 1024 rows of 16 and 1024 bytes;
void measure_armci_strided(Session& session);
/// 1000 scattered doubles as lists, in non-blocking calls, and with an aggregate handle;
void measure_armci_lists(Session& session);
/// atomics, a mutex of the target, a put and its fence, a barrier;
void measure_armci_synchronisation(Session& session);
/// small calls while the target receives, waits in a barrier, or computes;
void measure_armci_progress(Session& session);
/// how much of a get a computation hides;
void measure_armci_overlap(Session& session);
/// and gets from one and from each of up to 5000 allocations.
void measure_armci_allocations(Session& session);

/// The design's limits for same-node transfers (rows "shm").
std::vector<Target> shm_targets();

}  // namespace tessera::bench
