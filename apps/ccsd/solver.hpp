// SPDX-License-Identifier: BSD-3-Clause
//
// solve(): iterates the CCSD equations to convergence, from perturbation theory or from where an
// earlier run had come, which may have had another number of ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/ccsd/equations.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

/// The norm of the last step below which amplitudes are converged. Energies are linear in what is
/// left: they are then exact to some 1e-13 hartree, twelve digits of those of small molecules.
/// Roundings leave steps of 1e-15 to 1e-14.
inline constexpr double step_tolerance = 1e-12;
/// Iterations that the extrapolation keeps.
inline constexpr std::size_t diis_depth = 8;

struct Iteration {
  std::int64_t number = 0;
  double energy = 0.0;     ///< the correlation energy of the amplitudes that were reached
  double step_norm = 0.0;  ///< of the step that led there
};

struct SolveOptions {
  std::int64_t max_iterations = 60;
  std::string restart_file = {};     ///< where to begin; empty: from perturbation theory
  std::string checkpoint_file = {};  ///< is written after each iteration; empty: none
  /// Is told after each iteration.
  std::function<void(const Iteration&)> progress = {};
  /// Is told once, of the first file that could not be written.
  std::function<void(const Iteration&, const rma::Status&)> checkpoint_failed = {};
};

struct Solution {
  double mp2_energy = 0.0;
  Iteration last;
  double first_step_norm = 0.0;
  bool is_converged = false;
  /// Of the last checkpoint; not ok where the file, if any, has amplitudes of an earlier iteration.
  rma::Status checkpoint = {};
};

/// Collective. A checkpoint that can't be written ends nothing: it is tried again after the next
/// iteration. Errors: those of the equations, and of the file to begin with; invalid_argument for
/// one of another molecule.
rma::Result<Solution> solve(const rma::Job& job, const Model& model, CcsdEquations& equations,
                            Amplitudes& amplitudes, const SolveOptions& options);

}  // namespace tessera::apps::ccsd
