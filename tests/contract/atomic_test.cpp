// SPDX-License-Identifier: BSD-3-Clause
//
// fetch_add, swap and compare_swap by all ranks on the same words.
#include "rma/atomic.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::neighbour;
using test::ok;
using test::on_ranks;

template <class T>
class Atomic : public testing::Test {};
using Words = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Atomic, Words);

TYPED_TEST(Atomic, ReturnsTheOldValue) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job), 16);
    EXPECT_EQ(fetch_add<TypeParam>(job, at, 5).value(), 0);
    EXPECT_EQ(fetch_add<TypeParam>(job, at, -7).value(), 5);
    EXPECT_EQ(swap<TypeParam>(job, at, 100).value(), -2);
    EXPECT_EQ(compare_swap<TypeParam>(job, at, 99, 1).value(), 100);
    EXPECT_EQ(get_value<TypeParam>(job, at).value(), 100);
    EXPECT_EQ(compare_swap<TypeParam>(job, at, 100, -1).value(), 100);
    EXPECT_EQ(get_value<TypeParam>(job, at).value(), -1);
  });
}

TYPED_TEST(Atomic, WrapsAroundAndDoesNotChangeTheWordsBesideIt) {
  on_ranks([](Job& job) {
    using Limits = std::numeric_limits<TypeParam>;
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job), 16);
    for (std::uint64_t i = 0; i < 3; ++i) {
      const RemoteAddress word = region.at(neighbour(job), 16 + (i - 1) * sizeof(TypeParam));
      ASSERT_TRUE(ok(put_value(job, word, Limits::max())));
    }
    EXPECT_EQ(fetch_add<TypeParam>(job, at, 1).value(), Limits::max());
    EXPECT_EQ(fetch_add<TypeParam>(job, at, -1).value(), Limits::min());
    EXPECT_EQ(swap<TypeParam>(job, at, Limits::min()).value(), Limits::max());
    RemoteAddress below = at;
    below.offset -= sizeof(TypeParam);
    EXPECT_EQ(get_value<TypeParam>(job, below).value(), Limits::max());
    EXPECT_EQ(get_value<TypeParam>(job, at + sizeof(TypeParam)).value(), Limits::max());
  });
}

TYPED_TEST(Atomic, FetchAddGivesEachTicketOnce) {
  on_ranks([](Job& job) {
    constexpr std::int32_t each = 500;
    const auto tickets = std::size_t{each} * static_cast<std::size_t>(job.size());
    Region region = Region::allocate(job.world(), 64 + 4 * tickets).value();
    const RemoteAddress counter = region.at(TeamRank{0});
    const std::int32_t one = 1;
    std::int64_t last = -1;
    for (std::int32_t i = 0; i < each; ++i) {
      const std::int64_t ticket = fetch_add<TypeParam>(job, counter, 1).value();
      ASSERT_GT(ticket, last);
      ASSERT_LT(ticket, static_cast<std::int64_t>(tickets));
      last = ticket;
      ASSERT_TRUE(
          ok(accumulate(job, region.at(TeamRank{0}, 64 + 4 * static_cast<std::uint64_t>(ticket)),
                        &one, 4, Scale::of(one))));
    }
    ASSERT_TRUE(ok(job.barrier()));
    std::vector<std::int32_t> taken(tickets);
    ASSERT_TRUE(ok(get(job, region.at(TeamRank{0}, 64), taken.data(), 4 * tickets)));
    EXPECT_EQ(taken, std::vector<std::int32_t>(tickets, 1));
    EXPECT_EQ(get_value<TypeParam>(job, counter).value(), static_cast<TypeParam>(tickets));
  });
}

TYPED_TEST(Atomic, SwapLosesAndDoublesNothing) {
  on_ranks([](Job& job) {
    constexpr std::int32_t each = 400;
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress word = region.at(TeamRank{job.size() - 1}, 8);
    std::int64_t balance = 0;  // the sum put in by this rank minus the sum it took out
    for (std::int32_t i = 0; i < each; ++i) {
      const TypeParam token = job.rank().value * each + i + 1;
      balance += token - swap<TypeParam>(job, word, token).value();
    }
    const std::int64_t left = job.world().allreduce(balance, Reduction::sum).value();
    EXPECT_EQ(left, get_value<TypeParam>(job, word).value());
  });
}

TYPED_TEST(Atomic, CompareSwapCountsExactly) {
  on_ranks([](Job& job) {
    constexpr TypeParam each = 200;
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress word = region.at(TeamRank{0}, 8);
    for (TypeParam i = 0; i < each; ++i) {
      TypeParam seen = get_value<TypeParam>(job, word).value();
      for (TypeParam before = seen;
           (before = compare_swap<TypeParam>(job, word, seen, seen + 1).value()) != seen;) {
        seen = before;
      }
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<TypeParam>(job, word).value(), each * job.size());
  });
}

TYPED_TEST(Atomic, SwapMakesALock) {
  on_ranks([](Job& job) {
    constexpr std::int64_t each = 50;
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress lock = region.at(TeamRank{0});
    const RemoteAddress counter = region.at(TeamRank{job.size() - 1}, 32);
    for (std::int64_t i = 0; i < each; ++i) {
      ASSERT_TRUE(test::eventually([&] { return swap<TypeParam>(job, lock, 1).value() == 0; }));
      const auto value = get_value<std::int64_t>(job, counter).value();
      ASSERT_TRUE(ok(put_value(job, counter, value + 1)));
      ASSERT_TRUE(ok(job.fence(counter.rank)));
      ASSERT_EQ(swap<TypeParam>(job, lock, 0).value(), 1);
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, counter).value(), each * job.size());
  });
}

TYPED_TEST(Atomic, MixesWithAccumulateInStrictRegions) {
  on_ranks([](Job& job) {
    constexpr TypeParam each = 300;
    Region region = Region::allocate(job.world(), 64, {.atomics = Atomics::strict}).value();
    const RemoteAddress word = region.at(TeamRank{0}, 24);
    const TypeParam two = 2;
    for (TypeParam i = 0; i < each; ++i) {
      ASSERT_TRUE(ok(fetch_add<TypeParam>(job, word, 1)));
      ASSERT_TRUE(ok(accumulate(job, word, &two, sizeof two, Scale::of(two))));
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<TypeParam>(job, word).value(), 5 * each * job.size());
  });
}

TYPED_TEST(Atomic, WordsMustBeAligned) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job), sizeof(TypeParam) / 2);
    EXPECT_TRUE(fails(fetch_add<TypeParam>(job, at, 1), Code::invalid_argument,
                      {"not aligned", "offset " + std::to_string(sizeof(TypeParam) / 2)}));
    EXPECT_TRUE(fails(swap<TypeParam>(job, at, 1), Code::invalid_argument));
    EXPECT_TRUE(fails(compare_swap<TypeParam>(job, at, 0, 1), Code::invalid_argument));
    EXPECT_TRUE(fails(fetch_add<TypeParam>(job, region.at(neighbour(job), 64), 1),
                      Code::out_of_range, {"bytes [64, "}));
    EXPECT_EQ(get_value<TypeParam>(job, region.at(neighbour(job))).value(), 0);
  });
}

// --- atomics by the device, if it has them; the expected results are the same on every transport

const RegionOptions by_device{.atomics = Atomics::device};

TEST(DeviceAtomics, ReturnTheOldValue) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64, by_device).value();
    for (const RemoteAddress at :
         {region.at(neighbour(job), 16), region.at(job.world().rank(), 24)}) {
      EXPECT_EQ(fetch_add<std::int64_t>(job, at, 5).value(), 0);
      EXPECT_EQ(fetch_add<std::int64_t>(job, at, -7).value(), 5);
      EXPECT_EQ(swap<std::int64_t>(job, at, 100).value(), -2);
      EXPECT_EQ(compare_swap<std::int64_t>(job, at, 99, 1).value(), 100);
      EXPECT_EQ(get_value<std::int64_t>(job, at).value(), 100);
      EXPECT_EQ(compare_swap<std::int64_t>(job, at, 100, -1).value(), 100);
      EXPECT_EQ(get_value<std::int64_t>(job, at).value(), -1);
    }
  });
}

TEST(DeviceAtomics, GiveEachTicketOnce) {
  on_ranks([](Job& job) {
    constexpr std::int64_t each = 1000;
    Region region = Region::allocate(job.world(), 64, by_device).value();
    std::vector<std::int64_t> taken(static_cast<std::size_t>(each * job.size()));
    for (std::int64_t i = 0; i < each; ++i) {
      const std::int64_t ticket =
          fetch_add<std::int64_t>(job, region.at(TeamRank{0}, 8), 1).value();
      ASSERT_GE(ticket, 0);
      ASSERT_LT(ticket, each * job.size());
      ++taken[static_cast<std::size_t>(ticket)];
    }
    ASSERT_TRUE(ok(job.world().allreduce(std::span(taken), Reduction::sum)));
    EXPECT_EQ(taken, std::vector<std::int64_t>(taken.size(), 1));
    EXPECT_EQ(get_value<std::int64_t>(job, region.at(TeamRank{0}, 8)).value(), each * job.size());
  });
}

TEST(DeviceAtomics, SwapLosesAndDoublesNothing) {
  on_ranks([](Job& job) {
    constexpr std::int32_t each = 200;
    Region region = Region::allocate(job.world(), 64, by_device).value();
    const RemoteAddress word = region.at(TeamRank{job.size() - 1}, 8);
    std::int64_t balance = 0;  // the sum put in by this rank minus the sum it took out
    for (std::int32_t i = 0; i < each; ++i) {
      const std::int64_t token = job.rank().value * each + i + 1;
      balance += token - swap(job, word, token).value();
    }
    const std::int64_t left = job.world().allreduce(balance, Reduction::sum).value();
    EXPECT_EQ(left, get_value<std::int64_t>(job, word).value());
  });
}

TEST(DeviceAtomics, MixOnOneWord) {
  on_ranks([](Job& job) {
    constexpr std::int64_t each = 100;
    Region region = Region::allocate(job.world(), 64, by_device).value();
    const RemoteAddress word = region.at(TeamRank{0}, 8);
    for (std::int64_t i = 0; i < each; ++i) {
      ASSERT_TRUE(ok(fetch_add(job, word, std::int64_t{2})));
      std::int64_t seen = get_value<std::int64_t>(job, word).value();
      for (std::int64_t before = seen;
           (before = compare_swap(job, word, seen, seen + 1).value()) != seen;) {
        seen = before;
      }
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, word).value(), 3 * each * job.size());
  });
}

TEST(DeviceAtomics, FollowThisRanksOtherOperations) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64, by_device).value();
    const RemoteAddress at = region.at(neighbour(job), 16);
    const std::int64_t two = 2;
    for (std::int64_t i = 0; i < 100; ++i) {
      ASSERT_TRUE(ok(put_value(job, at, 10 * i)));
      ASSERT_EQ(fetch_add(job, at, std::int64_t{1}).value(), 10 * i);
      ASSERT_TRUE(ok(accumulate(job, at, &two, sizeof two, Scale::of(std::int64_t{1}))));
      ASSERT_EQ(fetch_add(job, at, std::int64_t{4}).value(), 10 * i + 3);
      ASSERT_EQ(get_value<std::int64_t>(job, at).value(), 10 * i + 7);
    }
  });
}

TEST(DeviceAtomics, OfFourBytesUseProcessors) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64, by_device).value();
    const RemoteAddress at = region.at(neighbour(job), 16);
    const auto before = fetch_add(job, at, std::int32_t{1});
    if (region.atomics() == Atomics::device) {
      EXPECT_TRUE(fails(before, Code::unsupported, {"support 8-byte words only"}));
      EXPECT_EQ(get_value<std::int64_t>(job, at).value(), 0);
    } else {
      EXPECT_EQ(region.atomics(), Atomics::separate);
      ASSERT_TRUE(ok(before));
      EXPECT_EQ(*before, 0);
    }
    EXPECT_TRUE(
        fails(fetch_add(job, at + 4, std::int64_t{1}), Code::invalid_argument, {"not aligned"}));
  });
}

}  // namespace
}  // namespace tessera::rma
