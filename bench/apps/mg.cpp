// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/mg.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/mg/distributed.hpp"
#include "apps/mg/problem.hpp"
#include "bench/floors/memory_floor.hpp"
#include "bench/support/transfer.hpp"

namespace tessera::bench {
namespace {

namespace mg = apps::mg;

std::string target_name(char class_name) {
  return fmt::format("MG class {}: operations / triad byte", class_name);
}

/// The triad, several times a repetition, so that a sample lasts about as long as one of MG and
/// both meet the same neighbours.
Candidate long_triad(Crew& crew, const mg::Problem& problem) {
  // STREAM asks for arrays of four times the caches each.
  const auto elements = cold_bytes() / sizeof(double) / static_cast<std::size_t>(crew.size());
  Candidate triad = triad_candidate(crew, elements);
  // MG reaches about 0.4 operations for each byte.
  const double wanted = mg::operations(problem, problem.cycles) / 0.4;
  const auto times =
      static_cast<std::int64_t>(std::ceil(wanted / static_cast<double>(triad.bytes)));
  triad.bytes *= static_cast<std::size_t>(times);
  triad.run = [once = std::move(triad.run), times](std::int64_t repetitions) {
    once(repetitions * times);
  };
  return triad;
}

Candidate mg_candidate(mg::DistributedRun& solver, const mg::Problem& problem) {
  Candidate candidate;
  candidate.name = "tessera-mg";
  candidate.cooperative = true;
  const auto norm = std::make_shared<double>(0);
  candidate.run = [&solver, &problem, norm](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      *norm = solver.run(problem.cycles).value().norm;
    }
  };
  candidate.verify = [&problem, norm, run = candidate.run]() -> std::string {
    run(1);
    return mg::is_verified(problem, *norm)
               ? ""
               : fmt::format("the residual's norm is {:.13e}, not {:.13e}", *norm,
                             problem.verified_norm);
  };
  return candidate;
}

void measure_class(Session& session, std::optional<Table>& table, const mg::Problem& problem) {
  auto solver = mg::DistributedRun::create(session.job(), problem).value();
  const std::vector<Candidate> candidates = {long_triad(session.crew(), problem),
                                             mg_candidate(solver, problem)};
  MeasureOptions options = session.options().measure_options();
  constexpr std::int64_t rounds = 7;  // of seconds each
  options.samples = std::min(options.samples, rounds);
  options.min_samples = rounds;
  options.warm_up_samples = 1;
  options.repetitions = 1;
  options.prime = false;  // both are many times larger than the caches
  if (!table) {
    table.emplace(session.table("NAS MG Time", 1, Quantity::latency, "Edge"));
  }
  const auto measured =
      session.measure(*table, {"mg", std::string("class_") + problem.name, "", problem.edge},
                      problem.edge, candidates, options);
  if (!session.is_leader()) {
    return;
  }
  const double operations = mg::operations(problem, problem.cycles);
  const auto triad_bytes = static_cast<double>(measured[0].bytes);
  Ratio ratio = ratio_of_medians(measured[0].samples_ns, measured[1].samples_ns);
  const double factor = operations / triad_bytes;
  ratio = {ratio.value * factor, {ratio.ci95.lo * factor, ratio.ci95.hi * factor}};
  session.remark(
      fmt::format("class {}: rate: {:.1f} Mop/s, triad: {:.2f} GB/s, operations per byte: {:.4f} "
                  "[{:.4f},{:.4f}]",
                  problem.name, operations * 1e3 / measured[1].stats_ns.median,
                  measured[0].bytes_per_s() * 1e-9, ratio.value, ratio.ci95.lo, ratio.ci95.hi));
  if (session.crew().size() <= 2) {
    session.targets().observe(target_name(problem.name),
                              fmt::format("{} ranks", session.crew().size()), ratio);
  }
}

}  // namespace

std::string check_mg_classes(const std::string& classes) {
  if (classes.find_first_not_of(',') == std::string::npos) {
    return "name at least one class, A or A,B";
  }
  for (const char name : classes) {
    if (name != ',') {
      const mg::ParsedClass parsed = mg::parse_class(std::string(1, name));
      if (!parsed.problem) {
        return parsed.error;
      }
    }
  }
  return "";
}

void measure_mg(Session& session) {
  std::optional<Table> table;
  for (const char name : session.options().mg_classes) {
    if (name != ',') {
      const mg::ParsedClass parsed = mg::parse_class(std::string(1, name));
      measure_class(session, table, parsed.problem.value());
    }
  }
}

std::vector<Target> mg_targets() {
  return {{target_name('A'), "triad", Target::Sense::speed_at_least, 0.38},
          {target_name('B'), "triad", Target::Sense::speed_at_least, 0.42}};
}

}  // namespace tessera::bench
