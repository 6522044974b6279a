// SPDX-License-Identifier: BSD-3-Clause
//
// The errors of operations on arrays that were freed or moved from, and for local buffers and
// indices that don't match; each names the array.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/counter.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/flags.hpp"
#include "arrays/gather.hpp"
#include "arrays/halo.hpp"
#include "arrays/reductions.hpp"
#include "rma/transfer.hpp"
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

// The compiler refuses arithmetic on these with one sentence; they can only be moved.
static_assert(!rma::Element<char> && !rma::Element<bool> && !rma::Element<long double>);
static_assert(rma::Element<long long> == std::is_same_v<long long, std::int64_t>);
static_assert(rma::Element<double> && rma::Element<std::int8_t>);

// The text of an exception, which programs print.
TEST(ArrayErrors, NameTheRankWhoseCallFailed) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {4, 4}, {.name = "A", .team = team}).value();
    const std::string rank =
        job.size() > 1 ? "[rank " + std::to_string(job.rank().value) + "] " : "";
    double value = 0;
    const auto begins = [&](const rma::Status& status, const std::string& code) {
      EXPECT_TRUE(status.describe().starts_with(rank + code)) << status.describe();
    };
    begins(array.get(Box({0, 0}, {9, 9}), std::span(&value, 1)), "out_of_range: get of");
    begins(array.put_async(Box({0, 0}, {9, 9}), std::span(&value, 1)).wait(), "out_of_range: put");
    begins(array.get_element({9, 9}).status(), "out_of_range: get of element");
    begins(rma::get(job, array.region().at(rma::TeamRank{0}, 4096), &value, 8), "out_of_range: ");
    begins(array.put(Section(array.box(), {2, 2}), std::span<const double>()),
           "invalid_argument: ");
    begins(array.put(Section(array.box(), {2, 2}), LocalView<const double>(&value, Extents{1, 1})),
           "invalid_argument: ");
    begins(array.put_async(Section(array.box(), {0, 1}), std::span<const double>()).wait(),
           "invalid_argument: ");
    begins(gather(array, IndexList::flat(std::vector<std::int64_t>{9, 9}, 2), std::span(&value, 1)),
           "out_of_range: gather of 1 elements");
    begins(raise_flag({array, {0, 0}}, 1), "invalid_argument: raising a flag");
    begins(wait_for_flag({array, {0, 0}}, 1, rma::TeamRank{0}), "invalid_argument: waiting");
    begins(Array<float>::of(array.alias()).status(), "invalid_argument: array 'A'");
    begins(select_max(part(array, Box({0, 0}, {0, 0}))).status(), "invalid_argument: select_max");
    begins(team.agree(rma::Status::error(Code::closed, "over")), "closed: on rank ");
    EXPECT_TRUE(ok(array.free()));
    begins(array.sync(), "closed: array 'A'");
    begins(array.fence(), "closed: array 'A'");
    begins(array.local().status(), "closed: local access");
    try {
      require(array.get_element({0, 0}));
      ADD_FAILURE() << "the array was freed";
    } catch (const rma::Error& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(rank + "closed: ")) << error.what();
    }
  });
}

// Every operation on an array that was freed or moved from returns an error with these words.
void expect_closed(Array<double>& array, std::initializer_list<std::string_view> words) {
  std::vector<double> buffer(4);
  const std::span<double> span(buffer);
  const Box box({0, 0}, {2, 2});
  const LocalView<double> view(buffer.data(), {2, 2});
  EXPECT_TRUE(fails(array.put(box, span), Code::closed, words));
  EXPECT_TRUE(fails(array.get(box, span), Code::closed, words));
  EXPECT_TRUE(fails(array.get(box, view), Code::closed, words));
  EXPECT_TRUE(fails(array.accumulate(box, span), Code::closed, words));
  EXPECT_TRUE(fails(array.put_async(box, span).wait(), Code::closed, words));
  EXPECT_TRUE(fails(array.get_async(box, span).wait(), Code::closed, words));
  EXPECT_TRUE(fails(array.get_async(box, view).wait(), Code::closed, words));
  EXPECT_TRUE(fails(array.accumulate_async(box, span).wait(), Code::closed, words));
  EXPECT_TRUE(fails(array.get_element({0, 0}), Code::closed, words));
  EXPECT_TRUE(fails(array.local(), Code::closed, words));
  EXPECT_TRUE(fails(array.fence(), Code::closed, words));
  EXPECT_TRUE(fails(array.sync(), Code::closed, words));
  EXPECT_TRUE(fails(fill(array, 1.0), Code::closed, words));
  EXPECT_TRUE(fails(copy(array, array), Code::closed, words));
  EXPECT_TRUE(fails(dot(array, array), Code::closed, words));
  EXPECT_TRUE(fails(norm2(array), Code::closed, words));
  EXPECT_TRUE(ok(array.free()));
}

TEST(ArrayErrors, AFreedArrayIsClosedByItsName) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {4, 4}, {.name = "A", .team = team}).value();
    EXPECT_TRUE(ok(array.free()));
    expect_closed(array, {"array 'A'", "freed"});
  });
}

TEST(ArrayErrors, AnArrayThatWasMovedFromIsClosed) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {4, 4}, {.name = "A", .team = team}).value();
    auto other = std::move(array);
    expect_closed(array, {"moved from"});  // NOLINT: what it is for
    EXPECT_EQ(array.extents(), (Extents{4, 4}));
    EXPECT_TRUE(ok(fill(other, 1.0)));
    array = std::move(other);
    EXPECT_EQ(array.get_element({3, 3}).value(), 1.0);
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(ArrayErrors, AnArrayThatWasNeverMadeIsClosed) {
  on_team([](Job&, Team&) {
    Array<double> array;
    expect_closed(array, {"never made"});
  });
}

TEST(ArrayErrors, AFreedOverlayIsClosedAndItsBaseIsNot) {
  on_team([](Job& job, Team& team) {
    auto base = Array<double>::create(job, {4, 4}, {.name = "A", .team = team}).value();
    auto over = Array<double>::overlay(base, base.distribution(), "O").value();
    EXPECT_TRUE(ok(over.free()));
    EXPECT_EQ(over.team().size(), team.size());
    expect_closed(over, {"array 'O'", "freed"});
    EXPECT_TRUE(ok(fill(base, 1.0)));
    auto again = Array<double>::overlay(base, base.distribution(), "O").value();
    EXPECT_TRUE(ok(base.free()));
    std::vector<double> buffer(16);
    EXPECT_TRUE(fails(again.get(again.box(), buffer), Code::closed, {"array 'O'", "freed"}));
    EXPECT_TRUE(fails(again.local(), Code::closed, {"freed"}));
  });
}

TEST(ArrayErrors, AHaloThatIsFreedOrWasMovedFromIsClosed) {
  on_team([](Job& job, Team& team) {
    auto array =
        Array<double>::create(job, {8, 8}, {.name = "A", .team = team, .ghosts = {1, 1}}).value();
    Halo halo = Halo::create(array).value();
    Halo other = std::move(halo);
    for (const std::string_view word : {"moved from", "freed"}) {
      // NOLINTBEGIN(bugprone-use-after-move): what it is for
      Halo& closed = word == "freed" ? other : halo;
      EXPECT_TRUE(fails(closed.post(), Code::closed, {"array 'A'", word}));
      EXPECT_TRUE(fails(closed.start(), Code::closed, {"array 'A'", word}));
      EXPECT_TRUE(fails(closed.update(), Code::closed, {"array 'A'", word}));
      // NOLINTEND(bugprone-use-after-move)
      EXPECT_TRUE(ok(other.free()));
    }
  });
}

TEST(ArrayErrors, AHaloOfAFreedArrayIsClosed) {
  on_team([](Job& job, Team& team) {
    auto array =
        Array<double>::create(job, {8, 8}, {.name = "A", .team = team, .ghosts = {1, 1}}).value();
    Halo halo = Halo::create(array).value();
    EXPECT_TRUE(ok(array.free()));
    EXPECT_TRUE(fails(halo.update(), Code::closed, {"array 'A'", "freed"}));
    EXPECT_TRUE(fails(Halo::create(array), Code::closed, {"array 'A'", "freed"}));
  });
}

TEST(ArrayErrors, WrongHaloWidthsNameTheArray) {
  on_team([](Job& job, Team& team) {
    auto array =
        Array<double>::create(job, {8, 8}, {.name = "A", .team = team, .ghosts = {1, 1}}).value();
    EXPECT_TRUE(fails(Halo::create(array, {.widths = {2, 1}}), Code::invalid_argument,
                      {"array 'A'", "2 ghost layers in dimension 0"}));
    EXPECT_TRUE(fails(Halo::create(array, {.widths = {1}}), Code::invalid_argument,
                      {"array 'A'", "1 ghost widths for an array of 2 dimensions"}));
  });
}

TEST(ArrayErrors, AFreedCounterIsClosed) {
  on_team([](Job& job, Team& team) {
    auto counter = Counter::create(job, team).value();
    EXPECT_TRUE(ok(counter.free()));
    EXPECT_TRUE(fails(counter.next(3), Code::closed, {"drawing 3 from the counter of member 0"}));
    EXPECT_TRUE(fails(counter.reset(), Code::closed));
    auto second = Counter::create(job, team).value();
    const auto moved = std::move(second);
    EXPECT_TRUE(fails(second.next(), Code::closed, {"moved from"}));  // NOLINT: what it is for
    EXPECT_TRUE(fails(second.reset(), Code::closed, {"moved from"}));
    EXPECT_TRUE(ok(team.barrier()));
  });
}

TEST(ArrayErrors, NineDimensionsAreTooManyForAnything) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {4, 4}, {.name = "A", .team = team}).value();
    std::vector<double> buffer(16);
    const Index nine{1, 1, 1, 1, 1, 1, 1, 1, 1};
    const Box box(nine, nine);
    EXPECT_TRUE(fails(array.get_element(nine), Code::invalid_argument, {"array 'A'", "9 dim"}));
    for (const Box& bad : {box, Box::at(nine), Box(nine, {2, 2}), Box({0, 0}, nine)}) {
      EXPECT_TRUE(fails(array.get(bad, buffer), Code::invalid_argument, {"array 'A'"}));
      EXPECT_TRUE(fails(array.put_async(bad, buffer).wait(), Code::invalid_argument, {"'A'"}));
      EXPECT_TRUE(fails(array.get(bad, LocalView<double>(buffer.data(), bad.extents())),
                        Code::invalid_argument, {"array 'A'"}));
    }
  });
}

TEST(ArrayErrors, AnElementOutsideIsNamedByItsIndex) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {4, 4}, {.name = "A", .team = team}).value();
    EXPECT_TRUE(fails(array.get_element({1, 4}), Code::out_of_range,
                      {"get of element (1, 4) of array 'A' (float64, 4 x 4)",
                       "4 is not in [0,4) of dimension 1"}));
    EXPECT_TRUE(fails(array.get_element({1}), Code::invalid_argument,
                      {"index (1) has 1 dimension, the array 4 x 4 has 2"}));
  });
}

TEST(ArrayErrors, AViewNeedsAsManyStridesAsExtents) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {4, 4}, {.name = "A", .team = team}).value();
    std::vector<double> buffer(16);
    const Box box({0, 0}, {2, 2});
    EXPECT_TRUE(fails(array.get(box, LocalView<double>(buffer.data(), {2, 2}, Strides{2})),
                      Code::invalid_argument,
                      {"array 'A'", "the view has 1 stride for 2 dimensions"}));
    EXPECT_TRUE(
        fails(array.put_async(box, LocalView<const double>(buffer.data(), {2, 2}, Strides{4, 2, 1}))
                  .wait(),
              Code::invalid_argument, {"the view has 3 strides for 2 dimensions"}));
  });
}

// A get of 2 x 3 elements, of one owner and of several, in each of its forms.
void expect_no_get(const Array<double>& array, const Strides& strides, std::string_view why) {
  std::vector<double> buffer(100, -1);
  const LocalView<double> view(buffer.data() + 50, {2, 3}, strides);
  const std::initializer_list<std::string_view> words{
      "array 'A'", "elements would overlap in local memory", why, "hint:"};
  const Box box({0, 0}, {2, 3});
  EXPECT_TRUE(fails(array.get(box, view), Code::invalid_argument, words));
  EXPECT_TRUE(fails(array.get_async(box, view).wait(), Code::invalid_argument, words));
  EXPECT_TRUE(fails(array.get(Box({3, 3}, {5, 6}), view), Code::invalid_argument, words));
  EXPECT_TRUE(
      fails(array.get(Section(Box({0, 0}, {4, 6}), {2, 2}), view), Code::invalid_argument, words));
  EXPECT_TRUE(
      fails(array.get(periodic(Box({-1, 0}, {1, 3})), view), Code::invalid_argument, words));
  EXPECT_EQ(buffer, std::vector<double>(100, -1)) << "nothing was written";
  if (array.team().rank().value == 0) {
    EXPECT_TRUE(ok(array.put(box, LocalView<const double>(view)))) << "what is read may overlap";
    EXPECT_TRUE(ok(array.accumulate(box, LocalView<const double>(view))));
  }
}

TEST(ArrayErrors, AGetDoesNotPutTwoElementsIntoOnePlace) {
  on_team([](Job& job, Team& team) {
    for (const MemoryOrder order : {MemoryOrder::row_major, MemoryOrder::column_major}) {
      auto array = Array<double>::create(job, {8, 8}, {.name = "A", .team = team, .order = order});
      ASSERT_TRUE(ok(array));
      expect_no_get(*array, {2, 1},
                    "a row of 3 elements along dimension 1 (stride 1), but stride 2");
      expect_no_get(*array, {1, 1}, "but stride 1");
      expect_no_get(*array, {0, 0}, "2 of them along dimension 0, but stride 0");
      expect_no_get(*array, {4, 0}, "3 of them along dimension 1, but stride 0");
      expect_no_get(*array, {-2, 1}, "but stride -2");
      ASSERT_TRUE(ok(array->sync()));
    }
  });
}

TEST(ArrayErrors, AGetIntoAnyOtherStridesIsLegal) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {8, 8}, {.name = "A", .team = team}).value();
    std::vector<double> buffer(100);
    for (const Strides& strides : {Strides{3, 1}, Strides{1, 2}, Strides{-3, 1}, Strides{3, -1},
                                   Strides{7, 2}, Strides{3, 2}}) {
      const LocalView<double> view(buffer.data() + 50, {2, 3}, strides);
      EXPECT_TRUE(ok(array.get(Box({0, 0}, {2, 3}), view))) << strides[0];
      EXPECT_TRUE(ok(array.get_async(Box({3, 3}, {5, 6}), view).wait())) << strides[0];
    }
    const LocalView<double> row(buffer.data(), {1, 3}, Strides{0, 1});
    EXPECT_TRUE(ok(array.get(Box({0, 0}, {1, 3}), row))) << "a stride that nothing goes along";
  });
}

TEST(ArrayErrors, EmptyArraysOfHugeExtentsAreLegal) {
  on_team([](Job& job, Team& team) {
    constexpr std::int64_t huge = std::int64_t{1} << 40;
    auto array = Array<double>::create(job, {huge, huge, 0}, {.name = "empty", .team = team});
    ASSERT_TRUE(ok(array));
    EXPECT_TRUE(ok(array->put(array->box(), std::span<const double>())));
    EXPECT_TRUE(ok(fill(*array, 1.0)));
  });
}

// Arrays for which the product of the nonzero extents overflows to a small number.
TEST(ArrayErrors, EmptyArraysOfHugeExtentsMayBeCached) {
  on_team([](Job& job, Team& team) {
    constexpr std::int64_t huge = std::int64_t{1} << 40;
    auto array = Array<double>::create(job, {huge + 1, huge, 0}, {.name = "empty", .team = team});
    ASSERT_TRUE(ok(array));
    EXPECT_TRUE(ok(array->set_access_mode(rma::AccessMode::read_only, {.cache_bytes = 1 << 20})));
  });
}

}  // namespace
}  // namespace tessera::arrays
