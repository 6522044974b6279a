// SPDX-License-Identifier: BSD-3-Clause
//
// Input that makes no sense is refused with an error that names it, and changes nothing.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/lock.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/datagram_provider.hpp"
#include "tests/support/fake_verbs_transport.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/toy_transport.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::neighbour;
using test::ok;
using test::on_ranks;

constexpr std::size_t small_slice_bytes = 1000;

TEST(BadInput, OutsideTheSliceIsRefusedWithItsNumbers) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), small_slice_bytes).value();
    const TeamRank target = neighbour(job);
    const std::string rank = std::to_string(target.value);
    std::vector<std::byte> buffer(2000);
    EXPECT_TRUE(fails(put(job, region.at(target, 996), buffer.data(), 8), Code::out_of_range,
                      {"bytes [996, 1004)", "rank " + rank + "'s slice",
                       "region " + std::to_string(region.id().value), "has 1000 bytes"}));
    EXPECT_EQ(put(job, region.at(target, 996), buffer.data(), 8).rank(), WorldRank{target.value});
    EXPECT_TRUE(fails(get(job, region.at(target, 0), buffer.data(), 1001), Code::out_of_range,
                      {"bytes [0, 1001)"}));
    EXPECT_TRUE(fails(get(job, region.at(target, 1001), buffer.data(), 0), Code::out_of_range));
    EXPECT_TRUE(
        fails(put(job, region.at(target, 100), buffer.data(), CopyShape::rows(8, 3, 8, -56)),
              Code::out_of_range, {"bytes [-12, 108)"}));
    EXPECT_TRUE(fails(accumulate(job, region.at(target, 900), buffer.data(),
                                 CopyShape::rows(8, 3, 8, 48), Scale::of(1.0)),
                      Code::out_of_range, {"bytes [900, 1004)"}));
    const std::vector<Fragment> list{{buffer.data(), 0, 8}, {buffer.data() + 8, 999, 2}};
    EXPECT_TRUE(fails(put(job, region.at(target), list), Code::out_of_range));
    EXPECT_EQ(get_value<std::int64_t>(job, region.at(target)).value(), 0);
  });
}

TEST(BadInput, HugeOffsetsAndSizesDoNotWrapAround) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), small_slice_bytes).value();
    const TeamRank target = neighbour(job);
    std::int64_t value = 0;
    for (const std::uint64_t offset :
         {std::uint64_t{1} << 31, std::uint64_t{1} << 32, std::uint64_t{1} << 62,
          std::uint64_t{1} << 63, ~std::uint64_t{0} - 7, ~std::uint64_t{0}}) {
      EXPECT_TRUE(fails(put(job, region.at(target, offset), &value, 8), Code::out_of_range));
      EXPECT_TRUE(fails(get(job, region.at(target, offset), &value, CopyShape::rows(8, 2, 8, -16)),
                        Code::out_of_range));
      EXPECT_TRUE(fails(fetch_add<std::int64_t>(job, region.at(target, offset & ~7ULL), 1),
                        Code::out_of_range));
      const std::vector<Fragment> list{{&value, offset, 8}};
      EXPECT_FALSE(put(job, region.at(target, 8), list).ok());
      EXPECT_FALSE(
          put(job, region.at(target, offset), std::vector<Fragment>{{&value, 16, 8}}).ok());
    }
    for (const std::size_t bytes : {std::size_t{1} << 32, std::size_t{1} << 63, ~std::size_t{0}}) {
      EXPECT_FALSE(put(job, region.at(target, 8), &value, bytes).ok());
      EXPECT_FALSE(get(job, region.at(target, 8), &value, bytes).ok());
      EXPECT_FALSE(put(job, region.at(target, 8), std::vector<Fragment>{{&value, 8, bytes}}).ok());
    }
    EXPECT_EQ(get_value<std::int64_t>(job, region.at(target, 8)).value(), 0);
  });
}

TEST(BadInput, RanksThatDoNotExistAreRefused) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), small_slice_bytes).value();
    double value = 1;
    for (const std::int32_t rank : {-1, job.size(), INT32_MAX, INT32_MIN}) {
      RemoteAddress at = region.at(TeamRank{0});
      at.rank.value = rank;
      EXPECT_TRUE(fails(put_value(job, at, value), Code::invalid_argument,
                        {"rank " + std::to_string(rank) + " has no slice of region"}));
      EXPECT_TRUE(fails(get(job, at, &value, 8), Code::invalid_argument));
      EXPECT_TRUE(fails(get_async(job, at, &value, 8).wait(), Code::invalid_argument));
      EXPECT_TRUE(fails(accumulate(job, at, &value, 8, Scale::of(1.0)), Code::invalid_argument));
      EXPECT_TRUE(fails(swap<std::int32_t>(job, at, 1), Code::invalid_argument));
      EXPECT_TRUE(fails(job.fence(at.rank), Code::invalid_argument,
                        {"there is no rank " + std::to_string(rank)}));
      EXPECT_TRUE(fails(job.transport_to(at.rank), Code::invalid_argument));
    }
  });
}

TEST(BadInput, NullBuffersAreRefused) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), small_slice_bytes).value();
    const RemoteAddress at = region.at(neighbour(job));
    EXPECT_TRUE(fails(put(job, at, nullptr, 8), Code::invalid_argument,
                      {"put of 8 bytes with a null local buffer"}));
    EXPECT_TRUE(fails(get(job, at, nullptr, CopyShape::rows(8, 3, 8, 8)), Code::invalid_argument,
                      {"get of 24 bytes with a null"}));
    EXPECT_TRUE(fails(accumulate(job, at, nullptr, 8, Scale::of(1.0)), Code::invalid_argument,
                      {"accumulate of 8 bytes"}));
    EXPECT_TRUE(fails(put(job, at, std::vector<Fragment>{{nullptr, 0, 4}}), Code::invalid_argument,
                      {"put of 4 bytes with a null"}));
  });
}

TEST(BadInput, ShapesThatMakeNoSenseAreRefused) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), small_slice_bytes).value();
    const RemoteAddress at = region.at(neighbour(job));
    double value = 0;
    CopyShape nine = CopyShape::contiguous(8);
    for (int level = 0; level < 9; ++level) {
      nine.repeat(1, 8, 8);
    }
    EXPECT_TRUE(fails(put(job, at, &value, nine), Code::invalid_argument, {"9", "8"}));
    EXPECT_TRUE(
        fails(put(job, at, &value, CopyShape::rows(8, -1, 8, 8)), Code::invalid_argument, {"-1"}));
    CopyShape negative = CopyShape::contiguous(8);
    negative.levels = -1;
    EXPECT_TRUE(fails(get(job, at, &value, negative), Code::invalid_argument));
    constexpr std::int64_t huge = INT64_MAX;
    for (const CopyShape& shape :
         {CopyShape::rows(8, huge, 8, 8), CopyShape::rows(8, 3, 8, huge),
          CopyShape::rows(8, 3, huge, 8), CopyShape::rows(8, 3, 8, INT64_MIN),
          CopyShape::rows(SIZE_MAX, 1, 8, 8), CopyShape::contiguous(SIZE_MAX)}) {
      EXPECT_FALSE(put(job, at, &value, shape).ok());
      EXPECT_FALSE(get(job, at, &value, shape).ok());
      EXPECT_FALSE(accumulate_async(job, at, &value, shape, Scale::of(1.0)).wait().ok());
    }
    EXPECT_EQ(get_value<double>(job, at).value(), 0);
  });
}

TEST(BadInput, PartsOfElementsAreRefused) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), small_slice_bytes).value();
    const RemoteAddress at = region.at(neighbour(job));
    std::vector<double> values(4, 1.0);
    EXPECT_TRUE(fails(accumulate(job, at, values.data(), 12, Scale::of(1.0)),
                      Code::invalid_argument,
                      {"runs of 12 bytes, which are not whole", "elements of 8 bytes"}));
    EXPECT_TRUE(
        fails(accumulate(job, at, values.data(), CopyShape::rows(4, 2, 8, 8), Scale::of(1.0)),
              Code::invalid_argument));
    const std::vector<Fragment> list{{values.data(), 0, 8}, {values.data(), 8, 6}};
    EXPECT_TRUE(fails(accumulate(job, at, list, Scale::of(1.0)), Code::invalid_argument));
    EXPECT_EQ(get_value<double>(job, at).value(), 0);
    // Dense rows of half an element each together form whole elements.
    EXPECT_TRUE(
        ok(accumulate(job, at, values.data(), CopyShape::rows(4, 4, 4, 4), Scale::of(1.0))));
  });
}

TEST(BadInput, MoreMemoryThanExistsIsRefusedOnAllRanksWithNumbers) {
  on_ranks([](Job& job) {
    constexpr std::size_t far_too_much = 1ULL << 46;
    const bool greedy = job.rank().value == job.size() - 1;
    const Status status = Region::allocate(job.world(), greedy ? far_too_much : 64).status();
    EXPECT_TRUE(status.code() == Code::no_memory || status.code() == Code::limit_exceeded)
        << status.describe();
    if (test::transport_name() == "shm") {
      EXPECT_NE(status.message().find("64.0 TiB"), std::string::npos) << status.describe();
    }
    EXPECT_FALSE(job.allocate_local(far_too_much).ok());
    // More than is free, but less than the address space: refused before any memory is allocated.
    if (test::transport_name() == "shm") {
      const Status tight = Region::allocate(job.world(), 40ULL << 30).status();
      EXPECT_TRUE(tight.code() == Code::no_memory || tight.code() == Code::limit_exceeded)
          << tight.describe();
    }
    EXPECT_TRUE(ok(Region::allocate(job.world(), 64)));
  });
}

TEST(BadInput, UnknownTransportsAreRefusedWithTheKnownOnes) {
  if (!test::ranks_are_threads()) {
    GTEST_SKIP() << "calls Job::start for all ranks itself, which needs ranks that are threads";
  }
  Settings settings;
  settings.transport = "pigeon";
  const auto body = [](Job&) { return Status(); };
  EXPECT_TRUE(fails(run_on_threads(test::rank_count(), body, {.settings = settings}),
                    Code::invalid_argument, {"'pigeon'", "shm", "loopback"}));
  settings.transport = "";
  EXPECT_TRUE(fails(run_on_threads(test::rank_count(), body, {.settings = settings}),
                    Code::invalid_argument));
}

TEST(BadInput, AStoppedJobIsClosed) {
  if (!test::ranks_are_threads()) {
    GTEST_SKIP() << "stops the jobs that it starts; the job of this program must not stop";
  }
  on_ranks([](Job& job) {
    auto own = Job::start({.bootstrap = alone_bootstrap(), .settings = Settings{}}).value();
    Region region = Region::allocate(own.world(), 64).value();
    Team team = own.world().split(0, 0).value();
    LockSet locks = LockSet::create(own.world(), 1).value();
    const RemoteAddress at = region.at(TeamRank{0});
    ASSERT_TRUE(ok(own.stop()));
    EXPECT_TRUE(ok(own.stop()));
    EXPECT_TRUE(fails(put_value(own, at, 1.0), Code::closed, {"the job was stopped"}));
    EXPECT_TRUE(fails(fetch_add<std::int64_t>(own, at, 1), Code::closed));
    EXPECT_TRUE(fails(own.fence_all(), Code::closed));
    EXPECT_TRUE(fails(own.barrier(), Code::closed));
    EXPECT_TRUE(fails(team.barrier(), Code::closed));
    EXPECT_TRUE(fails(own.world().barrier(), Code::closed));
    EXPECT_TRUE(fails(locks.lock(TeamRank{0}, 0), Code::closed));
    EXPECT_TRUE(fails(Team::create(own, std::vector<WorldRank>{WorldRank{0}}), Code::closed));
    EXPECT_TRUE(fails(own.transport_to(WorldRank{0}), Code::closed));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(BadInput, CollectivesWithARankThatHasLeftAreClosed) {
  if (!test::ranks_are_threads()) {
    GTEST_SKIP() << "stops the jobs that it starts; the job of this program must not stop";
  }
  const Status status =
      run_on_threads(test::rank_count(),
                     [](Job& job) -> Status {
                       if (job.rank().value == job.size() - 1) {
                         return {};
                       }
                       const Status barrier = job.barrier();
                       EXPECT_TRUE(fails(barrier, Code::closed, {"has left the job"}));
                       EXPECT_EQ(barrier.rank(), WorldRank{job.size() - 1});
                       EXPECT_FALSE(job.is_present(WorldRank{job.size() - 1}));
                       EXPECT_TRUE(fails(job.world().allreduce(1, Reduction::sum), Code::closed));
                       return {};
                     },
                     {.transports = {test::toy_transport(), test::fake_verbs_transport(),
                                     test::datagram_transport()}});
  EXPECT_TRUE(ok(status));
}

}  // namespace
}  // namespace tessera::rma
