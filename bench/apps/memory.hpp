// SPDX-License-Identifier: BSD-3-Clause
//
// Part "memory.applications": the peak memory of the applications, compared with their data: NAS
// MG, a sparse matrix that is built and multiplied by, coupled cluster.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. MG uses the first class of --classes.
void measure_application_memory(Session& session);

}  // namespace tessera::bench
