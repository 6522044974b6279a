// SPDX-License-Identifier: BSD-3-Clause
//
// solve(): iterates the CCSD equations to convergence, from perturbation theory or from the
// checkpoint of an earlier run with any number of ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/ccsd/equations.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

/// Amplitudes are converged if the norm of the last step is below this. Energies are linear in the
/// remaining error: they are then exact to about 1e-13 hartree, twelve digits for small molecules.
/// Rounding errors leave steps of 1e-15 to 1e-14.
inline constexpr double step_tolerance = 1e-12;
/// Iterations that the extrapolation keeps.
inline constexpr std::size_t diis_depth = 8;

struct Iteration {
  std::int64_t number = 0;
  double energy = 0.0;     ///< the correlation energy of these amplitudes
  double step_norm = 0.0;  ///< of the step that led to them
};

struct SolveOptions {
  std::int64_t max_iterations = 60;
  std::string restart_file = {};     ///< where to start; empty: perturbation theory
  std::string checkpoint_file = {};  ///< written after each iteration; empty: none
  /// Called after each iteration.
  std::function<void(const Iteration&)> progress = {};
  /// Called once, for the first file that could not be written.
  std::function<void(const Iteration&, const rma::Status&)> checkpoint_failed = {};
};

struct Solution {
  double mp2_energy = 0.0;
  Iteration last;
  double first_step_norm = 0.0;
  bool is_converged = false;
  /// Of the last checkpoint; if not ok, the file has amplitudes of an earlier iteration, or does
  /// not exist.
  rma::Status checkpoint = {};
};

/// Collective. After a checkpoint that cannot be written the run continues, and tries again after
/// the next iteration. Errors: those of the equations, and of the restart file; invalid_argument
/// for a file of another molecule.
rma::Result<Solution> solve(const rma::Job& job, const Model& model, CcsdEquations& equations,
                            Amplitudes& amplitudes, const SolveOptions& options);

}  // namespace tessera::apps::ccsd
