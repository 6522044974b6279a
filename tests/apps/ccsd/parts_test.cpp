// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of the equations: products by tasks, layouts, the integrals kept from a file,
// amplitudes in files, and the errors of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/ccsd/amplitude_file.hpp"
#include "apps/ccsd/contraction.hpp"
#include "apps/ccsd/layouts.hpp"
#include "apps/ccsd/memory_plan.hpp"
#include "apps/ccsd/molecule.hpp"
#include "apps/ccsd/reference_state.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Code;
using rma::Job;
using rma::Status;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;
using tessera::test::SharedFolder;

/// A number for each element, small enough that sums of products are exact.
double value_at(std::int64_t row, std::int64_t column) {
  return static_cast<double>((row * 7 + column * 13) % 17 - 8);
}

RowMatrix make_filled(Job& job, std::int64_t rows, std::int64_t columns) {
  RowMatrix matrix = create_row_matrix(job, "filled", rows, columns).value();
  const OwnRows own = OwnRows::of(matrix).value();
  for (std::int64_t row = own.first(); row < own.last(); ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      own.row(row)[column] = value_at(row, column);
    }
  }
  rma::require(matrix.sync());
  return matrix;
}

std::vector<double> read_values(RowMatrix& matrix) {
  std::vector<double> values(static_cast<std::size_t>(matrix.box().volume()));
  rma::require(matrix.get(matrix.box(), std::span<double>(values)));
  rma::require(matrix.sync());
  return values;
}

TEST(ContractionEngine, AddsProductsOfPartsAndTransposes) {
  on_ranks([](Job& job) {
    for (const std::int64_t tile : {1, 4, 64}) {
      auto engine = ContractionEngine::create(job, tile).value();
      RowMatrix a = make_filled(job, 9, 14);
      RowMatrix b = make_filled(job, 11, 6);
      RowMatrix c = make_filled(job, 9, 8);
      RowMatrix d = make_filled(job, 6, 9);
      // C's columns 1 to 7 take A's columns 3 to 14 times B; D takes 2 Bᵀ times those of A.
      const std::array<Product, 2> products{
          {{Factor::columns(c, 1, 7), 1.0, Factor::columns(a, 3, 14), Factor::of(b)},
           {Factor::of(d), 2.0, Factor::of(b).transposed(),
            Factor::columns(a, 3, 14).transposed()}}};
      ASSERT_TRUE(ok(engine.run(products)));
      const std::vector<double> c_values = read_values(c);
      const std::vector<double> d_values = read_values(d);
      for (std::int64_t row = 0; row < 9; ++row) {
        for (std::int64_t column = 0; column < 6; ++column) {
          double sum = 0.0;
          for (std::int64_t k = 0; k < 11; ++k) {
            sum += value_at(row, 3 + k) * value_at(k, column);
          }
          ASSERT_EQ(c_values[static_cast<std::size_t>(row * 8 + 1 + column)],
                    value_at(row, 1 + column) + sum);
          ASSERT_EQ(d_values[static_cast<std::size_t>(column * 9 + row)],
                    value_at(column, row) + 2.0 * sum);
        }
        ASSERT_EQ(c_values[static_cast<std::size_t>(row * 8)], value_at(row, 0));
        ASSERT_EQ(c_values[static_cast<std::size_t>(row * 8 + 7)], value_at(row, 7));
      }
      EXPECT_EQ(engine.statistics().operations, 2.0 * 2.0 * 9 * 6 * 11);
    }
  });
}

TEST(Layouts, StoreEachElementAtItsIndex) {
  on_ranks([](Job& job) {
    for (const OrbitalSpace& space :
         {OrbitalSpace{0, 3, 4}, OrbitalSpace{0, 1, 5}, OrbitalSpace{0, 4, 1}}) {
      const std::int64_t o = space.occupied;
      const std::int64_t v = space.virtuals;
      RowMatrix ring = make_filled(job, o * v, o * v);
      RowMatrix pair = create_row_matrix(job, "pair", o * o, v * v).value();
      RowMatrix back = create_row_matrix(job, "back", o * v, o * v).value();
      RowMatrix swapped = create_row_matrix(job, "swapped", o * v, o * v).value();
      RowMatrix transposed = create_row_matrix(job, "transposed", o * v, o * v).value();
      ASSERT_TRUE(ok(to_pair(ring, pair, space)));
      ASSERT_TRUE(ok(to_ring(pair, back, space)));
      ASSERT_TRUE(ok(swap_occupied(ring, swapped, space)));
      ASSERT_TRUE(ok(transpose(ring, transposed)));
      const auto pairs = read_values(pair);
      const auto backs = read_values(back);
      const auto swaps = read_values(swapped);
      const auto transposes = read_values(transposed);
      for (std::int64_t at = 0; at < o * v * o * v; ++at) {
        const std::int64_t ia = at / (o * v);
        const std::int64_t jb = at % (o * v);
        const std::int64_t i = ia / v;
        const std::int64_t a = ia % v;
        const std::int64_t j = jb / v;
        const std::int64_t b = jb % v;
        const double value = value_at(ia, jb);
        const auto index = static_cast<std::size_t>(at);
        ASSERT_EQ(pairs[static_cast<std::size_t>(((i * o + j) * v + a) * v + b)], value);
        ASSERT_EQ(backs[index], value);
        ASSERT_EQ(swaps[index], value_at(j * v + a, i * v + b));
        ASSERT_EQ(transposes[index], value_at(jb, ia));
      }
    }
  });
}

TEST(OrbitalSpace, CountsPairsInBothDirections) {
  for (std::int64_t index = 0; index < 5000; ++index) {
    const auto [x, y] = pair_at(index);
    ASSERT_TRUE(x >= y && y >= 0);
    ASSERT_EQ(pair_index(x, y), index);
  }
  const std::int64_t far = pair_index(std::int64_t{3} << 29, 5);
  EXPECT_EQ(pair_at(far).x, std::int64_t{3} << 29);
  EXPECT_EQ(pair_at(far).y, 5);
}

TEST(OrbitalSpace, RefusesMoreFrozenOrbitalsThanThereAre) {
  EXPECT_TRUE(fails(OrbitalSpace::create(7, 10, 6), Code::invalid_argument,
                    {"6 frozen core orbitals, but only 5 are occupied"}));
  EXPECT_TRUE(OrbitalSpace::create(7, 10, 5).value().is_empty());
}

constexpr const char* canonical =
    "&FCI NORB=2,NELEC=2 /\n0.7 1 1 1 1\n0.6 2 2 1 1\n0.2 2 1 2 1\n0.7 2 2 2 2\n"
    "-1.2 1 1 0 0\n-0.4 2 2 0 0\n0.5 0 0 0 0\n";

Status read(Job& job, const std::string& text) {
  SharedFolder folder(job);
  if (job.rank().value == 0) {
    tessera::test::write_contents(folder.file("m"), text);
  }
  rma::require(job.barrier());
  auto file = Fcidump::open(folder.file("m")).value();
  return read_molecule(job, file, OrbitalSpace{0, 1, 1}).status();
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

TEST(ReadMolecule, TakesEachIntegralOnceAndAgainIfItIsTheSame) {
  on_ranks([](Job& job) {
    EXPECT_TRUE(ok(read(job, canonical)));
    EXPECT_TRUE(ok(read(job, replaced(canonical, "0.2 2 1 2 1", "0.2 1 2 1 2\n0.2 2 1 1 2"))));
    EXPECT_TRUE(fails(read(job, replaced(canonical, "0.2 2 1 2 1", "0.2 2 1 2 1\n0.3 1 2 2 1")),
                      Code::invalid_argument,
                      {"m:5: the integral 1 2 2 1 is given twice, as 0.2 and as 0.3"}));
    EXPECT_TRUE(fails(read(job, replaced(canonical, "-0.4 2 2 0 0", "-0.4 2 2 0 0\n1 2 2 0 0")),
                      Code::invalid_argument, {"m:8: the integral 2 2 0 0 is given twice"}));
    EXPECT_TRUE(fails(read(job, replaced(canonical, "0.5 0 0 0 0", "0.5 0 0 0 0\n1 0 0 0 0")),
                      Code::invalid_argument, {"m:9: the integral 0 0 0 0 is given twice"}));
  });
}

TEST(ReadMolecule, RefusesOrbitalsThatAreNotCanonical) {
  on_ranks([](Job& job) {
    EXPECT_TRUE(fails(read(job, replaced(canonical, "-0.4 2 2 0 0", "-0.4 2 2 0 0\n0.1 2 1 0 0")),
                      Code::invalid_argument,
                      {"the orbitals are not canonical, or the first 1 orbitals of the file are "
                       "not the occupied ones: the Fock matrix has 0.1 between 1 and 2, its "
                       "largest element off the diagonal; at most 1e-06 is accepted",
                       "converged restricted Hartree-Fock"}));
    EXPECT_TRUE(fails(read(job, replaced(canonical, "-0.4 2 2 0 0", "-2.4 2 2 0 0")),
                      Code::invalid_argument,
                      {"the first 1 orbitals of the file are used as the occupied ones",
                       "are elsewhere, or are not those of the ground state",
                       "with its occupied orbitals first"}));
  });
}

TEST(ReferenceState, OccupiesTheLowestOrbitalsInTheFile) {
  using Places = std::vector<std::int64_t>;
  constexpr double no_energy = std::numeric_limits<double>::quiet_NaN();
  const OrbitalSpace space{1, 1, 2};
  EXPECT_EQ(order_by_occupation(space, {-8, 2, -9, 1}), (Places{0, 2, 1, 3}));
  EXPECT_EQ(order_by_occupation(space, {3, 2, -9, -8}), (Places{2, 3, 0, 1}));
  EXPECT_EQ(order_by_occupation(space, {-8, -9, 2, 1}), Places());
  EXPECT_EQ(order_by_occupation(space, {-9, 1, 1, 2}), Places()) << "there is no gap";
  EXPECT_EQ(order_by_occupation(space, {0, 0, 0, 0}), Places());
  EXPECT_EQ(order_by_occupation(space, {-8, 2, -9, no_energy}), Places());
  EXPECT_EQ(order_by_occupation({0, 0, 2}, {2, 1}), Places());
  EXPECT_EQ(order_by_occupation({1, 1, 0}, {2, 1}), Places());
}

TEST(ReferenceState, OccupiesTheOrbitalsOfAList) {
  using Places = std::vector<std::int64_t>;
  const OrbitalSpace space{1, 1, 2};
  EXPECT_EQ(order_by_list(space, {0, 2}), (Places{0, 2, 1, 3}));
  EXPECT_EQ(order_by_list(space, {2, 3}), (Places{2, 3, 0, 1}));
  EXPECT_EQ(order_by_list(space, {0, 1}), Places());
  EXPECT_EQ(order_by_list(space, {}), Places());
}

TEST(ReferenceState, FreezesTheLowestOccupiedOrbitalsWhereverTheyStand) {
  using Places = std::vector<std::int64_t>;
  const OrbitalSpace space{2, 3, 1};
  EXPECT_EQ(order_of_orbitals(space, {-9, -8, -3, -2, -1, 1}), Places());
  EXPECT_EQ(order_of_orbitals(space, {-8, -9, -1, -3, -2, 1}), Places());
  EXPECT_EQ(order_of_orbitals(space, {-3, -9, -1, -8, -2, 1}), (Places{2, 0, 3, 1, 4, 5}));
  EXPECT_EQ(order_of_orbitals({0, 5, 1}, {-3, -9, -1, -8, -2, 1}), Places());
  EXPECT_EQ(order_of_orbitals({5, 0, 1}, {-3, -9, -1, -8, -2, 1}), Places());
}

TEST(AmplitudeFile, IsReadByAnyTeamAndOnlyForTheSameOrbitals) {
  on_ranks([](Job& job) {
    SharedFolder folder(job);
    const OrbitalSpace space{1, 2, 3};
    auto written = Amplitudes::create(job, space, "written").value();
    written.t2 = make_filled(job, 6, 6);
    std::fill(written.t1.begin(), written.t1.end(), 0.25);
    const Status status = save_amplitudes(job, folder.file("t.h5"), space, written);
    if (status.code() == Code::unsupported) {
      GTEST_SKIP() << status.message();
    }
    ASSERT_TRUE(ok(status));
    auto found = Amplitudes::create(job, space, "found").value();
    ASSERT_TRUE(ok(load_amplitudes(job, folder.file("t.h5"), space, found)));
    EXPECT_EQ(found.t1, written.t1);
    EXPECT_EQ(read_values(found.t2), read_values(written.t2));
    EXPECT_TRUE(fails(load_amplitudes(job, folder.file("t.h5"), {0, 3, 3}, found),
                      Code::invalid_argument, {"has amplitudes for 1 frozen orbitals, not 0"}));
    EXPECT_FALSE(load_amplitudes(job, folder.file("none.h5"), space, found).ok());
  });
}

TEST(MemoryPlan, OfMoreThanEveryMachineHasStaysANumber) {
  const MemoryPlan plan = MemoryPlan::create({0, 10, 100'000}, 1, {512, false, true});
  EXPECT_EQ(plan.arrays.front().name, "vvvv");
  EXPECT_EQ(plan.arrays.front().bytes_per_rank, std::int64_t{1} << 56);
  EXPECT_GE(plan.array_bytes_per_rank(), std::int64_t{1} << 56);
}

TEST(MemoryPlan, TilesAreNoLargerThanTheMatrices) {
  const OrbitalSpace space{0, 2, 4};
  const auto tiles = [&](std::int64_t tile) {
    return MemoryPlan::create(space, 1, {.tile = tile}).buffers.front();
  };
  EXPECT_EQ(tiles(3).name, "tiles");
  EXPECT_EQ(tiles(3).bytes_per_rank, 6 * 8 * 3 * 3);
  // Of vvvv, which has 10 rows of 16 elements.
  EXPECT_EQ(tiles(12).bytes_per_rank, 6 * 8 * 10 * 12);
  EXPECT_EQ(tiles(16384).bytes_per_rank, 6 * 8 * 10 * 16);
}

TEST(MemoryPlan, CoversWhatIsMade) {
  on_ranks([](Job& job) {
    const OrbitalSpace space{0, 5, 7};
    const MemoryPlan plan = MemoryPlan::create(space, job.size(), {.tile = 16});
    auto integrals = Integrals::create(job, space).value();
    auto workspace = Workspace::create(job, space).value();
    EXPECT_EQ(integral_shapes(space).size(), 6U);
    EXPECT_EQ(integrals.vvvv.extents(), (arrays::Extents{28, 49}));
    EXPECT_EQ(workspace.z.extents(), (arrays::Extents{25, 35}));
    EXPECT_EQ(workspace.z.name(), "z");
    EXPECT_EQ(workspace.v.name(), "v");
    EXPECT_GE(plan.array_bytes_per_rank() * job.size(), 8 * (28 * 49 + 35 * 49 + 20 * 35 * 35));
  });
}

}  // namespace
}  // namespace tessera::apps::ccsd
