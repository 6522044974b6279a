// SPDX-License-Identifier: BSD-3-Clause
//
// The ways to make an array, and changes of its use: named layouts, arrays on some ranks or in
// other memory, duplicates; access modes and the copies that serve reads.
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "arrays/elementwise.hpp"
#include "arrays/gather.hpp"
#include "arrays/reductions.hpp"
#include "arrays/transform.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/arrays/ranks/random_arrays.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::AccessMode;
using rma::Code;
using rma::Job;
using rma::Team;
using rma::TeamRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_team;
using test::fingerprints;
using test::Random;

// Rank 0 writes every element; all ranks then read all of them and some boxes.
void check_elements(const Array<double>& array) {
  const Team& team = array.team();
  if (team.rank().value == 0) {
    EXPECT_TRUE(ok(array.put(array.box(), fingerprints(array.box()))));
  }
  EXPECT_TRUE(ok(array.sync()));
  Random random = test::shared_random(static_cast<std::uint64_t>(team.rank().value));
  for (int round = 0; round < 5; ++round) {
    const Box box = test::random_box(array.extents(), random);
    std::vector<double> got(static_cast<std::size_t>(box.volume()));
    EXPECT_TRUE(ok(array.get(box, got)));
    EXPECT_EQ(got, fingerprints(box)) << to_string(box) << " of " << array.describe();
  }
  EXPECT_TRUE(ok(array.sync()));
}

TEST(Creation, NamedLayoutsHoldEveryElementOnce) {
  on_team([](Job& job, Team& team) {
    const std::int64_t ranks = team.size();
    const Extents extents{23, 17};
    const Extents grid{ranks >= 4 ? 2 : 1, ranks >= 4 ? 2 : ranks};
    const std::vector<std::vector<std::int64_t>> starts{{0, 5, 6, 20}, {0, 1, 9}};
    for (const Distribution& distribution :
         {Distribution::block_cyclic(extents, {4, 3}, ranks).value(),
          Distribution::tiled(extents, {4, 3}, grid, ranks).value(),
          Distribution::tiled_irregular(extents, starts, grid, ranks).value(),
          Distribution::scalapack(extents, {4, 3}, grid, ranks).value(),
          Distribution::scalapack(extents, {4, 3}, grid, ranks, MemoryOrder::row_major).value(),
          Distribution::restricted(extents, std::vector{TeamRank{team.size() - 1}}, ranks)
              .value()}) {
      auto array = Array<double>::create(job, distribution, {.name = "A", .team = team});
      ASSERT_TRUE(ok(array)) << to_string(distribution);
      check_elements(*array);
    }
  });
}

// {0} is a list of extents, not a null pointer.
TEST(Creation, AnArrayMayHaveNoElements) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {0}, {.name = "A", .team = team});
    ASSERT_TRUE(ok(array));
    EXPECT_EQ(array->extents(), Extents{0});
    EXPECT_EQ(sum(*array).value(), 0.0);
    EXPECT_TRUE(ok(array->free()));
  });
}

// Element (i, j) is where ScaLAPACK's formulas locate it.
TEST(Creation, ScalapackLayoutIsScalapacks) {
  const std::int64_t m = 11;
  const std::int64_t n = 7;
  const std::int64_t mb = 3;
  const std::int64_t nb = 2;
  const auto matrix = Distribution::scalapack({m, n}, {mb, nb}, {2, 2}, 4).value();
  const auto transposed =
      Distribution::scalapack({n, m}, {nb, mb}, {2, 2}, 4, MemoryOrder::row_major).value();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t row = i / mb % 2;
      const std::int64_t column = j / nb % 2;
      const std::int64_t local_rows =
          row == 0 ? 6 : 5;  // blocks of 3 3 3 2 rows, assigned cyclically
      const std::int64_t local_i = i / mb / 2 * mb + i % mb;
      const std::int64_t local_j = j / nb / 2 * nb + j % nb;
      const ElementLocation place = matrix.locate({i, j});
      EXPECT_EQ(place.owner.value, row + 2 * column) << "a column-major grid";
      EXPECT_EQ(place.offset, local_i + local_j * local_rows);
      // The transpose in row-major order is the same memory, on the transposed grid.
      const ElementLocation mirrored = transposed.locate({j, i});
      EXPECT_EQ(mirrored.owner.value, column * 2 + row);
      EXPECT_EQ(mirrored.offset, place.offset);
    }
  }
}

TEST(Creation, LayoutsSayWhatIsWrong) {
  const std::vector<TeamRank> twice{TeamRank{1}, TeamRank{1}};
  const std::vector<TeamRank> outside{TeamRank{4}};
  EXPECT_TRUE(fails(Distribution::restricted({4, 4}, twice, 4), Code::invalid_argument,
                    {"distributing 4 x 4 on some ranks: rank 1 is listed twice"}));
  EXPECT_TRUE(fails(Distribution::restricted({4, 4}, outside, 4), Code::invalid_argument,
                    {"holder 4 is not a rank of the team, which has 4"}));
  EXPECT_TRUE(fails(Distribution::restricted({4, 4}, {}, 4), Code::invalid_argument,
                    {"the list of holders is empty"}));
  EXPECT_TRUE(fails(Distribution::block_cyclic({4, 4}, {2}, 4), Code::invalid_argument,
                    {"block sizes for 1 dimensions, but the array has 2"}));
  EXPECT_TRUE(fails(Distribution::tiled({4, 4}, {2, 0}, {1, 1}, 4), Code::invalid_argument,
                    {"distributing 4 x 4 in tiles: "}));
  EXPECT_TRUE(fails(Distribution::scalapack({4, 4}, {2, 2}, {3, 3}, 4), Code::invalid_argument));
}

TEST(Creation, HoldersKeepAllOfIt) {
  on_team([](Job& job, Team& team) {
    const TeamRank last{team.size() - 1};
    auto array = Array<double>::create(
                     job, {9, 9}, {.name = "A", .team = team, .ghosts = {1, 1}, .holders = {last}})
                     .value();
    EXPECT_EQ(array.own_box().volume(), team.rank().value == last.value ? 81 : 0);
    check_elements(array);
    EXPECT_TRUE(fails(
        Array<double>::create(job, {9}, {.name = "B", .team = team, .holders = {TeamRank{99}}}),
        Code::invalid_argument, {"creating array 'B' 9", "holder 99"}));
  });
}

TEST(Creation, DuplicatesAreDistributedAlikeAndEmpty) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(1);
    auto array = Array<double>::create(job, test::pick_distribution(random, {12, 9}, team.size()),
                                       {.name = "A", .team = team})
                     .value();
    EXPECT_TRUE(ok(fill(array, 3.0)));
    auto other = array.duplicate("B").value();
    EXPECT_EQ(other.distribution(), array.distribution());
    EXPECT_EQ(other.name(), "B");
    EXPECT_EQ(norm_max(other).value(), 0.0);
    check_elements(other);
    EXPECT_EQ(sum(array).value(), 324.0);
  });
}

TEST(Creation, LiesInMemoryThatItsRanksHave) {
  on_team([](Job& job, Team& team) {
    const auto distribution = Distribution::regular({10, 6}, team.size()).value();
    const auto own =
        static_cast<std::size_t>(distribution.local_elements(TeamRank{team.rank().value}));
    std::vector<double> memory(own, 5.0);
    auto array = Array<double>::attach(job, distribution, memory, {.name = "A", .team = team});
    if (!array.ok() && array.status().code() == Code::unsupported) {
      GTEST_SKIP() << array.status().message();
    }
    ASSERT_TRUE(ok(array));
    EXPECT_EQ(sum(*array).value(), 300.0) << "its contents are kept";
    check_elements(*array);
    if (own > 0) {
      EXPECT_EQ(memory[0], test::fingerprint(array->own_box().lo()));
    }
    EXPECT_TRUE(ok(array->free()));
    const std::span<double> short_of(memory.data(), own > 0 ? own - 1 : 0);
    EXPECT_TRUE(fails(
        Array<double>::attach(job, distribution, short_of, {.name = "B", .team = team}),
        Code::invalid_argument, {"creating array 'B' 10 x 6: on rank ", "the given memory has "}));
  });
}

TEST(Creation, LiesOverAnotherArraysMemory) {
  on_team([](Job& job, Team& team) {
    auto base = Array<double>::create(job, {8, 12}, {.name = "base", .team = team}).value();
    EXPECT_TRUE(ok(fill(base, 1.0)));
    {
      const auto flat = Distribution::regular({24}, team.size()).value();
      auto overlay = Array<std::complex<double>>::overlay(base, flat, "overlay").value();
      EXPECT_TRUE(ok(fill(overlay, std::complex<double>(2.0, 3.0))));
      EXPECT_EQ(sum(overlay).value(), std::complex<double>(48.0, 72.0));
      const auto large = Distribution::regular({97}, team.size()).value();
      EXPECT_TRUE(fails(Array<double>::overlay(base, large, "large"), Code::invalid_argument,
                        {"creating array 'large' 97", "the given memory has"}));
    }
    EXPECT_EQ(select_max(base).value().value, 3.0) << "what the overlay wrote, after it has gone";
    EXPECT_TRUE(ok(fill(base, 7.0))) << "the memory is still the base's";
  });
}

TEST(Creation, AnArrayWithoutATypeGetsTheOneItHas) {
  on_team([](Job& job, Team& team) {
    auto untyped = ArrayBase::create(job, Extents{5}, ElementKind::of(rma::ElementType::u16),
                                     {.name = "A", .team = team})
                       .value();
    auto moved = ArrayBase(std::move(untyped));
    EXPECT_TRUE(fails(Array<double>::of(std::move(moved)), Code::invalid_argument,
                      {"array 'A' (uint16, 5) has no elements of type float64"}));
    auto again = ArrayBase::create(job, Extents{5}, ElementKind::of(rma::ElementType::u16),
                                   {.name = "A", .team = team})
                     .value();
    auto typed = Array<std::uint16_t>::of(std::move(again)).value();
    EXPECT_TRUE(ok(fill(typed, std::uint16_t{65535})));
    EXPECT_EQ(sum(typed).value(), std::uint16_t(65535 * 5)) << "integers wrap";
  });
}

TEST(Creation, ElementsOfAnotherSizeInOneMemoryAreNotComputedFromEachOther) {
  on_team([](Job& job, Team& team) {
    auto base = Array<double>::create(job, {16}, {.name = "base", .team = team}).value();
    EXPECT_TRUE(ok(fill(base, 1.0)));
    auto halves = Array<float>::overlay(base, base.distribution(), "halves").value();
    EXPECT_TRUE(fails(
        transform(
            base, [](double x) { return static_cast<float>(x); }, halves),
        Code::invalid_argument,
        {"array 'base' (float64, 16) is written while array 'halves' (float32, 16), which is in "
         "the same memory, is read",
         "into another array"}));
    EXPECT_EQ(sum(base).value(), 16.0) << "nothing was written";
  });
}

TEST(AccessModes, ForbidAllElse) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {6, 6}, {.name = "A", .team = team}).value();
    EXPECT_TRUE(ok(fill(array, 1.0)));
    const Box box({0, 0}, {2, 2});
    std::vector<double> buffer(4, 2.0);
    EXPECT_TRUE(ok(array.set_access_mode(AccessMode::read_only)));
    EXPECT_TRUE(fails(array.put(box, buffer), Code::invalid_argument,
                      {"put of [0,2) x [0,2) of array 'A'", "the array is read_only now",
                       "end this mode first, with set_access_mode(AccessMode::any)"}));
    EXPECT_TRUE(fails(array.accumulate_async(box, buffer).wait(), Code::invalid_argument,
                      {"accumulate of"}));
    EXPECT_TRUE(
        fails(scale(array, 2.0), Code::invalid_argument,
              {"array 'A' (float64, 6 x 6)", "the array is read_only now, which forbids a put"}));
    EXPECT_TRUE(ok(array.get(box, buffer)));
    EXPECT_EQ(sum(array).value(), 36.0);

    EXPECT_TRUE(ok(array.set_access_mode(AccessMode::accumulate_only)));
    EXPECT_TRUE(fails(array.get(box, buffer), Code::invalid_argument, {"accumulate_only now"}));
    EXPECT_TRUE(fails(array.local(), Code::invalid_argument, {"forbids a local access"}));
    EXPECT_TRUE(fails(sum(array), Code::invalid_argument,
                      {"sum: array 'A'", "the array is accumulate_only now, which forbids a get"}));
    EXPECT_TRUE(ok(array.accumulate(box, std::vector<double>(4, 1.0))));

    EXPECT_TRUE(ok(array.set_access_mode(AccessMode::no_local_access)));
    EXPECT_TRUE(fails(array.local(), Code::invalid_argument, {"no_local_access now"}));
    EXPECT_TRUE(ok(array.get(box, buffer)));
    EXPECT_EQ(buffer[0], 1.0 + team.size());

    EXPECT_TRUE(ok(array.set_access_mode(AccessMode::any)));
    EXPECT_TRUE(ok(array.local()));
    EXPECT_TRUE(fails(array.set_access_mode(AccessMode::any, {.cache_bytes = 1 << 20}),
                      Code::invalid_argument,
                      {"setting the access mode of array 'A'", "a read cache was requested for",
                       "use read_only"}));
    EXPECT_TRUE(
        fails(array.set_access_mode(AccessMode::no_local_access, {.copy_on_each_node = true}),
              Code::invalid_argument,
              {"a copy on each node was requested for access mode no_local_access"}));
    EXPECT_TRUE(fails(array.set_access_mode(AccessMode::accumulate_only, {.cache_bytes = 1}),
                      Code::invalid_argument, {"a read cache was requested for"}));
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(AccessModes, ThatOfTheMemoryLasts) {
  on_team([](Job& job, Team& team) {
    auto array =
        Array<double>::create(
            job, {6}, {.name = "A", .team = team, .region = {.access_mode = AccessMode::read_only}})
            .value();
    EXPECT_EQ(array.access_mode(), AccessMode::read_only);
    EXPECT_TRUE(fails(array.set_access_mode(AccessMode::any), Code::invalid_argument,
                      {"its memory was allocated with access mode read_only"}));
    EXPECT_EQ(array.get_element({3}).value(), 0.0);
    EXPECT_TRUE(ok(array.sync()));
  });
}

// All ways of reading give the same, from copies on nodes and from caches of any size.
TEST(AccessModes, ReadsFromCopiesGiveTheSame) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(3);
    const Extents extents{60, 50};
    auto array = Array<double>::create(job, test::pick_distribution(random, extents, team.size()),
                                       {.name = "A", .team = team})
                     .value();
    for (const ModeOptions& options :
         {ModeOptions{.copy_on_each_node = true}, ModeOptions{.cache_bytes = 1},
          ModeOptions{.cache_bytes = 40'000}, ModeOptions{.cache_bytes = 1 << 20}}) {
      EXPECT_TRUE(ok(array.set_access_mode(AccessMode::any)));
      if (team.rank().value == 0) {
        EXPECT_TRUE(ok(array.put(array.box(), fingerprints(array.box()))));
      }
      EXPECT_TRUE(ok(array.set_access_mode(AccessMode::read_only, options)));
      Random own(static_cast<std::uint64_t>(team.rank().value));
      for (int round = 0; round < 40; ++round) {
        const Box box = test::random_box(extents, own);
        // Column by column: the local strides are the caller's own (GA's cache ignored them).
        std::vector<double> got(static_cast<std::size_t>(box.volume()) + 1, -1.0);
        const LocalView<double> view(got.data(), box.extents(), MemoryOrder::column_major);
        ASSERT_TRUE(ok(round % 2 == 0 ? array.get(box, view) : array.get_async(box, view).wait()));
        std::vector<double> want(static_cast<std::size_t>(box.volume()) + 1, -1.0);
        const LocalView<double> wanted(want.data(), box.extents(), MemoryOrder::column_major);
        test::for_each_index(Box::whole(box.extents()), [&](const Index& at) {
          Index global = at;
          global[0] += box.lo(0);
          global[1] += box.lo(1);
          wanted[at] = test::fingerprint(global);
        });
        ASSERT_EQ(got, want) << to_string(box);
      }
      EXPECT_TRUE(fails(array.get(Box({0, 0}, {61, 2}), std::span<double>()), Code::out_of_range));
    }
    EXPECT_TRUE(ok(array.free()));
  });
}

// Adds 10 to each element of a box, 5 more to every second and third of it, 7 more to its corner.
void add_in_all_ways(const Array<double>& array, const Box& box) {
  const std::vector<double> ones(static_cast<std::size_t>(box.volume()) + 1, 1.0);
  const std::span<const double> one = std::span(ones).first(1);
  const LocalView<const double> columns(ones.data(), box.extents(), MemoryOrder::column_major);
  EXPECT_TRUE(ok(array.accumulate(box, ones, 2.0)));
  EXPECT_TRUE(ok(array.accumulate(box, columns, 1.0)));
  EXPECT_TRUE(ok(array.accumulate_async(box, columns, 3.0).wait()));
  EXPECT_TRUE(ok(array.accumulate(periodic(box, 0b01), ones, 4.0)));
  EXPECT_TRUE(ok(array.accumulate(Section(box, {2, 3}), ones, 5.0)));
  if (!box.is_empty()) {
    EXPECT_TRUE(ok(scatter_accumulate(array, std::vector{box.lo()}, one, 7.0)));
  }
}

double added_at(const Index& at, const Box& box) {
  if (!box.contains(at)) {
    return 0.0;
  }
  const std::int64_t row = at[0] - box.lo(0);
  const std::int64_t column = at[1] - box.lo(1);
  return 10.0 + (row % 2 == 0 && column % 3 == 0 ? 5.0 : 0.0) + (row + column == 0 ? 7.0 : 0.0);
}

TEST(AccessModes, WhatIsAddedToCopiesIsInTheArrayAfterwards) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(4);
    const Extents extents{30, 25};
    auto array = Array<double>::create(job, test::pick_distribution(random, extents, team.size()),
                                       {.name = "A", .team = team})
                     .value();
    EXPECT_TRUE(ok(fill(array, 0.5)));
    std::vector<Box> boxes;  // for all ranks and rounds, known to all
    for (int number = 0; number < 4 * team.size(); ++number) {
      boxes.push_back(test::random_box(extents, random));
    }
    // Setting a mode again ends it and begins it again: earlier additions are in the array then.
    for (int phase = 0; phase < 2; ++phase) {
      EXPECT_TRUE(
          ok(array.set_access_mode(AccessMode::accumulate_only, {.copy_on_each_node = true})));
      for (int round = 0; round < 2; ++round) {
        const int number = (2 * phase + round) * team.size() + team.rank().value;
        add_in_all_ways(array, boxes[static_cast<std::size_t>(number)]);
      }
      EXPECT_TRUE(
          fails(array.get_element({0, 0}), Code::invalid_argument, {"accumulate_only now"}));
      EXPECT_TRUE(fails(array.accumulate(Box({0, 0}, {31, 2}), std::vector<double>(62)),
                        Code::out_of_range, {"accumulate of [0,31) x [0,2) of array 'A'"}));
    }
    Array<double> moved = std::move(array);  // with the additions
    EXPECT_TRUE(ok(moved.set_access_mode(AccessMode::any)));
    std::vector<double> got(static_cast<std::size_t>(moved.box().volume()));
    EXPECT_TRUE(ok(moved.get(moved.box(), got)));
    std::vector<double> want(got.size(), 0.5);
    test::for_each_index(moved.box(), [&](const Index& at) {
      for (const Box& box : boxes) {
        want[static_cast<std::size_t>(at[0] * extents[1] + at[1])] += added_at(at, box);
      }
    });
    EXPECT_EQ(got, want);
    EXPECT_TRUE(
        ok(moved.set_access_mode(AccessMode::accumulate_only, {.copy_on_each_node = true})));
    EXPECT_TRUE(ok(moved.free()));
  });
}

TEST(AccessModes, WhatCannotBeAddedHasNoCopiesToAddTo) {
  struct Point {
    double x = 0.0;
    double y = 0.0;
  };
  on_team([](Job& job, Team& team) {
    auto points = Array<Point>::create(job, {6}, {.name = "P", .team = team}).value();
    EXPECT_TRUE(fails(
        points.set_access_mode(AccessMode::accumulate_only, {.copy_on_each_node = true}),
        Code::invalid_argument, {"of array 'P'", "copies of 16-byte elements cannot be added up"}));
    EXPECT_EQ(points.access_mode(), AccessMode::any);
    EXPECT_TRUE(ok(points.free()));
  });
}

}  // namespace
}  // namespace tessera::arrays
