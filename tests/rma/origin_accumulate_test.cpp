// SPDX-License-Identifier: BSD-3-Clause
//
// TESSERA_TUNE=accumulate=origin: sums are exact for any combination of ranks, on one node and
// between nodes. Also tests a lock whose holder is gone. The tests of the public interface's
// accumulates run in this mode, too.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/model_memory.hpp"

namespace tessera::rma {
namespace {

using tessera::test::rounds;
using test::fails;
using test::ok;

Settings by_origin(std::int64_t ranks_per_node) {
  Settings settings;
  settings.transport = ranks_per_node == 0 ? "shm" : "shm,tcp";
  settings.ranks_per_node = ranks_per_node;
  settings.accumulate = "origin";
  settings.arena_mib = 256;
  settings.liveness_ms = 20;
  return settings;
}

void on_ranks(std::int32_t ranks, const Settings& settings, const std::function<void(Job&)>& body) {
  EXPECT_TRUE(ok(run_on_threads(ranks,
                                [&](Job& job) {
                                  body(job);
                                  return job.barrier();
                                },
                                {.settings = settings, .transports = {}})));
}

const Scale one = Scale::of(std::int64_t{1});

// Long enough that the origin needs several temporary buffers, in each form of a transfer.
constexpr std::int64_t words = 300'000;

// Adds 2 to the words with even numbers, and 1 to the others.
Status add_in_all_forms(Job& job, const RemoteAddress& at, std::vector<std::int64_t>& ones) {
  TESSERA_RETURN_IF_ERROR(accumulate(job, at, ones.data(), 8 * words, one));
  TESSERA_RETURN_IF_ERROR(
      accumulate(job, at, ones.data(), CopyShape::rows(8, words / 4, 8, 16), one));
  std::vector<Fragment> upper_half;
  for (std::uint64_t i = words / 2; i < words; i += 2) {
    upper_half.push_back({&ones[i], 8 * i, 8});
  }
  return accumulate_async(job, at, upper_half, one).wait();
}

// Ranks 0 and 1 share a node, and so do 2 and 3.
TEST(AccumulateByOrigin, OfRanksOnTheTargetsNodeAndElsewhereLosesNothing) {
  on_ranks(4, by_origin(2), [](Job& job) {
    Region region = Region::allocate(job.world(), 8 * words).value();
    std::vector<std::int64_t> ones(words, 1);
    constexpr int times = rounds(4);
    for (int round = 0; round < times; ++round) {
      for (const std::int32_t target : {0, 3}) {
        ASSERT_TRUE(ok(add_in_all_forms(job, region.at(TeamRank{target}), ones)));
      }
    }
    ASSERT_TRUE(ok(job.barrier()));
    std::vector<std::int64_t> expected(words);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = std::int64_t{4} * times * (i % 2 == 0 ? 2 : 1);
    }
    for (const std::int32_t target : {0, 3}) {
      std::vector<std::int64_t> sums(words);
      ASSERT_TRUE(ok(get(job, region.at(TeamRank{target}), sums.data(), 8 * words)));
      EXPECT_EQ(sums, expected) << "rank " << target;
    }
  });
}

TEST(AccumulateByOrigin, AndAtomicsOnOneWordOfAStrictRegionLoseNothing) {
  on_ranks(4, by_origin(2), [](Job& job) {
    Region region = Region::allocate(job.world(), 64, {.atomics = Atomics::strict}).value();
    const RemoteAddress at = region.at(TeamRank{1}, 16);
    const std::int64_t source = 1;
    constexpr int times = rounds(200);
    for (int round = 0; round < times; ++round) {
      ASSERT_TRUE(ok(accumulate(job, at, &source, 8, one)));
      ASSERT_TRUE(ok(fetch_add<std::int64_t>(job, at, 1000)));
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, at).value(), std::int64_t{4} * times * 1001);
  });
}

// Data that a rank puts between the elements of an accumulate stay: the accumulate never writes
// their old values back.
TEST(AccumulateByOrigin, DoesNotChangeTheBytesBetweenTheElements) {
  on_ranks(3, by_origin(1), [](Job& job) {
    constexpr std::int64_t rows = 64;
    Region region = Region::allocate(job.world(), 16 * rows).value();
    const RemoteAddress at = region.at(TeamRank{0});
    const std::vector<std::int64_t> ones(rows, 1);
    for (std::int64_t round = 1; round <= rounds(300); ++round) {
      if (job.rank().value != 2) {
        ASSERT_TRUE(ok(accumulate(job, at, ones.data(), CopyShape::rows(8, rows, 8, 16), one)));
        continue;
      }
      const std::vector<std::int64_t> values(rows, round);
      std::vector<std::int64_t> seen(rows);
      const CopyShape gaps = CopyShape::rows(8, rows, 8, 16);
      ASSERT_TRUE(ok(put(job, at + 8, values.data(), gaps)));
      ASSERT_TRUE(ok(job.fence_all()));
      ASSERT_TRUE(ok(get(job, at + 8, seen.data(), gaps)));
      ASSERT_EQ(seen, values);
    }
  });
}

// Rows that overlap, that all start at one element, that descend, that interleave, and that are too
// large for one temporary buffer.
TEST(AccumulateByOrigin, AddsAgainWhereverAShapeMeetsAnElementAgain) {
  CopyShape crossing = CopyShape::rows(16, 5, 16, 64);
  crossing.repeat(4, 80, 8);
  CopyShape large = CopyShape::rows(16 << 10, 9, 16 << 10, -(32 << 10));
  large.repeat(9, std::int64_t{9} * (16 << 10), 16 << 10);
  CopyShape interleaved = CopyShape::rows(8, 50, 8, 80);
  interleaved.repeat(10, 400, 8);
  const std::vector<CopyShape> shapes{CopyShape::rows(24, 7, 24, 8),
                                      CopyShape::rows(8, 9, 8, 0),
                                      CopyShape::rows(16, 6, 16, -8),
                                      crossing,
                                      large,
                                      interleaved};
  on_ranks(2, by_origin(1), [&](Job& job) {
    constexpr std::size_t slice = 2 << 20;
    constexpr std::uint64_t middle = slice / 2;
    std::vector<std::int64_t> source(slice / 8);
    for (std::size_t i = 0; i < source.size(); ++i) {
      source[i] = static_cast<std::int64_t>(i % 1000);
    }
    Region region = Region::allocate(job.world(), slice).value();
    const TeamRank other{1 - job.rank().value};
    test::ModelMemory model(1, slice);
    for (const CopyShape& shape : shapes) {
      const Scale twice = Scale::of(std::int64_t{2});
      ASSERT_TRUE(ok(accumulate(job, region.at(other, middle), source.data(), shape, twice)));
      model.accumulate(0, middle, reinterpret_cast<const std::byte*>(source.data()), shape, twice);
      std::vector<std::byte> sums(slice);
      ASSERT_TRUE(ok(get(job, region.at(other), sums.data(), slice)));
      ASSERT_TRUE(sums == model.slice(0)) << test::describe(shape);
    }
  });
}

TEST(AccumulateByOrigin, AddsEachOfManyFragmentsInNoOrder) {
  on_ranks(2, by_origin(1), [](Job& job) {
    constexpr std::size_t count = 4096;
    Region region = Region::allocate(job.world(), 4 * count).value();
    std::mt19937_64 random(17);
    std::vector<std::int32_t> source(3 * count, 1);
    std::vector<std::int32_t> expected(count);
    std::vector<Fragment> list;
    for (std::int32_t& each : source) {
      const auto index = static_cast<std::size_t>(random() % (count - 8));
      ++expected[index];
      list.push_back({&each, 4 * index, 4});
      list.push_back({&each, 0, 0});
    }
    const RemoteAddress at = region.at(TeamRank{1 - job.rank().value});
    ASSERT_TRUE(ok(accumulate(job, at, list, Scale::one(ElementType::i32))));
    std::vector<std::int32_t> sums(count);
    ASSERT_TRUE(ok(get(job, at, sums.data(), 4 * count)));
    EXPECT_EQ(sums, expected);
  });
}

TEST(AccumulateByOrigin, IsExactByManyThreadsOfEachRank) {
  on_ranks(2, by_origin(1), [](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    std::vector<std::thread> threads;
    std::atomic<int> failed{0};
    constexpr int times = rounds(100);
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&] {
        const std::int64_t source = 1;
        for (int round = 0; round < times; ++round) {
          failed += accumulate(job, region.at(TeamRank{0}), &source, 8, one).ok() ? 0 : 1;
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(failed, 0);
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, region.at(TeamRank{0})).value(), 6 * times);
  });
}

TEST(AccumulateByOrigin, IsCountedAsAnAccumulateAndNothingElse) {
  on_ranks(2, by_origin(1), [](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const std::array<std::int64_t, 4> source{1, 2, 3, 4};
    ASSERT_TRUE(ok(accumulate(job, region.at(TeamRank{0}), source.data(), 32, one)));
    const Traffic traffic = job.traffic();
    EXPECT_EQ(traffic.total(Op::accumulate).operations, 1U);
    EXPECT_EQ(traffic.total(Op::accumulate).bytes, 32U);
    for (const Op op : {Op::put, Op::get, Op::atomic, Op::lock}) {
      EXPECT_EQ(traffic.total(op).operations, 0U) << to_string(op);
    }
  });
}

// The last rank leaves the job while it holds the lock at rank 0. The next rank gets an error, and
// has added nothing.
void leave_in_order(std::int32_t ranks, const Settings& settings) {
  EXPECT_TRUE(ok(run_on_threads(
      ranks,
      [&](Job& job) -> Status {
        TESSERA_ASSIGN_OR_RETURN(Region region, Region::allocate(job.world(), 64));
        if (job.rank().value == job.size() - 1) {
          const Status left = job.state().accumulate_tickets()->do_with_ticket(WorldRank{0}, [&] {
            const Status met = job.barrier();
            return met.ok() ? job.stop() : met;
          });
          EXPECT_TRUE(fails(left, Code::closed, {"finishing an accumulate to rank 0"}));
          return {};
        }
        TESSERA_RETURN_IF_ERROR(job.barrier());
        const RemoteAddress at = region.at(TeamRank{0});
        const std::int64_t source = 5;
        const std::string why = "waiting to accumulate to rank 0: rank " +
                                std::to_string(ranks - 1) + " left the job while it held lock 0";
        EXPECT_TRUE(fails(accumulate(job, at, &source, 8, one), Code::peer_lost, {why}));
        EXPECT_EQ(get_value<std::int64_t>(job, at).value(), 0);
        EXPECT_TRUE(ok(accumulate_async(job, at, &source, 8, one).wait()));
        EXPECT_EQ(get_value<std::int64_t>(job, at).value(), 5);
        return {};
      },
      {.settings = settings, .transports = {}})));
}

TEST(AccumulateByOrigin, ReportsADeadHolderAndContinues) {
  leave_in_order(2, by_origin(0));
}

TEST(AccumulateByOrigin, ReportsADeadHolderOnAnotherNodeAndContinues) {
  leave_in_order(2, by_origin(1));
}

TEST(AccumulateByOrigin, IsRefusedIfRanksDoNotAgreeOnIt) {
  constexpr std::int32_t ranks = 3;
  ThreadGroup group(ranks);
  std::vector<Status> results(ranks);
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Settings settings = by_origin(1);
      settings.accumulate = rank == 2 ? "origin" : "agent";
      results[static_cast<std::size_t>(rank)] =
          Job::start(
              {.bootstrap = group.member(WorldRank{rank}), .settings = settings, .transports = {}})
              .status();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Status& each : results) {
    EXPECT_EQ(each.code(), Code::invalid_argument);
    EXPECT_EQ(each.message(),
              "TESSERA_TUNE=accumulate is agent on rank 0 and origin on rank 2\n"
              "  hint: give it the same value on all ranks");
  }
}

}  // namespace
}  // namespace tessera::rma
