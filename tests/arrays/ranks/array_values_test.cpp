// SPDX-License-Identifier: BSD-3-Clause
//
// Arrays as values: empty ones, members of structures that move, and results as vectors.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/halo.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

// The library's names don't conflict with a program's own.
using namespace tessera::arrays;  // NOLINT(google-build-using-namespace): is tested
struct Field {
  int number = 3;
};
static_assert(std::is_same_v<decltype(Field::number), int>);

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_team;

TEST(ArrayValues, AnEmptyArrayIsClosedUntilOneIsAssigned) {
  on_team([](Job& job, Team& team) {
    Array<double> array;
    EXPECT_EQ(array.ndims(), 0);
    EXPECT_TRUE(array.name().empty());
    EXPECT_TRUE(fails(array.get(Box({0}, {2})), Code::closed, {"get of [0,2)", "never made"}));
    EXPECT_NE(array.get(Box({0}, {2})).status().describe().find("Array::create()"),
              std::string::npos);
    EXPECT_TRUE(fails(array.duplicate(), Code::closed, {"never made"}));
    EXPECT_TRUE(ok(array.free()));
    array = Array<double>::create(job, {4}, {.name = "A", .team = team}).value();
    EXPECT_TRUE(ok(fill(array, 2.0)));
    EXPECT_EQ(array.get(array.box()).value(), std::vector<double>(4, 2.0));
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(ArrayValues, GetReturnsBoxesAndSections) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {6, 5}, {.name = "A", .team = team}).value();
    if (team.rank().value == 0) {
      EXPECT_TRUE(ok(array.put(array.box(), test::fingerprints(array.box()))));
    }
    EXPECT_TRUE(ok(array.sync()));
    const Box box({1, 2}, {4, 5});
    EXPECT_EQ(array.get(box).value(), test::fingerprints(box));
    const auto section = array.get(Section(array.box(), {5, 4}));
    ASSERT_TRUE(ok(section));
    ASSERT_EQ(section->size(), 4U);
    EXPECT_EQ((*section)[3], array.get_element({5, 4}).value());
    EXPECT_TRUE(array.get(Box({1, 1}, {1, 4})).value().empty());
    EXPECT_TRUE(fails(array.get(Box({0, 0}, {6, 6})), Code::out_of_range,
                      {"get of [0,6) x [0,6) of array 'A'", "dimension 1"}));
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(ArrayValues, ABufferHasAsManyElementsAsABox) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {6, 5}, {.name = "A", .team = team}).value();
    EXPECT_EQ(array.buffer(Box({-1, 0}, {2, 5})).value(), std::vector<double>(15));
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_TRUE(fails(array.buffer(Box({0, 0}, {most, 2})), Code::invalid_argument,
                      {"its number of elements does not fit 63 bits"}));
    EXPECT_TRUE(fails(array.buffer(Box({0, 0}, {most / 2, 1})), Code::no_memory));
  });
}

TEST(ArrayValues, AConstArrayIsReadWhereItLies) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {8}, {.name = "A", .team = team}).value();
    EXPECT_TRUE(ok(fill(array, 5.0)));
    const Array<double>& readable = array;
    const auto access = readable.local().value();
    const GlobalView<const double> view = access.view();
    static_assert(std::is_same_v<decltype(view(0)), const double&>);
    for (std::int64_t i = access.own().lo(0); i < access.own().hi(0); ++i) {
      EXPECT_EQ(view(i), 5.0);
    }
    const auto blocks = readable.local_blocks().value();
    for (std::int64_t k = 0; k < blocks.size(); ++k) {
      EXPECT_EQ(blocks[k].box(), access.own());
    }
  });
}

// A program's state in one structure, which can be moved and assigned.
struct Simulation {
  Array<double> field;
  std::optional<Halo> halo;

  static Simulation create(const Job& job, const Team& team) {
    Simulation made;
    made.field =
        Array<double>::create(job, {16}, {.name = "field", .team = team, .ghosts = {1}}).value();
    made.halo.emplace(Halo::create(made.field, {.periodic = PeriodicDims().set()}).value());
    return made;
  }
  void expect_neighbours() {
    EXPECT_TRUE(ok(halo->update()));
    const auto access = field.local().value();
    if (access.own().empty()) {
      return;
    }
    const std::int64_t before = access.own().lo(0) - 1;
    EXPECT_EQ(access.view()(before), static_cast<double>((before + 16) % 16));
  }
};

TEST(ArrayValues, AHaloMovesWithItsArray) {
  on_team([](Job& job, Team& team) {
    Simulation first = Simulation::create(job, team);
    auto access = first.field.local().value();
    for (std::int64_t i = access.own().lo(0); i < access.own().hi(0); ++i) {
      access.view()(i) = static_cast<double>(i);
    }
    EXPECT_TRUE(ok(access.end()));
    Simulation second = std::move(first);
    second.expect_neighbours();
    Simulation third;
    third = std::move(second);
    third.expect_neighbours();
    EXPECT_TRUE(ok(third.field.sync()));
    EXPECT_TRUE(ok(third.field.free()));
    EXPECT_TRUE(fails(third.halo->update(), Code::closed, {"array 'field'", "freed"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
