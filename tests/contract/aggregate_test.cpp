// SPDX-License-Identifier: BSD-3-Clause
//
// Aggregates, compared with a model of the slice: all kinds of operations and shapes, more
// operations than one message holds, several regions, and misuse.
#include "rma/aggregate.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
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

constexpr std::size_t aggregate_words = 4096;

std::vector<std::int64_t> numbers(std::int64_t first, std::size_t count = aggregate_words) {
  std::vector<std::int64_t> result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

std::vector<std::int64_t> read_all(Job& job, const Region& region, TeamRank owner) {
  std::vector<std::int64_t> result(aggregate_words);
  EXPECT_TRUE(ok(get(job, region.at(owner), result.data(), 8 * aggregate_words)));
  return result;
}

TEST(Aggregate, TakesContiguousStridedAndScatteredPuts) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 8 * aggregate_words).value();
    const TeamRank target = neighbour(job);
    const std::vector<std::int64_t> source = numbers(std::int64_t{100'000} * job.rank().value);
    ASSERT_TRUE(ok(put(job, region.at(target), std::vector<std::int64_t>(aggregate_words).data(),
                       8 * aggregate_words)));
    std::vector<std::int64_t> expected(aggregate_words);
    Aggregate puts(job);
    for (std::size_t i = 0; i < 1000; ++i) {
      ASSERT_TRUE(ok(puts.put(region.at(target, 8 * (i * 7 % 1000)), &source[i], 8)));
      expected[i * 7 % 1000] = source[i];
    }
    // Ten rows of two words: ascending addresses in local memory, descending in the remote slice.
    ASSERT_TRUE(ok(puts.put(region.at(target, std::uint64_t{8} * 1090), &source[1000],
                            CopyShape::rows(16, 10, 24, -40))));
    for (std::size_t row = 0; row < 10; ++row) {
      for (std::size_t i = 0; i < 2; ++i) {
        expected[1090 - 5 * row + i] = source[1000 + 3 * row + i];
      }
    }
    auto* const local = const_cast<std::int64_t*>(source.data());
    const std::vector<Fragment> list{{local + 2000, 8, 16}, {local + 7, 800, 0}, {local, 80, 24}};
    ASSERT_TRUE(ok(puts.put(region.at(target, std::uint64_t{8} * 2000), list)));
    std::copy_n(&source[2000], 2, &expected[2001]);
    std::copy_n(&source[0], 3, &expected[2010]);
    ASSERT_TRUE(ok(puts.wait()));
    EXPECT_EQ(puts.pieces(), 0U);
    ASSERT_TRUE(ok(job.fence_all()));
    EXPECT_EQ(read_all(job, region, target), expected);
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(Aggregate, GetsMoreThanItKeeps) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 8 * aggregate_words).value();
    const TeamRank target = neighbour(job);
    std::memcpy(region.local(), numbers(job.rank().value).data(), 8 * aggregate_words);
    ASSERT_TRUE(ok(job.barrier()));
    std::vector<std::int64_t> back(Aggregate::max_pieces + 1000);
    std::vector<std::int64_t> expected;
    Aggregate gets(job);
    for (std::size_t i = 0; i < back.size(); ++i) {
      ASSERT_TRUE(ok(gets.get(region.at(target, 8 * (i * 31 % aggregate_words)), &back[i], 8)));
      expected.push_back(target.value + static_cast<std::int64_t>(i * 31 % aggregate_words));
    }
    EXPECT_EQ(gets.pieces(), 1000U);
    Handle handle = gets.start();
    ASSERT_TRUE(ok(handle.wait()));
    EXPECT_EQ(back, expected);
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(Aggregate, AccumulatesEachOfWhatOverlaps) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 8 * aggregate_words).value();
    std::memset(region.local(), 0, 8 * aggregate_words);
    ASSERT_TRUE(ok(job.barrier()));
    const std::vector<std::int64_t> ones(aggregate_words, 1);
    const Scale three = Scale::of(std::int64_t{3});
    Aggregate sums(job);
    for (std::size_t i = 0; i < 600; ++i) {
      ASSERT_TRUE(ok(sums.accumulate(region.at(TeamRank{0}, 8 * (i % 6)), &ones[i], 8, three)));
    }
    ASSERT_TRUE(ok(sums.wait()));
    ASSERT_TRUE(ok(job.barrier()));
    const auto result = read_all(job, region, TeamRank{0});
    EXPECT_EQ(result[0], 300 * job.size());
    EXPECT_EQ(result[5], 300 * job.size());
    EXPECT_EQ(result[6], 0);
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(Aggregate, MayGoToSeveralRegionsOfARank) {
  on_ranks([](Job& job) {
    std::vector<Region> regions;
    for (int i = 0; i < 3; ++i) {
      regions.push_back(Region::allocate(job.world(), 8 * aggregate_words).value());
    }
    const TeamRank target = neighbour(job);
    const auto source = numbers(std::int64_t{1000} * job.rank().value);
    Aggregate puts(job);
    for (std::size_t i = 0; i < 300; ++i) {
      ASSERT_TRUE(ok(puts.put(regions[i % 3].at(target, 8 * i), &source[i], 8)));
    }
    ASSERT_TRUE(ok(puts.wait()));
    ASSERT_TRUE(ok(job.fence_all()));
    for (std::size_t i = 0; i < 300; ++i) {
      ASSERT_EQ(get_value<std::int64_t>(job, regions[i % 3].at(target, 8 * i)).value(), source[i]);
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(Aggregate, ForgetsARegionThatIsFreedAfterItWasSent) {
  on_ranks([](Job& job) {
    const TeamRank target = neighbour(job);
    Aggregate puts(job);
    for (std::int64_t round = 1; round <= 3; ++round) {
      Region region = Region::allocate(job.world(), 8).value();
      EXPECT_TRUE(ok(puts.put(region.at(target), &round, 8)));
      EXPECT_TRUE(ok(puts.wait()));
      EXPECT_TRUE(ok(region.fence()));
      std::int64_t there = 0;
      EXPECT_TRUE(ok(get(job, region.at(target), &there, 8)));
      EXPECT_EQ(there, round);
      EXPECT_TRUE(ok(region.free()));
    }
  });
}

TEST(Aggregate, IsSentByItsDestructor) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const TeamRank target = neighbour(job);
    const std::int64_t value = 5 + job.rank().value;
    {
      Aggregate puts(job);
      ASSERT_TRUE(ok(puts.put(region.at(target), &value, 8)));
      Aggregate moved = std::move(puts);
      EXPECT_EQ(moved.pieces(), 1U);
    }
    ASSERT_TRUE(ok(job.fence_all()));
    EXPECT_EQ(get_value<std::int64_t>(job, region.at(target)).value(), value);
    {
      Aggregate wrong(job);
      ASSERT_TRUE(ok(wrong.put(region.at(target, 60), &value, 8)));
    }
    EXPECT_TRUE(
        fails(job.fence_all(), Code::out_of_range, {"68) do not lie in", "which has 64 bytes"}));
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(Aggregate, TakesOneKindOneRankAndOneScale) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const TeamRank target = neighbour(job);
    const std::string there = "to rank " + std::to_string(target.value);
    std::int64_t value = 0;
    Aggregate all(job);
    ASSERT_TRUE(ok(all.get(region.at(target), &value, 8)));
    EXPECT_TRUE(fails(all.put(region.at(target), &value, 8), Code::invalid_argument,
                      {"operations 'get' " + there + " cannot take 'put' " + there,
                       "start() this aggregate first"}));
    if (job.size() > 1) {
      const TeamRank own = job.world().rank();
      EXPECT_TRUE(fails(all.get(region.at(own), &value, 8), Code::invalid_argument,
                        {there + " cannot take 'get' to rank " + std::to_string(own.value)}));
    }
    ASSERT_TRUE(ok(all.wait()));
    ASSERT_TRUE(ok(all.accumulate(region.at(target), &value, 8, Scale::of(2.0))));
    EXPECT_TRUE(fails(all.accumulate(region.at(target), &value, 8, Scale::of(3.0)),
                      Code::invalid_argument, {"takes one type and factor only"}));
    EXPECT_TRUE(fails(all.accumulate(region.at(target), &value, 8, Scale::of(2.0F)),
                      Code::invalid_argument, {"takes one type and factor only"}));
    EXPECT_EQ(all.pieces(), 1U);
    ASSERT_TRUE(ok(all.wait()));
    EXPECT_TRUE(fails(all.put(region.at(target, 8), &value, CopyShape::rows(8, 2, 8, -16)),
                      Code::out_of_range, {"a run begins -16 bytes from offset 8"}));
    EXPECT_TRUE(fails(all.put(region.at(target), &value, CopyShape::rows(8, -1, 8, 8)),
                      Code::invalid_argument, {}));
    // The aggregate is empty, so it accepts any kind of operation.
    ASSERT_TRUE(ok(all.get(region.at(target), &value, 8)));
    ASSERT_TRUE(ok(all.wait()));
    EXPECT_TRUE(ok(all.wait()));
    ASSERT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
