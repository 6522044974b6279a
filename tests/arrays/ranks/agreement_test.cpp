// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of arrays agree: what only one rank finds wrong fails on all, and none is left
// waiting. The one rank is the last.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/counter.hpp"
#include "arrays/elementwise.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::TeamRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;

bool is_last(const Job& job) {
  return job.rank().value == job.size() - 1;
}

// An error that the next fence of the last rank finds.
void leave_an_error(const Job& job, const Array<double>& array) {
  if (is_last(job)) {
    const double value = 1;
    array.put_async(Box({0}, {1}), std::span(&value, 1)).detach();
  }
}

// `collective` fails on all ranks with the last one's error, and succeeds when called again.
template <class Collective>
void expect_agreement(Job& job, const Array<double>& array, Collective&& collective) {
  leave_an_error(job, array);
  EXPECT_TRUE(fails(collective(), Code::invalid_argument,
                    {"on rank " + std::to_string(job.size() - 1), "box [0,1) has 1 dimension"}));
  EXPECT_TRUE(ok(collective()));
}

TEST(Agreement, SyncFailsOnAllRanksWithTheErrorOfADetachedPut) {
  on_ranks([](Job& job) {
    auto array = Array<double>::create(job, {8, 8}, {.name = "A"}).value();
    expect_agreement(job, array, [&] { return array.sync(); });
  });
}

TEST(Agreement, ElementwiseOperationsFailOnAllRanks) {
  on_ranks([](Job& job) {
    auto a = Array<double>::create(job, {8, 8}, {.name = "a"}).value();
    auto b = Array<double>::create(job, {8, 8}, {.name = "b"}).value();
    expect_agreement(job, a, [&] { return fill(a, 1.0); });
    expect_agreement(job, a, [&] { return copy(a, b); });
    expect_agreement(job, a, [&] { return dot(a, b); });
    expect_agreement(job, a, [&] { return norm2(a); });
  });
}

TEST(Agreement, ResettingACounterFailsOnAllRanks) {
  on_ranks([](Job& job) {
    auto array = Array<double>::create(job, {8, 8}, {.name = "A"}).value();
    auto counter = Counter::create(job, job.world()).value();
    expect_agreement(job, array, [&] { return counter.reset(5); });
    EXPECT_GE(counter.next().value(), 5);
    EXPECT_TRUE(ok(job.barrier()));
  });
}

// What the last rank asks for differs from what the others do.
void expect_difference(Job& job, const Distribution& others, const Distribution& last) {
  const auto array = Array<double>::create(job, is_last(job) ? last : others, {.name = "differs"});
  EXPECT_TRUE(fails(array, Code::invalid_argument,
                    {"creating array 'differs'", "asked for another array than rank 0", "hint:"}))
      << to_string(others) << " and " << to_string(last);
}

TEST(Agreement, CreationSeesOtherBoundsOwnersOrdersAndGrids) {
  on_ranks([](Job& job) {
    const std::int64_t ranks = job.size();
    if (ranks == 1) {
      return;
    }
    using Starts = std::vector<std::vector<std::int64_t>>;
    expect_difference(job, *Distribution::irregular({8}, Starts{{0, 3}}, ranks),
                      *Distribution::irregular({8}, Starts{{0, 2}}, ranks));

    const std::vector<AxisCut> two{*AxisCut::even(8, 2)};
    const std::vector<TeamRank> up{{0}, {1}};
    const std::vector<TeamRank> down{{1}, {0}};
    expect_difference(job, *Distribution::create(two, *Deal::table({2}, up, ranks)),
                      *Distribution::create(two, *Deal::table({2}, down, ranks)));

    const std::vector<AxisCut> many{*AxisCut::by_size(8, 1), *AxisCut::by_size(8, 1)};
    expect_difference(
        job, *Distribution::create(many, *Deal::round_robin({8, 8}, ranks)),
        *Distribution::create(many, *Deal::round_robin({8, 8}, ranks, MemoryOrder::column_major)));
  });
}

TEST(Agreement, CreationSeesOtherNodeGrids) {
  on_ranks([](Job& job) {
    if (job.size() < 4) {
      return;
    }
    const std::vector<AxisCut> cuts{*AxisCut::even(8, 2), *AxisCut::even(8, 2)};
    expect_difference(
        job, *Distribution::create(cuts, *Deal::grid({2, 2}, job.size())),
        *Distribution::create(cuts, *Deal::grid({2, 2}, job.size(), {.node_grid = {2, 1}})));
  });
}

TEST(Agreement, CreationSeesOtherElementTypesOfTheSameSize) {
  on_ranks([](Job& job) {
    const rma::Status status = is_last(job)
                                   ? Array<std::int64_t>::create(job, {8}, {.name = "A"}).status()
                                   : Array<double>::create(job, {8}, {.name = "A"}).status();
    if (job.size() > 1) {
      EXPECT_TRUE(fails(status, Code::invalid_argument, {"asked for another array than rank 0"}));
    }
  });
}

TEST(Agreement, ACounterHasOneOwner) {
  on_ranks([](Job& job) {
    const auto counter = Counter::create(job, job.world(), TeamRank{is_last(job) ? 0 : 1});
    if (job.size() > 1) {
      EXPECT_TRUE(fails(counter, Code::invalid_argument,
                        {"rank 0 asked for a counter of member 1",
                         "rank " + std::to_string(job.size() - 1) + " for one of member 0"}));
    }
  });
}

TEST(Agreement, DotWantsBothArraysOnOneTeam) {
  on_ranks([](Job& job) {
    auto backwards = job.world().split(0, -job.rank().value);
    ASSERT_TRUE(ok(backwards));
    auto a = Array<double>::create(job, {8, 8}, {.name = "a"}).value();
    auto b = Array<double>::create(job, {8, 8}, {.name = "b", .team = *backwards}).value();
    EXPECT_TRUE(ok(fill(a, 2.0)));
    EXPECT_TRUE(ok(copy(a, b))) << "copy goes by global indices";
    EXPECT_EQ(b.get_element({7, 7}).value(), 2.0);
    if (job.size() > 1) {
      EXPECT_TRUE(fails(dot(a, b), Code::invalid_argument,
                        {"arrays 'a' and 'b' are on different teams",
                         "copy one into an array on the other's team"}));
    }
    EXPECT_TRUE(ok(a.sync()));
  });
}

}  // namespace
}  // namespace tessera::arrays
