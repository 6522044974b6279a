// SPDX-License-Identifier: BSD-3-Clause
//
// Part "memory.applications": the most memory that the applications take, beside their data: NAS
// MG, a sparse matrix that is built and multiplied by, coupled cluster.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. MG of the first of --classes.
void measure_application_memory(Session& session);

}  // namespace tessera::bench
