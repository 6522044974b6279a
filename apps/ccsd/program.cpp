// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/program.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "apps/ccsd/amplitude_file.hpp"
#include "apps/ccsd/contraction.hpp"
#include "apps/ccsd/fcidump.hpp"
#include "apps/ccsd/memory_plan.hpp"
#include "apps/ccsd/molecule.hpp"
#include "apps/ccsd/multiply_rate.hpp"
#include "apps/ccsd/solver.hpp"
#include "apps/ccsd/triples.hpp"

#include "apps/common/agreement.hpp"
#include "apps/common/clock.hpp"
#include "apps/common/exit_codes.hpp"
#include "apps/common/memory_check.hpp"
#include "apps/common/output.hpp"
#include "apps/common/output_file.hpp"
#include "apps/common/progress.hpp"
#include "apps/common/report.hpp"
#include "apps/common/same_file.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Code;
using rma::Job;
using rma::Reduction;
using rma::Result;
using rma::Status;

constexpr const char* program_name = "tessera-ccsd";
constexpr int physical_digits = 14;

bool is_synthetic(const Arguments& arguments) {
  return arguments.fcidump_file.empty();
}

/// The input from the command line, before any large allocation.
struct Input {
  std::optional<Fcidump> file;  // none: artificial integrals
  OrbitalSpace space;
};

/// Collective.
Result<Input> open_input(const Arguments& arguments, Job& job) {
  if (is_synthetic(arguments)) {
    const std::int64_t occupied = arguments.occupied;
    auto space =
        OrbitalSpace::create(occupied + arguments.virtuals, 2 * occupied, arguments.frozen_core);
    TESSERA_RETURN_IF_ERROR(agree_on_input(job.world(), space.status()));
    return Input{{}, *space};
  }
  TESSERA_RETURN_IF_ERROR(
      check_same_file(job.world(), arguments.fcidump_file, mark_of_file(arguments.fcidump_file)));
  auto file = Fcidump::open(arguments.fcidump_file);
  TESSERA_RETURN_IF_ERROR(agree_on_input(job.world(), file.status()));
  auto space = OrbitalSpace::create(file->header().orbitals, file->header().electrons,
                                    arguments.frozen_core);
  TESSERA_RETURN_IF_ERROR(agree_on_input(job.world(), space.status()));
  return Input{std::move(*file), *space};
}

Status describe_run(Report& report, const Arguments& arguments, const OrbitalSpace& space,
                    Job& job) {
  report.add("method", arguments.triples ? "CCSD(T), closed shell" : "CCSD, closed shell");
  report.add("integrals", is_synthetic(arguments) ? "artificial" : arguments.fcidump_file);
  report.add("frozen_orbitals", space.frozen);
  report.add("occupied_orbitals", space.occupied);
  report.add("virtual_orbitals", space.virtuals);
  return add_job(report, job);
}

void add_memory(Report& report, const std::string& name, std::int64_t bytes_per_rank) {
  report.add("memory_" + name, human_memory(bytes_per_rank) + " on each rank",
             {{"memory_" + name + "_bytes_per_rank", bytes_per_rank}});
}

/// The memory that each rank will need; small arrays together.
void describe_memory(Report& report, const MemoryPlan& plan) {
  const std::int64_t total = plan.array_bytes_per_rank() + plan.buffer_bytes_per_rank();
  std::int64_t others = 0;
  for (const PlannedMemory& array : plan.arrays) {
    if (array.bytes_per_rank * 50 >= total) {
      add_memory(report, array.name, array.bytes_per_rank);
    } else {
      others += array.bytes_per_rank;
    }
  }
  add_memory(report, "other_arrays", others);
  for (const PlannedMemory& buffer : plan.buffers) {
    add_memory(report, "buffer_" + buffer.name, buffer.bytes_per_rank);
  }
  add_memory(report, "total", total);
}

MemoryNeed need_of(const MemoryPlan& plan, const OrbitalSpace& space) {
  const PlannedMemory& largest = plan.arrays.front();
  return {.bytes_per_rank = plan.needed_bytes_per_rank,
          .what = fmt::format(
              "CCSD with {} occupied and {} virtual orbitals (its {} takes {} on each rank)",
              space.occupied, space.virtuals, largest.name, human_memory(largest.bytes_per_rank)),
          .hint = "use more machines, a smaller basis set, or smaller tiles (--tile)",
          .own_bytes = static_cast<double>(plan.buffer_bytes_per_rank())};
}

/// Collective.
Result<Molecule> make_molecule(Input& input, Job& job) {
  return input.file ? read_molecule(job, *input.file, input.space)
                    : make_synthetic_molecule(job, input.space);
}

void print_iteration(const Iteration& iteration) {
  print_text(fmt::format("  iteration {:3}   correlation {:18.12f}   step {:9.2e}\n",
                         iteration.number, iteration.energy, iteration.step_norm));
}

/// Prints each tenth of the triples once.
TriplesProgress print_tenths() {
  return [printed = 0](double share) mutable {
    const int tenths = static_cast<int>(10.0 * share);
    if (tenths > printed) {
      printed = tenths;
      print_text(fmt::format("  triples {:3} %\n", 10 * tenths));
    }
  };
}

/// Collective. The number of operations in contractions, and their rate.
Status report_contractions(Report& report, const ContractionStatistics& statistics, Job& job) {
  TESSERA_ASSIGN_OR_RETURN(const double seconds,
                           job.world().allreduce(statistics.seconds, Reduction::max));
  TESSERA_ASSIGN_OR_RETURN(const double multiplying,
                           job.world().allreduce(statistics.multiply_seconds, Reduction::sum));
  report.add("contraction_operations", statistics.operations / 1e9, "Gflop");
  report.add("contraction_seconds", seconds, "s");
  report.add("contraction_multiply_share", multiplying / (seconds * job.size()), "");
  report.add("contraction_rate", statistics.operations / seconds / 1e9, "Gflop/s");
  return {};
}

/// Collective. Reports the rate of contractions beside this machine's rate of matrix products;
/// `before` is that rate before the contractions.
Status report_limit(Report& report, const ContractionStatistics& statistics, double before,
                    Job& job) {
  TESSERA_ASSIGN_OR_RETURN(const double seconds,
                           job.world().allreduce(statistics.seconds, Reduction::max));
  TESSERA_ASSIGN_OR_RETURN(const double after, measure_multiply_rate(job));
  const double limit = (before + after) / 2.0;
  report.add("multiply_rate", limit, "Gflop/s");
  report.add("contraction_share", statistics.operations / seconds / 1e9 / limit,
             "of multiply_rate");
  return {};
}

/// The computed parts of the correlation energy.
struct Correlation {
  Solution solution = {};
  std::optional<double> triples = {};
  std::string failure = {};  ///< why it is not valid; empty: it is valid
};

void report_energies(Report& report, const std::optional<double>& reference,
                     const Correlation& correlation) {
  const auto& [solution, triples, failure] = correlation;
  const double ccsd = solution.last.energy;
  if (reference) {
    report.add("scf_energy", *reference, "hartree", physical_digits);
  }
  report.add("mp2_correlation", solution.mp2_energy, "hartree", physical_digits);
  report.add("ccsd_correlation", ccsd, "hartree", physical_digits);
  if (triples) {
    report.add("triples", *triples, "hartree", physical_digits);
  }
  // A sum without it could be mistaken for the result.
  if (reference && failure.empty()) {
    report.add("total_energy", *reference + ccsd + triples.value_or(0.0), "hartree",
               physical_digits);
  }
  report.add("iterations", solution.last.number);
  report.add("step_norm", solution.last.step_norm, "");
  if (!failure.empty()) {
    report.add("failure", failure);
  }
}

std::string counted_iterations(std::int64_t count) {
  return fmt::format("{} iteration{}", count, count == 1 ? "" : "s");
}

/// Why a solution is not valid; empty if it is. Artificial integrals are for measurements: a few
/// iterations are enough if the steps get smaller. The command line requires enough of
/// them for this check.
std::string failure_of(const Solution& solution, const Arguments& arguments) {
  const Iteration& last = solution.last;
  if (!std::isfinite(solution.mp2_energy) || !std::isfinite(last.energy)) {
    return fmt::format("the energy is not finite after {}", counted_iterations(last.number));
  }
  if (solution.is_converged ||
      (is_synthetic(arguments) && last.step_norm < solution.first_step_norm)) {
    return {};
  }
  return fmt::format("not converged in {}: step_norm {:.1e}, more than {:.0e}",
                     counted_iterations(last.number), last.step_norm, step_tolerance);
}

/// Local. Warns that the run continues without writing a checkpoint.
void warn_of_checkpoint(const Iteration& iteration, const Status& status) {
  print_error(program_name,
              fmt::format("iteration {}: could not write the checkpoint, continuing without it: {}",
                          iteration.number, status.message()));
}

/// Collective. The energy of the triples, and their rate.
Result<double> add_triples(Report& report, Molecule& molecule, Amplitudes& amplitudes, bool shows) {
  const auto start = Clock::now();
  TESSERA_ASSIGN_OR_RETURN(const double energy,
                           triples_energy(amplitudes.t2.job(), molecule.model, molecule.integrals,
                                          amplitudes, shows ? print_tenths() : TriplesProgress()));
  const double seconds = seconds_since(start);
  report.add("triples_seconds", seconds, "s");
  report.add("triples_rate", triples_operations(molecule.model.space) / seconds / 1e9, "Gflop/s");
  return energy;
}

/// The end of a run without errors.
struct RunResult {
  bool is_good = true;
  Status checkpoint = {};  ///< of the last one
};

/// Collective. Everything after the integrals have been read.
Result<RunResult> correlate(const Arguments& arguments, Molecule& molecule, Report& report,
                            Job& job) {
  const bool shows = shows_progress(job, arguments.quiet);
  TESSERA_ASSIGN_OR_RETURN(auto workspace, Workspace::create(job, molecule.model.space));
  TESSERA_ASSIGN_OR_RETURN(auto engine, ContractionEngine::create(job, arguments.tile));
  TESSERA_ASSIGN_OR_RETURN(
      auto equations, CcsdEquations::create(molecule.model, molecule.integrals, workspace, engine));
  TESSERA_ASSIGN_OR_RETURN(auto amplitudes, Amplitudes::create(job, molecule.model.space, "t2"));
  double rate_before = 0.0;
  if (is_synthetic(arguments)) {
    TESSERA_ASSIGN_OR_RETURN(rate_before, measure_multiply_rate(job));
  }
  const auto start = Clock::now();
  SolveOptions options{arguments.max_iterations, arguments.restart_file, arguments.checkpoint_file};
  if (shows) {
    options.progress = print_iteration;
  }
  if (job.rank().value == 0) {
    options.checkpoint_failed = warn_of_checkpoint;
  }
  Correlation result;
  TESSERA_ASSIGN_OR_RETURN(result.solution,
                           solve(job, molecule.model, equations, amplitudes, options));
  report.add("ccsd_seconds", seconds_since(start), "s");
  result.failure = failure_of(result.solution, arguments);
  if (arguments.triples && result.failure.empty()) {
    TESSERA_ASSIGN_OR_RETURN(result.triples, add_triples(report, molecule, amplitudes, shows));
    if (!std::isfinite(*result.triples)) {
      result.failure = "the energy of the triples is not finite";
    }
  }
  TESSERA_RETURN_IF_ERROR(report_contractions(report, engine.statistics(), job));
  if (is_synthetic(arguments)) {
    TESSERA_RETURN_IF_ERROR(report_limit(report, engine.statistics(), rate_before, job));
  }
  report_energies(report, molecule.reference_energy, result);
  Status checkpoint =
      std::move(result.solution.checkpoint)
          .context(fmt::format("the amplitudes of iteration {} are not in {}",
                               result.solution.last.number, arguments.checkpoint_file));
  return RunResult{result.failure.empty(), std::move(checkpoint)};
}

/// A molecule without occupied or without virtual orbitals has no correlation.
void report_uncorrelated(Report& report, const Arguments& arguments, const Molecule& molecule) {
  report_energies(report, molecule.reference_energy,
                  {.triples = arguments.triples ? std::optional(0.0) : std::nullopt});
}

/// Local.
Status check_amplitude_files(const Arguments& arguments, const Input& input) {
  const bool has_file = !arguments.checkpoint_file.empty() || !arguments.restart_file.empty();
  if (has_file && input.space.is_empty()) {
    return Status::error(Code::invalid_argument,
                         "--checkpoint and --restart: there are no amplitudes because no orbitals "
                         "are correlated");
  }
  return check_not_overwritten(arguments.checkpoint_file, {arguments.fcidump_file});
}

/// Collective. Everything after the command line.
Result<RunResult> compute(const Arguments& arguments, Report& report, Job& job) {
  TESSERA_ASSIGN_OR_RETURN(Input input, open_input(arguments, job));
  TESSERA_RETURN_IF_ERROR(agree_on_input(job.world(), check_amplitude_files(arguments, input)));
  if (!arguments.restart_file.empty()) {
    TESSERA_RETURN_IF_ERROR(check_amplitude_file(job, arguments.restart_file, input.space));
  }
  if (!arguments.checkpoint_file.empty()) {
    TESSERA_RETURN_IF_ERROR(try_amplitude_file(job, arguments.checkpoint_file));
  }
  TESSERA_RETURN_IF_ERROR(describe_run(report, arguments, input.space, job));
  const MemoryPlan plan = MemoryPlan::create(input.space, job.size(),
                                             {.tile = arguments.tile,
                                              .has_triples = arguments.triples,
                                              .measures_rate = is_synthetic(arguments),
                                              .reads_file = !is_synthetic(arguments)});
  describe_memory(report, plan);
  TESSERA_RETURN_IF_ERROR(check_memory(job, need_of(plan, input.space)));
  TESSERA_ASSIGN_OR_RETURN(Molecule molecule, make_molecule(input, job));
  RunResult verdict;
  if (input.space.is_empty()) {
    report_uncorrelated(report, arguments, molecule);
  } else {
    TESSERA_ASSIGN_OR_RETURN(verdict, correlate(arguments, molecule, report, job));
  }
  TESSERA_RETURN_IF_ERROR(add_traffic(report, job));
  return verdict;
}

}  // namespace

Outcome run(const Arguments& arguments, Job& job) {
  // A damaged checkpoint, one of another program, or a file that cannot be reached.
  const auto failed = [](Status status) {
    return outcome_of(std::move(status), {Code::unreachable, Code::protocol, Code::unsupported});
  };
  auto report = Report::create(
      job, {program_name,
            arguments.json_file,
            arguments.quiet,
            {arguments.fcidump_file, arguments.restart_file, arguments.checkpoint_file}});
  if (!report.ok()) {
    return failed(report.status());
  }
  auto verdict = compute(arguments, *report, job);
  if (!verdict.ok()) {
    return failed(verdict.status());
  }
  const int code = report->finish(verdict->is_good);
  // The energies are valid, but the checkpoint to continue from is missing.
  return verdict->checkpoint.ok() ? Outcome{{}, code}
                                  : Outcome{std::move(verdict->checkpoint), exit_usage};
}

}  // namespace tessera::apps::ccsd
