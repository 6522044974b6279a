// SPDX-License-Identifier: BSD-3-Clause
//
// Atomics with handles, and lists of atomics on the words of several ranks.
#include "rma/atomic_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
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
class AtomicLists : public testing::Test {};
using ListedWords = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(AtomicLists, ListedWords);

TYPED_TEST(AtomicLists, ReturnTheOldValueOfEachOperation) {
  using T = TypeParam;
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job), 16);
    struct Step {
      AtomicOp op;
      T operand;
      T after;
    };
    constexpr T least = std::numeric_limits<T>::min();
    const std::vector<Step> steps{
        {AtomicOp::add, 7, 7},          {AtomicOp::min, 9, 7},
        {AtomicOp::min, -3, -3},        {AtomicOp::max, -4, -3},
        {AtomicOp::max, 12, 12},        {AtomicOp::bit_or, 3, 15},
        {AtomicOp::bit_and, 10, 10},    {AtomicOp::bit_xor, -1, -11},
        {AtomicOp::swap, least, least}, {AtomicOp::add, -1, std::numeric_limits<T>::max()}};
    T before = 0;
    for (const Step& step : steps) {
      T previous = 77;
      Handle handle = fetch_and_op_async(job, at, step.op, step.operand, &previous);
      ASSERT_TRUE(ok(handle.wait()));
      ASSERT_EQ(previous, before) << "operation " << static_cast<int>(step.op);
      ASSERT_EQ(get_value<T>(job, at).value(), step.after);
      before = step.after;
    }
    EXPECT_EQ(fetch_and_op<T>(job, at, AtomicOp::swap, 5).value(), before);
    T previous = 0;
    ASSERT_TRUE(ok(compare_swap_async<T>(job, at, 4, 1, &previous).wait()));
    EXPECT_EQ(previous, 5);
    ASSERT_TRUE(ok(compare_swap_async<T>(job, at, 5, -1, &previous).wait()));
    EXPECT_EQ(previous, 5);
    ASSERT_TRUE(ok(swap_async<T>(job, at, 6, &previous).wait()));
    EXPECT_EQ(previous, -1);
    EXPECT_EQ(get_value<T>(job, at).value(), 6);
    EXPECT_EQ(get_value<T>(job, at + sizeof(T)).value(), 0);
  });
}

TYPED_TEST(AtomicLists, OfManyHandlesGiveEachTicketOnce) {
  using T = TypeParam;
  on_ranks([](Job& job) {
    constexpr std::size_t each = 200;
    Region region = Region::allocate(job.world(), 64).value();
    std::vector<T> mine(each);
    Handle all;
    for (T& ticket : mine) {
      all.collect(fetch_add_async<T>(job, region.at(TeamRank{0}, 8), 1, &ticket));
    }
    ASSERT_TRUE(ok(all.wait()));
    std::vector<std::int32_t> taken(each * static_cast<std::size_t>(job.size()));
    for (const T ticket : mine) {
      ASSERT_GE(ticket, 0);
      ASSERT_LT(static_cast<std::size_t>(ticket), taken.size());
      ++taken[static_cast<std::size_t>(ticket)];
    }
    ASSERT_TRUE(ok(job.world().allreduce(std::span(taken), Reduction::sum)));
    EXPECT_EQ(taken, std::vector<std::int32_t>(taken.size(), 1));
  });
}

// Words of all ranks, in an order that mixes the ranks, in lists that are longer than one message.
TYPED_TEST(AtomicLists, ChangeWordsOfAllRanks) {
  using T = TypeParam;
  on_ranks([](Job& job) {
    constexpr std::int64_t words = 6000;  // of each rank
    const std::int64_t total = words * job.size();
    Region region = Region::allocate(job.world(), words * sizeof(T)).value();
    std::vector<RemoteAddress> at;
    std::vector<T> operands;
    for (std::int64_t i = 0; i < total; ++i) {
      const std::int64_t word = (i * 7919) % total;  // each once: 7919 is a prime
      at.push_back(region.at(TeamRank{static_cast<std::int32_t>(word % job.size())},
                             static_cast<std::uint64_t>(word / job.size()) * sizeof(T)));
      operands.push_back(static_cast<T>(word + 1));
    }
    if (job.rank().value == 0) {
      std::vector<T> previous(at.size(), T{-1});
      ASSERT_TRUE(ok(atomics<T>(job, {AtomicOp::swap, at, operands, previous})));
      EXPECT_EQ(previous, std::vector<T>(at.size(), T{0}));
    }
    ASSERT_TRUE(ok(job.barrier()));
    std::vector<T> previous(at.size());
    Handle handle =
        atomics_async<T>(job, {AtomicOp::max, at, std::vector<T>(at.size(), T{0}), previous});
    ASSERT_TRUE(ok(handle.wait()));
    EXPECT_EQ(previous, operands);
    ASSERT_TRUE(ok(job.barrier()));
    const std::vector<T> ones(at.size(), T{1});
    ASSERT_TRUE(ok(atomics<T>(job, {AtomicOp::add, at, ones, previous})));
    ASSERT_TRUE(ok(job.barrier()));
    ASSERT_TRUE(
        ok(atomics<T>(job, {AtomicOp::bit_or, at, std::vector<T>(at.size(), T{0}), previous})));
    for (std::size_t i = 0; i < previous.size(); ++i) {
      ASSERT_EQ(previous[i], operands[i] + job.size()) << "word " << i;
    }
  });
}

// As a search over a graph does: all ranks claim the same words, and one gets each.
TYPED_TEST(AtomicLists, OfCompareSwapsGiveEachWordToOneRank) {
  using T = TypeParam;
  on_ranks([](Job& job) {
    constexpr std::size_t words = 500;
    Region region = Region::allocate(job.world(), words * sizeof(T)).value();
    std::vector<RemoteAddress> at;
    for (std::size_t i = 0; i < words; ++i) {
      at.push_back(region.at(TeamRank{static_cast<std::int32_t>(i) % job.size()}, i * sizeof(T)));
    }
    const std::vector<T> nobody(words, T{0});
    const std::vector<T> me(words, static_cast<T>(job.rank().value + 1));
    std::vector<T> previous(words, T{-1});
    ASSERT_TRUE(ok(atomics<T>(job, {.op = AtomicOp::compare_swap,
                                    .at = at,
                                    .operands = me,
                                    .previous = previous,
                                    .expected = nobody})));
    std::vector<std::int32_t> winners(words);
    for (std::size_t i = 0; i < words; ++i) {
      winners[i] = previous[i] == 0 ? 1 : 0;
      const T owner = get_value<T>(job, at[i]).value();
      ASSERT_EQ(owner, previous[i] == 0 ? me[i] : previous[i]);
    }
    ASSERT_TRUE(ok(job.world().allreduce(std::span(winners), Reduction::sum)));
    EXPECT_EQ(winners, std::vector<std::int32_t>(words, 1));
  });
}

TYPED_TEST(AtomicLists, AreAtomicWithAccumulatesInStrictRegions) {
  using T = TypeParam;
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 256, {.atomics = Atomics::strict}).value();
    const RemoteAddress at = region.at(TeamRank{0}, 64);
    const std::vector<RemoteAddress> words{at, at + sizeof(T)};
    const std::vector<T> ones(2, T{1});
    std::vector<T> previous(2);
    for (int round = 0; round < 60; ++round) {
      ASSERT_TRUE(ok(atomics<T>(job, {AtomicOp::add, words, ones, previous})));
      ASSERT_TRUE(ok(accumulate(job, at, ones.data(), 2 * sizeof(T), Scale::of(T{1}))));
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<T>(job, at).value(), 120 * job.size());
    EXPECT_EQ(get_value<T>(job, at + sizeof(T)).value(), 120 * job.size());
  });
}

TEST(AtomicListErrors, NameWhatIsWrongAndChangeNothing) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const TeamRank target = neighbour(job);
    const std::vector<std::int64_t> ones(3, 1);
    std::vector<std::int64_t> previous(3);
    const auto run = [&](std::vector<RemoteAddress> at, AtomicOp op = AtomicOp::add) {
      return atomics<std::int64_t>(job, {op, at, ones, previous});
    };
    const RemoteAddress good = region.at(target, 8);
    EXPECT_TRUE(fails(run({good, good + 4, good}), Code::invalid_argument,
                      {"atomic operation on 8 bytes at offset 12, which is not aligned"}));
    EXPECT_TRUE(fails(run({good, region.at(target, 64), good}), Code::out_of_range,
                      {"bytes [64, 72) do not lie in"}));
    EXPECT_TRUE(fails(run({good, region.at(target, ~std::uint64_t{7}), good}), Code::out_of_range));
    EXPECT_TRUE(fails(run({good, good}), Code::invalid_argument, {"3 operands for 2 atomics"}));
    EXPECT_TRUE(fails(run({good, good, good}, AtomicOp::compare_swap), Code::invalid_argument,
                      {"0 expected values for 3 atomics"}));
    EXPECT_TRUE(fails(run({good, good, good}, static_cast<AtomicOp>(9)), Code::invalid_argument,
                      {"atomic operation 9, which does not exist"}));
    EXPECT_TRUE(fails(fetch_add_async<std::int64_t>(job, good, 1, nullptr).wait(),
                      Code::invalid_argument, {"0 places for previous values for 1 atomics"}));
    EXPECT_TRUE(fails(fetch_and_op<std::int64_t>(job, RemoteAddress{WorldRank{99}, good.region, 8},
                                                 AtomicOp::add, 1),
                      Code::invalid_argument, {"rank 99"}));
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, good).value(), 0);
    EXPECT_TRUE(ok(atomics<std::int64_t>(job, {})));
    ASSERT_TRUE(ok(job.barrier()));
    ASSERT_TRUE(ok(region.free()));
    EXPECT_TRUE(fails(run({good, good, good}), Code::closed));
  });
}

}  // namespace
}  // namespace tessera::rma
