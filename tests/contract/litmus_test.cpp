// SPDX-License-Identifier: BSD-3-Clause
//
// The memory model: one test for each of its sentences about completion, order and atomicity;
// docs/memory-model.md names them. FaultyTransport holds operations back if a sentence concerns
// operations under way.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/inner_transport.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::EndpointMemory;
using test::fails;
using test::FaultPlan;
using test::faulty_job;
using test::neighbour;
using test::ok;
using test::on_ranks;

// Runs `body` with memory of each kind: allocated by the transport under test, and reached through
// endpoints that hold every operation back until a thread waits.
void on_both_kinds(const std::function<void(Job&, Region&)>& body) {
  on_ranks([&](Job& job) {
    Region region = Region::allocate(job.world(), 4096).value();
    body(job, region);
  });
  auto plan = std::make_shared<FaultPlan>();
  plan->hold = true;
  on_ranks(faulty_job(plan), [&](Job& job) {
    EndpointMemory memory(job.world(), 4096);
    body(job, memory.region());
  });
}

TEST(LitmusCompletion, TheSourceOfABlockingPutOrAccumulateMayBeReusedAtOnce) {
  on_both_kinds([](Job& job, Region& region) {
    const RemoteAddress at = region.at(neighbour(job));
    for (std::int64_t round = 1; round < 50; ++round) {
      std::int64_t source = round;
      ASSERT_TRUE(ok(put(job, at, &source, 8)));
      source = -1;
      ASSERT_EQ(get_value<std::int64_t>(job, at).value(), round);
      source = 1000;
      ASSERT_TRUE(ok(accumulate(job, at, &source, 8, Scale::of(std::int64_t{1}))));
      source = -1;
      ASSERT_EQ(get_value<std::int64_t>(job, at).value(), round + 1000);
    }
  });
}

TEST(LitmusCompletion, TheDataOfABlockingGetHaveArrivedAtReturn) {
  on_both_kinds([](Job& job, Region& region) {
    const RemoteAddress at = region.at(neighbour(job));
    for (std::int64_t round = 1; round < 50; ++round) {
      ASSERT_TRUE(ok(put_value(job, at, round)));
      std::int64_t here = -1;
      ASSERT_TRUE(ok(get(job, at, &here, 8)));
      ASSERT_EQ(here, round);
    }
  });
}

TEST(LitmusCompletion, WaitCompletesLocally) {
  on_both_kinds([](Job& job, Region& region) {
    const RemoteAddress at = region.at(neighbour(job));
    for (std::int64_t round = 1; round < 50; ++round) {
      std::int64_t source = round;
      Handle started = put_async(job, at, &source, 8);
      ASSERT_TRUE(ok(started.wait()));
      source = -1;
      std::int64_t here = -1;
      Handle read = get_async(job, at, &here, 8);
      ASSERT_TRUE(ok(read.wait()));
      ASSERT_EQ(here, round);
    }
  });
}

TEST(LitmusCompletion, EveryKindOfFenceCompletesAtTheTarget) {
  on_both_kinds([](Job& job, Region& region) {
    const std::vector<std::function<Status(WorldRank)>> fences{
        [&](WorldRank rank) { return job.fence(rank); }, [&](WorldRank) { return job.fence_all(); },
        [&](WorldRank) { return region.fence(); }, [&](WorldRank) { return job.barrier(); }};
    // Each rank writes to its neighbour and meets the others in a team's barrier, which does not
    // touch the target's data. The second rank before the target then reads the value there.
    std::int64_t value = 0;
    for (int round = 0; round < 20; ++round) {
      for (const auto& fence : fences) {
        ++value;
        const RemoteAddress at = region.at(neighbour(job));
        const std::int64_t source = value;
        put_async(job, at, &source, 8).detach();
        ASSERT_TRUE(ok(fence(at.rank)));
        ASSERT_TRUE(ok(job.world().barrier()));
        ASSERT_EQ(get_value<std::int64_t>(job, region.at(neighbour(job, 2))).value(), value);
        ASSERT_TRUE(ok(job.world().barrier()));
      }
    }
  });
}

TEST(LitmusCompletion, ADroppedHandleWaitsAndReportsItsErrorAtTheNextFence) {
  on_both_kinds([](Job& job, Region& region) {
    const RemoteAddress at = region.at(neighbour(job));
    {
      const std::int64_t source = 7;
      const Handle dropped = put_async(job, at, &source, 8);
    }
    EXPECT_EQ(get_value<std::int64_t>(job, at).value(), 7);
    {
      const std::int64_t source = 8;
      const Handle dropped = put_async(job, at + 4092, &source, 8);
    }
    EXPECT_TRUE(fails(job.fence_all(), Code::out_of_range));
    EXPECT_TRUE(ok(job.fence_all()));
  });
}

// Operations of one thread on one word, in every form; each must see the result of the one before.
void walk_through_forms(Job& job, RemoteAddress at, std::int64_t start) {
  std::int64_t expected = start;
  const std::int64_t three = 3;
  ASSERT_TRUE(ok(put_value(job, at, expected)));
  ASSERT_EQ(fetch_add<std::int64_t>(job, at, 2).value(), expected);
  expected += 2;
  ASSERT_TRUE(ok(accumulate(job, at, &three, 8, Scale::of(std::int64_t{2}))));
  expected += 6;
  ASSERT_EQ(get_value<std::int64_t>(job, at).value(), expected);
  ASSERT_EQ(swap<std::int64_t>(job, at, expected + 1).value(), expected);
  ++expected;
  std::array<std::int64_t, 2> rows{expected + 10, 0};
  ASSERT_TRUE(ok(put(job, at, rows.data(), CopyShape::rows(8, 2, 8, 64))));
  expected += 10;
  ASSERT_EQ(compare_swap<std::int64_t>(job, at, expected, expected + 1).value(), expected);
  ++expected;
  std::int64_t here = 0;
  const std::vector<Fragment> list{{&here, 0, 8}};
  ASSERT_TRUE(ok(get(job, at, list)));
  ASSERT_EQ(here, expected);
  here = expected + 5;
  ASSERT_TRUE(ok(put(job, at, list)));
  expected += 5;
  ASSERT_TRUE(ok(accumulate(job, at, list, Scale::of(std::int64_t{1}))));
  expected += here;
  ASSERT_TRUE(ok(put_async(job, at + 8, &here, 8).wait()));
  ASSERT_TRUE(ok(get_async(job, at, &here, 8).wait()));
  ASSERT_EQ(here, expected);
}

TEST(LitmusOrder, AThreadSeesItsOwnOperationsOnATargetInTheOrderOfTheirCompletion) {
  on_both_kinds([](Job& job, Region& region) {
    for (std::int64_t round = 0; round < 50; ++round) {
      walk_through_forms(job, region.at(neighbour(job), 128), 100 * round);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
  });
}

TEST(LitmusOrder, MixedRoutesToOneTargetKeepTheOrder) {
  on_ranks([](Job& job) {
    // Allocated and attached memory of the same rank: one is reached by load and store, the other
    // through endpoints.
    Region first = Region::allocate(job.world(), 4096).value();
    EndpointMemory second(job.world(), 4096);
    for (std::int64_t round = 1; round < 50; ++round) {
      for (const RemoteAddress at : {first.at(neighbour(job)), second.at(neighbour(job))}) {
        ASSERT_TRUE(ok(put_value(job, at, round)));
      }
      ASSERT_EQ(get_value<std::int64_t>(job, second.at(neighbour(job))).value(), round);
      ASSERT_EQ(get_value<std::int64_t>(job, first.at(neighbour(job))).value(), round);
    }
  });
}

// The writer puts data, then a flag. The reader gets the flag until it is new, then the data, which
// must be at least as new. The data are words on several cache lines, transferred as rows or one by
// one.
void pass_messages(Job& job, Region& region, bool fenced) {
  constexpr std::int64_t words = 12;
  constexpr std::int64_t stride = 72;
  const RemoteAddress data = region.at(TeamRank{0}, 64);
  const RemoteAddress flag = region.at(TeamRank{0}, 2048);
  const CopyShape shape = CopyShape::rows(8, words, 8, stride);
  const bool is_writer = job.rank().value == 0;
  const bool is_reader = job.rank().value == job.size() - 1;
  const auto write = [&] {
    for (std::int64_t round = 1; round <= 300; ++round) {
      const std::vector<std::int64_t> values(words, round);
      ASSERT_TRUE(ok(put(job, data, values.data(), shape)));
      if (fenced) {
        ASSERT_TRUE(ok(job.fence(data.rank)));
      }
      ASSERT_TRUE(ok(put_value(job, flag, round)));
    }
  };
  const auto read = [&] {
    for (std::int64_t seen = 0; seen < 300;) {
      ASSERT_TRUE(test::eventually([&] {
        const std::int64_t now = get_value<std::int64_t>(job, flag).value();
        return now > seen && (seen = now, true);
      }));
      std::vector<std::int64_t> values(words);
      ASSERT_TRUE(ok(get(job, data, values.data(), shape)));
      for (const std::int64_t value : values) {
        ASSERT_GE(value, seen);
      }
    }
  };
  std::thread writer([&] { is_writer ? write() : void(); });
  if (is_reader) {
    read();
  }
  writer.join();
  ASSERT_TRUE(ok(job.barrier()));
}

TEST(LitmusOrder, ARankThatSeesAFlagPutAfterAFenceSeesTheData) {
  on_both_kinds([](Job& job, Region& region) { pass_messages(job, region, true); });
}

TEST(LitmusOrder, BlockingPutsToOneTargetTakeEffectInTheirOrder) {
  on_both_kinds([](Job& job, Region& region) { pass_messages(job, region, false); });
}

TEST(LitmusOrder, NonBlockingOperationsAllTakeEffectInSomeOrder) {
  on_both_kinds([](Job& job, Region& region) {
    const RemoteAddress at = region.at(neighbour(job));
    const std::vector<std::int64_t> values{1, 2, 3, 4};
    for (int round = 0; round < 30; ++round) {
      Handle all;
      for (std::size_t i = 0; i < values.size(); ++i) {
        all.collect(put_async(job, at, &values[i], 8));
        all.collect(accumulate_async(job, at + 8, &values[i], 8, Scale::of(std::int64_t{1})));
      }
      ASSERT_TRUE(ok(all.wait()));
      const std::int64_t last = get_value<std::int64_t>(job, at).value();
      ASSERT_TRUE(last >= 1 && last <= 4);
      ASSERT_EQ(get_value<std::int64_t>(job, at + 8).value(), 10 * (round + 1));
    }
  });
}

TEST(LitmusAtomicity, AccumulatesOfAnyFormAreAtomicForEachElement) {
  on_both_kinds([](Job& job, Region& region) {
    constexpr std::size_t count = 64;
    std::vector<std::int32_t> ones(count, 1);
    std::vector<Fragment> list;
    for (std::size_t i = 0; i < count; ++i) {
      list.push_back({&ones[i], 4 * (count - 1 - i), 4});
    }
    const Scale one = Scale::one(ElementType::i32);
    const RemoteAddress at = region.at(TeamRank{0});
    for (int round = 0; round < 40; ++round) {
      ASSERT_TRUE(ok(accumulate(job, at, ones.data(), 4 * count, one)));
      ASSERT_TRUE(ok(accumulate(job, at, ones.data(), CopyShape::rows(4, count / 2, 4, 8), one)));
      ASSERT_TRUE(ok(accumulate(job, at, list, one)));
      ASSERT_TRUE(ok(accumulate_async(job, at + 4, ones.data(), 8, one).wait()));
    }
    ASSERT_TRUE(ok(job.barrier()));
    std::vector<std::int32_t> sums(count);
    ASSERT_TRUE(ok(get(job, at, sums.data(), 4 * count)));
    for (std::size_t i = 0; i < count; ++i) {
      const int times = 2 + (i % 2 == 0 ? 1 : 0) + (i == 1 || i == 2 ? 1 : 0);
      ASSERT_EQ(sums[i], 40 * times * job.size()) << "element " << i;
    }
  });
}

// A maximum with less than the word, or an exclusive or with 0, changes nothing, but would undo a
// sum that came between its load and its store.
template <class T>
void expect_sums_to_survive(Job& job, const RemoteAddress& at) {
  constexpr std::size_t count = 8;
  constexpr int rounds = 60;
  const ElementType type = element_type<T>();
  const std::vector<T> ones(count, T{1});
  const std::vector<T> zeros(count, T{0});
  for (int round = 0; round < rounds; ++round) {
    ASSERT_TRUE(ok(accumulate(job, at, ones.data(), count * sizeof(T), Scale::one(type))));
    ASSERT_TRUE(ok(
        accumulate(job, at, zeros.data(), count * sizeof(T), Scale::by(AccumulateOp::max, type))));
    if constexpr (IntegerElement<T>) {
      ASSERT_TRUE(ok(accumulate(job, at, zeros.data(),
                                CopyShape::rows(sizeof(T), count / 2, sizeof(T), 2 * sizeof(T)),
                                Scale::by(AccumulateOp::bit_xor, type))));
    }
  }
  ASSERT_TRUE(ok(job.barrier()));
  std::vector<T> sums(count);
  ASSERT_TRUE(ok(get(job, at, sums.data(), count * sizeof(T))));
  EXPECT_EQ(sums, std::vector<T>(count, static_cast<T>(rounds * job.size())));
}

TEST(LitmusAtomicity, AccumulatesOfDifferentOperationsAreAtomicTogether) {
  on_both_kinds([](Job& job, Region& region) {
    expect_sums_to_survive<std::int32_t>(job, region.at(TeamRank{0}, 1024));
    expect_sums_to_survive<std::int64_t>(job, region.at(TeamRank{0}, 1280));
    expect_sums_to_survive<float>(job, region.at(TeamRank{0}, 1536));
    expect_sums_to_survive<double>(job, region.at(TeamRank{0}, 1792));
    expect_sums_to_survive<std::int16_t>(job, region.at(TeamRank{0}, 2048));
  });
}

TEST(LitmusAtomicity, ReadModifyWritesAreAtomicFromAllRanks) {
  on_both_kinds([](Job& job, Region& region) {
    // The owner adds too; the two 32-bit halves of a 64-bit word are separate words.
    const RemoteAddress at = region.at(TeamRank{job.size() - 1}, 64);
    for (int round = 0; round < 100; ++round) {
      ASSERT_TRUE(ok(fetch_add<std::int64_t>(job, at, 1)));
      ASSERT_TRUE(ok(fetch_add<std::int32_t>(job, at + 8, 1)));
      ASSERT_TRUE(ok(fetch_add<std::int32_t>(job, at + 12, -1)));
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, at).value(), 100 * job.size());
    EXPECT_EQ(get_value<std::int32_t>(job, at + 8).value(), 100 * job.size());
    EXPECT_EQ(get_value<std::int32_t>(job, at + 12).value(), -100 * job.size());
  });
}

TEST(LitmusAtomicity, StrictRegionsMakeAccumulateAndReadModifyWriteAtomicTogether) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 256, {.atomics = Atomics::strict}).value();
    const RemoteAddress at = region.at(TeamRank{0}, 128);
    const std::vector<std::int64_t> ones(4, 1);
    for (int round = 0; round < 100; ++round) {
      ASSERT_TRUE(ok(accumulate(job, at, ones.data(), 32, Scale::of(std::int64_t{1}))));
      ASSERT_TRUE(ok(fetch_add<std::int64_t>(job, at + 8, 1)));
      ASSERT_TRUE(ok(accumulate_async(job, at + 8, ones.data(), CopyShape::rows(8, 2, 8, 8),
                                      Scale::of(std::int64_t{1}))
                         .wait()));
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, at).value(), 100 * job.size());
    EXPECT_EQ(get_value<std::int64_t>(job, at + 8).value(), 300 * job.size());
  });
}

// Two patterns are put over each other again and again while another rank gets: it must never see
// parts of both.
template <class Word>
void tear(Job& job, Region& region, int form) {
  constexpr auto zeros = Word{0};
  constexpr auto ones = static_cast<Word>(~Word{0});
  const RemoteAddress at = region.at(TeamRank{0}, 512 + sizeof(Word));
  const RemoteAddress end = region.at(TeamRank{0}, 1024);
  const CopyShape rows = CopyShape::rows(sizeof(Word), 2, sizeof(Word), 2 * sizeof(Word));
  const auto put_once = [&](Word value) {
    const std::array<Word, 2> values{value, value};
    const std::vector<Fragment> list{{const_cast<Word*>(values.data()), 0, sizeof(Word)}};
    return form == 0   ? put(job, at, values.data(), sizeof(Word))
           : form == 1 ? put(job, at, values.data(), rows)
           : form == 2 ? put(job, at, list)
                       : put_async(job, at, values.data(), sizeof(Word)).wait();
  };
  const auto get_once = [&] {
    std::array<Word, 2> values{};
    const std::vector<Fragment> list{{values.data(), 0, sizeof(Word)}};
    require(form == 0   ? get(job, at, values.data(), sizeof(Word))
            : form == 1 ? get(job, at, values.data(), rows)
            : form == 2 ? get(job, at, list)
                        : get_async(job, at, values.data(), sizeof(Word)).wait());
    return values[0];
  };
  ASSERT_TRUE(ok(put_value(job, end, std::int32_t{0})));
  ASSERT_TRUE(ok(job.barrier()));
  std::thread writer([&] {
    if (job.rank().value == job.size() - 1) {
      for (int i = 0; i < 1000; ++i) {
        EXPECT_TRUE(ok(put_once(i % 2 == 0 ? ones : zeros)));
      }
      EXPECT_TRUE(ok(put_value(job, end, std::int32_t{1})));
    }
  });
  if (job.rank().value == 0) {
    while (get_value<std::int32_t>(job, end).value() == 0) {
      const Word seen = get_once();
      EXPECT_TRUE(seen == zeros || seen == ones) << "form " << form << " saw " << +seen;
    }
  }
  writer.join();
  ASSERT_TRUE(ok(job.barrier()));
}

TEST(LitmusAtomicity, AlignedPutsAndGetsOfUpToEightBytesNeverTear) {
  on_both_kinds([](Job& job, Region& region) {
    for (int form = 0; form < 4; ++form) {
      tear<std::uint16_t>(job, region, form);
      tear<std::uint32_t>(job, region, form);
      tear<std::uint64_t>(job, region, form);
    }
  });
}

}  // namespace
}  // namespace tessera::rma
