// SPDX-License-Identifier: BSD-3-Clause
//
// Sections, boxes past periodic ends and fields of structures, against an ordinary vector.
#include "arrays/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "arrays/array.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/arrays/ranks/random_arrays.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Handle;
using rma::Job;
using rma::Team;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_team;
using test::KnownArray;
using test::make_known;
using test::pick;
using test::Random;

Section pick_steps(Random& random, const Extents& extents) {
  const Box box = kinds::pick_box(random, extents);
  Extents steps = extents;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    steps[dim] = pick(random, 1, 4);
  }
  return {box, steps};
}

// The index in the array of the element `at` of a section.
Index in_array(const Section& section, const Index& at) {
  Index index = at;
  for (int dim = 0; dim < at.ndims(); ++dim) {
    index[dim] = section.box().lo(dim) + at[dim] * section.steps()[dim];
  }
  return index;
}

// One rank after another moves a section, and all check the result.
void try_sections(Job& job, const Team& team, Random& random) {
  const int ndims = static_cast<int>(pick(random, 1, 4));
  auto known = make_known<double>(job, team, random, kinds::pick_extents(random, ndims, 9), "A");
  for (std::int32_t rank = 0; rank < team.size(); ++rank) {
    const Section section = pick_steps(random, known.array.extents());
    const Extents extents = section.extents();
    std::vector<double> values(static_cast<std::size_t>(volume(extents)));
    for (double& value : values) {
      value = test::pick_element<double>(random);
    }
    const MemoryOrder order = test::pick_order(random);
    const LocalView<double> view(values.data(), extents, order);
    const int verb = static_cast<int>(pick(random, 0, 2));
    const Box all = Box::whole(extents);
    if (team.rank().value == rank) {
      if (verb == 0) {
        ASSERT_TRUE(ok(known.array.put(section, LocalView<const double>(view))));
      } else if (verb == 1) {
        ASSERT_TRUE(ok(known.array.accumulate(section, LocalView<const double>(view), 2.0)));
      } else {
        ASSERT_TRUE(ok(known.array.get(section, view)));
        test::for_each_index(
            all, [&](const Index& at) { EXPECT_EQ(view[at], known.at(in_array(section, at))); });
      }
    }
    test::for_each_index(all, [&](const Index& at) {
      double& element = known.at(in_array(section, at));
      element = verb == 0 ? view[at] : verb == 1 ? element + 2.0 * view[at] : element;
    });
    ASSERT_TRUE(ok(known.array.sync()));
    ASSERT_TRUE(known.is_as_known()) << to_string(section);
  }
}

TEST(Sections, AgreeWithAVector) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(11);
    for (int round = 0; round < 12; ++round) {
      try_sections(job, team, random);
    }
  });
}

TEST(Sections, CountTheirElements) {
  EXPECT_EQ(Section(Box({0, 1}, {10, 8}), {2, 3}).extents(), (Extents{5, 3}));
  EXPECT_EQ(Section(Box({0}, {9}), {std::numeric_limits<std::int64_t>::max()}).volume(), 1);
  EXPECT_EQ(Section(Box({4}, {4}), {2}).volume(), 0);
  EXPECT_EQ(to_string(Section(Box({0, 1}, {10, 8}), {2, 3})), "[0,10):2 x [1,8):3");
}

TEST(Sections, TakeStepsOfAnySize) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(13);
    auto known = make_known<double>(job, team, random, {50}, "A");
    double first = 0;
    const Section section(Box({7}, {50}), {std::numeric_limits<std::int64_t>::max()});
    EXPECT_TRUE(ok(known.array.get(section, LocalView<double>(&first, {1}))));
    EXPECT_EQ(first, known.at({7}));
    EXPECT_TRUE(ok(known.array.sync()));
  });
}

TEST(Sections, SayWhatIsWrong) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {10, 10}, {.name = "A", .team = team}).value();
    std::vector<double> buffer(100);
    const LocalView<double> view(buffer.data(), {5, 5});
    EXPECT_TRUE(fails(array.get(Section(Box({0, 0}, {10, 11}), {2, 2}), view), Code::out_of_range,
                      {"get of [0,10):2 x [0,11):2 of array 'A' (float64, 10 x 10)",
                       "dimension 1 exceeds by 1"}));
    EXPECT_TRUE(fails(array.get(Section(array.box(), {2, 0}), view), Code::invalid_argument,
                      {"the step of dimension 1 is 0", "steps must be at least 1"}));
    EXPECT_TRUE(fails(array.get(Section(array.box(), {2}), view), Code::invalid_argument,
                      {"1 steps for 2 dimensions"}));
    EXPECT_TRUE(fails(array.get(Section(array.box(), {2, 3}), view), Code::invalid_argument,
                      {"the local view is 5 x 5, but the box is 5 x 4"}));
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(Periodic, BoxesReachOverTheEnds) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(17);
    for (int round = 0; round < 10; ++round) {
      const int ndims = static_cast<int>(pick(random, 1, 3));
      Extents extents = Extents::zeros(ndims);
      Box box = Box::none(ndims);
      for (int dim = 0; dim < ndims; ++dim) {
        extents[dim] = pick(random, 1, 7);
        const std::int64_t lo = pick(random, -10, 10);
        box.set(dim, lo, lo + pick(random, 0, 9));
      }
      const auto known = make_known<double>(job, team, random, extents, "A");
      const auto wrapped = [&](Index at) {
        for (int dim = 0; dim < ndims; ++dim) {
          at[dim] = (at[dim] % extents[dim] + extents[dim]) % extents[dim];
        }
        return at;
      };
      std::vector<double> got(static_cast<std::size_t>(box.volume()));
      const LocalView<double> view(got.data(), box.extents());
      ASSERT_TRUE(ok(known.array.get(periodic(box), view)));
      test::for_each_index(Box::whole(box.extents()), [&](Index at) {
        const double value = view[at];
        for (int dim = 0; dim < ndims; ++dim) {
          at[dim] += box.lo(dim);
        }
        KnownArray<double>& all = const_cast<KnownArray<double>&>(known);
        EXPECT_EQ(value, all.at(wrapped(at))) << to_string(at);
      });
      ASSERT_TRUE(ok(known.array.sync()));
      // Each rank adds one to every element of the box, once for each time that the box contains
      // it.
      std::vector<double> ones(got.size(), 1.0);
      ASSERT_TRUE(ok(known.array.accumulate(periodic(box),
                                            LocalView<const double>(ones.data(), box.extents()))));
      ASSERT_TRUE(ok(known.array.sync()));
      KnownArray<double>& all = const_cast<KnownArray<double>&>(known);
      test::for_each_index(box, [&](const Index& at) { all.at(wrapped(at)) += team.size(); });
      ASSERT_TRUE(known.is_as_known());
    }
  });
}

TEST(Periodic, OnlyWhereTheArrayIs) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {4, 4}, {.name = "A", .team = team}).value();
    std::vector<double> buffer(4);
    const LocalView<double> view(buffer.data(), {2, 2});
    EXPECT_TRUE(ok(array.get(periodic(Box({-1, 0}, {1, 2}), 0b01), view)));
    EXPECT_TRUE(fails(array.get(periodic(Box({0, -1}, {2, 1}), 0b01), view), Code::out_of_range,
                      {"get of [0,2) x [-1,1) of array 'A'", "dimension 1"}));
    EXPECT_TRUE(ok(array.sync()));
  });
}

struct ChargedParticle {
  double mass = 0;
  float charge = 0;
  std::int32_t kind = 0;
  double position[3] = {};  // NOLINT(modernize-avoid-c-arrays): as users write them
};

// Memory without gaps may be given as a span, in row-major order.
TEST(Spans, ServeSectionsPeriodicBoxesAndElements) {
  on_team([](Job& job, Team& team) {
    auto array = Array<std::int64_t>::create(job, {4, 6}, {.name = "A", .team = team}).value();
    if (team.rank().value == team.size() - 1) {
      std::vector<std::int64_t> values(24);
      std::iota(values.begin(), values.end(), 0);
      EXPECT_TRUE(ok(array.put(array.box(), values)));
      EXPECT_TRUE(ok(array.put_element({1, 1}, 100)));
      EXPECT_TRUE(ok(array.accumulate(Section(array.box(), {3, 5}), std::vector{1L, 2L, 3L, 4L},
                                      std::int64_t{10})));
      EXPECT_TRUE(ok(array.put(Section(Box({2, 2}, {3, 5}), {1, 2}), std::vector{-1L, -2L})));
      EXPECT_TRUE(ok(array.put(periodic(Box({3, 6}, {4, 7})), std::vector{50L})));
      EXPECT_TRUE(ok(array.accumulate(periodic(Box({4, 0}, {5, 2}), 0b01), std::vector{1L, 1L},
                                      std::int64_t{2})));
    }
    EXPECT_TRUE(ok(array.sync()));
    std::vector<std::int64_t> coarse(6);
    EXPECT_TRUE(ok(array.get(Section(array.box(), {2, 2}), coarse)));
    EXPECT_EQ(coarse, (std::vector<std::int64_t>{12, 2, 4, 12, -1, -2}));
    std::vector<std::int64_t> around(9);
    EXPECT_TRUE(ok(array.get(periodic(Box({-1, -1}, {2, 2})), around)));
    EXPECT_EQ(around, (std::vector<std::int64_t>{63, 50, 19, 25, 12, 3, 11, 6, 100}));
    EXPECT_EQ(array.get_element({1, 1}).value(), 100);
  });
}

TEST(Spans, SayWhatIsTooShort) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {10, 10}, {.name = "A", .team = team}).value();
    std::vector<double> short_one(3);
    const Section section(array.box(), {5, 5});
    EXPECT_TRUE(fails(array.get(section, short_one), Code::invalid_argument,
                      {"get of [0,10):5 x [0,10):5 of array 'A'",
                       "the local buffer has 3 elements, but the section has 4"}));
    EXPECT_TRUE(fails(array.put_async(section, short_one).wait(), Code::invalid_argument,
                      {"put", "has 3 elements"}));
    EXPECT_TRUE(fails(array.accumulate(section, short_one), Code::invalid_argument,
                      {"accumulate", "has 3 elements"}));
    EXPECT_TRUE(fails(array.get(Section(array.box(), {0, 5}), short_one), Code::invalid_argument,
                      {"step"}));
    const PeriodicBox outside = periodic(Box({-1, -1}, {1, 1}));
    EXPECT_TRUE(fails(array.get(outside, short_one), Code::invalid_argument,
                      {"array 'A'", "the local buffer has 3 elements, but the box has 4"}));
    EXPECT_TRUE(fails(array.put(outside, short_one), Code::invalid_argument, {"put"}));
    EXPECT_TRUE(
        fails(array.accumulate(outside, short_one), Code::invalid_argument, {"accumulate"}));
    constexpr std::int64_t far = std::int64_t{1} << 40;
    EXPECT_TRUE(fails(array.get(periodic(Box({0, 0}, {far, far})), short_one),
                      Code::invalid_argument, {"does not fit 63 bits"}));
    EXPECT_TRUE(fails(array.put_element({10, 0}, 1.0), Code::out_of_range, {"put", "(10, 0)"}));
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(Fields, AreReadAndWrittenAlone) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(19);
    const Extents extents{9, 7};
    auto array =
        Array<ChargedParticle>::create(job, test::pick_distribution(random, extents, team.size()),
                                       {.name = "P", .team = team})
            .value();
    const Box box({1, 2}, {8, 6});
    std::vector<double> masses(28);
    std::vector<std::int32_t> kinds(28, 7);
    for (std::size_t i = 0; i < masses.size(); ++i) {
      masses[i] = static_cast<double>(i);
    }
    const LocalView<double> view(masses.data(), box.extents(), MemoryOrder::column_major);
    if (team.rank().value == 0) {
      EXPECT_TRUE(ok(array.put(field(box, &ChargedParticle::mass), view)));
      EXPECT_TRUE(ok(array.put(field(box, &ChargedParticle::kind),
                               LocalView<const std::int32_t>(kinds.data(), box.extents()))));
    }
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_TRUE(ok(array.accumulate(field(box, &ChargedParticle::mass), view, 2.0)));
    EXPECT_TRUE(ok(array.sync()));
    std::vector<ChargedParticle> all(63);
    EXPECT_TRUE(ok(array.get(array.box(), all)));
    const LocalView<ChargedParticle> elements(all.data(), extents);
    test::for_each_index(array.box(), [&](const Index& at) {
      const bool inside = box.contains(at);
      EXPECT_EQ(elements[at].kind, inside ? 7 : 0);
      EXPECT_EQ(elements[at].charge, 0.0F);
      EXPECT_EQ(elements[at].mass,
                inside ? view(at[0] - 1, at[1] - 2) * (1 + 2 * team.size()) : 0.0);
    });
    std::vector<double> read(28);
    EXPECT_TRUE(ok(array.get(field(box, &ChargedParticle::mass),
                             LocalView<double>(read.data(), box.extents()))));
    EXPECT_EQ(read[5], elements(2, 3).mass);
    std::fill(read.begin(), read.end(), -1.0);
    EXPECT_TRUE(ok(array.get(field(box, &ChargedParticle::mass), read)));
    EXPECT_EQ(read[5], elements(2, 3).mass);
    EXPECT_TRUE(fails(array.get(field(box, &ChargedParticle::mass), std::span(read).first(27)),
                      Code::invalid_argument, {"27 elements"}));
    EXPECT_TRUE(fails(array
                          .transfer_async(FieldBox{box, {40, 8}},
                                          LocalBuffer{read.data(), Strides{4, 1}}, Transfer::get())
                          .wait(),
                      Code::out_of_range,
                      {"a field of 8 bytes at byte 40 does not lie in an element of 40 bytes"}));
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(Fields, OfNeighboursMoveAtATime) {
  on_team([](Job& job, Team& team) {
    auto array = Array<ChargedParticle>::create(job, {8, 5}, {.name = "P", .team = team}).value();
    const Box upper({0, 0}, {4, 5});
    const Box lower({4, 0}, {8, 5});
    const std::vector<double> masses(20, 3.0);
    const std::vector<std::int32_t> kinds(20, 4);
    if (team.rank().value == 0) {
      Handle both = array.put_async(field(upper, &ChargedParticle::mass), masses);
      both.collect(array.put_async(field(lower, &ChargedParticle::kind), kinds));
      EXPECT_TRUE(ok(both.wait()));
    }
    EXPECT_TRUE(ok(array.sync()));
    Handle added = array.accumulate_async(field(upper, &ChargedParticle::mass), masses, 2.0);
    added.collect(array.accumulate_async(field(lower, &ChargedParticle::kind), kinds));
    EXPECT_TRUE(ok(added.wait()));
    EXPECT_TRUE(ok(array.sync()));
    std::vector<double> mass(20);
    std::vector<std::int32_t> kind(20);
    Handle read = array.get_async(field(upper, &ChargedParticle::mass), mass);
    read.collect(array.get_async(field(lower, &ChargedParticle::kind), kind));
    EXPECT_TRUE(ok(read.wait()));
    EXPECT_EQ(mass, std::vector<double>(20, 3.0 + 6.0 * team.size()));
    EXPECT_EQ(kind, std::vector<std::int32_t>(20, 4 + 4 * team.size()));
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(Periodic, BoxesMoveAtATime) {
  on_team([](Job& job, Team& team) {
    auto array = Array<std::int64_t>::create(job, {6, 4}, {.name = "N", .team = team}).value();
    const PeriodicBox before = periodic(Box({-1, 0}, {0, 4}));
    const PeriodicBox behind = periodic(Box({6, 0}, {7, 4}));
    const std::vector<std::int64_t> fives(4, 5);
    const std::vector<std::int64_t> sixes(4, 6);
    if (team.rank().value == team.size() - 1) {
      Handle both = array.put_async(before, fives);
      both.collect(array.put_async(behind, sixes));
      EXPECT_TRUE(ok(both.wait()));
    }
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_TRUE(ok(array.accumulate_async(before, fives, 10).wait()));
    EXPECT_TRUE(ok(array.sync()));
    std::vector<std::int64_t> last(4);
    std::vector<std::int64_t> first(4);
    Handle read = array.get_async(before, last);
    read.collect(array.get_async(behind, LocalView<std::int64_t>(first.data(), {1, 4})));
    EXPECT_TRUE(ok(read.wait()));
    EXPECT_EQ(last, std::vector<std::int64_t>(4, 5 + 50 * team.size()));
    EXPECT_EQ(first, sixes);
    EXPECT_TRUE(
        fails(array.get_async(behind, std::span(first).first(3)).wait(), Code::invalid_argument));
    EXPECT_TRUE(ok(array.sync()));
  });
}

}  // namespace
}  // namespace tessera::arrays
