// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "ccsd": the contractions in which coupled cluster spends its time, as tessera-ccsd does
// them (apps/ccsd/contraction.hpp): tasks from a shared counter, panels fetched ahead, tiles
// accumulated where they lie. Then the perturbative triples of a made-up molecule
// (apps/ccsd/triples.hpp). Beside both each rank multiplies matrices of its own, and rank 0 does
// all of it alone.
#pragma once

#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. As many orbitals as -m lets matrices of pairs have bytes.
void measure_ccsd(Session& session);

/// A job that does it, and what it is called.
struct CcsdJob {
  std::string name;
  rma::Job* job = nullptr;
};
/// Collective. The same by several jobs of the same ranks, all in the same rounds; the last one is
/// the subject. `bench` is the suite that it is a part of.
void measure_ccsd_by_jobs(Session& session, const std::string& bench,
                          const std::vector<CcsdJob>& jobs);

std::vector<Target> ccsd_targets();

}  // namespace tessera::bench
