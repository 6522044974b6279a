// SPDX-License-Identifier: BSD-3-Clause
//
// Loops that make and free an object don't use more and more memory: less than a byte in each
// round, plus 16 KiB. GROWTH_COUNT is the number of rounds; tests/c_api/growth.c does the same for
// C handles.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "arrays/array.hpp"
#include "arrays/counter.hpp"
#include "arrays/halo.hpp"
#include "arrays/mirrored.hpp"
#include "rma/lock.hpp"
#include "rma/region.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/heap.h"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Job;
using rma::Team;
using rma::test::ok;
using rma::test::on_team;

std::int64_t times() {
  const char* const given = std::getenv("GROWTH_COUNT");
  return given == nullptr ? 300 : std::strtoll(given, nullptr, 10);
}

template <class Once>
void expect_no_growth(const Once& once) {
  const std::int64_t count = times();
  for (std::int64_t i = 0; i < count / 10 + 50; ++i) {
    once(i);
  }
  const std::size_t before = heap_bytes();
  for (std::int64_t i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    once(i);
  }
  const auto grown = static_cast<std::int64_t>(heap_bytes()) - static_cast<std::int64_t>(before);
  std::printf("%lld times: %+lld bytes\n", static_cast<long long>(count),
              static_cast<long long>(grown));
  EXPECT_LT(grown, count + 16384);
}

Array<double> make_field(const Job& job, const Team& team) {
  return Array<double>::create(job, Extents({8, 6}), {.team = team, .ghosts = Extents({1, 1})})
      .take();
}

TEST(Growth, Teams) {
  on_team([](Job&, Team& team) {
    expect_no_growth([&](std::int64_t i) {
      auto part = team.split(0, static_cast<std::int32_t>(i % 2));
      ASSERT_TRUE(ok(part));
    });
  });
}

TEST(Growth, Regions) {
  on_team([](Job&, Team& team) {
    expect_no_growth([&](std::int64_t i) {
      auto region = rma::Region::allocate(team, static_cast<std::size_t>(64 + i % 64));
      ASSERT_TRUE(ok(region));
      ASSERT_TRUE(ok(region->free()));
    });
  });
}

TEST(Growth, Distributions) {
  expect_no_growth([&](std::int64_t i) {
    ASSERT_TRUE(ok(Distribution::regular(Extents({i % 100 + 1, 7}), 3)));
  });
}

TEST(Growth, Arrays) {
  on_team([](Job& job, Team& team) {
    expect_no_growth([&](std::int64_t i) {
      auto array = Array<double>::create(job, Extents({i % 10 + 1, 7}), {.team = team});
      ASSERT_TRUE(ok(array));
      ASSERT_TRUE(ok(array->free()));
    });
  });
}

TEST(Growth, LocalAccess) {
  on_team([](Job& job, Team& team) {
    Array<double> field = make_field(job, team);
    expect_no_growth([&](std::int64_t) {
      auto access = field.local();
      ASSERT_TRUE(ok(access));
      ASSERT_TRUE(ok(access->end()));
    });
  });
}

TEST(Growth, Halos) {
  on_team([](Job& job, Team& team) {
    Array<double> field = make_field(job, team);
    expect_no_growth([&](std::int64_t i) {
      auto halo = Halo::create(field);
      ASSERT_TRUE(ok(halo));
      if (i % 10 == 0) {
        ASSERT_TRUE(ok(halo->update()));
      }
      ASSERT_TRUE(ok(halo->free()));
    });
  });
}

TEST(Growth, LocksAndCounters) {
  on_team([](Job& job, Team& team) {
    expect_no_growth([&](std::int64_t i) {
      auto locks = rma::LockSet::create(team, 1 + i % 3);
      ASSERT_TRUE(ok(locks));
      auto counter = Counter::create(job, team);
      ASSERT_TRUE(ok(counter));
      ASSERT_TRUE(ok(counter->next()));
      ASSERT_TRUE(ok(counter->free()));
      ASSERT_TRUE(ok(locks->free()));
    });
  });
}

TEST(Growth, MirroredArrays) {
  on_team([](Job& job, Team& team) {
    expect_no_growth([&](std::int64_t i) {
      auto mirrored = Mirrored<double>::create(job, Extents({i % 10 + 1, 7}), {.team = team});
      ASSERT_TRUE(ok(mirrored));
      ASSERT_TRUE(ok(mirrored->free()));
    });
  });
}

}  // namespace
}  // namespace tessera::arrays
