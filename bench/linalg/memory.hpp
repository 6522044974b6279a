// SPDX-License-Identifier: BSD-3-Clause
//
// The most memory that operations on whole arrays take, beside the data that they work on.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. With square matrices of the largest of --edges.
void measure_memory(Session& session);

}  // namespace tessera::bench
