// SPDX-License-Identifier: BSD-3-Clause
//
// Halo: after an update every ghost cell equals the element that it stands for.
#include "arrays/halo.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "arrays/array.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;
using test::fingerprint;
using test::for_each_index;

constexpr double untouched = -7.0;

// Writes fingerprints into own elements and a mark into ghost cells.
void prepare(Array<double>& array) {
  auto access = array.local().value();
  const auto view = access.view();
  for_each_index(access.with_ghosts(), [&](const Index& index) {
    view[index] = access.own().contains(index) ? fingerprint(index) : untouched;
  });
  EXPECT_TRUE(ok(access.end()));
  EXPECT_TRUE(ok(array.sync()));
}

// What a cell must hold after an update: the element it stands for, or what it held before.
double expected_at(const Index& index, const Box& own, const Extents& extents,
                   const HaloOptions& options, const Extents& widths) {
  Index source = index;
  int outside = 0;
  int counted = 0;
  for (int dim = 0; dim < index.ndims(); ++dim) {
    const auto bit = static_cast<std::size_t>(dim);
    const bool is_ghost = index[dim] < own.lo(dim) || index[dim] >= own.hi(dim);
    outside += is_ghost ? 1 : 0;
    counted += is_ghost && !options.left_out.test(bit) ? 1 : 0;
    if (index[dim] < own.lo(dim) - widths[dim] || index[dim] >= own.hi(dim) + widths[dim]) {
      return untouched;
    }
    if (options.periodic.test(bit)) {
      source[dim] = ((index[dim] % extents[dim]) + extents[dim]) % extents[dim];
    } else if (index[dim] < 0 || index[dim] >= extents[dim]) {
      return untouched;
    }
  }
  if (outside > 0 && (counted == 0 || (outside > 1 && !options.corners))) {
    return untouched;
  }
  return fingerprint(source);
}

void check(Array<double>& array, const HaloOptions& options, const Extents& widths) {
  auto access = array.local().value();
  const auto view = access.view();
  std::int64_t wrong = 0;
  for_each_index(access.with_ghosts(), [&](const Index& index) {
    const double expected = expected_at(index, access.own(), array.extents(), options, widths);
    if (view[index] != expected && ++wrong < 5) {
      ADD_FAILURE() << to_string(index) << " is " << view[index] << ", expected " << expected;
    }
  });
  EXPECT_TRUE(ok(access.end()));
  EXPECT_TRUE(ok(array.sync()));
}

void check_update(Job& job, const Extents& extents, const Extents& ghosts,
                  const HaloOptions& options) {
  auto array = Array<double>::create(job, extents, {.name = "A", .ghosts = ghosts}).value();
  const Extents widths = options.widths.ndims() == 0 ? ghosts : options.widths;
  prepare(array);
  auto halo = Halo::create(array, options);
  ASSERT_TRUE(ok(halo));
  EXPECT_TRUE(ok(halo->update()));
  check(array, options, widths);

  prepare(array);
  auto update = halo->start();
  ASSERT_TRUE(ok(update));
  EXPECT_TRUE(ok(update->finish()));
  check(array, options, widths);
}

TEST(Halo, FillsPeriodicGhostCellsWithCorners) {
  on_ranks([](Job& job) {
    check_update(job, {16, 15, 14}, {1, 1, 1}, {.periodic = PeriodicDims().set()});
    check_update(job, {23, 21}, {3, 2}, {.periodic = PeriodicDims().set()});
    check_update(job, {29}, {2}, {.periodic = PeriodicDims().set()});
  });
}

TEST(Halo, LeavesCellsOutsideTheArrayAlone) {
  on_ranks([](Job& job) {
    check_update(job, {12, 13, 14}, {2, 1, 1}, {});
    check_update(job, {12, 13, 14}, {2, 1, 1}, {.periodic = PeriodicDims(0b010)});
  });
}

TEST(Halo, UpdatesFacesOnlyWhenAsked) {
  on_ranks([](Job& job) {
    check_update(job, {12, 13, 14}, {1, 2, 1},
                 {.periodic = PeriodicDims().set(), .corners = false});
  });
}

TEST(Halo, UpdatesFewerLayersThanThereAre) {
  on_ranks([](Job& job) {
    check_update(job, {20, 20}, {3, 3}, {.periodic = PeriodicDims().set(), .widths = {1, 2}});
  });
}

TEST(Halo, LeavesOutDimensionsThatTheCallerDoesItself) {
  on_ranks([](Job& job) {
    check_update(job, {20, 12}, {2, 2},
                 {.periodic = PeriodicDims().set(), .left_out = PeriodicDims(0b10)});
  });
}

TEST(Halo, ReadsLayersWiderThanBlocksFromSeveralOwners) {
  on_ranks([](Job& job) {
    const Extents extents{2 * job.size() + 1};
    check_update(job, extents, {5}, {.periodic = PeriodicDims().set()});
    check_update(job, {3, 3}, {4, 4}, {.periodic = PeriodicDims().set()});
  });
}

TEST(Halo, SaysWhatIsWrongWithItsOptions) {
  on_ranks([](Job& job) {
    auto plain = Array<double>::create(job, {8, 8}, {.name = "plain"}).value();
    EXPECT_TRUE(fails(Halo::create(plain), Code::invalid_argument,
                      {"array 'plain' has no ghost cells", "ArrayOptions::ghosts"}));
    auto array = Array<double>::create(job, {8, 8}, {.name = "A", .ghosts = {1, 1}}).value();
    EXPECT_TRUE(fails(Halo::create(array, {.widths = {2, 1}}), Code::invalid_argument,
                      {"2 ghost layers in dimension 0, of which the array has 1"}));
    EXPECT_TRUE(fails(Halo::create(array, {.widths = {1}}), Code::invalid_argument,
                      {"1 ghost widths for an array of 2 dimensions"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
