// SPDX-License-Identifier: BSD-3-Clause
#include "bench/linalg/scalapack.hpp"

namespace tessera::bench {

std::optional<Candidate> scalapack_candidate(Crew&, std::string, const ScalapackProblem&) {
  return std::nullopt;
}

}  // namespace tessera::bench
