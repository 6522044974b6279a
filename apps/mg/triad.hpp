// SPDX-License-Identifier: BSD-3-Clause
//
// The STREAM triad, a = b + q c, as the yardstick for memory-bound programs: MG's rate divided by
// it says how many operations are done for each byte that the memory could have moved.
//
// Bytes are counted as STREAM does (McCalpin): 24 an element, two reads and a write; the read of
// `a` that a cache makes before the write is not counted. The arrays are each at least four times
// the last-level cache.
#pragma once

#include <cstdint>

namespace tessera::apps::mg {

struct TriadResult {
  double best_gb_per_s = 0.0;  ///< 1e9 bytes a second
  double median_gb_per_s = 0.0;
  std::int64_t elements = 0;  ///< of each array
};

/// Elements an array needs on this machine; `share` programs that run at once divide them.
[[nodiscard]] std::int64_t triad_elements(std::int64_t share = 1);

/// Measures `repeats` triads on three arrays of `elements` each, after one to warm up.
[[nodiscard]] TriadResult measure_triad(std::int64_t elements, int repeats = 11);

}  // namespace tessera::apps::mg
