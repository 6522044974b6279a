// SPDX-License-Identifier: BSD-3-Clause
//
// A rank that waits long in a collective or for a lock, a flag or a notification writes a warning
// to the log that names the ranks it waits for. A thread that locks a lock that it already holds
// gets an error at once.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/bootstrap.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/progress/long_wait.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using std::chrono::seconds;
using test::fails;
using test::ok;
using test::on_ranks;

TEST(LongWait, WarnsAfterAMinuteAndThenAfterTwiceTheTimeEachTime) {
  detail::LongWait wait{Settings()};
  const auto start = detail::LongWait::Clock::now();
  const auto due = [&](int at) { return wait.due(start + seconds(at)); };
  EXPECT_EQ(due(4), LogLevel::silent);
  EXPECT_EQ(due(6), LogLevel::info);
  EXPECT_EQ(due(9), LogLevel::silent);
  EXPECT_EQ(due(11), LogLevel::info);
  EXPECT_EQ(due(19), LogLevel::silent);
  EXPECT_EQ(due(21), LogLevel::info);
  EXPECT_EQ(due(41), LogLevel::info);
  EXPECT_EQ(due(59), LogLevel::silent);
  EXPECT_EQ(due(61), LogLevel::warning);
  EXPECT_EQ(due(100), LogLevel::info);
  EXPECT_EQ(due(119), LogLevel::silent);
  EXPECT_EQ(due(121), LogLevel::warning);
  EXPECT_EQ(wait.length(start + seconds(61)), "61 s");
  EXPECT_EQ(wait.length(start + std::chrono::milliseconds(300)), "300 ms");
}

TEST(LongWait, DoesNotWarnIfTheSettingIsZero) {
  Settings settings;
  settings.wait_warning_ms = 0;
  detail::LongWait wait{settings};
  EXPECT_EQ(wait.due(detail::LongWait::Clock::now() + seconds(1000)), LogLevel::info);
}

/// The lines that a rank writes to its log while this object exists.
class Lines {
 public:
  explicit Lines(Job& job) : job_(job) {
    job.log().set_sink([this](LogLevel level, std::string_view line) {
      const std::lock_guard guard(mutex_);
      lines_.push_back((level == LogLevel::warning ? "warning: " : "") + std::string(line));
    });
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() { job_.log().set_sink({}); }

  /// The number of long-wait warnings that contain `text`.
  [[nodiscard]] std::ptrdiff_t count(std::string_view text) const {
    const std::lock_guard guard(mutex_);
    return std::count_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
      return line.starts_with("warning: has waited ") && line.find(text) != std::string::npos;
    });
  }
  [[nodiscard]] testing::AssertionResult have(std::string_view text) const {
    if (count(text) > 0) {
      return testing::AssertionSuccess();
    }
    const std::lock_guard guard(mutex_);
    return testing::AssertionFailure()
           << "no warning has: " << text << "; there are " << testing::PrintToString(lines_);
  }

 private:
  Job& job_;
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Run by contract.long_wait, where the first warning comes after a short time.
class LongWaits : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("TESSERA_WAIT_WARNING_MS") == nullptr) {
      GTEST_SKIP() << "contract.long_wait runs this: here the first warning takes a minute";
    }
  }
  static void outlast_the_first_warning() { std::this_thread::sleep_for(seconds(1)); }
};

TEST_F(LongWaits, InCollectivesNameTheCallAndTheMissingRanks) {
  on_ranks([](Job& job) {
    const std::int32_t last = job.size() - 1;
    const Lines lines(job);
    ASSERT_TRUE(ok(job.barrier()));
    if (job.rank().value == last) {
      outlast_the_first_warning();
    }
    EXPECT_TRUE(ok(job.barrier()));
    if (job.rank().value == 0) {
      const std::string whom =
          job.shares_node(WorldRank{last})
              ? "rank " + std::to_string(last) + " on this node has not arrived"
              : "nothing has arrived from rank " + std::to_string(last);
      EXPECT_TRUE(
          lines.have("in barrier of a team of " + std::to_string(job.size()) + ": " + whom));
    }
    auto region = Region::allocate(job.world(), 8, {.name = "mail"}).value();
    if (job.rank().value == last) {
      outlast_the_first_warning();
    }
    EXPECT_TRUE(ok(region.free()));
    if (job.rank().value == 0) {
      EXPECT_TRUE(lines.have("in free mail of a team of"));
    }
  });
}

TEST_F(LongWaits, ForATeamNameTheMissingRanks) {
  on_ranks([](Job& job) {
    const Lines lines(job);
    ASSERT_TRUE(ok(job.barrier()));
    const std::vector<WorldRank> members{WorldRank{0}, WorldRank{1}};
    if (job.rank().value == 0) {
      outlast_the_first_warning();
    }
    if (job.rank().value <= 1) {
      EXPECT_TRUE(ok(Team::create(job, members)));
    }
    if (job.rank().value == 1) {
      EXPECT_TRUE(lines.have("in forming a team of 2: rank 0 has not arrived"));
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST_F(LongWaits, ForLocksFlagsAndNotificationsNameTheHolder) {
  on_ranks([](Job& job) {
    const Lines lines(job);
    const WorldRank last{job.size() - 1};
    const bool is_first = job.rank().value == 0;
    LockSet locks = LockSet::create(job.world(), 1).value();
    auto region = Region::allocate(job.world(), 8, {.name = "mail"}).value();
    const RemoteAddress flag = region.at(TeamRank{last.value}, 4);
    if (is_first) {
      EXPECT_TRUE(ok(locks.lock(TeamRank{0}, 0)));
    }
    EXPECT_TRUE(ok(job.barrier()));
    if (is_first) {
      outlast_the_first_warning();
      EXPECT_TRUE(ok(notify(job, last).status()));
      EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, 0)));
      outlast_the_first_warning();
      EXPECT_TRUE(ok(raise_flag(job, flag, 7)));
    } else if (job.rank() == last) {
      EXPECT_TRUE(ok(wait_for_notifications(job, WorldRank{0}, 1).status()));
      EXPECT_TRUE(lines.have("for notifications of rank 0, which has sent 0 of 1"));
      EXPECT_TRUE(ok(wait_for_flag(job, flag, 7, WorldRank{0})));
      EXPECT_TRUE(lines.have("for rank 0 to set the flag at offset 4 of region 'mail'"));
    } else {
      EXPECT_TRUE(ok(locks.lock(TeamRank{0}, 0)));
      const bool is_here = job.shares_node(WorldRank{0});
      EXPECT_TRUE(lines.have(is_here ? "for lock 0 of rank 0, which rank 0 holds"
                                     : "for lock 0 of rank 0"));
      EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, 0)));
    }
    EXPECT_TRUE(ok(region.free()));
    EXPECT_TRUE(ok(locks.free()));
  });
}

TEST_F(LongWaits, ForALockOfAnotherThreadOfTheRankNameIt) {
  on_ranks([](Job& job) {
    const Lines lines(job);
    LockSet locks = LockSet::create(job.world(), job.size()).value();
    const std::int64_t own = job.rank().value;
    std::atomic<bool> is_locked{false};
    std::thread holder([&] {
      EXPECT_TRUE(ok(locks.lock(TeamRank{0}, own)));
      is_locked = true;
      outlast_the_first_warning();
      EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, own)));
    });
    EXPECT_TRUE(test::eventually([&] { return is_locked.load(); }));
    EXPECT_TRUE(ok(locks.lock(TeamRank{0}, own)));
    holder.join();
    EXPECT_TRUE(lines.have("for lock " + std::to_string(own) +
                           " of rank 0, which another thread of this rank holds"));
    EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, own)));
    EXPECT_TRUE(ok(locks.free()));
  });
}

/// Stops a process for a while, together with its node's agent if the agent is in that process.
class Stopped {
 public:
  Stopped(pid_t process, std::chrono::milliseconds period) {
    kill(process, SIGSTOP);
    // Its threads stop one after the other; the agent may still send one reply.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    going_on_ = std::thread([=] {
      std::this_thread::sleep_for(period);
      kill(process, SIGCONT);
    });
  }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;
  ~Stopped() { going_on_.join(); }

 private:
  std::thread going_on_;
};

/// A piece of work of rank 0 during which the last rank's process is stopped, and the warning that
/// rank 0 must write meanwhile.
struct WaitingWork {
  std::function<Status()> work;
  std::string warning;
};

void expect_warnings(Job& job, const WorldRank last, const std::vector<WaitingWork>& works) {
  const pid_t other =
      job.world().allgather_value(getpid()).value()[static_cast<std::size_t>(last.value)];
  if (job.rank().value != 0) {
    return;
  }
  for (const WaitingWork& each : works) {
    const Lines lines(job);
    {
      const Stopped stopped(other, seconds(1));
      EXPECT_TRUE(ok(each.work()));
    }
    EXPECT_TRUE(lines.have(each.warning));
  }
}

TEST_F(LongWaits, ForAnAgentThatIsStoppedNameTheRankAndTheKind) {
  on_ranks([](Job& job) {
    const WorldRank last{job.size() - 1};
    if (job.node_count() == 1 || job.bootstrap().name() == std::string_view("threads")) {
      GTEST_SKIP() << "needs a process on another node that can be stopped";
    }
    constexpr std::size_t many = std::size_t{64} << 20U;
    auto region = Region::allocate(job.world(), many, {.name = "mail"}).value();
    const RemoteAddress there = region.at(TeamRank{last.value});
    LockSet locks = LockSet::create(job.world(), 1).value();
    std::int64_t word = 1;
    std::vector<std::byte> bytes(many);
    EXPECT_TRUE(ok(put(job, there, &word, sizeof word)));
    EXPECT_TRUE(ok(job.barrier()));
    const std::string rank = " rank " + std::to_string(last.value);
    expect_warnings(job, last,
                    {{[&] { return get(job, there, &word, sizeof word); }, "for a get from" + rank},
                     {[&] { return get_async(job, there, &word, sizeof word).wait(); },
                      "for a get from" + rank},
                     {[&] { return fetch_add(job, there, std::int64_t{1}).status(); },
                      "for an atomic operation on" + rank},
                     {[&] {
                        TESSERA_RETURN_IF_ERROR(put(job, there, &word, sizeof word));
                        return job.fence(last);
                      },
                      "for a fence of what was sent to" + rank},
                     {[&] {
                        put_async(job, there, bytes.data(), bytes.size()).detach();
                        return job.wait_rank(last);
                      },
                      "for a put to" + rank},
                     {[&] {
                        for (std::size_t i = 0; i < many / 4096; ++i) {
                          TESSERA_RETURN_IF_ERROR(put(job, there, bytes.data(), 4096));
                        }
                        return Status();
                      },
                      "for a put to" + rank},
                     {[&] { return locks.try_lock(TeamRank{last.value}, 0).status(); },
                      "for a reply from the agent of node 1, in the process of" + rank}});
    EXPECT_TRUE(ok(locks.free()));
    EXPECT_TRUE(ok(region.free()));
  });
}

// Returns after this process was stopped for a while after the time `before`.
void wait_until_stopped(std::chrono::steady_clock::time_point before) {
  while (std::chrono::steady_clock::now() - before < seconds(3)) {
    before = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// A rank that waits in a collective asks the agent of the late node whether that node is alive. It
// does not wait for this agent's reply for ever.
TEST_F(LongWaits, InACollectiveAppearIfAnAgentIsStopped) {
  on_ranks([](Job& job) {
    const WorldRank last{job.size() - 1};
    if (job.node_count() == 1 || job.bootstrap().name() == std::string_view("threads")) {
      GTEST_SKIP() << "needs a process on another node that can be stopped";
    }
    const pid_t other =
        job.world().allgather_value(getpid()).value()[static_cast<std::size_t>(last.value)];
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(ok(job.barrier()));
    if (job.rank().value == 0) {
      const Lines lines(job);
      {
        const Stopped stopped(other, seconds(6));
        EXPECT_TRUE(ok(job.barrier()));
      }
      EXPECT_TRUE(lines.have("nothing has arrived from rank " + std::to_string(last.value)));
    } else {
      if (job.rank() == last) {
        wait_until_stopped(before);
      }
      EXPECT_TRUE(ok(job.barrier()));
    }
  });
}

// For locks on this node and on other nodes.
TEST(ALock, ThatItsThreadHoldsAlreadyIsRefusedAtOnce) {
  on_ranks([](Job& job) {
    LockSet locks = LockSet::create(job.world(), job.size()).value();
    const std::int64_t own = job.rank().value;
    for (std::int32_t owner = 0; owner < job.size(); ++owner) {
      EXPECT_TRUE(ok(locks.lock(TeamRank{owner}, own)));
      EXPECT_TRUE(fails(locks.lock(TeamRank{owner}, own), Code::invalid_argument,
                        {"lock " + std::to_string(own) + " of rank " + std::to_string(owner) +
                             " is held by this thread already; locks are not recursive",
                         "hint:"}));
      EXPECT_FALSE(locks.try_lock(TeamRank{owner}, own).value());
      EXPECT_TRUE(ok(locks.unlock(TeamRank{owner}, own)));
      EXPECT_TRUE(test::eventually([&] { return locks.try_lock(TeamRank{owner}, own).value(); }));
      EXPECT_TRUE(fails(locks.lock(TeamRank{owner}, own), Code::invalid_argument));
      EXPECT_TRUE(ok(locks.unlock(TeamRank{owner}, own)));
    }
    EXPECT_TRUE(ok(locks.free()));
  });
}

}  // namespace
}  // namespace tessera::rma
