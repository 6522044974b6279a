// SPDX-License-Identifier: BSD-3-Clause
//
// The peak memory of operations on whole arrays, compared with their data.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. With square matrices of the largest of --edges.
void measure_memory(Session& session);

}  // namespace tessera::bench
