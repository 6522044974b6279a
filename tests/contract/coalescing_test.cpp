// SPDX-License-Identifier: BSD-3-Clause
//
// Coalesced operations arrive in order, and a thread sends what it holds back before it waits for
// anything that depends on it.
#include "rma/coalescing_scope.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "rma/notify.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::neighbour;
using test::ok;
using test::on_ranks;

WorldRank before(const Job& job) {
  return WorldRank{neighbour(job, job.size() - 1).value};
}

/// A word for each rank's flag and one for each of two threads, then the data.
constexpr std::size_t data_at = 4096;
std::uint64_t flag_of(std::int32_t number) {
  return static_cast<std::uint64_t>(number) * sizeof(std::int32_t);
}
RemoteAddress own_flag(const Job& job, const Region& region, std::int32_t number) {
  return region.at(TeamRank{job.rank().value}, flag_of(number));
}

TEST(CoalescingScope, BringsDataBeforeTheirFlagWhateverTheirLength) {
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    for (const std::size_t bytes : {8U, 1000U, 16'400U, 100'000U, 700'000U, 3'000'000U}) {
      Region region = Region::allocate(job.world(), data_at + 2 * bytes + 8).value();
      for (std::int32_t round = 1; round <= 4; ++round) {
        const std::vector<std::byte> data(bytes, static_cast<std::byte>(round));
        const std::int64_t one = 1;
        Handle sent;
        {
          const CoalescingScope one_message(job);
          const auto to = [&](std::size_t at) { return region.at(neighbour(job), data_at + at); };
          sent.collect(put_async(job, to(0), data.data(), bytes));
          sent.collect(put_async(job, to(bytes), data.data(), bytes));
          sent.collect(
              accumulate_async(job, to(2 * bytes), &one, sizeof one, Scale::of(std::int64_t{1})));
          ASSERT_TRUE(ok(raise_flag(job, region.at(neighbour(job), 0), round)));
        }
        ASSERT_TRUE(ok(wait_for_flag(job, own_flag(job, region, 0), round, before(job))));
        const std::byte* const came = region.local() + data_at;
        EXPECT_EQ(std::memcmp(came, data.data(), bytes), 0) << bytes << ", round " << round;
        EXPECT_EQ(std::memcmp(came + bytes, data.data(), bytes), 0) << bytes;
        std::int64_t sum = 0;
        std::memcpy(&sum, came + 2 * bytes, sizeof sum);
        EXPECT_EQ(sum, round);
        ASSERT_TRUE(ok(sent.wait()));
        ASSERT_TRUE(ok(job.world().barrier()));
      }
    }
  });
}

// Each of these waits depends on held-back data. If the waiting thread did not send it, the wait
// would last until the next liveness check, about 10 ms later. Ranks may be rounds apart, so each
// round has flags and words of its own.
TEST(CoalescingScope, SendsWhatIsKeptWhenItsThreadWaits) {
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    constexpr std::int32_t rounds = 10;
    Region region = Region::allocate(job.world(), data_at + std::size_t{16} * rounds).value();
    const CoalescingScope one_message(job);
    for (std::int32_t round = 0; round < rounds; ++round) {
      const std::int32_t first = 2 * round;
      ASSERT_TRUE(ok(raise_flag(job, region.at(neighbour(job), flag_of(first)), 7)));
      ASSERT_TRUE(ok(wait_for_flag(job, own_flag(job, region, first), 7, before(job))));

      ASSERT_TRUE(ok(raise_flag(job, region.at(neighbour(job), flag_of(first + 1)), 8)));
      const auto changed =
          wait_for_flag_change(job, own_flag(job, region, first + 1), 0, before(job));
      ASSERT_TRUE(ok(changed.status()));
      EXPECT_EQ(*changed, 8);

      const std::size_t own_word = data_at + static_cast<std::size_t>(round) * 16;
      const RemoteAddress word = region.at(neighbour(job), own_word);
      ASSERT_TRUE(ok(put_value(job, word, std::int64_t{round})));
      EXPECT_EQ(get_value<std::int64_t>(job, word).value(), round) << "a get sees puts before it";

      ASSERT_TRUE(ok(put_value(job, word + 8, std::int64_t{-round})));
      ASSERT_TRUE(ok(notify(job, WorldRank{neighbour(job).value})));
      ASSERT_TRUE(ok(wait_for_notifications(job, before(job), static_cast<std::uint64_t>(round) + 1)
                         .status()));
      std::int64_t came = 1;
      std::memcpy(&came, region.local() + own_word + 8, sizeof came);
      EXPECT_EQ(came, -round) << "a notification arrives after the put before it";
      ASSERT_TRUE(ok(job.fence(WorldRank{neighbour(job).value})));
    }
  });
}

TEST(CoalescingScope, BlockingPutsMayReuseTheirSourceInside) {
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    constexpr std::size_t bytes = 50'000;
    Region region = Region::allocate(job.world(), data_at + bytes).value();
    std::vector<std::byte> data(bytes, std::byte{5});
    {
      const CoalescingScope one_message(job);
      ASSERT_TRUE(ok(put(job, region.at(neighbour(job), data_at), data.data(), bytes)));
      data.assign(bytes, std::byte{9});
      ASSERT_TRUE(ok(raise_flag(job, region.at(neighbour(job), 0), 1)));
    }
    ASSERT_TRUE(ok(wait_for_flag(job, own_flag(job, region, 0), 1, before(job))));
    EXPECT_EQ(region.local()[data_at], std::byte{5});
    EXPECT_EQ(region.local()[data_at + bytes - 1], std::byte{5});
    ASSERT_TRUE(ok(job.world().barrier()));
  });
}

TEST(CoalescingScope, GoesToManyAndMayBeNested) {
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    Region region =
        Region::allocate(job.world(), data_at + static_cast<std::size_t>(job.size()) * 8).value();
    const std::int32_t self = job.rank().value;
    const auto offset_of = [](std::int32_t rank) {
      return data_at + static_cast<std::size_t>(rank) * 8;
    };
    {
      const CoalescingScope outer(job);
      for (std::int32_t rank = 0; rank < job.size(); ++rank) {
        const CoalescingScope inner(job);
        ASSERT_TRUE(ok(
            put_value(job, region.at(TeamRank{rank}, offset_of(self)), std::int64_t{100 + self})));
        ASSERT_TRUE(ok(raise_flag(job, region.at(TeamRank{rank}, flag_of(self)), 1)));
      }
    }
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      ASSERT_TRUE(ok(wait_for_flag(job, own_flag(job, region, rank), 1, WorldRank{rank})));
      std::int64_t came = 0;
      std::memcpy(&came, region.local() + offset_of(rank), sizeof came);
      EXPECT_EQ(came, 100 + rank);
    }
    ASSERT_TRUE(ok(job.world().barrier()));
  });
}

// The scope of one thread does not delay the operations of another thread for long, although both
// use the same connection.
TEST(CoalescingScope, AppliesToItsThreadOnly) {
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    constexpr std::size_t bytes = 20'000;
    Region region = Region::allocate(job.world(), data_at + 2 * bytes).value();
    const auto exchange = [&](std::int32_t number) {
      const std::size_t at = data_at + static_cast<std::size_t>(number) * bytes;
      for (std::int32_t round = 1; round <= 30; ++round) {
        const std::vector<std::byte> data(bytes, static_cast<std::byte>(round + 100 * number));
        Handle sent;
        {
          const CoalescingScope one_message(job);
          sent = put_async(job, region.at(neighbour(job), at), data.data(), bytes);
          ASSERT_TRUE(ok(raise_flag(job, region.at(neighbour(job), flag_of(2 * number)), round)));
        }
        ASSERT_TRUE(ok(wait_for_flag(job, own_flag(job, region, 2 * number), round, before(job))));
        ASSERT_EQ(std::memcmp(region.local() + at, data.data(), bytes), 0) << "round " << round;
        ASSERT_TRUE(ok(sent.wait()));
        // Allows the sender to put again.
        const RemoteAddress seen = region.at(TeamRank{before(job).value}, flag_of(2 * number + 1));
        ASSERT_TRUE(ok(raise_flag(job, seen, round)));
        ASSERT_TRUE(ok(wait_for_flag(job, own_flag(job, region, 2 * number + 1), round,
                                     WorldRank{neighbour(job).value})));
      }
    };
    std::thread other([&] { exchange(1); });
    exchange(0);
    other.join();
    ASSERT_TRUE(ok(job.world().barrier()));
  });
}

// A coalescing thread may hold back its own operations; the flag of another thread that holds back
// nothing is sent at once.
TEST(CoalescingScope, OfOneThreadDoesNotKeepWhatOthersSend) {
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    Region region = Region::allocate(job.world(), data_at + 4096).value();
    for (const std::size_t bytes : {1000U, 2048U}) {
      const auto round = static_cast<std::int32_t>(bytes);
      const std::vector<std::byte> data(bytes, std::byte{1});
      std::atomic<bool> is_holding{false};
      std::atomic<bool> may_send{false};
      std::thread computing([&] {
        Handle sent;
        {
          const CoalescingScope one_message(job);
          sent = put_async(job, region.at(neighbour(job), data_at), data.data(), bytes);
          is_holding = true;
          EXPECT_TRUE(test::eventually([&] { return may_send.load(); })) << "a flag was kept";
        }
        EXPECT_TRUE(ok(sent.wait()));
      });
      ASSERT_TRUE(test::eventually([&] { return is_holding.load(); }));
      EXPECT_TRUE(ok(raise_flag(job, region.at(neighbour(job), 0), round)));
      // Polls memory directly: a call of the library would send what is held back.
      auto* const flag = reinterpret_cast<std::int32_t*>(region.local());
      EXPECT_TRUE(test::eventually([&] { return std::atomic_ref(*flag).load() == round; }));
      may_send = true;
      computing.join();
      ASSERT_TRUE(ok(job.world().barrier()));
    }
  });
}

}  // namespace
}  // namespace tessera::rma
