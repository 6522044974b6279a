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
/// fetch_add, swap; lock and unlock that nobody contends.
void measure_atomics(Session& session);
/// Barrier, broadcast, allreduce; `bench` is the suite that they are a part of.
void measure_collectives(Session& session, const std::string& bench = "rma");
/// Ranks that accumulate on the same memory, take the same lock, draw from the same counter.
void measure_contention(Session& session, const std::string& bench = "rma");

/// The target for two ranks that accumulate on one, on the "same bytes" or "bytes apart".
std::string contention_target(const std::string& where);

/// What the design asks of same-node transfers (its section 5, rows "shm").
std::vector<Target> shm_targets();

}  // namespace tessera::bench
