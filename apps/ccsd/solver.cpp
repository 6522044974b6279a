// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/solver.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "apps/ccsd/amplitude_file.hpp"
#include "apps/ccsd/diis.hpp"

namespace tessera::apps::ccsd {

namespace {

using rma::Code;
using rma::Result;
using rma::Status;

/// The iteration, and its state.
class Solver {
 public:
  static Result<Solver> create(const rma::Job& job, const Model& model, CcsdEquations& equations,
                               Amplitudes& amplitudes, const SolveOptions& options) {
    TESSERA_ASSIGN_OR_RETURN(auto step, Amplitudes::create(job, model.space, "step"));
    TESSERA_ASSIGN_OR_RETURN(auto diis, Diis::create(job, model.space, diis_depth));
    return Solver(job, model.space, equations, amplitudes, options, std::move(step),
                  std::move(diis));
  }

  /// Collective. Initial amplitudes.
  Status begin() {
    TESSERA_RETURN_IF_ERROR(equations_.guess(amplitudes_));
    TESSERA_ASSIGN_OR_RETURN(solution_.mp2_energy, equations_.energy(amplitudes_));
    return options_.restart_file.empty()
               ? Status()
               : load_amplitudes(job_, options_.restart_file, space_, amplitudes_);
  }

  /// Collective.
  Status iterate() {
    ++last().number;
    TESSERA_RETURN_IF_ERROR(take_step().context(fmt::format("iteration {}", last().number)));
    if (last().number == 1) {
      solution_.first_step_norm = last().step_norm;
    }
    if (options_.progress) {
      options_.progress(last());
    }
    return {};
  }

  [[nodiscard]] bool should_continue() const {
    return !solution_.is_converged && solution_.last.number < options_.max_iterations &&
           std::isfinite(solution_.last.energy);
  }
  [[nodiscard]] Solution take() { return std::move(solution_); }

 private:
  Solver(const rma::Job& job, const OrbitalSpace& space, CcsdEquations& equations,
         Amplitudes& amplitudes, const SolveOptions& options, Amplitudes step, Diis diis)
      : job_(job),
        space_(space),
        equations_(equations),
        amplitudes_(amplitudes),
        options_(options),
        step_(std::move(step)),
        diis_(std::move(diis)) {}

  [[nodiscard]] Iteration& last() noexcept { return solution_.last; }

  /// Collective.
  Status take_step() {
    TESSERA_RETURN_IF_ERROR(equations_.step(amplitudes_, step_));
    TESSERA_ASSIGN_OR_RETURN(const double square, inner_product(step_, step_));
    last().step_norm = std::sqrt(square);
    TESSERA_RETURN_IF_ERROR(add_step(amplitudes_, step_));
    solution_.is_converged = last().step_norm <= step_tolerance;
    // If the step is short enough, a combination would not be better.
    if (!solution_.is_converged) {
      TESSERA_RETURN_IF_ERROR(diis_.extrapolate(amplitudes_, step_));
    }
    TESSERA_ASSIGN_OR_RETURN(last().energy, equations_.energy(amplitudes_));
    return save();
  }

  /// Collective. Errors: those of lost ranks, not those of the file.
  Status save() {
    // Keep the last useful file.
    if (options_.checkpoint_file.empty() || !std::isfinite(last().energy)) {
      return {};
    }
    Status saved = save_amplitudes(job_, options_.checkpoint_file, space_, amplitudes_);
    if (is_job_error(saved)) {
      return saved;
    }
    if (!saved.ok() && !has_reported_checkpoint_) {
      has_reported_checkpoint_ = true;
      if (options_.checkpoint_failed) {
        options_.checkpoint_failed(last(), saved);
      }
    }
    solution_.checkpoint = std::move(saved);
    return {};
  }

  /// Errors after which no iteration can follow.
  static bool is_job_error(const Status& status) {
    return status.code() == Code::peer_lost || status.code() == Code::timed_out ||
           status.code() == Code::closed;
  }

  const rma::Job& job_;
  const OrbitalSpace& space_;
  CcsdEquations& equations_;
  Amplitudes& amplitudes_;
  const SolveOptions& options_;
  Amplitudes step_;
  Diis diis_;
  Solution solution_;
  bool has_reported_checkpoint_ = false;
};

}  // namespace

Result<Solution> solve(const rma::Job& job, const Model& model, CcsdEquations& equations,
                       Amplitudes& amplitudes, const SolveOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(auto solver, Solver::create(job, model, equations, amplitudes, options));
  TESSERA_RETURN_IF_ERROR(solver.begin());
  while (solver.should_continue()) {
    TESSERA_RETURN_IF_ERROR(solver.iterate());
  }
  return solver.take();
}

}  // namespace tessera::apps::ccsd
