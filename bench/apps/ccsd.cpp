// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "ccsd": the contractions in which coupled cluster spends its time, as tessera-ccsd does
// them (apps/ccsd/contraction.hpp): tasks from a shared counter, prefetched panels, tiles
// accumulated at their owners. Then the perturbative triples of an artificial molecule
// (apps/ccsd/triples.hpp). Both are compared with each rank's own matrix products, and with rank 0
// alone doing all of it.
#include "bench/parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/ccsd/contraction.hpp"
#include "apps/ccsd/equations.hpp"
#include "apps/ccsd/molecule.hpp"
#include "apps/ccsd/triples.hpp"
#include "apps/ccsd/workspace.hpp"
#include "arrays/elementwise.hpp"
#include "linalg/blas.hpp"
#include "linalg/blas_threads.hpp"
#include "rma/bootstrap.hpp"

namespace tessera::bench {
namespace {

namespace ccsd = apps::ccsd;

constexpr const char* dgemm_at_once = "dgemm at once";
constexpr const char* alone = "one rank";
constexpr const char* own_name = "tessera";
// For the largest case only: in smaller ones, all tiles are edge tiles.
constexpr const char* share = "ccsd contractions of O = 16, V = 128: speed / dgemm at once";
constexpr const char* scaling = "ccsd contractions of O = 16, V = 128: two ranks / one";

/// Numbers of occupied and virtual orbitals.
struct Orbitals {
  std::int64_t occupied = 0;
  std::int64_t virtuals = 0;

  friend bool operator==(const Orbitals&, const Orbitals&) = default;
  [[nodiscard]] std::int64_t occupied_pairs() const { return occupied * occupied; }
  [[nodiscard]] std::int64_t virtual_pairs() const { return virtuals * virtuals; }
  [[nodiscard]] std::int64_t mixed_pairs() const { return occupied * virtuals; }
  [[nodiscard]] std::string name() const {
    return fmt::format("O = {}, V = {}", occupied, virtuals);
  }
};

constexpr std::array orbital_sizes{Orbitals{4, 16}, Orbitals{8, 32}, Orbitals{16, 64},
                                   Orbitals{16, 128}};

/// Small integers, so that products are exact.
double pair_element(std::int64_t row, std::int64_t column, int of) {
  return static_cast<double>((row * 7 + column * 3 + of) % 11 - 5);
}

/// C += A B, as matrices of pairs of orbitals.
struct Contraction {
  std::string name;
  ccsd::RowMatrix c;
  ccsd::RowMatrix a;
  ccsd::RowMatrix b;

  [[nodiscard]] double operations() const {
    return 2.0 * static_cast<double>(c.extents()[0]) * static_cast<double>(c.extents()[1]) *
           static_cast<double>(a.extents()[1]);
  }

  /// Checks some elements of C after one product, if C was zero before; returns an error message,
  /// or an empty string.
  [[nodiscard]] std::string verify() {
    for (std::int64_t i = 0; i < 16; ++i) {
      const arrays::Index at{i * i * 131 % c.extents()[0], i * 977 % c.extents()[1]};
      double expected = 0;
      for (std::int64_t k = 0; k < a.extents()[1]; ++k) {
        expected += pair_element(at[0], k, 0) * pair_element(k, at[1], 1);
      }
      const double found = c.get_element(at).value();
      if (found != expected) {
        return fmt::format("{}: C{} is {}, not {}", name, to_string(at), found, expected);
      }
    }
    return "";
  }
};

void fill(ccsd::RowMatrix& matrix, int of) {
  auto own = ccsd::OwnRows::of(matrix).value();
  for (std::int64_t row = own.first(); row < own.last(); ++row) {
    for (std::int64_t column = 0; column < own.columns(); ++column) {
      own.row(row)[column] = pair_element(row, column, of);
    }
  }
}

Contraction contraction(rma::Job& job, const std::string& name, std::int64_t m, std::int64_t n,
                        std::int64_t k) {
  Contraction made{name, ccsd::create_row_matrix(job, name + " C", m, n).value(),
                   ccsd::create_row_matrix(job, name + " A", m, k).value(),
                   ccsd::create_row_matrix(job, name + " B", k, n).value()};
  fill(made.a, 0);
  fill(made.b, 1);
  return made;
}

/// The largest contractions of an iteration, and the code that does them.
class Iteration {
 public:
  Iteration(rma::Job& job, const Orbitals& of, std::int64_t tile)
      : engine_(ccsd::ContractionEngine::create(job, tile).value()) {
    const std::int64_t oo = of.occupied_pairs();
    const std::int64_t ov = of.mixed_pairs();
    const std::int64_t vv = of.virtual_pairs();
    contractions_.push_back(contraction(job, "ladder", oo, vv, vv));
    contractions_.push_back(contraction(job, "ring", ov, ov, ov));
    contractions_.push_back(contraction(job, "hole ladder", oo, vv, oo));
    rma::require(job.barrier());
    for (Contraction& each : contractions_) {
      products_.push_back(
          {ccsd::Factor::of(each.c), 1.0, ccsd::Factor::of(each.a), ccsd::Factor::of(each.b)});
      operations_ += each.operations();
    }
  }

  [[nodiscard]] double operations() const { return operations_; }
  void run() { rma::require(engine_.run(products_)); }

  /// Collective.
  std::string verify() {
    for (Contraction& each : contractions_) {
      rma::require(arrays::fill(each.c, 0.0));
    }
    run();
    std::string wrong;
    for (Contraction& each : contractions_) {
      const std::string problem = each.verify();
      wrong = problem.empty() ? wrong : problem;
      rma::require(each.c.sync());
    }
    return wrong;
  }

 private:
  ccsd::ContractionEngine engine_;
  std::vector<Contraction> contractions_;
  std::vector<ccsd::Product> products_;
  double operations_ = 0;
};

/// The energy of the triples, of an artificial molecule's first amplitudes.
class Triples {
 public:
  Triples(rma::Job job, const Orbitals& of)
      : job_(std::move(job)),
        space_{.frozen = 0, .occupied = of.occupied, .virtuals = of.virtuals},
        molecule_(ccsd::make_synthetic_molecule(job_, space_).value()),
        amplitudes_(ccsd::Amplitudes::create(job_, space_, "t2").value()) {
    auto workspace = ccsd::Workspace::create(job_, space_).value();
    auto engine = ccsd::ContractionEngine::create(job_, of.virtual_pairs()).value();
    auto equations =
        ccsd::CcsdEquations::create(molecule_.model, molecule_.integrals, workspace, engine)
            .value();
    rma::require(equations.guess(amplitudes_));
  }

  [[nodiscard]] double operations() const { return ccsd::triples_operations(space_); }
  double run() {
    return ccsd::triples_energy(job_, molecule_.model, molecule_.integrals, amplitudes_).value();
  }

 private:
  rma::Job job_;
  ccsd::OrbitalSpace space_;
  ccsd::Molecule molecule_;
  ccsd::Amplitudes amplitudes_;
};

/// Local products of tiles on every rank at once, enough of them for about `operations`.
Candidate local_products(Session& session, std::int64_t tile, double operations) {
  struct Matrices {
    std::vector<double> a, b, c;
  };
  const auto ranks = static_cast<double>(session.job().size());
  // Smaller tiles if one product would exceed the requested operations.
  tile = std::clamp<std::int64_t>(std::llround(std::cbrt(operations / ranks / 2)), 1, tile);
  const auto elements = static_cast<std::size_t>(tile * tile);
  const auto memory = std::make_shared<Matrices>();
  memory->a.assign(elements, 1.5);
  memory->b.assign(elements, 2.5);
  memory->c.assign(elements, 0);
  const double each = 2 * std::pow(static_cast<double>(tile), 3);
  const double count = std::max(std::round(operations / ranks / each), 1.0);
  Candidate candidate;
  candidate.name = dgemm_at_once;
  candidate.cooperative = true;
  candidate.operations = count * each * ranks;
  candidate.run = [memory, tile,
                   count = static_cast<std::int64_t>(count)](std::int64_t repetitions) {
    const linalg::LocalMatrix<const double> a{memory->a.data(), tile, tile, tile, 1};
    const linalg::LocalMatrix<const double> b{memory->b.data(), tile, tile, tile, 1};
    const linalg::LocalMatrix<double> c{memory->c.data(), tile, tile, tile, 1};
    for (std::int64_t i = 0; i < repetitions * count; ++i) {
      rma::require(linalg::blas::gemm<double>(1, {a}, {b}, 0, c));
    }
  };
  return candidate;
}

Candidate iterations(rma::Job& job, const Orbitals& of, std::int64_t tile) {
  const auto iteration = std::make_shared<Iteration>(job, of, tile);
  Candidate candidate;
  candidate.operations = iteration->operations();
  candidate.run = [iteration](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      iteration->run();
    }
  };
  candidate.verify = [iteration] { return iteration->verify(); };
  return candidate;
}

/// A job of this rank alone, independent of how the ranks were started: MPI does not know it.
rma::Job start_alone(const rma::Job& first) {
  rma::Settings settings = first.settings();
  settings.transport = "shm";
  return rma::Job::start({.bootstrap = rma::alone_bootstrap(), .settings = settings}).value();
}

/// The same by rank 0 in its own job, while the others wait.
Candidate iterations_alone(const Session& session, const Orbitals& of, std::int64_t tile) {
  Candidate candidate;
  if (session.is_leader()) {
    rma::Job job = start_alone(session.job());
    candidate = iterations(job, of, tile);
  }
  candidate.name = alone;
  return candidate;
}

/// `expected` is the result of one rank alone.
Candidate triples(const std::shared_ptr<Triples>& of, double expected) {
  Candidate candidate;
  candidate.operations = of->operations();
  candidate.run = [of](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      of->run();
    }
  };
  candidate.verify = [of, expected] {
    const double found = of->run();
    return std::abs(found - expected) <= 1e-10 * std::abs(expected)
               ? ""
               : fmt::format("E(T) is {}, and one rank finds {}", found, expected);
  };
  return candidate;
}

/// The speed of all ranks / the speed of one.
Ratio report_scaling(Session& session, const std::string& what,
                     const std::vector<Measured>& measured) {
  const Ratio speed = ratio_of_medians(measured[1].samples_ns, measured.back().samples_ns);
  session.remark(fmt::format("{}: speed of {} ranks / one", what, session.group().size()), speed);
  return speed;
}

/// The rate / that of local products with the same number of operations, or nearly.
Ratio report_share(Session& session, const std::string& what,
                   const std::vector<Measured>& measured) {
  constexpr double giga = 1e9;
  const Measured& ours = measured.back();
  const Ratio times = ratio_of_medians(measured[0].samples_ns, ours.samples_ns);
  const double factor = ours.operations.value() / measured[0].operations.value();
  const Ratio rate = times.scaled(factor);
  session.remark(fmt::format("{}: {:.1f} Gop/s, rate / {}", what, ours.operations_per_s() / giga,
                             dgemm_at_once),
                 rate);
  session.rate({"ccsd " + what, ours.operations_per_s() / giga, "Gflop/s", ours.valid});
  return rate;
}

/// Makes a candidate that all ranks run together.
Candidate together(Candidate candidate, const std::string& name) {
  candidate.name = name;
  candidate.cooperative = true;
  return candidate;
}

/// What is measured of some orbitals, by these names in the records.
Topic contractions_topic(const std::string& bench) {
  return {bench, "", "Coupled Cluster Contractions Rate", Quantity::rate, "Virtuals"};
}
Topic triples_topic(const std::string& bench) {
  return {bench, "", "Coupled Cluster Triples Rate", Quantity::rate, "Virtuals"};
}

std::int64_t tile_of(const Orbitals& of) {
  return std::min<std::int64_t>(512, of.virtual_pairs());
}

/// Collective. Local products first, then `others`, then `own`.
std::vector<Measured> measure_with_local_products(Session& session, Topic& topic,
                                                  const Orbitals& of, std::int64_t pairs,
                                                  std::vector<Candidate> others, Candidate own) {
  std::vector<Candidate> candidates{local_products(session, tile_of(of), own.operations.value())};
  add(candidates, std::move(others));
  candidates.push_back(std::move(own));
  MeasureOptions options = together(session.options().measure_options());
  options.prime = false;  // they bring their own data
  return session.measure(topic, {of.virtuals, "", of.virtual_pairs() * pairs * 8}, candidates,
                         options);
}

void measure_contractions(Session& session, Topic& topic, const Orbitals& of) {
  const std::int64_t tile = tile_of(of);
  std::vector<Candidate> one;
  if (session.group().size() > 1) {
    one.push_back(iterations_alone(session, of, tile));
  }
  topic.op = of.name();
  const auto measured =
      measure_with_local_products(session, topic, of, of.virtual_pairs(), std::move(one),
                                  together(iterations(session.job(), of, tile), own_name));
  if (!session.is_leader()) {
    return;
  }
  const Ratio rate = report_share(session, of.name(), measured);
  if (of == orbital_sizes.back()) {
    session.targets().observe(share, of.name(), rate);
  }
  if (measured.size() > 2) {
    const Ratio speed = report_scaling(session, of.name(), measured);
    if (of == orbital_sizes.back() && session.group().size() == 2) {
      session.targets().observe(scaling, of.name(), speed);
    }
  }
}

/// Rank 0 in its own job, while the others wait; null on the others. All ranks must find its
/// result.
std::shared_ptr<Triples> triples_alone(const Session& session, const Orbitals& of) {
  return session.is_leader() ? std::make_shared<Triples>(start_alone(session.job()), of) : nullptr;
}

void measure_triples(Session& session, Topic& topic, const Orbitals& of) {
  const std::shared_ptr<Triples> alone_job = triples_alone(session, of);
  const double expected = session.group().share(alone_job ? alone_job->run() : 0.0);
  std::vector<Candidate> one;
  if (session.group().size() > 1) {
    one.push_back(renamed(alone_job ? triples(alone_job, expected) : Candidate(), alone));
  }
  topic.op = "(T) " + of.name();
  const auto measured = measure_with_local_products(
      session, topic, of, of.mixed_pairs(), std::move(one),
      together(triples(std::make_shared<Triples>(session.job(), of), expected), own_name));
  if (!session.is_leader()) {
    return;
  }
  report_share(session, topic.op, measured);
  if (measured.size() > 2) {
    report_scaling(session, topic.op, measured);
  }
}

/// The work of all `jobs`; the last one's separately.
struct ByJobs {
  std::vector<Candidate> others;
  Candidate own;
};

/// Collective. `make` returns the candidate of a job.
template <class Make>
ByJobs by_jobs(const std::vector<CcsdJob>& jobs, Make make) {
  ByJobs made;
  for (const CcsdJob& each : jobs) {
    made.others.push_back(together(make(*each.job), each.name));
  }
  made.own = std::move(made.others.back());
  made.others.pop_back();
  return made;
}

/// Prints the time of the subject / that of each other job.
void report_jobs(const Session& session, const std::string& what,
                 const std::vector<Measured>& measured) {
  for (std::size_t i = 1; session.is_leader() && i + 1 < measured.size(); ++i) {
    const Ratio time = ratio_of_medians(measured.back().samples_ns, measured[i].samples_ns);
    session.remark(fmt::format("{}: time of {} / {}", what, measured.back().name, measured[i].name),
                   time);
  }
}

/// Orbitals whose largest matrix fits -m; as for checkpoints, -m limits the size of the data.
std::vector<Orbitals> requested(const Session& session) {
  std::vector<Orbitals> found;
  std::copy_if(orbital_sizes.begin(), orbital_sizes.end(), std::back_inserter(found),
               [&](const Orbitals& of) {
                 const std::int64_t bytes = of.virtual_pairs() * of.virtual_pairs() * 8;
                 return of.virtuals == 16 || bytes <= 64 * session.options().max_size;
               });
  return found;
}

/// With 128 virtual orbitals they take a minute.
bool has_short_triples(const Orbitals& of) {
  return of != orbital_sizes.back();
}

}  // namespace

void measure_ccsd(Session& session) {
  linalg::limit_blas_threads(session.job());
  Topic contractions = contractions_topic("ccsd");
  Topic triples = triples_topic("ccsd");
  for (const Orbitals& of : requested(session)) {
    measure_contractions(session, contractions, of);
  }
  for (const Orbitals& of : requested(session)) {
    if (has_short_triples(of)) {
      measure_triples(session, triples, of);
    }
  }
}

void measure_ccsd_by_jobs(Session& session, const std::string& bench,
                          const std::vector<CcsdJob>& jobs) {
  linalg::limit_blas_threads(session.job());
  Topic contractions = contractions_topic(bench);
  Topic of_triples = triples_topic(bench);
  const auto measure = [&](Topic& topic, const Orbitals& of, std::int64_t pairs, ByJobs all) {
    report_jobs(session, topic.op,
                measure_with_local_products(session, topic, of, pairs, std::move(all.others),
                                            std::move(all.own)));
  };
  for (const Orbitals& of : requested(session)) {
    contractions.op = of.name();
    measure(contractions, of, of.virtual_pairs(),
            by_jobs(jobs, [&](rma::Job& job) { return iterations(job, of, tile_of(of)); }));
  }
  for (const Orbitals& of : requested(session)) {
    if (!has_short_triples(of)) {
      continue;
    }
    const std::shared_ptr<Triples> one = triples_alone(session, of);
    const double expected = session.group().share(one ? one->run() : 0.0);
    of_triples.op = "(T) " + of.name();
    measure(of_triples, of, of.mixed_pairs(), by_jobs(jobs, [&](rma::Job& job) {
              return triples(std::make_shared<Triples>(job, of), expected);
            }));
  }
}

std::vector<Target> ccsd_targets() {
  return {
      {.name = share,
       .reference = dgemm_at_once,
       .sense = Target::Sense::speed_at_least,
       .limit = 0.7},
      {.name = scaling, .reference = alone, .sense = Target::Sense::speed_at_least, .limit = 1.8}};
}

}  // namespace tessera::bench
