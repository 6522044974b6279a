// SPDX-License-Identifier: BSD-3-Clause
//
// Non-blocking barriers and allreduces: their results, their progress, and members that start them
// in different orders.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "rma/collectives.hpp"
#include "rma/job.hpp"
#include "rma/notify.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::ok;
using test::on_ranks;
using test::on_team;

std::int64_t sum_of_ranks(const Team& team) {
  return std::int64_t{team.size()} * (team.size() - 1) / 2;
}

TEST(BarrierAsync, CompletesAfterAllMembersHaveStartedIt) {
  on_ranks([](Job& job) {
    const WorldRank last{job.size() - 1};
    if (job.rank() == last && job.size() > 1) {
      // Rank 0 notifies this one after it has found its barrier incomplete.
      ASSERT_TRUE(ok(wait_for_notifications(job, WorldRank{0}, 1)));
    }
    Handle barrier = barrier_async(job.world());
    if (job.rank().value == 0 && job.size() > 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_FALSE(barrier.done());
      ASSERT_TRUE(ok(notify(job, last)));
    }
    EXPECT_TRUE(test::eventually([&] { return barrier.done(); }));
    EXPECT_TRUE(ok(barrier.wait()));
    EXPECT_TRUE(barrier.is_empty());
    EXPECT_TRUE(ok(job.barrier()));
  });
}

// Rank 0 starts it and does not call the library until the others have waited for it.
TEST(AllreduceAsync, MakesProgressWhileAMemberDoesSomethingElse) {
  on_ranks([](Job& job) {
    std::vector<std::int64_t> values(1000, job.rank().value);
    Handle sum = allreduce_async(job.world(), std::span(values), Reduction::sum);
    if (job.rank().value == 0) {
      for (std::int32_t rank = 1; rank < job.size(); ++rank) {
        ASSERT_TRUE(ok(wait_for_notifications(job, WorldRank{rank}, 1)));
      }
      EXPECT_TRUE(test::eventually([&] { return sum.has_ended(); }));
    }
    EXPECT_TRUE(ok(sum.wait()));
    EXPECT_EQ(values, std::vector<std::int64_t>(1000, sum_of_ranks(job.world())));
    if (job.rank().value != 0) {
      ASSERT_TRUE(ok(notify(job, WorldRank{0})));
    }
  });
}

TEST(AllreduceAsync, GivesTheSameBitsAsTheBlockingOne) {
  on_team([](Job&, Team& team) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{777}, std::size_t{60'001}}) {
      std::vector<double> blocking(count);
      for (std::size_t i = 0; i < count; ++i) {
        blocking[i] = 1.0 / (3.0 + static_cast<double>(i) + 7.0 * team.rank().value);
      }
      std::vector<double> values = blocking;
      Handle sum = allreduce_async(team, std::span(values), Reduction::sum);
      ASSERT_TRUE(ok(team.allreduce(std::span(blocking), Reduction::sum)));
      ASSERT_TRUE(ok(sum.wait()));
      ASSERT_TRUE(values == blocking) << count;
    }
  });
}

TEST(AllreduceAsync, ManyAreOutstandingBesideBlockingCollectives) {
  on_team([](Job&, Team& team) {
    constexpr std::size_t many = 40;
    std::vector<std::vector<std::int32_t>> values;
    std::vector<Handle> handles;
    values.reserve(many);
    for (std::size_t i = 0; i < many; ++i) {
      values.emplace_back(1 + i * 37 % 50, team.rank().value + static_cast<std::int32_t>(i));
      handles.push_back(allreduce_async(team, std::span(values.back()), Reduction::max));
      if (i % 3 == 0) {
        handles.push_back(barrier_async(team));
      }
      if (i % 5 == 0) {
        ASSERT_EQ(team.allreduce(1, Reduction::sum).value(), team.size());
      }
    }
    // In the reverse order.
    while (!handles.empty()) {
      ASSERT_TRUE(ok(handles.back().wait()));
      handles.pop_back();
    }
    for (std::size_t i = 0; i < many; ++i) {
      ASSERT_EQ(values[i], std::vector<std::int32_t>(
                               values[i].size(), team.size() - 1 + static_cast<std::int32_t>(i)));
    }
  });
}

// Two teams of the same ranks, whose collectives members start in different orders.
TEST(BarrierAsync, OfDifferentTeamsHaveNoOrder) {
  on_ranks([](Job& job) {
    for (int round = 0; round < 3; ++round) {
      Team one = job.world().split(0, 0).value();
      Team other = job.world().split(0, 0).value();
      const bool is_even = job.rank().value % 2 == 0;
      std::vector<std::int64_t> sums(2, job.rank().value);
      const auto start = [&](Team& team, std::size_t at) {
        return allreduce_async(team, std::span(&sums[at], 1), Reduction::sum);
      };
      Handle a = is_even ? start(one, 0) : start(other, 1);
      Handle b = is_even ? start(other, 1) : start(one, 0);
      EXPECT_TRUE(ok(b.wait()));
      EXPECT_TRUE(ok(a.wait()));
      EXPECT_EQ(sums, std::vector<std::int64_t>(2, sum_of_ranks(job.world())));
    }
  });
}

TEST(AsyncCollectives, NameBothCallsIfTheyDiffer) {
  on_ranks([](Job& job) {
    if (job.size() == 1) {
      return;
    }
    Team& team = job.world();
    const bool is_odd = job.rank().value == job.size() - 1;
    double value = 1;
    const auto reduce = [&](Reduction reduction) {
      return allreduce_async(team, std::span(&value, 1), reduction);
    };
    EXPECT_TRUE(fails(
        (is_odd ? barrier_async(team) : reduce(Reduction::sum)).wait(), Code::invalid_argument,
        {"called different collectives", "called barrier_async", "called allreduce_async"}));
    EXPECT_TRUE(fails(reduce(is_odd ? Reduction::max : Reduction::sum).wait(),
                      Code::invalid_argument, {"float64 by max", "float64 by sum"}));
    value = 1;
    EXPECT_TRUE(ok(reduce(Reduction::sum).wait()));
    EXPECT_EQ(value, job.size());
  });
}

TEST(AsyncCollectives, ReportAnotherOrderThanThatOfBlockingOnes) {
  on_ranks([](Job& job) {
    if (job.size() == 1) {
      return;
    }
    Team& team = job.world();
    Handle barrier;
    if (job.rank().value == job.size() - 1) {
      ASSERT_TRUE(ok(team.barrier()));
      barrier = barrier_async(team);
    } else {
      barrier = barrier_async(team);
      ASSERT_TRUE(ok(team.barrier()));
    }
    EXPECT_TRUE(fails(barrier.wait(), Code::invalid_argument,
                      {"called barrier_async (number ", "in the same order"}));
    EXPECT_TRUE(ok(barrier_async(team).wait()));
  });
}

TEST(AsyncCollectives, ReportWrongArgumentsToAll) {
  on_ranks([](Job& job) {
    double value = 1;
    const std::int64_t count = job.rank().value == 0 ? -1 : 1;
    const Status status =
        allreduce_async(job.world(), &value, count, ElementType::f64, Reduction::sum).wait();
    EXPECT_TRUE(fails(status, Code::invalid_argument, {"-1 elements cannot be reduced"}));
    EXPECT_TRUE(ok(barrier_async(job.world()).wait()));
  });
}

TEST(AsyncCollectives, CompleteIfTheirHandlesAreDroppedOrDetached) {
  on_ranks([](Job& job) {
    std::int64_t dropped = job.rank().value;
    std::int64_t detached = job.rank().value;
    { const Handle handle = allreduce_async(job.world(), std::span(&dropped, 1), Reduction::sum); }
    EXPECT_EQ(dropped, sum_of_ranks(job.world()));
    Handle handle = allreduce_async(job.world(), std::span(&detached, 1), Reduction::sum);
    handle.detach();
    EXPECT_TRUE(ok(job.fence_all()));
    EXPECT_EQ(detached, sum_of_ranks(job.world()));
  });
}

TEST(AsyncCollectives, EndWhenTheJobStops) {
  if (!test::ranks_are_threads() || test::network_name() == "fake_verbs" ||
      test::network_name() == "toy" || test::network_name() == "datagrams") {
    GTEST_SKIP() << "stops the jobs that it starts, with the library's own transports";
  }
  const auto body = [](Job& job) -> Status {
    TESSERA_ASSIGN_OR_RETURN(Team team, job.world().split(0, 0));
    Handle outstanding;
    Handle of_team;
    if (job.rank().value == 0 && job.size() > 1) {
      outstanding = barrier_async(job.world());
      of_team = barrier_async(team);
    }
    EXPECT_TRUE(ok(job.stop()));
    if (job.rank().value == 0 && job.size() > 1) {
      EXPECT_TRUE(fails(outstanding.wait(), Code::closed));
      EXPECT_TRUE(fails(of_team.wait(), Code::closed));
    }
    EXPECT_TRUE(fails(barrier_async(team).wait(), Code::closed, {"the job was stopped"}));
    return {};
  };
  EXPECT_TRUE(ok(run_on_threads(test::rank_count(), body)));
}

}  // namespace
}  // namespace tessera::rma
