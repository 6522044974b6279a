// SPDX-License-Identifier: BSD-3-Clause
//
// Notifications, and puts with a flag.
#include "rma/notify.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
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

WorldRank after(const Job& job) {
  return WorldRank{neighbour(job).value};
}
WorldRank rank_before(const Job& job) {
  return WorldRank{neighbour(job, job.size() - 1).value};
}

TEST(Notify, CountsForEachPairOfRanks) {
  // A new job, since the numbers count from the start of the job.
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    for (std::uint64_t i = 1; i <= 5; ++i) {
      EXPECT_EQ(notify(job, after(job)).value(), i);
    }
    EXPECT_EQ(wait_for_notifications(job, rank_before(job), 5).value(), 5U);
    EXPECT_EQ(wait_for_notifications(job, rank_before(job), 2).value(), 5U);
    if (job.size() > 2) {
      EXPECT_EQ(wait_for_notifications(job, after(job), 0).value(), 0U);
    }
  });
}

TEST(Notify, WakesASleepingRank) {
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    // A notification goes round a ring, so that every rank waits long at some time.
    for (std::uint64_t round = 1; round <= 20; ++round) {
      if (job.rank().value != 0) {
        ASSERT_TRUE(ok(wait_for_notifications(job, rank_before(job), round)));
      }
      if (round == 3) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      ASSERT_TRUE(ok(notify(job, after(job))));
      if (job.rank().value == 0) {
        ASSERT_TRUE(ok(wait_for_notifications(job, rank_before(job), round)));
      }
    }
  });
}

TEST(Notify, ComesAfterTheDataThatWerePutBefore) {
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    constexpr std::size_t count = 2000;
    Region region = Region::allocate(job.world(), count * 8).value();
    for (std::uint64_t round = 1; round <= 30; ++round) {
      const std::vector<std::uint64_t> data(count, round);
      ASSERT_TRUE(ok(put(job, region.at(neighbour(job)), data.data(), count * 8)));
      ASSERT_TRUE(ok(notify(job, after(job))));
      ASSERT_TRUE(ok(wait_for_notifications(job, rank_before(job), round)));
      {
        const LocalAccess access = LocalAccess::begin(region).value();
        ASSERT_EQ(std::memcmp(access.data(), data.data(), count * 8), 0) << "round " << round;
      }
      // No rank puts again before all ranks have checked their data.
      ASSERT_TRUE(ok(job.world().barrier()));
    }
  });
}

TEST(Notify, RefusesRanksThatDoNotExist) {
  on_ranks([](Job& job) {
    const std::string last = std::to_string(job.size() - 1);
    EXPECT_TRUE(fails(notify(job, WorldRank{job.size()}), Code::invalid_argument,
                      {"there is no rank " + std::to_string(job.size()), "0 to " + last}));
    EXPECT_TRUE(fails(notify(job, WorldRank{-1}), Code::invalid_argument));
    EXPECT_TRUE(
        fails(wait_for_notifications(job, WorldRank{job.size()}, 1), Code::invalid_argument));
  });
}

TEST(PutWithFlag, ShowsTheDataToARankThatSeesTheFlag) {
  on_ranks([](Job& job) {
    // Rows of words, which are copied atomically: the thread sanitizer does not know the fences
    // that order other copies.
    constexpr std::int64_t words = 1500;
    constexpr std::uint64_t flag_offset = 16 * words;
    const CopyShape shape = CopyShape::rows(8, words, 8, 16);
    Region region = Region::allocate(job.world(), flag_offset + 64).value();
    const TeamRank self = job.world().rank();
    for (std::int32_t round = 1; round <= 30; ++round) {
      const std::vector<std::int64_t> data(words, round);
      ASSERT_TRUE(ok(put_with_flag(job, region.at(neighbour(job)), data.data(), shape,
                                   region.at(neighbour(job), flag_offset), round)));
      ASSERT_TRUE(ok(wait_for_flag(job, region.at(self, flag_offset), round, rank_before(job))));
      std::vector<std::int64_t> seen(words);
      ASSERT_TRUE(ok(get(job, region.at(self), seen.data(), shape)));
      ASSERT_EQ(seen, data) << "round " << round;
      ASSERT_TRUE(ok(job.world().barrier()));
    }
  });
}

TEST(RaiseFlag, FollowsPutsOfEveryKind) {
  on_ranks([](Job& job) {
    constexpr std::size_t words = 5000;
    constexpr std::uint64_t sum_at = 8 * words;
    constexpr std::uint64_t last_at = sum_at + 8;
    constexpr std::uint64_t flag_at = last_at + 8;
    Region region = Region::allocate(job.world(), flag_at + 8).value();
    const TeamRank self = job.world().rank();
    const RemoteAddress there = region.at(neighbour(job));
    const CopyShape shape = CopyShape::rows(8, words, 8, 8);
    for (std::int64_t round = 1; round <= 30; ++round) {
      const std::vector<std::int64_t> data(words, round);
      const std::int64_t one = 1;
      Handle puts = put_async(job, there, data.data(), shape);
      puts.collect(accumulate_async(job, there + sum_at, &one, sizeof one, Scale::of(one)));
      puts.collect(put_async(job, there + last_at, &round, sizeof round));
      ASSERT_TRUE(ok(raise_flag(job, there + flag_at, static_cast<std::int32_t>(round))));
      ASSERT_TRUE(ok(wait_for_flag(job, region.at(self, flag_at), static_cast<std::int32_t>(round),
                                   rank_before(job))));
      std::vector<std::int64_t> seen(words);
      ASSERT_TRUE(ok(get(job, region.at(self), seen.data(), shape)));
      ASSERT_EQ(seen, data) << "round " << round;
      ASSERT_EQ(get_value<std::int64_t>(job, region.at(self, sum_at)).value(), round);
      ASSERT_EQ(get_value<std::int64_t>(job, region.at(self, last_at)).value(), round);
      ASSERT_TRUE(ok(puts.wait()));
      ASSERT_TRUE(ok(job.world().barrier()));
    }
  });
}

TEST(RaiseFlag, IsSeenAsAChangeForAnyValue) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress there = region.at(neighbour(job), 8);
    const RemoteAddress here = region.at(job.world().rank(), 8);
    std::int32_t last = 0;
    for (const std::int32_t value : {7, -3, 1 << 30}) {
      ASSERT_TRUE(ok(raise_flag(job, there, value)));
      EXPECT_EQ(wait_for_flag_change(job, here, last, rank_before(job)).value(), value);
      last = value;
      ASSERT_TRUE(ok(job.world().barrier()));
    }
    EXPECT_TRUE(fails(wait_for_flag_change(job, here + 1, 0, rank_before(job)),
                      Code::invalid_argument, {"aligned"}));
    EXPECT_TRUE(fails(wait_for_flag_change(job, here, 0, WorldRank{job.size()}),
                      Code::invalid_argument, {"there is no rank"}));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(RaiseFlag, ReportsWhatIsWrong) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job));
    EXPECT_TRUE(fails(raise_flag(job, at + 10, 1), Code::invalid_argument,
                      {"flag at offset 10", "aligned"}));
    EXPECT_TRUE(fails(raise_flag(job, at + 64, 1), Code::out_of_range));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(PutWithFlag, WritesRowsThatLieApart) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 256).value();
    const std::vector<std::int32_t> rows{1, 2, 3, 4};
    ASSERT_TRUE(
        ok(put_with_flag(job, region.at(neighbour(job), 16), rows.data(),
                         CopyShape::rows(4, 4, 4, 32), region.at(neighbour(job), 200), 77)));
    ASSERT_TRUE(ok(wait_for_flag(job, region.at(job.world().rank(), 200), 77, rank_before(job))));
    for (std::uint64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(get_value<std::int32_t>(job, region.at(job.world().rank(), 16 + 32 * i)).value(),
                static_cast<std::int32_t>(i + 1));
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(PutWithFlag, ReportsWhatIsWrong) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const std::int64_t value = 1;
    const RemoteAddress at = region.at(neighbour(job));
    const CopyShape whole = CopyShape::contiguous(8);
    EXPECT_TRUE(fails(put_with_flag(job, at, &value, whole, at + 10, 1), Code::invalid_argument,
                      {"flag at offset 10", "aligned"}));
    EXPECT_TRUE(fails(put_with_flag(job, at, &value, whole, at + 64, 1), Code::out_of_range));
    EXPECT_TRUE(fails(put_with_flag(job, at + 60, &value, whole, at + 16, 1), Code::out_of_range));
    // Nothing was sent: neither data nor flags.
    EXPECT_EQ(get_value<std::int64_t>(job, at + 16).value(), 0);
    const RemoteAddress own = region.at(job.world().rank());
    EXPECT_TRUE(fails(wait_for_flag(job, own + 3, 1, rank_before(job)), Code::invalid_argument));
    EXPECT_TRUE(fails(wait_for_flag(job, own + 64, 1, rank_before(job)), Code::out_of_range));
    EXPECT_TRUE(ok(wait_for_flag(job, own + 8, 0, rank_before(job))));
    if (job.size() > 1) {
      EXPECT_TRUE(fails(put_with_flag(job, at, &value, whole, own, 1), Code::invalid_argument,
                        {"their flag is on rank"}));
      EXPECT_TRUE(fails(wait_for_flag(job, at, 0, rank_before(job)), Code::invalid_argument,
                        {"waits for a flag of rank"}));
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
