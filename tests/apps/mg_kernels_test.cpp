// SPDX-License-Identifier: BSD-3-Clause
//
// The fast kernels of MG against the plain reference, on boxes of all parities, and the whole
// benchmark of the small classes.
//
// Method: a cube of random values is copied into a Grid. Its ghosts come from the cube, too, as
// indices wrap around. Values that a kernel must not read are NaN; those that it must not write
// have a mark.
#include "apps/mg/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "apps/mg/problem.hpp"
#include "apps/mg/reference.hpp"
#include "apps/mg/serial.hpp"
#include "apps/mg/sweep.hpp"
#include "tests/support/effort.hpp"

namespace tessera::apps::mg {
namespace {

using reference::Cube;

constexpr std::int64_t edge = 32;
constexpr std::int64_t margin = 6;  // more than any kernel may touch
constexpr double tolerance = 1e-12;
constexpr Stencil smoother{-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0, 0.0};

/// Calls body(z, y, x) for the points of `box`.
template <typename Body>
void for_each_point(const Box& box, Body body) {
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z) {
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
      for (std::int64_t x = box.lo.x; x < box.hi.x; ++x) {
        body(z, y, x);
      }
    }
  }
}

bool holds(const Box& box, std::int64_t z, std::int64_t y, std::int64_t x) {
  return box.lo.z <= z && z < box.hi.z && box.lo.y <= y && y < box.hi.y && box.lo.x <= x &&
         x < box.hi.x;
}

Cube random_cube(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  Cube cube(n);
  for_each_point(whole_box(n), [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    cube(z, y, x) = value(random);
  });
  return cube;
}

/// A grid over `box` that holds values of `cube` on `valid`, and NaN elsewhere.
class TestGrid {
 public:
  TestGrid(const Box& box, const Cube& cube, const Box& valid)
      : around_(grown(box, margin)), values_(static_cast<std::size_t>(around_.points()), nan()) {
    const Index3 e = around_.extents();
    view_ = {values_.data() + (margin * e.y + margin) * e.x + margin, box, e.y * e.x, e.x};
    for_each_point(valid, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
      *view_.at(z, y, x) = cube(z, y, x);
    });
  }
  explicit TestGrid(const Box& box) : TestGrid(box, Cube(2), {}) {}

  [[nodiscard]] const Grid& view() const { return view_; }

  /// Expects the values of `cube` on `written` and, where `rest_unchanged`, NaN everywhere else.
  void expect(const Cube& cube, const Box& written, bool rest_unchanged = true) const {
    std::int64_t wrong = 0;
    std::int64_t changed = 0;
    for_each_point(around_, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
      const double value = *view_.at(z, y, x);
      if (holds(written, z, y, x)) {
        // Written so that a NaN is wrong.
        wrong += std::abs(value - cube(z, y, x)) <= tolerance ? 0 : 1;
      } else if (!std::isnan(value)) {
        ++changed;
      }
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(!rest_unchanged || changed == 0) << changed << " points outside were written";
  }

 private:
  static double nan() { return std::numeric_limits<double>::quiet_NaN(); }

  Box around_;
  std::vector<double> values_;
  Grid view_;
};

/// `box` with `width` more layers in the dimensions of `wrap`.
Box with_images(Box box, const Wrap& wrap, std::int64_t width) {
  const auto grow = [&](std::int64_t Index3::*dim, bool wraps) {
    box.lo.*dim -= wraps ? width : 0;
    box.hi.*dim += wraps ? width : 0;
  };
  grow(&Index3::z, wrap.z);
  grow(&Index3::y, wrap.y);
  grow(&Index3::x, wrap.x);
  return box;
}

/// Boxes of a level of 32: even and odd bounds in all dimensions, thin ones, the whole.
std::vector<Box> boxes() {
  return {whole_box(edge),           {{0, 0, 0}, {16, 32, 32}},  {{3, 5, 7}, {20, 18, 32}},
          {{8, 9, 1}, {15, 32, 30}}, {{5, 4, 11}, {6, 5, 12}},   {{2, 3, 4}, {5, 9, 7}},
          {{1, 1, 1}, {3, 4, 20}},   {{0, 31, 16}, {32, 32, 32}}};
}

TEST(Kernels, ResidualAgreesWithTheReference) {
  const Cube u = random_cube(edge, 1);
  const Cube v = random_cube(edge, 2);
  const Cube expected = reference::residual(v, u, laplacian);
  const Stencil full{-2.5, 0.25, 0.125, 0.0625};
  const Cube expected_full = reference::residual(v, u, full);
  for (const Box& box : boxes()) {
    const TestGrid gu(box, u, grown(box, 1));
    const TestGrid gv(box, v, box);
    const TestGrid gr(box);
    residual(gr.view(), gv.view(), gu.view(), laplacian, box);
    gr.expect(expected, box);
    residual(gv.view(), gv.view(), gu.view(), full, box);  // in place
    gv.expect(expected_full, box);
  }
}

TEST(Kernels, SmoothAgreesWithTheReference) {
  const Cube r = random_cube(edge, 3);
  for (const Stencil& s : {smoother, Stencil{-0.5, 0.25, 0.125, 0.0625}}) {
    Cube expected = random_cube(edge, 4);
    const Cube u = expected;
    reference::smooth(expected, r, s);
    for (const Box& box : boxes()) {
      const TestGrid gr(box, r, grown(box, 1));
      const TestGrid gu(box, u, box);
      smooth(gu.view(), gr.view(), s, box);
      gu.expect(expected, box);
    }
  }
}

TEST(Kernels, RestrictionInTwoStepsReadsGhostsInTheSecondOnly) {
  const Cube r = random_cube(edge, 5);
  const Cube expected = reference::restricted(r);
  for (const Wrap& wrap : {Wrap{}, Wrap{false, true, true}, Wrap{true, false, false}}) {
    for (const Box& box : boxes()) {
      const Box coarse = coarsened(box);
      const auto width = [](bool wraps) { return std::int64_t{wraps ? 2 : 0}; };
      const Index3 known{width(wrap.z), width(wrap.y), width(wrap.x)};
      const TestGrid early(box, r,
                           {{box.lo.z - known.z, box.lo.y - known.y, box.lo.x - known.x},
                            {box.hi.z + known.z, box.hi.y + known.y, box.hi.x + known.x}});
      const TestGrid target(coarse);
      const Box inner = restricted_alone(coarse, box, wrap);
      restrict_to(target.view(), early.view(), inner);
      const TestGrid late(box, r, grown(box, 2));
      for (const Box& part : without(coarse, inner)) {
        restrict_to(target.view(), late.view(), part);
      }
      target.expect(expected, coarse);
    }
  }
}

TEST(Grid, WithoutLeavesEachOtherPointOnce) {
  const Box box{{1, 2, 3}, {6, 8, 10}};
  for (const Box& inner : {Box{{2, 3, 4}, {5, 7, 9}}, Box{{1, 2, 3}, {6, 8, 10}},
                           Box{{1, 4, 3}, {6, 5, 10}}, Box{{4, 4, 4}, {4, 5, 5}}}) {
    const auto parts = without(box, inner);
    for_each_point(box, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
      const auto times = std::count_if(parts.begin(), parts.end(),
                                       [&](const Box& part) { return holds(part, z, y, x); });
      EXPECT_EQ(times, holds(inner, z, y, x) ? 0 : 1) << z << ' ' << y << ' ' << x;
    });
  }
}

TEST(Kernels, RestrictionAgreesWithTheReference) {
  const Cube r = random_cube(edge, 5);
  const Cube expected = reference::restricted(r);
  for (const Box& box : boxes()) {
    const Box coarse = coarsened(box);
    const Box read{{2 * coarse.lo.z, 2 * coarse.lo.y, 2 * coarse.lo.x},
                   {2 * coarse.hi.z + 1, 2 * coarse.hi.y + 1, 2 * coarse.hi.x + 1}};
    const TestGrid fine(box, r, read);
    const TestGrid target(coarse);
    restrict_to(target.view(), fine.view(), coarse);
    target.expect(expected, coarse.is_empty() ? Box{} : coarse);
  }
}

TEST(Kernels, RestrictionSetsPeriodicImagesOfWhatItWrites) {
  const Cube r = random_cube(edge, 5);
  const Cube expected = reference::restricted(r);
  constexpr std::int64_t width = 3;
  for (const Wrap& wrap :
       {Wrap{}, Wrap{false, true, true}, Wrap{false, true, false}, Wrap{false, false, true}}) {
    const Box box{{6, wrap.y ? 0 : 5, wrap.x ? 0 : 4}, {25, wrap.y ? edge : 18, edge}};
    const Box coarse = coarsened(box);
    const TestGrid fine(box, r, grown(box, 2));
    const TestGrid target(coarse);
    // In two parts, as if ghost cells were still being exchanged.
    Box below = coarse;
    Box above = coarse;
    below.hi.z = above.lo.z = 7;
    for (const Box& part : {above, below}) {
      restrict_to(target.view(), fine.view(), part, wrap, width);
    }
    target.expect(expected, with_images(coarse, wrap, width));
  }
}

TEST(Kernels, ProlongationAgreesWithTheReference) {
  const Cube coarse = random_cube(edge / 2, 6);
  Cube expected = random_cube(edge, 7);
  const Cube u = expected;
  reference::prolongate_add(expected, coarse);
  for (const Box& box : boxes()) {
    const Box read{
        {(box.lo.z - 1) >> 1, (box.lo.y - 1) >> 1, (box.lo.x - 1) >> 1},
        {((box.hi.z - 1) >> 1) + 1, ((box.hi.y - 1) >> 1) + 1, ((box.hi.x - 1) >> 1) + 1}};
    const TestGrid gc(coarsened(box), coarse, read);
    const TestGrid gu(box, u, box);
    prolongate_add(gu.view(), gc.view(), box);
    gu.expect(expected, box);
  }
}

TEST(Kernels, SubBoxesMakeUpTheBox) {
  const Cube u = random_cube(edge, 8);
  const Cube v = random_cube(edge, 9);
  const Box box{{3, 5, 7}, {20, 18, 32}};
  const TestGrid gu(box, u, grown(box, 1));
  const TestGrid gv(box, v, box);
  const TestGrid gr(box);
  const Box interior = grown(box, -1);
  residual(gr.view(), gv.view(), gu.view(), laplacian, interior);
  for (const std::int64_t z : {box.lo.z, box.hi.z - 1}) {
    residual(gr.view(), gv.view(), gu.view(), laplacian,
             {{z, box.lo.y, box.lo.x}, {z + 1, box.hi.y, box.hi.x}});
  }
  for (const std::int64_t y : {box.lo.y, box.hi.y - 1}) {
    residual(gr.view(), gv.view(), gu.view(), laplacian,
             {{interior.lo.z, y, box.lo.x}, {interior.hi.z, y + 1, box.hi.x}});
  }
  for (const std::int64_t x : {box.lo.x, box.hi.x - 1}) {
    residual(gr.view(), gv.view(), gu.view(), laplacian,
             {{interior.lo.z, interior.lo.y, x}, {interior.hi.z, interior.hi.y, x + 1}});
  }
  gr.expect(reference::residual(v, u, laplacian), box);
}

TEST(Kernels, NormsSumOverBoxes) {
  const Cube r = random_cube(edge, 10);
  const TestGrid whole(whole_box(edge), r, whole_box(edge));
  const Norms a = norms(whole.view(), {{0, 0, 0}, {32, 13, 32}});
  const Norms b = norms(whole.view(), {{0, 13, 0}, {32, 32, 32}});
  const double points = static_cast<double>(edge * edge * edge);
  EXPECT_NEAR(std::sqrt((a.sum_squares + b.sum_squares) / points), reference::norm(r), tolerance);
  double max_abs = 0.0;
  for_each_point(whole_box(edge), [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    max_abs = std::max(max_abs, std::abs(r(z, y, x)));
  });
  EXPECT_EQ(std::max(a.max_abs, b.max_abs), max_abs);
}

TEST(Kernels, FillPeriodicAlsoIfTheLevelIsThinnerThanTheGhosts) {
  for (const std::int64_t n : {2, 4, 8}) {
    const Cube u = random_cube(n, 11);
    const TestGrid grid(whole_box(n), u, whole_box(n));
    fill_periodic(grid.view(), 3, {true, true, true});
    grid.expect(u, grown(whole_box(n), 3));
  }
}

// One sweep and its expected result, from the reference.
struct SweepCase {
  Cube u = random_cube(edge, 20);
  Cube v = random_cube(edge, 21);
  Cube coarse = random_cube(edge / 2, 22);
  Cube corrected;
  Cube corrected_from_zero;

  SweepCase() : corrected(u), corrected_from_zero(edge) {
    for (Cube* cube : {&corrected, &corrected_from_zero}) {
      reference::prolongate_add(*cube, coarse);
      reference::smooth(*cube, reference::residual(v, *cube, laplacian), smoother);
    }
  }
};

// The smallest strips, so that even these small boxes are split into several, and the usual ones.
std::vector<std::int64_t> strip_sizes() {
  return {1, SweepBuffers::default_strip_bytes};
}

TEST(Sweep, RestrictsTheResidualAndTakesItsNorm) {
  const SweepCase given;
  const Cube r = reference::residual(given.v, given.u, laplacian);
  const Cube expected = reference::restricted(r);
  for (const std::int64_t strip : strip_sizes()) {
    SweepBuffers buffers(strip);
    for (const Box& box : boxes()) {
      const Box coarse = coarsened(box);
      const TestGrid target(coarse);
      SweepTask task;
      task.u.box = box;
      task.norm_box = box;
      task.restriction = Restriction{target.view(), coarse};
      const TestGrid u(box, given.u, needed(task).u_read);
      const TestGrid v(box, given.v, needed(task).v_read);
      task.u = u.view();
      task.v = v.view();
      const Norms found = sweep(task, buffers).value();
      target.expect(expected, coarse.is_empty() ? Box{} : coarse);
      u.expect(given.u, needed(task).u_read);

      const TestGrid whole(box, r, box);
      EXPECT_NEAR(found.sum_squares, norms(whole.view(), box).sum_squares, 1e-9);
      EXPECT_NEAR(found.max_abs, norms(whole.view(), box).max_abs, tolerance);
    }
  }
}

TEST(Sweep, RestrictsInSubBoxes) {
  const SweepCase given;
  const Cube expected = reference::restricted(reference::residual(given.v, given.u, laplacian));
  const Box box{{3, 5, 7}, {20, 18, 32}};
  const Box coarse = coarsened(box);
  const TestGrid u(box, given.u, grown(box, sweep_u_ghosts));
  const TestGrid v(box, given.v, grown(box, sweep_v_ghosts));
  const TestGrid target(coarse);
  SweepBuffers buffers;
  SweepTask task;
  task.u = u.view();
  task.v = v.view();
  for (const Box& part :
       {Box{{coarse.lo.z, coarse.lo.y, coarse.lo.x}, {coarse.lo.z + 3, coarse.hi.y, coarse.hi.x}},
        Box{{coarse.lo.z + 3, coarse.lo.y, coarse.lo.x},
            {coarse.hi.z, coarse.hi.y, coarse.lo.x + 11}},
        Box{{coarse.lo.z + 3, coarse.lo.y, coarse.lo.x + 11},
            {coarse.hi.z, coarse.hi.y, coarse.hi.x}}}) {
    task.restriction = Restriction{target.view(), part};
    rma::require(sweep(task, buffers).status());
  }
  target.expect(expected, coarse);
}

TEST(Sweep, CorrectsAlsoIntoGhostLayers) {
  const SweepCase given;
  for (const std::int64_t strip : strip_sizes()) {
    SweepBuffers buffers(strip);
    for (const Box& box : boxes()) {
      for (const std::int64_t layers : {0, 1, 3}) {
        for (const bool from_zero : {false, true}) {
          SweepTask task;
          task.u.box = box;
          task.correction = Correction{{}, smoother, grown(box, layers), from_zero};
          const SweepBoxes reach = needed(task);
          const TestGrid coarse(coarsened(box), given.coarse, reach.coarse_read);
          const TestGrid u(box, given.u, reach.u_read);
          const TestGrid v(box, given.v, reach.v_read);
          task.correction->coarse = coarse.view();
          task.u = u.view();
          task.v = v.view();
          rma::require(sweep(task, buffers).status());
          u.expect(from_zero ? given.corrected_from_zero : given.corrected, grown(box, layers),
                   from_zero);
        }
      }
    }
  }
}

TEST(Sweep, CorrectsAndRestrictsInOne) {
  const SweepCase given;
  const Cube r = reference::residual(given.v, given.corrected, laplacian);
  const Cube expected = reference::restricted(r);
  for (const std::int64_t strip : strip_sizes()) {
    SweepBuffers buffers(strip);
    for (const Box& box : boxes()) {
      const Box coarse_box = coarsened(box);
      const TestGrid target(coarse_box);
      SweepTask task;
      task.u.box = box;
      task.correction = Correction{{}, smoother, box, false};
      task.restriction = Restriction{target.view(), coarse_box};
      task.norm_box = box;
      const SweepBoxes reach = needed(task);
      const TestGrid coarse(coarse_box, given.coarse, reach.coarse_read);
      const TestGrid u(box, given.u, reach.u_read);
      const TestGrid v(box, given.v, reach.v_read);
      task.correction->coarse = coarse.view();
      task.u = u.view();
      task.v = v.view();
      const Norms found = sweep(task, buffers).value();
      u.expect(given.corrected, box, false);
      target.expect(expected, coarse_box.is_empty() ? Box{} : coarse_box);
      const TestGrid whole(box, r, box);
      EXPECT_NEAR(found.sum_squares, norms(whole.view(), box).sum_squares, 1e-9);
    }
  }
}

TEST(Sweep, MakesPeriodicImagesOfRowsAndPlanesItself) {
  const SweepCase given;
  const Box box = whole_box(edge);
  const Cube expected =
      reference::restricted(reference::residual(given.v, given.corrected, laplacian));
  for (const std::int64_t strip : strip_sizes()) {
    const TestGrid target(coarsened(box));
    SweepTask task;
    task.u.box = box;
    task.correction = Correction{{}, smoother, box, false};
    task.restriction = Restriction{target.view(), coarsened(box), 2};
    task.wrap = {false, true, true};
    task.wrap_width = sweep_u_ghosts;
    const SweepBoxes reach = needed(task);
    EXPECT_EQ(reach.u_read.lo.x, 0);
    EXPECT_EQ(reach.v_read.hi.x, edge);
    const TestGrid coarse(coarsened(box), given.coarse, reach.coarse_read);
    const TestGrid u(box, given.u, reach.u_read);
    const TestGrid v(box, given.v, reach.v_read);
    task.correction->coarse = coarse.view();
    task.u = u.view();
    task.v = v.view();
    SweepBuffers buffers(strip);
    rma::require(sweep(task, buffers).status());
    target.expect(expected, with_images(coarsened(box), task.wrap, 2));
    fill_periodic(u.view(), sweep_u_ghosts, {true, false, false});
    u.expect(given.corrected, grown(box, sweep_u_ghosts));
  }
}

TEST(Sweep, RestrictsWholeRowsWithOneGhostInX) {
  const SweepCase given;
  const Box box{{4, 3, 0}, {21, 32, edge}};
  const TestGrid target(coarsened(box));
  SweepTask task;
  task.u.box = box;
  task.restriction = Restriction{target.view(), coarsened(box)};
  task.wrap = {false, false, true};
  const TestGrid u(box, given.u, needed(task).u_read);
  const TestGrid v(box, given.v, needed(task).v_read);
  task.u = u.view();
  task.v = v.view();
  SweepBuffers buffers;
  rma::require(sweep(task, buffers).status());
  target.expect(reference::restricted(reference::residual(given.v, given.u, laplacian)),
                coarsened(box));
}

TEST(Sweep, ReadsNoMoreGhostsThanDocumented) {
  for (const Box& box : boxes()) {
    if (coarsened(box).is_empty()) {
      continue;
    }
    SweepTask task;
    task.u.box = box;
    task.correction = Correction{{}, smoother, box, false};
    task.restriction = Restriction{{}, coarsened(box)};
    const SweepBoxes reach = needed(task);
    const auto within = [](const Box& inner, const Box& outer) {
      return holds(outer, inner.lo.z, inner.lo.y, inner.lo.x) &&
             holds(outer, inner.hi.z - 1, inner.hi.y - 1, inner.hi.x - 1);
    };
    EXPECT_TRUE(within(reach.u_read, grown(box, sweep_u_ghosts)));
    EXPECT_TRUE(within(reach.v_read, grown(box, sweep_v_ghosts)));
    EXPECT_TRUE(within(reach.coarse_read, grown(coarsened(box), sweep_coarse_ghosts)));
    EXPECT_TRUE(within(reach.u_written, grown(box, sweep_u_ghosts)));
  }
}

TEST(Reference, VerifiesClassS) {
  const Problem problem = *parse_class("S").problem;
  EXPECT_TRUE(is_verified(problem, reference::run(problem, problem.cycles)));
}

TEST(SerialRun, VerifiesTheSmallClasses) {
  for (const char* name : {"S", "W"}) {
    if (tessera::test::is_sanitized && *name == 'W') {
      continue;  // ten times the same work
    }
    const Problem problem = *parse_class(name).problem;
    const SerialResult result = run_serial(problem, problem.cycles).value();
    EXPECT_TRUE(is_verified(problem, result.norm)) << name << ": " << result.norm;
  }
}

TEST(Problem, TheNormAtTheStartIsThatOfTheRightHandSide) {
  const Problem problem = *parse_class("S").problem;
  const double start = run_serial(problem, 0).value().norm;
  EXPECT_NEAR(initial_norm(problem), start, 1e-14 * start);
}

TEST(Problem, ANormIsReducedWhenItIsFiniteAndLessThanAtTheStart) {
  const Problem problem = *parse_class("S").problem;
  const double start = initial_norm(problem);
  EXPECT_TRUE(is_reduced(problem, 0.0));
  EXPECT_TRUE(is_reduced(problem, 0.99 * start));
  EXPECT_FALSE(is_reduced(problem, start));
  EXPECT_FALSE(is_reduced(problem, 1e300));
  EXPECT_FALSE(is_reduced(problem, std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(is_reduced(problem, std::numeric_limits<double>::quiet_NaN()));
}

TEST(LineBuffer, MoreThanTheAddressSpaceIsNoMemory) {
  constexpr std::int64_t too_many = std::int64_t{1} << 50;
  const auto buffer = LineBuffer::create(too_many);
  EXPECT_EQ(buffer.status().code(), rma::Code::no_memory);
  EXPECT_NE(buffer.status().message().find("8.0 PiB"), std::string::npos)
      << buffer.status().message();
}

TEST(SerialRun, AgreesWithTheReferenceForOtherNumbersOfCycles) {
  const Problem problem = *parse_class("S").problem;
  for (const std::int64_t cycles : {0, 1, 7}) {
    const double expected = reference::run(problem, cycles);
    EXPECT_NEAR(run_serial(problem, cycles).value().norm, expected, 1e-10 * expected);
  }
}

}  // namespace
}  // namespace tessera::apps::mg
