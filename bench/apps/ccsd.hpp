// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "ccsd": the contractions in which coupled cluster spends its time, as tessera-ccsd does
// them (apps/ccsd/contraction.hpp): tasks from a shared counter, prefetched panels, tiles
// accumulated at their owners. Then the perturbative triples of an artificial molecule
// (apps/ccsd/triples.hpp). Both are compared with each rank's own matrix products, and with rank 0
// alone doing all of it.
#pragma once

#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. The numbers of orbitals are limited by -m, the bytes of a matrix of pairs.
void measure_ccsd(Session& session);

/// A job that does it, and its name.
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
