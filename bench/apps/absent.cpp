// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces what other libraries do of applications in a build without these libraries.
#include "bench/apps/others.hpp"
#include "bench/linalg/scalapack.hpp"

namespace tessera::bench {

#ifdef TESSERA_BENCH_NO_MPI
std::unique_ptr<apps::mg::Exchange> make_mpi_exchange(const RankGroup&, bool) {
  return nullptr;
}
std::unique_ptr<NeighbourProduct> make_neighbour_product(const RankGroup&,
                                                         const linalg::LocalCsr<double>&,
                                                         const std::vector<std::int64_t>&) {
  return nullptr;
}
#endif

#ifdef TESSERA_BENCH_NO_SCALAPACK
std::optional<Candidate> scalapack_candidate(RankGroup&, std::string, const ScalapackProblem&) {
  return {};
}
std::optional<Candidate> scalapack_redistribution(RankGroup&, const ScalapackProblem&,
                                                  const ScalapackProblem&) {
  return {};
}
std::optional<Candidate> scalapack_transposition(RankGroup&, const ScalapackProblem&) {
  return {};
}
#endif

}  // namespace tessera::bench
