// SPDX-License-Identifier: BSD-3-Clause
//
// Lists of elements, on this and on other nodes, against an ordinary vector.
#include "arrays/gather.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "tests/arrays/ranks/random_arrays.hpp"
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
using test::make_known;
using test::pick;
using test::Random;

std::vector<Index> pick_places(Random& random, const Extents& extents, std::int64_t count) {
  std::vector<Index> places;
  for (std::int64_t i = 0; i < count && volume(extents) > 0; ++i) {
    Index at = Index::zeros(extents.ndims());
    for (int dim = 0; dim < extents.ndims(); ++dim) {
      at[dim] = pick(random, 0, extents[dim] - 1);
    }
    places.push_back(at);
  }
  return places;
}

template <class T>
void try_lists(Job& job, const Team& team, Random& random, std::int64_t count) {
  const int ndims = static_cast<int>(pick(random, 1, 4));
  auto known = make_known<T>(job, team, random, kinds::pick_extents(random, ndims, 12), "A");
  for (std::int32_t rank = 0; rank < team.size(); ++rank) {
    const auto places = pick_places(random, known.array.extents(), count);
    std::vector<T> values(places.size());
    for (T& value : values) {
      value = test::pick_element<T>(random);
    }
    const bool adds = pick(random, 0, 1) == 1;
    if (team.rank().value == rank) {
      std::vector<T> got(places.size());
      EXPECT_TRUE(ok(gather(known.array, places, got)));
      for (std::size_t i = 0; i < places.size(); ++i) {
        EXPECT_EQ(got[i], known.at(places[i]));
      }
      EXPECT_TRUE(ok(adds ? scatter_accumulate(known.array, places, values, static_cast<T>(2))
                          : scatter(known.array, places, values)));
      // If an index is listed twice, either value may stay; the array says which one did.
      if (!adds) {
        EXPECT_TRUE(ok(known.array.fence()));
        EXPECT_TRUE(ok(gather(known.array, places, got)));
      }
      for (std::size_t i = 0; i < places.size() && !adds; ++i) {
        bool is_one_of_them = false;
        for (std::size_t k = 0; k < places.size(); ++k) {
          is_one_of_them = is_one_of_them || (places[k] == places[i] && values[k] == got[i]);
        }
        EXPECT_TRUE(is_one_of_them);
      }
    }
    if (adds) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        known.at(places[i]) = static_cast<T>(known.at(places[i]) + static_cast<T>(2) * values[i]);
      }
    }
    EXPECT_TRUE(ok(known.array.sync()));
    if (!adds) {
      EXPECT_TRUE(ok(known.array.get(known.array.box(), known.values)));
    }
    EXPECT_TRUE(known.is_as_known());
  }
}

template <class T>
class GatherOf : public ::testing::Test {};
using GatheredTypes =
    ::testing::Types<std::int8_t, std::uint16_t, float, double, std::complex<double>>;
TYPED_TEST_SUITE(GatherOf, GatheredTypes);

TYPED_TEST(GatherOf, AgreesWithAVector) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(300 + sizeof(TypeParam));
    for (const std::int64_t count : {0, 1, 5, 60, 200}) {
      try_lists<TypeParam>(job, team, random, count);
    }
  });
}

TEST(Gather, GoesInBatches) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(5);
    auto known = make_known<double>(job, team, random, {300, 200}, "A");
    const auto places = pick_places(random, known.array.extents(), 50'000);
    std::vector<std::int64_t> numbers;
    for (const Index& at : places) {
      numbers.insert(numbers.end(), at.begin(), at.end());
    }
    std::vector<double> got(places.size());
    ASSERT_TRUE(ok(gather(known.array, IndexList::flat(numbers, 2), got)));
    for (std::size_t i = 0; i < places.size(); ++i) {
      ASSERT_EQ(got[i], known.at(places[i]));
    }
    EXPECT_TRUE(ok(known.array.sync()));
    ASSERT_TRUE(ok(scatter_accumulate(known.array, IndexList::flat(numbers, 2),
                                      std::vector<double>(places.size(), 1.0))));
    for (const Index& at : places) {
      known.at(at) += team.size();
    }
    EXPECT_TRUE(ok(known.array.sync()));
    EXPECT_TRUE(known.is_as_known());
  });
}

// Lists that are longer than one sorted batch, in memory with several locks, on all ranks at once.
TEST(Gather, LongListsOfAllRanksAddUp) {
  on_team([](Job& job, Team& team) {
    constexpr std::int64_t elements = 20'000;
    constexpr std::int64_t updates = 10'000;
    auto array = Array<std::int64_t>::create(job, {elements}, {.name = "A", .team = team}).value();
    std::vector<std::int64_t> places;
    std::vector<std::int64_t> expected(elements);
    for (std::int64_t i = 0; i < updates; ++i) {
      places.push_back(i * 7919 % elements / 3);
      expected[static_cast<std::size_t>(places.back())] += 2 * i * team.size();
    }
    std::vector<std::int64_t> values(updates);
    std::iota(values.begin(), values.end(), 0);
    EXPECT_TRUE(ok(scatter_accumulate(array, IndexList::flat(places, 1), values, 2)));
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_EQ(array.get(array.box()).value(), expected);
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(Gather, ReadsFromANodesCopy) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(6);
    auto known = make_known<double>(job, team, random, {30, 20}, "A");
    ASSERT_TRUE(
        ok(known.array.set_access_mode(rma::AccessMode::read_only, {.copy_on_each_node = true})));
    const auto places = pick_places(random, known.array.extents(), 500);
    std::vector<double> got(places.size());
    ASSERT_TRUE(ok(gather(known.array, places, got)));
    for (std::size_t i = 0; i < places.size(); ++i) {
      ASSERT_EQ(got[i], known.at(places[i]));
    }
    EXPECT_TRUE(fails(scatter(known.array, places, got), Code::invalid_argument,
                      {"scatter of 500 elements of array 'A'", "read_only now"}));
    EXPECT_TRUE(ok(known.array.free()));
  });
}

TEST(Gather, SaysWhichEntryIsWrongAndMovesNothing) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {6, 7}, {.name = "A", .team = team}).value();
    std::vector<Index> places{{0, 0}, {5, 6}, {5, 7}, {1, 1}};
    std::vector<double> values(4, 3.0);
    EXPECT_TRUE(fails(scatter(array, places, values), Code::out_of_range,
                      {"scatter of 4 elements of array 'A' (float64, 6 x 7): entry 2 of the list",
                       "(5, 7)", "dimension 1"}));
    EXPECT_EQ(array.get_element({0, 0}).value(), 0.0);
    places[2] = Index{5};
    EXPECT_TRUE(fails(gather(array, places, values), Code::invalid_argument,
                      {"entry 2 of the list", "dimension"}));
    places[2] = Index{5, 5};
    auto widest = Array<double>::create(job, Extents::filled(8, 2), {.name = "W", .team = team});
    const std::vector<Index> nine{Index{1, 1, 1, 1, 1, 1, 1, 1, 1}};
    EXPECT_TRUE(fails(gather(*widest, nine, std::span(values).first(1)), Code::invalid_argument,
                      {"array 'W'", "entry 0 of the list: it has 9 numbers, but the array has 8"}));
    EXPECT_TRUE(fails(gather(array, places, std::span(values).first(3)), Code::invalid_argument,
                      {"3 values for 4 elements"}));
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_TRUE(ok(array.free()));
    EXPECT_TRUE(fails(gather(array, places, values), Code::closed, {"freed"}));
  });
}

// Global Arrays reset the program's random numbers in every call that touched several owners.
TEST(Gather, LeavesTheProgramsRandomNumbersAlone) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {64, 64}, {.name = "A", .team = team}).value();
    std::vector<double> all(std::size_t{64} * 64);
    if (team.rank().value == 0) {
      std::srand(7);
      const int first = std::rand();
      const int second = std::rand();
      std::srand(7);
      EXPECT_EQ(std::rand(), first);
      EXPECT_TRUE(ok(array.get(array.box(), all)));
      EXPECT_TRUE(ok(array.put(array.box(), all)));
      EXPECT_TRUE(ok(array.accumulate(array.box(), all)));
      EXPECT_EQ(std::rand(), second);
    }
    EXPECT_TRUE(ok(array.sync()));
  });
}

}  // namespace
}  // namespace tessera::arrays
