// SPDX-License-Identifier: BSD-3-Clause
//
// The right-hand side of MG: the generator against a naive one, the ten extremes against a full
// sort, and boxes against the whole.
#include "apps/mg/initial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/mg/problem.hpp"
#include "apps/mg/reference.hpp"

namespace tessera::apps::mg {
namespace {

/// x(1) … x(count), one after the other, without any overflow.
std::vector<std::uint64_t> naive_sequence(std::int64_t count) {
  std::vector<std::uint64_t> values;
  std::uint64_t x = 314159265;
  for (std::int64_t i = 0; i < count; ++i) {
    for (int factor = 0; factor < 13; ++factor) {
      x = x * 5 % (std::uint64_t{1} << 46);
    }
    values.push_back(x);
  }
  return values;
}

/// The extremes of `box` by sorting all of its points.
Extremes sorted_extremes(std::int64_t n, const Box& box) {
  const std::vector<std::uint64_t> values = naive_sequence(n * n * n);
  std::vector<Candidate> points;
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z) {
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
      for (std::int64_t x = box.lo.x; x < box.hi.x; ++x) {
        const std::int64_t index = (z * n + y) * n + x;
        points.push_back({values[static_cast<std::size_t>(index)], index});
      }
    }
  }
  std::sort(points.begin(), points.end(),
            [](const Candidate& a, const Candidate& b) { return a.value < b.value; });
  Extremes extremes;
  for (std::size_t i = 0; i < std::min(charges, points.size()); ++i) {
    extremes.smallest[i] = points[i];
    extremes.largest[i] = points[points.size() - 1 - i];
  }
  return extremes;
}

void expect_equal(const Extremes& a, const Extremes& b) {
  EXPECT_EQ(a.largest, b.largest);
  EXPECT_EQ(a.smallest, b.smallest);
}

TEST(Lehmer46, JumpsToWhatSingleStepsReach) {
  const std::vector<std::uint64_t> values = naive_sequence(5000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(Lehmer46::value(static_cast<std::int64_t>(i)), values[i]) << i;
  }
}

TEST(Lehmer46, JumpsAddUp) {
  const std::int64_t far = std::int64_t{1} << 33;
  EXPECT_EQ(Lehmer46::jump(far + 12345),
            (Lehmer46::jump(far) * Lehmer46::jump(12345) & Lehmer46::mask));
  EXPECT_EQ(Lehmer46::jump(0), 1U);
}

TEST(FindExtremes, AgreesWithAFullSort) {
  expect_equal(find_extremes(32, whole_box(32)), sorted_extremes(32, whole_box(32)));
}

TEST(FindExtremes, WorksOnAnyBox) {
  const std::vector<Box> boxes{{{3, 5, 7}, {20, 31, 32}},  {{0, 0, 1}, {32, 32, 2}},
                               {{31, 0, 0}, {32, 32, 32}}, {{8, 9, 10}, {12, 12, 29}},
                               {{4, 4, 4}, {5, 6, 7}},     {{4, 4, 4}, {4, 9, 9}}};
  for (const Box& box : boxes) {
    expect_equal(find_extremes(32, box), sorted_extremes(32, box));
  }
}

TEST(FindExtremes, MergesToTheWhole) {
  const Extremes whole = find_extremes(32, whole_box(32));
  const Extremes a = find_extremes(32, {{0, 0, 0}, {32, 11, 32}});
  const Extremes b = find_extremes(32, {{0, 11, 0}, {32, 32, 5}});
  const Extremes c = find_extremes(32, {{0, 11, 5}, {32, 32, 32}});
  expect_equal(merge(merge(a, b), c), whole);
  expect_equal(merge(c, merge(b, a)), whole);
  expect_equal(merge(whole, Extremes{}), whole);
}

TEST(SetRightHandSide, GivesEachBoxItsPartOfTheWhole) {
  constexpr std::int64_t n = 32;
  const Extremes extremes = find_extremes(n, whole_box(n));
  const reference::Cube expected = reference::right_hand_side(n);
  for (const Box& box : {whole_box(n), Box{{5, 0, 3}, {32, 17, 30}}}) {
    const Index3 e = box.extents();
    std::vector<double> values(static_cast<std::size_t>(box.points()), 7.0);
    const Grid v{values.data(), box, e.y * e.x, e.x};
    set_right_hand_side(v, n, extremes);
    for (std::int64_t z = box.lo.z; z < box.hi.z; ++z) {
      for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
        for (std::int64_t x = box.lo.x; x < box.hi.x; ++x) {
          ASSERT_EQ(*v.at(z, y, x), expected(z, y, x)) << z << ' ' << y << ' ' << x;
        }
      }
    }
  }
}

TEST(ParseClass, TakesEitherCaseAndExplainsWhatItDoesNotKnow) {
  EXPECT_EQ(parse_class("b").problem->edge, 256);
  EXPECT_EQ(parse_class("D").problem->cycles, 50);
  EXPECT_FALSE(parse_class("E").problem.has_value());
  EXPECT_FALSE(parse_class("AB").problem.has_value());
  EXPECT_NE(parse_class("").error.find("S, W, A, B, C, D"), std::string::npos);
}

TEST(Problem, DiffersInTheSmootherFromBUp) {
  EXPECT_EQ(parse_class("A").problem->smoother.centre, -3.0 / 8.0);
  EXPECT_EQ(parse_class("B").problem->smoother.centre, -3.0 / 17.0);
  EXPECT_EQ(parse_class("S").problem->levels(), 5);
}

TEST(NearCubicFactors, MultiplyToTheRanks) {
  for (std::int64_t ranks = 1; ranks <= 64; ++ranks) {
    const Index3 parts = near_cubic_factors(ranks);
    EXPECT_EQ(parts.z * parts.y * parts.x, ranks);
    EXPECT_TRUE(parts.z >= parts.y && parts.y >= parts.x);
  }
  EXPECT_EQ(near_cubic_factors(12), (Index3{3, 2, 2}));
}

TEST(ProcessGrid, GivesEachBlockAPointOfEveryLevelThatIsCut) {
  for (const Problem& problem : problems()) {
    for (std::int64_t ranks = 1; ranks <= 300; ++ranks) {
      const Index3 parts = process_grid(problem.edge, ranks);
      EXPECT_LE(parts.z * parts.y * parts.x, ranks);
      EXPECT_LE(std::max({parts.z, parts.y, parts.x}), replicated_edge(problem.edge, ranks))
          << problem.name << " on " << ranks;
    }
  }
}

TEST(ProcessGrid, LeavesOutAsFewRanksAsItMust) {
  EXPECT_EQ(process_grid(32, 13), (Index3{13, 1, 1}));
  EXPECT_EQ(process_grid(32, 17), (Index3{4, 2, 2}));
  EXPECT_EQ(process_grid(256, 31), (Index3{31, 1, 1}));
  EXPECT_EQ(process_grid(256, 37), (Index3{4, 3, 3}));
}

TEST(MemoryBytes, CoversUAndVAndGrowsWithRanks) {
  const Problem problem = *parse_class("C").problem;
  EXPECT_GT(memory_bytes(problem, 1),
            std::int64_t{16} * problem.edge * problem.edge * problem.edge);
  EXPECT_GT(memory_bytes(problem, 8), memory_bytes(problem, 1));
}

}  // namespace
}  // namespace tessera::apps::mg
