// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "verbs": puts and gets between rank 0 and rank 1 over RDMA devices, compared
// with a program that uses only libibverbs (bench/baselines/verbs_baseline.hpp) in the same rounds.
#pragma once

#include <functional>
#include <vector>

#include "bench/session.hpp"
#include "bench/verbs/devices.hpp"

namespace tessera::bench {

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

}  // namespace tessera::bench
