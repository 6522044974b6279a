// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "ccsd": the contractions in which coupled cluster spends its time, as tessera-ccsd does
// them (apps/ccsd/contraction.hpp): tasks from a shared counter, panels fetched ahead, tiles
// accumulated where they lie. Then the perturbative triples of a made-up molecule
// (apps/ccsd/triples.hpp). Beside both each rank multiplies matrices of its own, and rank 0 does
// all of it alone.
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. As many orbitals as -m lets matrices of pairs have bytes.
void measure_ccsd(Session& session);

std::vector<Target> ccsd_targets();

}  // namespace tessera::bench
