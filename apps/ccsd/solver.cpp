// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/solver.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "apps/ccsd/amplitude_file.hpp"
#include "apps/ccsd/diis.hpp"

namespace tessera::apps::ccsd {

using rma::Result;
using rma::Status;

Result<Solution> solve(const rma::Job& job, const Model& model, CcsdEquations& equations,
                       Amplitudes& amplitudes, const SolveOptions& options) {
  Solution solution;
  TESSERA_RETURN_IF_ERROR(equations.guess(amplitudes));
  TESSERA_ASSIGN_OR_RETURN(solution.mp2_energy, equations.energy(amplitudes));
  if (!options.restart_file.empty()) {
    TESSERA_RETURN_IF_ERROR(load_amplitudes(job, options.restart_file, model.space, amplitudes));
  }
  TESSERA_ASSIGN_OR_RETURN(auto step, Amplitudes::create(job, model.space, "step"));
  TESSERA_ASSIGN_OR_RETURN(auto diis, Diis::create(job, model.space, diis_depth));
  Iteration& last = solution.last;
  const auto iterate = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(equations.step(amplitudes, step));
    TESSERA_ASSIGN_OR_RETURN(const double square, inner_product(step, step));
    last.step_norm = std::sqrt(square);
    TESSERA_RETURN_IF_ERROR(add_step(amplitudes, step));
    solution.is_converged = last.step_norm <= step_tolerance;
    // A combination of steps would not be better than one that is short enough.
    if (!solution.is_converged) {
      TESSERA_RETURN_IF_ERROR(diis.extrapolate(amplitudes, step));
    }
    TESSERA_ASSIGN_OR_RETURN(last.energy, equations.energy(amplitudes));
    // The last file that is of any use stays.
    return options.checkpoint_file.empty() || !std::isfinite(last.energy)
               ? Status()
               : save_amplitudes(job, options.checkpoint_file, model.space, amplitudes);
  };
  while (!solution.is_converged && last.number < options.max_iterations) {
    ++last.number;
    TESSERA_RETURN_IF_ERROR(iterate().context(fmt::format("iteration {}", last.number)));
    if (last.number == 1) {
      solution.first_step_norm = last.step_norm;
    }
    if (options.progress) {
      options.progress(last);
    }
    if (!std::isfinite(last.energy)) {
      break;
    }
  }
  return solution;
}

}  // namespace tessera::apps::ccsd
