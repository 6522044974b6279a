// SPDX-License-Identifier: BSD-3-Clause
//
// Handles: collecting, polling, waiting, dropping and detaching them, and the limit on outstanding
// operations. FaultyTransport holds operations back, so that they are really under way on each
// transport.
#include "rma/handle.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <thread>
#include <vector>

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

std::shared_ptr<FaultPlan> holding() {
  auto plan = std::make_shared<FaultPlan>();
  plan->hold = true;
  return plan;
}

TEST(Handle, IsBornComplete) {
  on_ranks([](Job&) {
    Handle handle;
    EXPECT_TRUE(handle.done());
    EXPECT_TRUE(ok(handle.wait()));
    handle.detach();
    Handle other;
    other.collect(std::move(handle));
    EXPECT_TRUE(ok(other.wait()));
  });
}

TEST(Handle, CollectsManyAndWaitsForAll) {
  on_ranks(faulty_job(holding()), [](Job& job) {
    EndpointMemory memory(job.world(), 8000);
    std::vector<std::int64_t> sent(1000);
    std::iota(sent.begin(), sent.end(), job.rank().value);
    Handle all;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      all.collect(put_async(job, memory.at(neighbour(job), 8 * i), &sent[i], 8));
    }
    EXPECT_TRUE(ok(all.wait()));
    EXPECT_TRUE(all.done());
    EXPECT_TRUE(ok(all.wait()));
    std::vector<std::int64_t> received(1000);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      all.collect(get_async(job, memory.at(neighbour(job), 8 * i), &received[i], 8));
    }
    EXPECT_TRUE(ok(all.wait()));
    EXPECT_EQ(received, sent);
  });
}

TEST(Handle, DoneChecksAndAdvancesOperations) {
  on_ranks(faulty_job(holding()), [](Job& job) {
    EndpointMemory memory(job.world(), 64);
    const std::int64_t value = 3;
    Handle handle = put_async(job, memory.at(neighbour(job)), &value, 8);
    EXPECT_TRUE(test::eventually([&] { return handle.done(); }));
    EXPECT_TRUE(ok(handle.wait()));
  });
}

TEST(Handle, HasEndedChecksAndAdvancesNothing) {
  on_ranks(faulty_job(holding()), [](Job& job) {
    EndpointMemory memory(job.world(), 64);
    const std::int64_t value = 3;
    Handle handle = put_async(job, memory.at(neighbour(job)), &value, 8);
    EXPECT_FALSE(handle.has_ended());
    EXPECT_FALSE(handle.has_ended());
    EXPECT_TRUE(test::eventually([&] { return handle.done(); }));
    EXPECT_TRUE(handle.has_ended());
    EXPECT_TRUE(ok(handle.wait()));
    EXPECT_TRUE(Handle().has_ended());
    Handle failed = Handle::failed(job, Status::error(Code::internal, "on purpose"));
    EXPECT_TRUE(failed.has_ended());
    EXPECT_FALSE(failed.wait().ok());
  });
}

TEST(Handle, IsNotDoneBeforeAllThatItsPartsCollected) {
  on_ranks(faulty_job(holding()), [](Job& job) {
    EndpointMemory memory(job.world(), 64);
    const std::int64_t value = 3;
    // The held operations complete in the order in which they were started, one at each call of
    // done(). The last one is collected by a handle that is itself collected.
    Handle outer = put_async(job, memory.at(neighbour(job)), &value, 8);
    Handle middle = put_async(job, memory.at(neighbour(job), 8), &value, 8);
    Handle inner = put_async(job, memory.at(neighbour(job), 16), &value, 8);
    middle.collect(std::move(inner));
    outer.collect(std::move(middle));
    EXPECT_FALSE(outer.done());
    EXPECT_FALSE(outer.done());
    EXPECT_TRUE(outer.done());
    EXPECT_TRUE(ok(outer.wait()));
  });
}

TEST(Handle, GivesTheFirstErrorOnceAndCompletesTheRest) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job));
    std::int64_t value = 11;
    std::int64_t back = 0;
    Handle all;
    all.collect(put_async(job, at, &value, 8));
    all.collect(put_async(job, at + 60, &value, 8));
    all.collect(put_async(job, at, nullptr, 8));
    all.collect(put_async(job, at + 8, &value, 8));
    EXPECT_TRUE(fails(all.wait(), Code::out_of_range));
    EXPECT_TRUE(ok(all.wait()));
    EXPECT_TRUE(ok(get_async(job, at + 8, &back, 8).wait()));
    EXPECT_EQ(back, 11);
    EXPECT_TRUE(ok(job.fence_all()));
  });
}

TEST(Handle, ThatIsDroppedWaitsAndTheNextFenceReportsItsErrorOnce) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job));
    const std::int64_t value = 12;
    { const Handle dropped = put_async(job, at + 60, &value, 8); }
    EXPECT_TRUE(fails(job.fence_all(), Code::out_of_range, {"bytes [60, 68)"}));
    EXPECT_TRUE(ok(job.fence_all()));
    {
      Handle overwritten = put_async(job, at + 61, &value, 8);
      overwritten = put_async(job, at, &value, 8);
    }
    EXPECT_TRUE(fails(region.fence(), Code::out_of_range));
    EXPECT_TRUE(ok(region.fence()));
    EXPECT_EQ(get_value<std::int64_t>(job, at).value(), 12);
  });
}

TEST(Handle, ThatIsDroppedHasMovedItsDataBeforeItsDestruction) {
  on_ranks(faulty_job(holding()), [](Job& job) {
    EndpointMemory memory(job.world(), 8000);
    for (std::int64_t round = 1; round < 20; ++round) {
      {
        const std::vector<std::int64_t> source(1000, round);
        const Handle dropped = put_async(job, memory.at(neighbour(job)), source.data(), 8000);
      }
      ASSERT_EQ(get_value<std::int64_t>(job, memory.at(neighbour(job), 7992)).value(), round);
    }
  });
}

TEST(Handle, ThatIsDetachedIsCompletedByWaitAllWaitRankAndFences) {
  on_ranks(faulty_job(holding()), [](Job& job) {
    EndpointMemory memory(job.world(), 64);
    const RemoteAddress at = memory.at(neighbour(job));
    const std::vector<std::function<Status()>> completing{
        [&] { return job.wait_all(); }, [&] { return job.wait_rank(at.rank); },
        [&] { return job.fence(at.rank); }, [&] { return job.fence_all(); },
        [&] { return memory.region().fence(); }};
    std::int64_t value = 0;
    for (const auto& complete : completing) {
      ++value;
      std::int64_t source = value;
      put_async(job, at, &source, 8).detach();
      ASSERT_TRUE(ok(complete()));
      source = -1;
      ASSERT_EQ(get_value<std::int64_t>(job, at).value(), value);
    }
    ASSERT_TRUE(ok(job.barrier()));
    const std::int64_t last = 99;
    put_async(job, at, &last, 8).detach();
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, memory.at(job.world().rank())).value(), 99);
  });
}

TEST(Handle, ThatIsDetachedReportsItsErrorToWaitAllOnce) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const std::int64_t value = 1;
    put_async(job, region.at(neighbour(job), 60), &value, 8).detach();
    EXPECT_TRUE(fails(job.wait_all(), Code::out_of_range));
    EXPECT_TRUE(ok(job.wait_all()));
    EXPECT_TRUE(ok(job.fence_all()));
  });
}

TEST(Handle, ThatIsDetachedReportsItsErrorToTheBarrierAndNoRankIsLeftWaiting) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const std::int64_t value = 1;
    const bool is_first = job.rank().value == 0;
    if (is_first) {
      put_async(job, region.at(neighbour(job), 60), &value, 8).detach();
    }
    const Status met = job.barrier();
    EXPECT_TRUE(is_first ? fails(met, Code::out_of_range, {"bytes [60, 68)"}) : ok(met));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(Handle, ThatIsDetachedReportsItsErrorToAFenceOfItsTarget) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job), 60);
    const std::int64_t value = 1;
    put_async(job, at, &value, 8).detach();
    EXPECT_TRUE(fails(job.fence(at.rank), Code::out_of_range));
    EXPECT_TRUE(ok(job.fence(at.rank)));
    RemoteAddress nowhere = at;
    nowhere.rank = WorldRank{job.size()};
    put_async(job, nowhere, &value, 8).detach();
    EXPECT_FALSE(job.fence_all().ok());
  });
}

TEST(Handle, MovesBetweenThreads) {
  on_ranks(faulty_job(holding()), [](Job& job) {
    EndpointMemory memory(job.world(), 64);
    const std::int64_t value = 4;
    Handle handle = put_async(job, memory.at(neighbour(job)), &value, 8);
    std::thread([taken = std::move(handle)]() mutable { EXPECT_TRUE(ok(taken.wait())); }).join();
    EXPECT_EQ(get_value<std::int64_t>(job, memory.at(neighbour(job))).value(), 4);
  });
}

TEST(Outstanding, StaysWithinItsBound) {
  const auto plan = holding();
  on_ranks(faulty_job(plan, [](Settings& settings) { settings.max_outstanding = 4; }),
           [](Job& job) {
             EndpointMemory memory(job.world(), 8000);
             std::vector<std::int64_t> source(1000);
             std::iota(source.begin(), source.end(), 0);
             std::vector<Handle> handles;
             for (std::size_t i = 0; i < source.size(); ++i) {
               handles.push_back(put_async(job, memory.at(neighbour(job), 8 * i), &source[i], 8));
             }
             for (Handle& handle : handles) {
               ASSERT_TRUE(ok(handle.wait()));
             }
             std::vector<std::int64_t> received(1000);
             ASSERT_TRUE(ok(get(job, memory.at(neighbour(job)), received.data(), 8000)));
             EXPECT_EQ(received, source);
           });
  if (IsSkipped()) {
    return;
  }
  EXPECT_LE(plan->max_in_flight.load(), 4);
  EXPECT_GE(plan->max_in_flight.load(), 2);
}

}  // namespace
}  // namespace tessera::rma
