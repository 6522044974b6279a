// SPDX-License-Identifier: BSD-3-Clause
//
// The TCP baselines do what a case says, between two threads; baselines_demo tests them between
// processes.
#include "bench/baselines/tcp_baseline.hpp"

#include <gtest/gtest.h>

#include <array>

#include "bench/support/measure.hpp"
#include "tests/bench/few_samples.hpp"
#include "tests/bench/rank_threads.hpp"

namespace tessera::bench {
namespace {

BaselineOptions small_buffers() {
  BaselineOptions options;
  options.capacity_bytes = 1 << 20;
  return options;
}

/// Runs `body` with each kind of baseline, on `ranks` threads.
template <class Body>
void with_baselines(int ranks, const Body& body) {
  run_threads(ranks, [&](RankGroup& group) {
    for (const Waiting waiting : {Waiting::blocking, Waiting::polling}) {
      std::string missing;
      const auto baseline =
          make_tcp_baseline(group, small_buffers(), {.waiting = waiting}, missing);
      EXPECT_TRUE(baseline) << missing;
      if (baseline) {
        body(group, *baseline);
      }
    }
  });
}

/// Measures it, including the data check.
void expect_right(RankGroup& group, const std::optional<Candidate>& candidate) {
  ASSERT_TRUE(candidate);
  const auto measured = measure_interleaved(group, {*candidate}, few_samples());
  EXPECT_TRUE(measured[0].valid) << (measured[0].notes.empty() ? "" : measured[0].notes[0]);
  if (group.rank() == 0) {
    EXPECT_TRUE(candidate->verify);
    EXPECT_GT(measured[0].stats_ns.median, 0);
  }
}

TEST(TcpBaseline, MovesTheRightBytes) {
  with_baselines(2, [](RankGroup& group, TcpBaseline& baseline) {
    for (const Operation operation : {Operation::put, Operation::get}) {
      for (const std::size_t bytes : {1U, 8U, 4088U, 4096U, 65536U, 1U << 20}) {
        expect_right(group, baseline.candidate(Case::contiguous(operation, bytes)));
      }
    }
  });
}

TEST(TcpBaseline, KeepsSeveralMessagesOutstanding) {
  with_baselines(2, [](RankGroup& group, TcpBaseline& baseline) {
    for (const Operation operation : {Operation::put, Operation::get}) {
      expect_right(group, baseline.stream(operation, 8, 100));
      expect_right(group, baseline.stream(operation, 1 << 18, 4));
      EXPECT_FALSE(baseline.stream(operation, 1 << 18, 5));
    }
  });
}

TEST(TcpBaseline, SendsMessagesBackAsTheyCame) {
  with_baselines(2, [](RankGroup& group, TcpBaseline& baseline) {
    for (const std::size_t bytes : {8U, 9U, 5000U, 1U << 20}) {
      expect_right(group, baseline.ping_pong(bytes));
    }
    EXPECT_FALSE(baseline.ping_pong(7));
  });
}

TEST(TcpBaseline, Adds) {
  with_baselines(2, [](RankGroup& group, TcpBaseline& baseline) {
    expect_right(group, baseline.candidate(Case::contiguous(Operation::fetch_add, 8)));
  });
}

TEST(TcpBaseline, LeavesOtherRanksAlone) {
  with_baselines(3, [](RankGroup& group, TcpBaseline& baseline) {
    expect_right(group, baseline.candidate(Case::contiguous(Operation::get, 1000)));
  });
}

TEST(TcpBaseline, UsesAnAddressThatOthersCanReach) {
  run_threads(2, [](RankGroup& group) {
    std::string missing;
    const auto baseline = make_tcp_baseline(group, small_buffers(), {.outside = true}, missing);
    ASSERT_TRUE(baseline) << missing;
    expect_right(group, baseline->candidate(Case::contiguous(Operation::put, 1000)));
  });
}

TEST(TcpBaseline, HasNoCandidateForWhatItCannotDo) {
  with_baselines(2, [](RankGroup&, TcpBaseline& baseline) {
    EXPECT_FALSE(baseline.candidate(Case::strided(Operation::get, 64, 16)));
    EXPECT_FALSE(baseline.candidate(Case::contiguous(Operation::accumulate, 64)));
    EXPECT_FALSE(baseline.candidate(Case::contiguous(Operation::put, (1 << 20) + 1)));
  });
}

TEST(TcpBaseline, SaysThatItNeedsTwoRanks) {
  SingleRankGroup group;
  std::string missing;
  EXPECT_FALSE(make_tcp_baseline(group, small_buffers(), {}, missing));
  EXPECT_EQ(missing, "tcp: needs two ranks");
}

TEST(TcpBaseline, ReceivesWhileItsRankComputes) {
  with_baselines(2, [](RankGroup& group, TcpBaseline& baseline) {
    const auto started = baseline.started_get(1 << 20);
    ASSERT_EQ(started.has_value(), baseline.name() == "tcp blocking");
    if (!started) {
      return;
    }
    const Computation computation(10'000);
    const auto measured =
        measure_interleaved(group,
                            {blocking_candidate(*started), computing_candidate(computation),
                             overlapped_candidate(*started, computation)},
                            few_samples());
    EXPECT_TRUE(measured[0].valid) << measured[0].notes[0];
  });
}

TEST(TcpListener, TurnsStrangersAway) {
  const TcpListener listener(loopback_host());
  TcpSocket stranger;
  TcpSocket friendly;
  std::thread callers([&] {
    stranger = connect_tcp(listener.address(), 1);
    friendly = connect_tcp(listener.address(), 2);
    const std::uint64_t word = 77;
    friendly.send(std::as_bytes(std::span(&word, 1)), Waiting::blocking);
  });
  TcpSocket accepted = listener.accept(2, std::chrono::seconds(10));
  std::uint64_t word = 0;
  accepted.receive(std::as_writable_bytes(std::span(&word, 1)), Waiting::polling);
  EXPECT_EQ(word, 77U);
  callers.join();
}

TEST(Overlap, HiddenFractionIsWhatTheComputationCovered) {
  EXPECT_DOUBLE_EQ(hidden_fraction(100, 200, 300), 0.0);
  EXPECT_DOUBLE_EQ(hidden_fraction(100, 200, 210), 0.9);
  EXPECT_DOUBLE_EQ(hidden_fraction(100, 200, 200), 1.0);
  EXPECT_DOUBLE_EQ(hidden_fraction(100, 200, 350), 0.0);
}

TEST(Overlap, HidesNoMoreThanTheComputationLasts) {
  EXPECT_DOUBLE_EQ(hidden_fraction(100, 25, 80), 0.25);
  EXPECT_DOUBLE_EQ(hidden_fraction(100, 25, 100), 0.25);
  EXPECT_DOUBLE_EQ(hidden_fraction(100, 25, 110), 0.15);
}

TEST(Overlap, IsNotBelievedWhereAPartTookLongerThanTheWhole) {
  EXPECT_TRUE(is_credible_overlap(100, 25, 100));
  EXPECT_TRUE(is_credible_overlap(100, 25, 96));
  EXPECT_FALSE(is_credible_overlap(100, 25, 80));
  EXPECT_FALSE(is_credible_overlap(100, 200, 180));
}

TEST(Overlap, IsComparedInTheSameRounds) {
  const std::array blocking = {100.0, 100.0, 100.0};
  const std::array computing = {200.0, 200.0, 200.0};
  const std::array well = {210.0, 210.0, 210.0};
  const std::array badly = {255.0, 255.0, 255.0};
  const Overlap subject = {blocking, computing, badly};
  const Overlap reference = {blocking, computing, well};
  EXPECT_DOUBLE_EQ(hidden(subject).value, 0.45);
  EXPECT_DOUBLE_EQ(hidden_ratio(subject, reference).value, 0.5);
  EXPECT_DOUBLE_EQ(hidden_ratio(subject, reference).ci95.lo, 0.5);
}

TEST(Overlap, IsNotComparedWithWhatHidesNothing) {
  const std::array blocking = {100.0, 100.0, 100.0};
  const std::array computing = {200.0, 200.0, 200.0};
  const std::array in_turn = {299.0, 300.0, 301.0};
  const std::array half = {250.0, 251.0, 249.0};
  EXPECT_FALSE(hides_anything({blocking, computing, in_turn}));
  EXPECT_TRUE(hides_anything({blocking, computing, half}));
  EXPECT_EQ(hidden_by_rounds({blocking, computing, half}), (std::vector<double>{0.5, 0.49, 0.51}));
}

TEST(Overlap, ComputationHasMoreStepsForMoreTime) {
  using std::chrono::milliseconds;
  EXPECT_GT(Computation::lasting(milliseconds(10)).steps(),
            Computation::lasting(std::chrono::microseconds(1)).steps());
  const BackgroundComputation busy;
}

}  // namespace
}  // namespace tessera::bench
