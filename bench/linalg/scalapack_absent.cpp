// SPDX-License-Identifier: BSD-3-Clause
#include "bench/linalg/scalapack.hpp"

namespace tessera::bench {

std::optional<Candidate> scalapack_candidate(RankGroup&, std::string, const ScalapackProblem&) {
  return std::nullopt;
}

std::optional<Candidate> scalapack_redistribution(RankGroup&, const ScalapackProblem&,
                                                  const ScalapackProblem&) {
  return std::nullopt;
}

std::optional<Candidate> scalapack_transposition(RankGroup&, const ScalapackProblem&) {
  return std::nullopt;
}

}  // namespace tessera::bench
