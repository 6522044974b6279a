// SPDX-License-Identifier: BSD-3-Clause
#include "bench/linalg/scalapack.hpp"

namespace tessera::bench {

std::optional<Candidate> scalapack_candidate(Crew&, std::string, const ScalapackProblem&) {
  return std::nullopt;
}

std::optional<Candidate> scalapack_redistribution(Crew&, const ScalapackProblem&,
                                                  const ScalapackProblem&) {
  return std::nullopt;
}

std::optional<Candidate> scalapack_transposition(Crew&, const ScalapackProblem&) {
  return std::nullopt;
}

}  // namespace tessera::bench
