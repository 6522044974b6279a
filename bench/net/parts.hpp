// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "net": one-sided communication between rank 0 and rank 1 on different nodes.
// The agent of rank 1's node executes requests.
//
// Puts and accumulates are measured with a fence after them, because the baselines' requests also
// have replies. If they are not, the title says so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// Runs `part` if ranks 0 and 1 are on different nodes; otherwise prints a remark that says how to
/// get that. `bench` is the suite that it is a part of.
std::function<void(Session&)> between_nodes(std::function<void(Session&)> part,
                                            const std::string& bench = "net");

/// Put, get, accumulate, fetch_add, swap; lock and unlock without contention.
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

/// The names of targets whose ratios a part reports with Targets::observe().
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

}  // namespace tessera::bench
