// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/mg.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/mg/distributed.hpp"
#include "apps/mg/problem.hpp"
#include "bench/apps/mg_messages.hpp"
#include "bench/floors/memory_floor.hpp"
#include "bench/support/transfer.hpp"

namespace tessera::bench {
namespace {

namespace mg = apps::mg;

std::string target_name(char class_name) {
  return fmt::format("MG class {}: operations / triad byte", class_name);
}

constexpr const char* exchange_target = "MG class A: time exchanging / MPI two-sided";
constexpr const char* total_target = "MG class A: time / MPI two-sided";

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

/// One parallel version of the benchmark, and how long this rank spent exchanging in each run.
struct Version {
  std::string name;
  mg::DistributedRun solver;
  std::vector<double> halo_ns = {};
};

Candidate mg_candidate(Version& version, const mg::Problem& problem) {
  Candidate candidate;
  candidate.name = version.name;
  candidate.cooperative = true;
  const auto norm = std::make_shared<double>(0);
  candidate.run = [&version, &problem, norm](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      const mg::RunResult result = version.solver.run(problem.cycles).value();
      *norm = result.norm;
      version.halo_ns.push_back(result.halo_seconds * 1e9);
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

/// Collective. The version with MPI's messages, where there is MPI and blocks are thick enough.
std::optional<Version> message_version(Session& session, const mg::Problem& problem) {
  auto exchange = make_mpi_exchange(session.crew());
  if (!exchange) {
    return std::nullopt;
  }
  auto solver = mg::DistributedRun::create(session.job(), problem, std::move(exchange));
  const rma::Status status = solver.ok() ? solver->run(1).status() : solver.status();
  if (!status.ok()) {
    session.remark("missing: mpi two-sided: " + std::string(status.message()));
    return std::nullopt;
  }
  return Version{"mpi two-sided", std::move(solver).take()};
}

/// Collective. Of the last `rounds` runs, what the slowest rank spent exchanging.
std::vector<double> exposed_ns(Crew& crew, const Version& version, std::size_t rounds) {
  std::vector<double> slowest;
  for (auto at = version.halo_ns.size() - rounds; at < version.halo_ns.size(); ++at) {
    slowest.push_back(crew.maximum(version.halo_ns[at]));
  }
  return slowest;
}

/// Collective. The exchange alone: ours beside MPI's, in the runs that were measured.
void compare_exchanges(Session& session, const mg::Problem& problem, const Version& messages,
                       const Version& own, const std::vector<Measured>& measured) {
  const auto rounds = session.crew().share(measured.back().samples_ns.size());
  const auto with_messages = exposed_ns(session.crew(), messages, rounds);
  const auto with_own = exposed_ns(session.crew(), own, rounds);
  if (!session.is_leader()) {
    return;
  }
  const Ratio halo = ratio_of_medians(with_own, with_messages);
  const Ratio total = ratio_of_medians(measured[2].samples_ns, measured[1].samples_ns);
  const auto say = [](const Ratio& ratio) {
    return fmt::format("{:.4f} [{:.4f},{:.4f}]", ratio.value, ratio.ci95.lo, ratio.ci95.hi);
  };
  session.remark(
      fmt::format("class {}: exchange: {:.2f} ms, mpi two-sided: {:.2f} ms, ratio: {}, of all: {}",
                  problem.name, summarise(with_own).median * 1e-6,
                  summarise(with_messages).median * 1e-6, say(halo), say(total)));
  if (problem.name == 'A' && session.crew().size() == 2 && session.job().node_count() == 2) {
    session.targets().observe(exchange_target, "2 nodes", halo);
    session.targets().observe(total_target, "2 nodes", total);
  }
}

/// Collective. What the design asks of the rate.
void compare_with_triad(Session& session, const mg::Problem& problem,
                        const std::vector<Measured>& measured) {
  if (!session.is_leader()) {
    return;
  }
  const Measured& own = measured.back();
  const double operations = mg::operations(problem, problem.cycles);
  const auto triad_bytes = static_cast<double>(measured[0].bytes);
  Ratio ratio = ratio_of_medians(measured[0].samples_ns, own.samples_ns);
  const double factor = operations / triad_bytes;
  ratio = {ratio.value * factor, {ratio.ci95.lo * factor, ratio.ci95.hi * factor}};
  session.remark(
      fmt::format("class {}: rate: {:.1f} Mop/s, triad: {:.2f} GB/s, operations per byte: {:.4f} "
                  "[{:.4f},{:.4f}]",
                  problem.name, operations * 1e3 / own.stats_ns.median,
                  measured[0].bytes_per_s() * 1e-9, ratio.value, ratio.ci95.lo, ratio.ci95.hi));
  if (session.crew().size() <= 2) {
    session.targets().observe(target_name(problem.name),
                              fmt::format("{} ranks", session.crew().size()), ratio);
  }
}

void measure_class(Session& session, std::optional<Table>& table, const mg::Problem& problem) {
  Version own{"tessera-mg", mg::DistributedRun::create(session.job(), problem).value()};
  std::optional<Version> messages = message_version(session, problem);
  std::vector<Candidate> candidates = {long_triad(session.crew(), problem)};
  if (messages) {
    candidates.push_back(mg_candidate(*messages, problem));
  }
  candidates.push_back(mg_candidate(own, problem));
  MeasureOptions options = session.options().measure_options();
  constexpr std::int64_t rounds = 7;  // of seconds each
  options.samples = std::min(options.samples, rounds);
  options.min_samples = rounds;
  options.warm_up_samples = 1;
  options.repetitions = 1;
  options.prime = false;  // both are many times larger than the caches
  if (!table) {
    table.emplace(session.table("NAS MG Time", candidates.size() - 1, Quantity::latency, "Edge"));
  }
  const auto measured =
      session.measure(*table, {"mg", std::string("class_") + problem.name, "", problem.edge},
                      problem.edge, candidates, options);
  compare_with_triad(session, problem, measured);
  if (messages) {
    compare_exchanges(session, problem, *messages, own, measured);
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
          {target_name('B'), "triad", Target::Sense::speed_at_least, 0.42},
          {exchange_target, "mpi two-sided", Target::Sense::time_at_most, 0.7},
          {total_target, "mpi two-sided", Target::Sense::time_at_most, 1.0}};
}

}  // namespace tessera::bench
