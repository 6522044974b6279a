// SPDX-License-Identifier: BSD-3-Clause
//
// The method, on an invented clock: each reading takes 10 ns, and a candidate's repetitions take
// exactly the time that the test sets.
#include "bench/support/measure.hpp"
#include "tests/bench/rank_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace tessera::bench {
namespace {

/// Invented time of one rank.
struct Time {
  static constexpr std::int64_t reading_ns = 10;
  std::int64_t now = 0;

  Clock clock() {
    return [this] { return now += reading_ns; };
  }
};

Candidate takes(Time& time, std::string name, std::int64_t ns) {
  Candidate candidate;
  candidate.name = std::move(name);
  candidate.run = [&time, ns](std::int64_t repetitions) { time.now += ns * repetitions; };
  return candidate;
}

/// A candidate that writes its letter once per timed batch.
Candidate writes(std::string& log, char letter) {
  Candidate candidate;
  candidate.name = letter;
  candidate.run = [&log, letter](std::int64_t repetitions) {
    log += repetitions == 1 ? static_cast<char>(letter - 'A' + 'a') : letter;
  };
  return candidate;
}

MeasureOptions fixed_options(Time& time, std::int64_t samples) {
  MeasureOptions options;
  options.clock = time.clock();
  options.samples = samples;
  options.warm_up_samples = 1;
  options.repetitions = 3;
  options.prime = false;
  return options;
}

TEST(TimerCost, IsTheTimeOfOneReading) {
  Time time;
  EXPECT_DOUBLE_EQ(timer_cost_ns(time.clock()), 10.0);
}

TEST(PausableClock, TakesNoTimeForAPauseButAReadingOfTheClock) {
  Time time;
  PausableClock clock(time.clock());
  const std::int64_t start = clock.now();
  time.now += 100;
  clock.pause([&] { time.now += 5000; });
  time.now += 100;
  EXPECT_EQ(clock.now() - start, 200 + 2 * Time::reading_ns);
}

TEST(PausableClock, TimesOneHalfOfACandidate) {
  Time time;
  PausableClock clock(time.clock());
  Candidate candidate;
  candidate.run = [&](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      time.now += 40;
      clock.pause([&] { time.now += 700; });
    }
  };
  MeasureOptions options = fixed_options(time, 5);
  options.clock = clock.clock();
  SingleRankGroup group;
  const auto measured = measure_interleaved(group, {candidate}, options);
  EXPECT_DOUBLE_EQ(measured.front().stats_ns.median, 40 + Time::reading_ns);
}

TEST(TimerCost, OfTheSteadyClockIsPositive) {
  EXPECT_GT(timer_cost_ns(), 0.0);
}

/// The candidates A, B, C of each round, without warm-up.
std::vector<std::string> orders_of_rounds(std::int64_t rounds) {
  Time time;
  std::string log;
  SingleRankGroup group;
  const std::vector<Candidate> candidates = {writes(log, 'A'), writes(log, 'B'), writes(log, 'C')};
  (void)measure_interleaved(group, candidates, fixed_options(time, rounds));
  EXPECT_EQ(log.substr(0, 3), "ABC");  // warm-up
  std::vector<std::string> orders;
  for (std::size_t at = 3; at < log.size(); at += 3) {
    orders.push_back(log.substr(at, 3));
  }
  return orders;
}

TEST(Measure, TurnsEachSecondRoundRound) {
  const auto orders = orders_of_rounds(40);
  ASSERT_EQ(orders.size(), 40U);
  for (std::size_t round = 0; round < orders.size(); round += 2) {
    std::string sorted = orders[round];
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, "ABC");
    EXPECT_EQ(std::string(orders[round].rbegin(), orders[round].rend()), orders[round + 1]);
  }
  EXPECT_EQ(orders, orders_of_rounds(40));
}

// Otherwise the caches' contents after one candidate would favour some candidates.
TEST(Measure, LetsEachCandidateFollowEachOtherAlike) {
  constexpr std::int64_t rounds = 3000;
  std::map<std::string, int> pairs;
  std::string log;
  for (const std::string& order : orders_of_rounds(rounds)) {
    log += order;
  }
  for (std::size_t at = 1; at < log.size(); ++at) {
    ++pairs[log.substr(at - 1, 2)];
  }
  // Within rounds, in the middle of each two, and between those.
  for (const std::string other : {"AB", "AC", "BA", "BC", "CA", "CB"}) {
    EXPECT_NEAR(pairs[other], rounds * (2 / 6.0 + 1 / 18.0), 120) << other;
  }
  for (const std::string itself : {"AA", "BB", "CC"}) {
    EXPECT_NEAR(pairs[itself], rounds * (1 / 6.0 + 1 / 18.0), 120) << itself;
  }
}

TEST(Measure, RunsOnceUntimedBeforeEachSample) {
  Time time;
  std::string log;
  SingleRankGroup group;
  MeasureOptions options = fixed_options(time, 2);
  options.prime = true;
  (void)measure_interleaved(group, {writes(log, 'A'), writes(log, 'B')}, options);
  ASSERT_EQ(log.substr(0, 4), "aAbB");  // warm-up
  const std::string rounds = log.substr(4);
  EXPECT_TRUE(rounds == "aAbBbBaA" || rounds == "bBaAaAbB") << rounds;
}

TEST(Measure, SubtractsTheClockAndDividesByRepetitions) {
  Time time;
  SingleRankGroup group;
  MeasureOptions options;
  options.clock = time.clock();
  options.samples = 20;
  const auto results =
      measure_interleaved(group, {takes(time, "baseline", 5), takes(time, "ours", 7)}, options);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_DOUBLE_EQ(results[0].stats_ns.median, 5.0);
  EXPECT_DOUBLE_EQ(results[1].stats_ns.median, 7.0);
  EXPECT_DOUBLE_EQ(results[1].ratio.value, 1.4);
  EXPECT_EQ(results[1].samples_ns.size(), 20U);
  EXPECT_TRUE(results[1].notes.empty());
}

TEST(Measure, BatchesUntilASampleIsFiftyClockReadings) {
  Time time;
  SingleRankGroup group;
  MeasureOptions options;
  options.clock = time.clock();
  options.samples = 11;
  const auto results =
      measure_interleaved(group, {takes(time, "short", 2), takes(time, "long", 3000)}, options);
  EXPECT_GE(results[0].repetitions * 2 + 10, 500);
  EXPECT_LE(results[0].repetitions * 2, 1000);
  EXPECT_EQ(results[1].repetitions, 1);
}

TEST(Measure, TakesFewerSamplesWhereTimeIsShort) {
  Time time;
  SingleRankGroup group;
  MeasureOptions options = fixed_options(time, 1000);
  options.repetitions = 1;
  options.sampling_limit = std::chrono::milliseconds(1);
  const auto some = measure_interleaved(group, {takes(time, "slow", 20'000)}, options);
  EXPECT_NEAR(static_cast<double>(some[0].samples_ns.size()), 50, 2);
  const auto few = measure_interleaved(group, {takes(time, "slower", 900'000)}, options);
  EXPECT_EQ(few[0].samples_ns.size(), 11U);
}

TEST(Measure, ReportsWrongDataAndGoesOn) {
  Time time;
  SingleRankGroup group;
  Candidate wrong = takes(time, "wrong", 4);
  wrong.verify = [] { return std::string("byte 3 is 0x01"); };
  const auto results = measure_interleaved(group, {wrong}, fixed_options(time, 11));
  EXPECT_FALSE(results[0].valid);
  ASSERT_EQ(results[0].notes.size(), 1U);
  EXPECT_EQ(results[0].notes[0], "byte 3 is 0x01");
  EXPECT_DOUBLE_EQ(results[0].stats_ns.median, 4.0);
}

TEST(Measure, ChecksNothingWhenAskedNotTo) {
  Time time;
  SingleRankGroup group;
  Candidate wrong = takes(time, "wrong", 4);
  wrong.verify = [] { return std::string("wrong"); };
  MeasureOptions options = fixed_options(time, 11);
  options.verify = false;
  EXPECT_TRUE(measure_interleaved(group, {wrong}, options)[0].valid);
}

TEST(Measure, SaysThatWarmUpDidNotSettle) {
  Time time;
  SingleRankGroup group;
  Candidate restless;  // each batch takes 1 % longer than the first
  restless.name = "restless";
  restless.run = [&time, batches = 0](std::int64_t) mutable { time.now += 1000 + 10 * batches++; };
  MeasureOptions options;
  options.clock = time.clock();
  options.samples = 2;
  options.prime = false;
  options.repetitions = 1;
  options.warm_up_limit = std::chrono::milliseconds(1);
  const auto results = measure_interleaved(group, {restless}, options);
  ASSERT_EQ(results[0].notes.size(), 1U);
  EXPECT_NE(results[0].notes[0].find("did not settle"), std::string::npos);
}

TEST(Measure, RunsCooperativeCandidatesOnAllRanksAndKeepsTheSlowest) {
  constexpr int ranks = 3;
  std::array<std::int64_t, ranks> repetitions_done = {};
  run_threads(ranks, [&](RankGroup& group) {
    Time time;
    const auto rank = static_cast<std::size_t>(group.rank());
    Candidate together = takes(time, "together", std::int64_t{100} * (group.rank() + 1));
    together.cooperative = true;
    together.run = [run = together.run, &done = repetitions_done[rank]](std::int64_t n) {
      done += n;
      run(n);
    };
    Candidate alone = takes(time, "alone", 50);
    alone.run = [run = alone.run, rank](std::int64_t n) {
      EXPECT_EQ(rank, 0U);
      run(n);
    };
    MeasureOptions options;
    options.clock = time.clock();
    options.samples = 12;
    const auto results = measure_interleaved(group, {alone, together}, options);
    if (group.rank() == 0) {
      EXPECT_DOUBLE_EQ(results[0].stats_ns.median, 50.0);
      EXPECT_DOUBLE_EQ(results[1].stats_ns.median, 300.0);
      EXPECT_DOUBLE_EQ(results[1].ratio.value, 6.0);
    } else {
      EXPECT_TRUE(results[1].samples_ns.empty());
    }
  });
  EXPECT_GT(repetitions_done[0], 12);
  EXPECT_EQ(repetitions_done[0], repetitions_done[1]);
  EXPECT_EQ(repetitions_done[0], repetitions_done[2]);
}

TEST(Measure, IsInvalidEverywhereWhenOneRankFindsWrongData) {
  run_threads(2, [](RankGroup& group) {
    Time time;
    Candidate candidate = takes(time, "put", 10);
    candidate.verify = [rank = group.rank()] { return std::string(rank == 1 ? "not there" : ""); };
    const auto results = measure_interleaved(group, {candidate}, fixed_options(time, 11));
    EXPECT_FALSE(results[0].valid);
    EXPECT_EQ(results[0].notes.at(0),
              group.rank() == 1 ? "not there" : "another rank found wrong data");
  });
}

TEST(RankGroup, OfThreadsBroadcastsFromAnyRank) {
  run_threads(3, [](RankGroup& group) {
    for (int root = 0; root < group.size(); ++root) {
      EXPECT_EQ(group.share(100 + group.rank(), root), 100 + root);
    }
    EXPECT_DOUBLE_EQ(group.maximum(group.rank() == 1 ? 5 : -1), 5);
  });
}

TEST(WarmUp, SettlesAfterThreeEqualWindows) {
  WarmUp warm_up;
  for (std::size_t i = 0; i + 1 < WarmUp::windows * WarmUp::window_samples; ++i) {
    warm_up.add(4);
    EXPECT_FALSE(warm_up.is_settled());
  }
  warm_up.add(4);
  EXPECT_TRUE(warm_up.is_settled());
}

TEST(WarmUp, ForgetsTheBeginning) {
  WarmUp warm_up;
  for (std::size_t i = 0; i < WarmUp::window_samples; ++i) {
    warm_up.add(100);
  }
  for (std::size_t i = 0; i < 2 * WarmUp::window_samples; ++i) {
    warm_up.add(4);
  }
  EXPECT_DOUBLE_EQ(warm_up.movement(), 24.0);  // (100 - 4) / 4
  for (std::size_t i = 0; i < WarmUp::window_samples; ++i) {
    warm_up.add(4.02);
  }
  EXPECT_NEAR(warm_up.movement(), 0.005, 1e-9);
  EXPECT_TRUE(warm_up.is_settled());
}

}  // namespace
}  // namespace tessera::bench
