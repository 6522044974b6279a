// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "rma": one-sided communication, between rank 0 and rank 1. Suite "net" has
// some of them, too.
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
/// fetch_add, swap, compare_swap; lock and unlock that nobody contends.
void measure_atomics(Session& session);
/// Barrier, broadcast, allreduce; `bench` is the suite that they are a part of.
void measure_collectives(Session& session, const std::string& bench = "rma");
/// Put, get and accumulate with -W messages outstanding, as osu_put_bw; one fence behind them.
void measure_window(Session& session);
/// The same puts, by ranks 0 and 1 to each other.
void measure_both_ways(Session& session);
/// Small puts and gets by 1, 2, 4 … pairs of ranks at once, as osu_mbw_mr.
void measure_rate_of_pairs(Session& session);
/// 1000 words: one by one, as one list, as an aggregate.
void measure_aggregation(Session& session);
/// Barrier, fence of one rank, fence of all, by how many ranks take part.
void measure_sync(Session& session);
/// All ranks get from rank 0: each its own part, or all the same block; and how evenly.
void measure_reads(Session& session);
/// Tasks drawn from a shared counter in chunks, by 1, 2, 4 … ranks; also from a counter for each
/// node that draws from a common one.
void measure_tasks(Session& session);
/// The same operations on rank 0's NUMA node, on another one of its node, and on another node, as
/// far as there are ranks.
void measure_places(Session& session);

/// 1, 2, 4 … and the most. Requires: most > 0.
std::vector<int> doubling_to(int most);
/// Of a list of sizes the first, and every second one behind it.
std::vector<std::int64_t> every_second(const std::vector<std::int64_t>& sizes);

/// Ranks that accumulate on the same memory, take the same lock, draw from the same counter.
void measure_contention(Session& session, const std::string& bench = "rma");

/// The target for two ranks that accumulate on one, on the "same bytes" or "bytes apart".
std::string contention_target(const std::string& where);

/// What the design asks of same-node transfers (its section 5, rows "shm").
std::vector<Target> shm_targets();

}  // namespace tessera::bench
