// SPDX-License-Identifier: BSD-3-Clause
//
// The spin-adapted, distributed equations against spin orbitals (spin_orbital.hpp): one step from
// random amplitudes, the triples of random amplitudes, and converged energies with frozen orbitals.
#include "apps/ccsd/equations.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/ccsd/molecule.hpp"
#include "apps/ccsd/solver.hpp"
#include "apps/ccsd/synthetic.hpp"
#include "apps/ccsd/triples.hpp"

#include "tests/apps/ccsd/dense_molecule.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Job;
using rma::test::ok;
using rma::test::on_ranks;
using rma::test::rank_count;
using rma::test::transport_name;

constexpr double tolerance = 1e-11;
constexpr std::int64_t tile = 7;  // so that small matrices have several tiles

/// The objects that an evaluation of the equations needs.
struct Evaluation {
  Evaluation(Job& job, Molecule made)
      : molecule(std::move(made)),
        workspace(Workspace::create(job, molecule.model.space).value()),
        engine(ContractionEngine::create(job, tile).value()),
        equations(
            CcsdEquations::create(molecule.model, molecule.integrals, workspace, engine).value()),
        amplitudes(Amplitudes::create(job, molecule.model.space, "t").value()) {}

  Molecule molecule;
  Workspace workspace;
  ContractionEngine engine;
  CcsdEquations equations;
  Amplitudes amplitudes;
};

test::SpinOrbitalCcsd synthetic_oracle(const OrbitalSpace& space, const Model& model) {
  const auto o = static_cast<std::size_t>(space.occupied);
  const auto v = static_cast<std::size_t>(space.virtuals);
  std::vector<double> fock;
  for (std::size_t p = 0; p < o + v; ++p) {
    for (std::size_t q = 0; q < o + v; ++q) {
      fock.push_back(p < o && q < o     ? model.fock.oo[p * o + q]
                     : p >= o && q >= o ? model.fock.vv[(p - o) * v + q - o]
                                        : model.fock.ov[std::min(p, q) * v + std::max(p, q) - o]);
    }
  }
  return {o, o + v, fock, [space](std::size_t p, std::size_t q, std::size_t r, std::size_t s) {
            const auto at = [&](std::size_t x) {
              return space.frozen + static_cast<std::int64_t>(x);
            };
            return synthetic_integral({at(p), at(q), at(r), at(s)}, space);
          }};
}

std::vector<double> values_of(RowMatrix& matrix) {
  std::vector<double> values(static_cast<std::size_t>(matrix.box().volume()));
  rma::require(matrix.get(matrix.box(), std::span<double>(values)));
  rma::require(matrix.sync());
  return values;
}

/// Random amplitudes with the symmetry of doubles, the same on all ranks.
void randomise(Amplitudes& amplitudes, Job& job) {
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> any(-0.3, 0.3);
  for (double& t : amplitudes.t1) {
    t = any(random);
  }
  const auto n = static_cast<std::size_t>(amplitudes.t2.extents()[0]);
  std::vector<double> t2(n * n);
  for (std::size_t ia = 0; ia < n; ++ia) {
    for (std::size_t jb = 0; jb <= ia; ++jb) {
      t2[ia * n + jb] = t2[jb * n + ia] = any(random);
    }
  }
  if (job.rank().value == 0) {
    rma::require(amplitudes.t2.put(amplitudes.t2.box(), std::span<const double>(t2)));
  }
  rma::require(amplitudes.t2.sync());
}

/// The same amplitudes for the reference calculation.
test::SpinAmplitudes dense(const test::SpinOrbitalCcsd& oracle, const OrbitalSpace& space,
                           Amplitudes& amplitudes) {
  const auto o = static_cast<std::size_t>(space.occupied);
  const auto v = static_cast<std::size_t>(space.virtuals);
  const std::vector<double> values = values_of(amplitudes.t2);
  test::Matrix2 t1(o, v);
  test::Tensor4 t2(o, o, v, v);
  for (std::size_t i = 0; i < o; ++i) {
    for (std::size_t a = 0; a < v; ++a) {
      t1(i, a) = amplitudes.t1[i * v + a];
      for (std::size_t j = 0; j < o; ++j) {
        for (std::size_t b = 0; b < v; ++b) {
          t2(i, j, a, b) = values[(i * v + a) * o * v + j * v + b];
        }
      }
    }
  }
  return oracle.from_closed_shell(t1, t2);
}

/// An artificial molecule with orbitals that are not canonical.
Molecule make_uncanonical_molecule(Job& job, const OrbitalSpace& space) {
  Molecule molecule = make_synthetic_molecule(job, space).value();
  const std::vector<double> energies = synthetic_orbital_energies(space);
  std::mt19937_64 random(23);
  std::uniform_real_distribution<double> any(-0.3, 0.3);
  std::vector<double> fock;
  for (std::int64_t p = 0; p < space.orbitals(); ++p) {
    for (std::int64_t q = 0; q < p; ++q) {
      fock.push_back(any(random));
    }
    fock.push_back(energies[static_cast<std::size_t>(p)]);
  }
  molecule.model = Model::of_fock(space, fock);
  return molecule;
}

void expect_same_step(Job& job, const OrbitalSpace& space, Molecule molecule) {
  Evaluation run(job, std::move(molecule));
  const auto oracle = synthetic_oracle(space, run.molecule.model);
  randomise(run.amplitudes, job);
  const test::SpinAmplitudes before = dense(oracle, space, run.amplitudes);
  EXPECT_NEAR(run.equations.energy(run.amplitudes).value(), oracle.energy(before), tolerance);

  auto step = Amplitudes::create(job, space, "step").value();
  ASSERT_TRUE(ok(run.equations.step(run.amplitudes, step)));
  const test::SpinAmplitudes after = oracle.next(before);
  const auto v = static_cast<std::size_t>(space.virtuals);
  const std::vector<double> t2 = values_of(step.t2);
  // Spins up and down: amplitudes of spatial orbitals are those of (i up, j down, a up, b down).
  double worst_single = 0.0;
  double worst_double = 0.0;
  const std::size_t n = step.t1.size();
  for (std::size_t ia = 0; ia < n; ++ia) {
    const std::size_t i = 2 * (ia / v);
    const std::size_t a = 2 * (ia % v);
    worst_single =
        std::max(worst_single, std::abs(step.t1[ia] - (after.t1(i, a) - before.t1(i, a))));
    for (std::size_t jb = 0; jb < n; ++jb) {
      const std::size_t j = 2 * (jb / v) + 1;
      const std::size_t b = 2 * (jb % v) + 1;
      worst_double = std::max(
          worst_double, std::abs(t2[ia * n + jb] - (after.t2(i, j, a, b) - before.t2(i, j, a, b))));
    }
  }
  EXPECT_LT(worst_single, tolerance) << space.occupied << ' ' << space.virtuals;
  EXPECT_LT(worst_double, tolerance) << space.occupied << ' ' << space.virtuals;
}

TEST(CcsdEquations, StepAsTheSpinOrbitalsDo) {
  on_ranks([](Job& job) {
    for (const OrbitalSpace& space : {OrbitalSpace{0, 1, 1}, OrbitalSpace{0, 1, 4},
                                      OrbitalSpace{1, 3, 2}, OrbitalSpace{0, 3, 5}}) {
      expect_same_step(job, space, make_synthetic_molecule(job, space).value());
      expect_same_step(job, space, make_uncanonical_molecule(job, space));
    }
  });
}

TEST(TriplesEnergy, IsThatOfTheSpinOrbitals) {
  on_ranks([](Job& job) {
    for (const OrbitalSpace& space :
         {OrbitalSpace{0, 1, 3}, OrbitalSpace{0, 3, 1}, OrbitalSpace{0, 2, 3},
          OrbitalSpace{1, 3, 5}, OrbitalSpace{0, 2, 17}}) {
      Evaluation run(job, make_synthetic_molecule(job, space).value());
      const auto oracle = synthetic_oracle(space, run.molecule.model);
      randomise(run.amplitudes, job);
      const double expected = oracle.triples(dense(oracle, space, run.amplitudes));
      const auto found =
          triples_energy(job, run.molecule.model, run.molecule.integrals, run.amplitudes);
      ASSERT_TRUE(ok(found));
      EXPECT_NEAR(*found, expected, tolerance) << space.occupied << ' ' << space.virtuals;
    }
  });
}

struct Energies {
  double reference;
  double mp2;
  double ccsd;
  double triples;
};

Energies computed(Job& job, const std::string& path, std::int64_t frozen,
                  const test::DenseMolecule* dense_molecule) {
  auto file = Fcidump::open(path).value();
  const auto space =
      OrbitalSpace::create(file.header().orbitals, file.header().electrons, frozen).value();
  Evaluation run(job, read_molecule(job, file, space).value());
  const Solution solution =
      solve(job, run.molecule.model, run.equations, run.amplitudes, {.max_iterations = 60}).value();
  EXPECT_TRUE(solution.is_converged);
  const double triples =
      triples_energy(job, run.molecule.model, run.molecule.integrals, run.amplitudes).value();
  if (dense_molecule != nullptr && job.rank().value == 0) {
    const auto oracle = dense_molecule->oracle(space);
    const test::SpinAmplitudes t = oracle.solve();
    EXPECT_NEAR(solution.mp2_energy, oracle.energy(oracle.guess()), 1e-12);
    EXPECT_NEAR(solution.last.energy, oracle.energy(t), 1e-12);
    EXPECT_NEAR(triples, oracle.triples(t), 1e-10);
  }
  return {run.molecule.reference_energy.value(), solution.mp2_energy, solution.last.energy,
          triples};
}

TEST(Ccsd, OfFrozenOrbitalsIsThatOfTheSpinOrbitals) {
  on_ranks([](Job& job) {
    const test::DenseMolecule water(H2O_STO3G);
    for (const std::int64_t frozen : {1, 2, 4}) {
      computed(job, H2O_STO3G, frozen, &water);
    }
  });
}

TEST(Ccsd, OfALargerMoleculeWithAFrozenCoreIsThatOfTheSpinOrbitals) {
  const std::string path = std::string(SHARED_FCIDUMP) + "/h2o_631g.fcidump";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "there is no " << path;
  }
  if (tessera::test::is_sanitized || rank_count() != 2 || transport_name() != "shm") {
    GTEST_SKIP() << "the oracle is slow: 2 ranks over shm do";
  }
  on_ranks([&](Job& job) {
    const test::DenseMolecule water(path);
    computed(job, path, 1, &water);
  });
}

void expect_energies_of_water(const Energies& found) {
  EXPECT_NEAR(found.reference, -74.942079928192, 1e-9);
  EXPECT_NEAR(found.mp2, -0.049149636120, 1e-9);
  EXPECT_NEAR(found.ccsd, -0.070680088377, 1e-9);
  EXPECT_NEAR(found.triples, -0.000099877272, 1e-9);
}

TEST(Ccsd, OfWaterHasThePublishedEnergies) {
  on_ranks([](Job& job) { expect_energies_of_water(computed(job, H2O_STO3G, 0, nullptr)); });
}

// Orbitals of a self-consistent field calculation that stopped early. The energy is linear in their
// error: it belongs to these orbitals, not to the canonical ones.
TEST(Ccsd, OfOrbitalsThatAreNotQuiteCanonicalTakesAllOfTheFockMatrix) {
  on_ranks([](Job& job) {
    const tessera::test::SharedFolder folder(job);
    const std::string path = folder.file("turned.fcidump");
    // An occupied orbital and a virtual one, two occupied ones, two virtual ones.
    for (const auto& [one, other] : {std::pair{4, 5}, {1, 2}, {5, 6}}) {
      test::DenseMolecule water(H2O_STO3G);
      water.turn(static_cast<std::size_t>(one), static_cast<std::size_t>(other), 5e-7);
      if (job.rank().value == 0) {
        tessera::test::write_contents(path, water.text());
      }
      ASSERT_TRUE(ok(job.barrier()));
      for (const std::int64_t frozen : {0, 2}) {
        computed(job, path, frozen, &water);
      }
      ASSERT_TRUE(ok(job.barrier()));
    }
  });
}

// Without a gap the first amplitudes are infinite. The file of an earlier iteration must stay.
TEST(Ccsd, ThatDivergesWritesNoCheckpoint) {
  on_ranks([](Job& job) {
    const tessera::test::SharedFolder folder(job);
    const std::string file = folder.file("amplitudes.h5");
    Molecule molecule = make_synthetic_molecule(job, {0, 2, 3}).value();
    molecule.model.virtual_energies.front() = molecule.model.occupied_energies.back();
    Evaluation run(job, std::move(molecule));
    const auto solution = solve(job, run.molecule.model, run.equations, run.amplitudes,
                                {.max_iterations = 9, .checkpoint_file = file});
    ASSERT_TRUE(ok(solution));
    EXPECT_FALSE(std::isfinite(solution->last.energy));
    EXPECT_FALSE(solution->is_converged);
    EXPECT_FALSE(std::filesystem::exists(file));
  });
}

TEST(Ccsd, ContinuesIfACheckpointCannotBeWritten) {
  on_ranks([](Job& job) {
    const tessera::test::SharedFolder folder(job);
    const std::string file = folder.file("amplitudes.h5");
    Evaluation run(job, make_synthetic_molecule(job, {0, 2, 3}).value());
    SolveOptions options{.checkpoint_file = file};
    std::vector<std::int64_t> reported;
    options.checkpoint_failed = [&](const Iteration& iteration, const rma::Status&) {
      reported.push_back(iteration.number);
    };
    // Ranks may be threads, which have one limit.
    std::optional<tessera::test::FileSizeLimit> limit;
    const auto set = [&](bool is_limited) {
      rma::require(job.barrier());
      if (job.rank().value == 0 && is_limited) {
        limit.emplace(4096);
      } else {
        limit.reset();
      }
      rma::require(job.barrier());
    };
    set(true);
    const auto without = solve(job, run.molecule.model, run.equations, run.amplitudes, options);
    EXPECT_FALSE(std::filesystem::exists(file));
    options.progress = [&](const Iteration& iteration) {
      if (iteration.number == 3) {
        set(false);  // free space again
      }
    };
    const auto later = solve(job, run.molecule.model, run.equations, run.amplitudes, options);
    set(false);
    ASSERT_TRUE(ok(without));
    if (without->checkpoint.code() == rma::Code::unsupported) {
      GTEST_SKIP() << without->checkpoint.message();
    }
    EXPECT_TRUE(without->is_converged);
    EXPECT_EQ(without->checkpoint.code(), rma::Code::limit_exceeded);
    ASSERT_TRUE(ok(later));
    EXPECT_TRUE(ok(later->checkpoint));
    EXPECT_TRUE(std::filesystem::exists(file));
    EXPECT_EQ(reported, (std::vector<std::int64_t>{1, 1}));
    EXPECT_NEAR(later->last.energy, without->last.energy, 1e-14);
  });
}

/// The same integrals in reverse order, each as another of its permutations, in the formats of
/// other programs.
std::string rewritten(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line.find("&END") == std::string::npos) {
  }
  std::string text;
  std::string value;
  for (std::int64_t p = 0, q = 0, r = 0, s = 0; file >> value >> p >> q >> r >> s;) {
    std::replace(value.begin(), value.end(), 'E', 'D');
    const bool is_two_electron = s != 0;
    line = is_two_electron ? fmt::format("{} {} {} {} {}\n", value, s, r, q, p)
                           : fmt::format("{}\t{} {} 0 0\r\n", value, p, q);
    text.insert(0, line);
  }
  return "&fci norb = 7, nelec= 10 /\n" + text;
}

TEST(Ccsd, DoesNotDependOnTheOrderNorTheFormOfTheIntegrals) {
  on_ranks([](Job& job) {
    tessera::test::SharedFolder folder(job);
    const std::string path = folder.file("rewritten.fcidump");
    if (job.rank().value == 0) {
      tessera::test::write_contents(path, rewritten(H2O_STO3G));
    }
    ASSERT_TRUE(ok(job.barrier()));
    expect_energies_of_water(computed(job, path, 0, nullptr));
  });
}

}  // namespace
}  // namespace tessera::apps::ccsd
