// SPDX-License-Identifier: BSD-3-Clause
//
// Array<T>: one-sided boxes against a model, for every kind of distribution; and the errors of
// invalid calls.
#include "arrays/array.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "tests/arrays/ranks/model_array.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_team;
using test::fingerprint;
using test::fingerprints;
using test::for_each_index;
using test::random_box;

// Rank 0 writes every element; all ranks then read boxes at random.
void check_gets(Array<double>& array) {
  const Team& team = array.team();
  if (team.rank().value == 0) {
    const auto values = fingerprints(array.box());
    EXPECT_TRUE(ok(array.put(array.box(), values)));
  }
  EXPECT_TRUE(ok(array.sync()));
  std::mt19937_64 random(
      static_cast<std::uint64_t>(testing::UnitTest::GetInstance()->random_seed()) +
      static_cast<std::uint64_t>(team.rank().value));
  for (int round = 0; round < 20; ++round) {
    const Box box = random_box(array.extents(), random);
    std::vector<double> got(static_cast<std::size_t>(box.volume()), -1.0);
    EXPECT_TRUE(ok(round % 2 == 0 ? array.get(box, got) : array.get_async(box, got).wait()));
    EXPECT_EQ(got, fingerprints(box)) << to_string(box);
  }
  EXPECT_TRUE(ok(array.sync()));
}

TEST(Array, AnyRankReadsAnyBoxOfOneToEightDimensions) {
  on_team([](Job& job, Team& team) {
    for (const Extents& extents :
         {Extents{37}, Extents{13, 11}, Extents{7, 5, 9}, Extents{4, 3, 5, 4},
          Extents{3, 2, 3, 2, 3}, Extents{2, 3, 2, 2, 2, 3}, Extents{2, 2, 2, 2, 2, 2, 2},
          Extents{2, 1, 2, 2, 2, 1, 2, 3}}) {
      auto array = Array<double>::create(job, extents, {.name = "A", .team = team});
      ASSERT_TRUE(ok(array)) << to_string(extents);
      check_gets(*array);
    }
  });
}

TEST(Array, WorksOnEveryKindOfDistribution) {
  on_team([](Job& job, Team& team) {
    const std::int64_t ranks = team.size();
    const Extents extents{17, 13};
    const std::vector<BlockPartition1D> by_size{BlockPartition1D::by_size(17, 3).value(),
                                                BlockPartition1D::by_size(13, 2).value()};
    const Extents blocks{6, 7};
    std::vector<Distribution> all;
    all.push_back(Distribution::regular(extents, ranks).value());
    all.push_back(
        Distribution::regular(extents, ranks, {.order = MemoryOrder::column_major}).value());
    all.push_back(Distribution::regular(extents, ranks, {.ghosts = {2, 1}}).value());
    all.push_back(
        Distribution::create(by_size, BlockMap::round_robin(blocks, ranks).value()).value());
    all.push_back(Distribution::create(
                      by_size, BlockMap::cyclic_grid(blocks, Extents{1, ranks}, ranks).value(),
                      {.storage = Storage::local_matrix, .order = MemoryOrder::column_major})
                      .value());
    for (const Distribution& distribution : all) {
      auto array = Array<double>::create(job, distribution, {.name = "B", .team = team});
      ASSERT_TRUE(ok(array)) << to_string(distribution);
      check_gets(*array);
    }
  });
}

TEST(Array, TakesStridedLocalViewsInBothDirections) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {20, 30}, {.name = "A", .team = team}).value();
    // A window of 5 x 6 in a buffer of 9 x 10, column-major.
    std::vector<double> buffer(90, -1.0);
    const LocalView<double> window(buffer.data() + std::ptrdiff_t{9} * 2 + 3, {5, 6},
                                   Strides{1, 9});
    const Box box({3, 7}, {8, 13});
    if (team.rank().value == team.size() - 1) {
      for (std::int64_t i = 0; i < 5; ++i) {
        for (std::int64_t j = 0; j < 6; ++j) {
          window(i, j) = fingerprint({3 + i, 7 + j});
        }
      }
      EXPECT_TRUE(ok(array.put(box, LocalView<const double>(window))));
    }
    EXPECT_TRUE(ok(array.sync()));
    std::vector<double> dense(30);
    EXPECT_TRUE(ok(array.get(box, dense)));
    EXPECT_EQ(dense, fingerprints(box));

    std::fill(buffer.begin(), buffer.end(), -1.0);
    EXPECT_TRUE(ok(array.get(box, window)));
    for (std::int64_t i = 0; i < 5; ++i) {
      for (std::int64_t j = 0; j < 6; ++j) {
        EXPECT_EQ(window(i, j), fingerprint({3 + i, 7 + j}));
      }
    }
    EXPECT_EQ(std::count(buffer.begin(), buffer.end(), -1.0), 60) << "wrote beside the window";
    EXPECT_TRUE(ok(array.sync()));
  });
}

template <class T>
class ArrayOf : public testing::Test {};
using ElementTypes = testing::Types<std::int32_t, std::int64_t, float, double, std::complex<float>,
                                    std::complex<double>>;
TYPED_TEST_SUITE(ArrayOf, ElementTypes);

TYPED_TEST(ArrayOf, AddsUpWhatAllRanksAccumulate) {
  on_team([](Job& job, Team& team) {
    auto array = Array<TypeParam>::create(job, {19, 23}, {.name = "sums", .team = team}).value();
    const Box box({2, 1}, {17, 22});
    const std::vector<TypeParam> ones(static_cast<std::size_t>(box.volume()), TypeParam{1});
    for (int round = 0; round < 5; ++round) {
      EXPECT_TRUE(ok(array.accumulate(box, ones, TypeParam{2})));
      EXPECT_TRUE(ok(array.accumulate_async(box, ones).wait()));
    }
    EXPECT_TRUE(ok(array.sync()));
    std::vector<TypeParam> all(static_cast<std::size_t>(array.box().volume()));
    EXPECT_TRUE(ok(array.get(array.box(), all)));
    const auto expected = TypeParam(static_cast<float>(15 * team.size()));
    std::size_t at = 0;
    for_each_index(array.box(), [&](const Index& index) {
      EXPECT_EQ(all[at++], box.contains(index) ? expected : TypeParam{0}) << to_string(index);
    });
    EXPECT_TRUE(ok(array.sync()));
  });
}

struct Particle {
  double position[3];
  std::int32_t kind;
  friend bool operator==(const Particle&, const Particle&) = default;
};

TEST(Array, HoldsAnyTriviallyCopyableType) {
  on_team([](Job& job, Team& team) {
    auto array = Array<Particle>::create(job, {100}, {.name = "particles", .team = team}).value();
    const Particle mine{{1, 2, 3}, team.rank().value};
    const std::int64_t at = std::int64_t{7} * team.rank().value;
    EXPECT_TRUE(ok(array.put(Box::at({at}), std::span(&mine, 1))));
    EXPECT_TRUE(ok(array.sync()));
    for (std::int32_t rank = 0; rank < team.size(); ++rank) {
      EXPECT_EQ(array.get_element({std::int64_t{7} * rank}).value(), (Particle{{1, 2, 3}, rank}));
    }
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(Array, LocalAccessSeesWhatOthersWroteByGlobalIndices) {
  on_team([](Job& job, Team& team) {
    auto array =
        Array<double>::create(job, {15, 14}, {.name = "A", .team = team, .ghosts = {1, 2}}).value();
    if (team.rank().value == 0) {
      EXPECT_TRUE(ok(array.put(array.box(), fingerprints(array.box()))));
    }
    EXPECT_TRUE(ok(array.sync()));
    auto access = array.local();
    ASSERT_TRUE(ok(access));
    const auto view = access->view();
    for_each_index(access->own(), [&](const Index& index) {
      EXPECT_EQ(view[index], fingerprint(index));
      view[index] += 1;
    });
    EXPECT_TRUE(ok(access->end()));
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_EQ(array.get_element({14, 13}).value(), fingerprint({14, 13}) + 1);
    EXPECT_TRUE(ok(array.sync()));
  });
}

// Every kind of distribution with several blocks on a rank, and those with one.
TEST(Array, LocalBlocksAreAllThatARankOwns) {
  on_team([](Job& job, Team& team) {
    const std::int64_t ranks = team.size();
    const Extents extents{11, 14};
    const std::vector<Distribution> all{
        Distribution::block_cyclic(extents, {3, 2}, ranks).value(),
        Distribution::tiled(extents, {2, 5}, {ranks, 1}, ranks).value(),
        Distribution::scalapack(extents, {3, 3}, {1, ranks}, ranks).value(),
        Distribution::regular(extents, ranks, {.ghosts = {1, 2}}).value()};
    for (const Distribution& distribution : all) {
      auto array = Array<double>::create(job, distribution, {.name = "A", .team = team}).value();
      auto blocks = array.local_blocks();
      ASSERT_TRUE(ok(blocks)) << to_string(distribution);
      for (std::int64_t number = 0; number < blocks->size(); ++number) {
        const auto view = (*blocks)[number];
        for_each_index(view.box(), [&](const Index& index) { view[index] = fingerprint(index); });
      }
      EXPECT_TRUE(ok(blocks->end()));
      EXPECT_TRUE(ok(array.sync()));
      std::vector<double> values(static_cast<std::size_t>(array.box().volume()));
      EXPECT_TRUE(ok(array.get(array.box(), values)));
      EXPECT_EQ(values, fingerprints(array.box())) << to_string(distribution);
      EXPECT_TRUE(ok(array.free()));
      EXPECT_TRUE(fails(array.local_blocks(), Code::closed, {"array 'A'"}));
    }
  });
}

TEST(Array, OneViewOfSeveralBlocksIsRefused) {
  on_team([](Job& job, Team& team) {
    const auto cyclic = Distribution::block_cyclic({8, 8}, {1, 1}, team.size()).value();
    auto array = Array<double>::create(job, cyclic, {.name = "A", .team = team}).value();
    EXPECT_TRUE(
        fails(array.local(), Code::unsupported,
              {"local access to array 'A'", "at most one block on each rank", "local_blocks()"}));
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(Array, LivesOnATeam) {
  on_team([](Job& job, Team& team) {
    // Odd and even members, in reverse order.
    auto half = team.split(team.rank().value % 2, -team.rank().value);
    ASSERT_TRUE(ok(half));
    auto array = Array<double>::create(job, {40}, {.name = "on a team", .team = *half});
    ASSERT_TRUE(ok(array));
    const std::vector<double> ones(40, 1.0);
    EXPECT_TRUE(ok(array->accumulate(array->box(), ones)));
    EXPECT_TRUE(ok(array->sync()));
    EXPECT_EQ(array->get_element({39}).value(), static_cast<double>(half->size()));
    EXPECT_TRUE(ok(array->sync()));
  });
}

TEST(Array, EmptyBoxesAndEmptyArraysAreLegal) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {5, 0}, {.name = "empty", .team = team});
    ASSERT_TRUE(ok(array));
    EXPECT_TRUE(ok(array->put(array->box(), std::span<const double>())));
    auto other = Array<double>::create(job, {5, 5}, {.name = "A", .team = team}).value();
    EXPECT_TRUE(ok(other.get(Box({2, 3}, {2, 5}), std::span<double>())));
    EXPECT_TRUE(ok(other.sync()));
  });
}

TEST(Array, SaysWhatIsWrongWithABox) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {100, 100}, {.name = "A", .team = team}).value();
    std::vector<double> buffer(10'100);
    EXPECT_TRUE(fails(array.get(Box({0, 0}, {100, 101}), buffer), Code::out_of_range,
                      {"get of [0,100) x [0,101)", "array 'A' (float64, 100 x 100)",
                       "dimension 1 exceeds by 1", "hint:"}));
    EXPECT_TRUE(fails(array.put(Box({0}, {100}), buffer), Code::invalid_argument, {"dimension"}));
    EXPECT_TRUE(
        fails(array.put(Box({0, 0}, {10, 10}), std::span(buffer).first(99)), Code::invalid_argument,
              {"put of [0,10) x [0,10)", "the local buffer has 99 elements, but the box has 100"}));
    EXPECT_TRUE(fails(array.get(Box({0, 0}, {2, 2}), LocalView<double>(buffer.data(), {2, 3})),
                      Code::invalid_argument, {"the local view is 2 x 3, but the box is 2 x 2"}));
    EXPECT_TRUE(fails(array.get(Box({0, 0}, {2, 2}), LocalView<double>(nullptr, {2, 2})),
                      Code::invalid_argument, {"null"}));
    rma::Handle handle = array.get_async(Box({0, 0}, {101, 1}), buffer);
    EXPECT_TRUE(fails(handle.wait(), Code::out_of_range, {"dimension 0 exceeds by 1"}));
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(Array, CreationFailsOnAllRanksWithTheSameWords) {
  on_team([](Job& job, Team& team) {
    EXPECT_TRUE(fails(Array<double>::create(job, {10, -1}, {.name = "bad", .team = team}),
                      Code::invalid_argument, {"creating array 'bad' 10 x -1"}));
    EXPECT_TRUE(
        fails(Array<double>::create(job, {1LL << 40, 1LL << 40}, {.name = "huge", .team = team}),
              Code::invalid_argument, {"creating array 'huge'"}));
    const std::int64_t extent = team.rank().value == 0 ? 11 : 10;
    auto array = Array<double>::create(job, {extent}, {.name = "differs", .team = team});
    if (team.size() > 1) {
      EXPECT_TRUE(fails(array, Code::invalid_argument,
                        {"creating array 'differs'", "gave another array than rank"}));
    }
    auto good = Array<double>::create(job, {10}, {.name = "good", .team = team});
    EXPECT_TRUE(ok(good));
  });
}

TEST(Array, AFreedArrayIsClosed) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {10}, {.name = "A", .team = team}).value();
    EXPECT_TRUE(ok(array.free()));
    double value = 0;
    EXPECT_TRUE(fails(array.get(Box({0}, {1}), std::span(&value, 1)), Code::closed,
                      {"array 'A'", "freed"}));
    EXPECT_TRUE(fails(array.local(), Code::closed));
    EXPECT_TRUE(ok(array.free()));
  });
}

}  // namespace
}  // namespace tessera::arrays
