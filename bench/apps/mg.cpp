// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "mg": the NAS Parallel Benchmark MG, as tessera-mg runs it, alternating with the STREAM
// triad on the same number of ranks. MG is limited by memory. So the result is the number of
// operations that it does for each byte that the triad moves.
#include "bench/parts.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/mg/distributed.hpp"
#include "apps/mg/problem.hpp"
#include "bench/apps/communication_log.hpp"
#include "bench/apps/others.hpp"
#include "bench/baselines/memory_baseline.hpp"
#include "bench/support/candidate.hpp"
#include "bench/support/options.hpp"

namespace tessera::bench {
namespace {

namespace mg = apps::mg;

std::string target_name(char class_name) {
  return fmt::format("MG class {}: operations / triad byte", class_name);
}

/// The finest grid.
std::string shape_of(const mg::Problem& problem) {
  return fmt::format("{0} x {0} x {0}", problem.edge);
}
std::int64_t problem_bytes(const mg::Problem& problem) {
  return problem.edge * problem.edge * problem.edge * static_cast<std::int64_t>(sizeof(double));
}

constexpr const char* two_sided = "mpi two-sided";
constexpr const char* exchange_target = "MG: exposed exchange / MPI two-sided";
constexpr const char* total_target = "MG: time / MPI two-sided";

/// The triad, several times per repetition. So a sample lasts about as long as one of MG, and both
/// meet the same load of other programs.
Candidate long_triad(Session& session, const mg::Problem& problem) {
  // STREAM requires arrays of four times the caches' size each.
  const auto ranks = static_cast<std::size_t>(session.group().size());
  const auto elements = session.options().cold_bytes() / sizeof(double) / ranks;
  Candidate triad = triad_candidate(session.group(), elements);
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

/// One parallel version of the benchmark, and the time of its exchanges in each run.
struct Version {
  std::string name;
  mg::DistributedRun solver;
  /// Nanoseconds of the rank that computed longest: what a run would save without exchanges.
  CallLog exposed = {};
  /// Of the rank that waited longest, including for other ranks' computation.
  CallLog longest = {};
};

Candidate mg_candidate(Version& version, const mg::Problem& problem) {
  Candidate candidate;
  candidate.name = version.name;
  candidate.cooperative = true;
  const auto norm = std::make_shared<double>(0);
  candidate.run = [&version, &problem, norm](std::int64_t repetitions) {
    constexpr double ns_per_second = 1e9;
    for (CallLog* const log : {&version.exposed, &version.longest}) {
      log->begin_call(static_cast<std::size_t>(repetitions));
    }
    for (std::int64_t i = 0; i < repetitions; ++i) {
      const mg::RunResult result = version.solver.run(problem.cycles).value();
      *norm = result.norm;
      version.exposed.add(result.exposed_seconds * ns_per_second);
      version.longest.add(result.halo_seconds * ns_per_second);
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

/// Collective. A version with another exchange, if blocks are thick enough for it.
std::optional<Version> version_with(Session& session, const mg::Problem& problem,
                                    const std::string& name,
                                    std::unique_ptr<mg::Exchange> exchange) {
  auto solver = mg::DistributedRun::create(session.job(), problem, std::move(exchange));
  const rma::Status status = solver.ok() ? solver->run(1).status() : solver.status();
  if (!status.ok()) {
    session.remark("missing: " + name + ": " + std::string(status.message()));
    return std::nullopt;
  }
  return Version{name, std::move(solver).take()};
}

/// A measured version: its times in each run.
struct Exchanged {
  std::string name;
  std::vector<double> exposed_ns;
  std::vector<double> longest_ns;
  std::vector<double> total_ns;
};

/// The time of exchanges in each version, as separate results; the first is the reference.
void record_exchanges(const Session& session, const mg::Problem& problem,
                      std::span<const Exchanged> all, const std::string& op,
                      std::vector<double> Exchanged::*times_ns) {
  constexpr double us_per_ns = 1e-3;
  for (const Exchanged& one : all) {
    Record record;
    record.bench = "mg";
    record.backend = one.name;
    record.op = op + problem.name;
    record.shape = shape_of(problem);
    record.size = problem_bytes(problem);
    record.stats = summarise(one.*times_ns).scaled(us_per_ns);
    if (&one != all.data()) {
      record.ratio = RatioTo{all[0].name, ratio_of_medians(one.*times_ns, all[0].*times_ns)};
    }
    session.record(std::move(record));
  }
}

/// The design's limits for the exchange: Tessera's compared with that of MPI's messages, with and
/// without overlap.
void compare_exchanges(Session& session, const mg::Problem& problem,
                       std::span<const Exchanged> others, const Exchanged& own) {
  const auto say = [](const Ratio& ratio) {
    return fmt::format("{:.4f} [{:.4f},{:.4f}]", ratio.value, ratio.ci95.lo, ratio.ci95.hi);
  };
  const auto ms = [](const std::vector<double>& times_ns) {
    return summarise(times_ns).median * 1e-6;
  };
  for (const Exchanged& other : others) {
    const Ratio exposed = ratio_of_medians(own.exposed_ns, other.exposed_ns);
    const Ratio longest = ratio_of_medians(own.longest_ns, other.longest_ns);
    const Ratio total = ratio_of_medians(own.total_ns, other.total_ns);
    session.remark(fmt::format(
        "class {}: exposed exchange: {:.2f} ms, {}: {:.2f} ms, ratio: {}; of the rank that waits "
        "longest: {:.2f} ms, {:.2f} ms, {}; of all: {}",
        problem.name, ms(own.exposed_ns), session.shown(other.name), ms(other.exposed_ns),
        say(exposed), ms(own.longest_ns), ms(other.longest_ns), say(longest), say(total)));
    if (other.name == two_sided && session.group().size() == 2 && session.job().node_count() == 2) {
      const std::string where = fmt::format("class {}, 2 nodes", problem.name);
      session.observe_ratio_to(two_sided, exchange_target, where, exposed);
      session.observe_ratio_to(two_sided, total_target, where, total);
    }
  }
}

/// Collective. The design's limits for the rate.
void compare_with_triad(Session& session, const mg::Problem& problem,
                        const std::vector<Measured>& measured) {
  if (!session.is_leader()) {
    return;
  }
  const Measured& own = measured.back();
  const double operations = mg::operations(problem, problem.cycles);
  const auto triad_bytes = static_cast<double>(measured[0].bytes);
  const Ratio ratio =
      ratio_of_medians(measured[0].samples_ns, own.samples_ns).scaled(operations / triad_bytes);
  session.remark(
      fmt::format("class {}: rate: {:.1f} Mop/s, triad: {:.2f} GB/s, operations per byte: {:.4f} "
                  "[{:.4f},{:.4f}]",
                  problem.name, operations * 1e3 / own.stats_ns.median,
                  measured[0].bytes_per_s() * 1e-9, ratio.value, ratio.ci95.lo, ratio.ci95.hi));
  session.rate({fmt::format("mg class {}", problem.name), operations * 1e3 / own.stats_ns.median,
                "Mop/s", own.valid});
  if (session.group().size() <= 2) {
    session.targets().observe(target_name(problem.name),
                              fmt::format("{} ranks", session.group().size()), ratio);
  }
}

/// Collective. The limit of two ranks over the network between their nodes.
std::unique_ptr<mg::Exchange> socket_exchange(Session& session) {
  if (!session.compares_with(Peer::tcp) || session.group().size() != 2 ||
      session.job().node_count() != 2) {
    return nullptr;
  }
  std::string missing;
  auto exchange = make_socket_exchange(session.group(), missing);
  if (!exchange) {
    session.remark("missing: " + missing);
  }
  return exchange;
}

struct NamedExchange {
  std::string name;
  std::unique_ptr<mg::Exchange> exchange;
};

/// With messages and sockets, if available.
std::vector<NamedExchange> exchanges_of_others(Session& session) {
  std::vector<NamedExchange> found;
  if (session.compares_with(Peer::mpi)) {
    found.push_back({two_sided, make_mpi_exchange(session.group(), false)});
    found.push_back({"mpi overlapped", make_mpi_exchange(session.group(), true)});
  }
  found.push_back({"tcp polling", socket_exchange(session)});
  std::erase_if(found, [](const NamedExchange& each) { return each.exchange == nullptr; });
  return found;
}

/// Each version has its own grids. Errors: BadInput.
void check_memory(Session& session, const mg::Problem& problem, std::size_t versions) {
  const auto ranks = static_cast<std::int64_t>(session.group().size());
  const auto bytes = static_cast<double>(mg::memory_bytes(problem, ranks));
  require_memory(session, {.bytes_per_rank =
                               static_cast<double>(versions) * bytes / static_cast<double>(ranks),
                           .what = fmt::format("class {} with {} exchange{}", problem.name,
                                               versions, versions == 1 ? "" : "s"),
                           .hint = "choose a smaller class, or --compare none"});
}

/// Tessera's version last.
std::vector<Version> all_versions(Session& session, const mg::Problem& problem) {
  std::vector<NamedExchange> others = exchanges_of_others(session);
  check_memory(session, problem, others.size() + 1);
  std::vector<Version> versions;
  for (auto& [name, exchange] : others) {
    if (auto version = version_with(session, problem, name, std::move(exchange))) {
      versions.push_back(std::move(*version));
    }
  }
  versions.push_back({"tessera-mg", mg::DistributedRun::create(session.job(), problem).value()});
  return versions;
}

/// `measured` has a result for each version.
void compare_versions(Session& session, const mg::Problem& problem,
                      std::span<const Version> versions, std::span<const Measured> measured,
                      bool is_primed) {
  if (!session.is_leader()) {
    return;
  }
  std::vector<Exchanged> exchanged;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const auto rounds = std::ssize(measured[i].samples_ns);
    exchanged.push_back({versions[i].name, versions[i].exposed.of_last(rounds, is_primed),
                         versions[i].longest.of_last(rounds, is_primed), measured[i].samples_ns});
  }
  record_exchanges(session, problem, exchanged, "exposed_", &Exchanged::exposed_ns);
  record_exchanges(session, problem, exchanged, "exchange_", &Exchanged::longest_ns);
  compare_exchanges(session, problem, std::span(exchanged).first(exchanged.size() - 1),
                    exchanged.back());
}

/// A run takes a fraction of a second: classes S, W and A.
bool is_short(const mg::Problem& problem) {
  constexpr double operations = 5e9;
  return mg::operations(problem, problem.cycles) < operations;
}

void measure_class(Session& session, Topic& topic, const mg::Problem& problem) {
  std::vector<Version> versions = all_versions(session, problem);
  std::vector<Candidate> candidates = {long_triad(session, problem)};
  for (Version& version : versions) {
    candidates.push_back(mg_candidate(version, problem));
  }
  MeasureOptions options = session.options().measure_options();
  // Exchanges wait for the slowest rank, so a few short runs are not significant.
  const std::int64_t rounds = is_short(problem) ? 31 : 7;
  options.samples = std::min(options.samples, rounds);
  options.min_samples = rounds;
  options.warm_up_samples = 1;
  options.repetitions = 1;
  // NPB runs one cycle untimed before the timed ones. Without it, the time of a run of a
  // millisecond depends on the run before: one of the triad, which leaves nothing in the caches, or
  // one of MG. A long run doesn't depend on it.
  options.prime = options.prime && is_short(problem);
  topic.op = std::string("class_") + problem.name;
  const auto measured = session.measure(
      topic, {problem.edge, shape_of(problem), problem_bytes(problem)}, candidates, options);
  compare_with_triad(session, problem, measured);
  compare_versions(session, problem, versions, std::span(measured).subspan(1), options.prime);
}

}  // namespace

std::string check_mg_classes(const std::string& classes) {
  std::string seen;
  for (const std::string_view name : words_between_commas(classes)) {
    if (name.empty()) {
      return fmt::format("'{}': a class is missing between commas; write A or A,B", classes);
    }
    const mg::ParsedClass parsed = mg::parse_class(name);
    if (!parsed.problem) {
      return parsed.error;
    }
    if (seen.find(parsed.problem->name) != std::string::npos) {
      return fmt::format("'{}' has class {} twice", classes, parsed.problem->name);
    }
    seen.push_back(parsed.problem->name);
  }
  return "";
}

void measure_mg(Session& session) {
  Topic topic{"mg", "", "NAS MG Time", Quantity::latency, "Edge"};
  for (const char name : session.options().mg_classes) {
    if (name != ',') {
      measure_class(session, topic, mg::parse_class(std::string(1, name)).problem.value());
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
