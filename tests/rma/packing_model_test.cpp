// SPDX-License-Identifier: BSD-3-Clause
//
// The model by which tcp chooses the sizes of packed parts: its limits, and its choices compared
// with all possible choices in a pipeline that is simulated stage by stage.
#include "rma/server/client/packing_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "rma/server/client/packing_choice.hpp"

namespace tessera::rma::server {
namespace {

constexpr std::size_t kib = 1024;

// --- the simulation

/// A stage works on one part at a time, in order. It begins a part when the previous stage has
/// finished it.
class Stage {
 public:
  Stage(double each_frame, double each_kib) : frame_(each_frame), kib_(each_kib) {}
  double take(std::size_t bytes, double arrival) {
    busy_until_ = std::max(busy_until_, arrival) + frame_ + kib_ * static_cast<double>(bytes) / kib;
    return busy_until_;
  }

 private:
  double frame_;
  double kib_;
  double busy_until_ = 0;
};

double simulated(const TcpTimes& times, const std::vector<std::size_t>& parts) {
  std::array stages{Stage(times.send, times.copied_kib + times.sent_kib), Stage(0, times.wire_kib),
                    Stage(times.receive, times.received_kib + times.copied_kib)};
  double end = 0;
  for (const std::size_t part : parts) {
    end = 0;
    for (Stage& stage : stages) {
      end = stage.take(part, end);
    }
  }
  return end;
}

std::vector<std::size_t> split(std::size_t bytes, const Parts& parts) {
  std::vector<std::size_t> all;
  for (std::size_t left = bytes; left > 0; left -= all.back()) {
    all.push_back(std::min(left, all.empty() ? parts.first : parts.each));
  }
  return all;
}

/// The minimum time over all sizes of parts, in steps of 1 KiB.
double min_simulated(const TcpTimes& times, std::size_t bytes) {
  constexpr std::size_t step = min_part_bytes;
  double minimum =
      bytes <= max_part_bytes ? simulated(times, {bytes}) : std::numeric_limits<double>::max();
  for (std::size_t each = step; each < bytes && each <= max_part_bytes; each += step) {
    for (const std::size_t first : {each, each / 2, each / 4}) {
      minimum =
          std::min(minimum, simulated(times, split(bytes, {std::max(first, step / 2), each})));
    }
  }
  return minimum;
}

TcpTimes random_times(std::minstd_rand& random) {
  const auto between = [&random](double minimum, double maximum) {
    return minimum * std::pow(maximum / minimum, std::uniform_real_distribution<double>()(random));
  };
  return {.send = between(200, 20'000),
          .receive = between(200, 20'000),
          .piece = between(5, 500),
          .sent_kib = between(10, 1000),
          .received_kib = between(10, 1000),
          .copied_kib = between(10, 1000),
          .wire_kib = random() % 3 == 0 ? 0 : between(10, 10'000)};
}

// --- parts

TEST(PackingModel, PredictsTheTimeOfThePipeline) {
  std::minstd_rand random(1);
  for (int round = 0; round < 200; ++round) {
    const TcpTimes times = random_times(random);
    const std::size_t bytes = 1 + random() % (64 * kib);
    const std::size_t each = 1 + random() % bytes;
    const Parts parts{1 + random() % each, each};
    EXPECT_NEAR(PackingModel(times).time_ns(bytes, parts), simulated(times, split(bytes, parts)),
                1e-6 * simulated(times, {bytes}));
  }
}

// The choice may lose 5 % in favour of a single part, and parts are powers of two.
TEST(PackingModel, ChoosesNearlyTheBestOfAllParts) {
  std::minstd_rand random(2);
  double worst = 1;
  for (int round = 0; round < 60; ++round) {
    const TcpTimes times = random_times(random);
    const PackingModel model(times);
    for (const std::size_t bytes : {2 * kib, 8 * kib, 64 * kib, 512 * kib}) {
      const double chosen = simulated(times, split(bytes, model.best_parts(bytes)));
      const double ratio = chosen / min_simulated(times, bytes);
      EXPECT_LE(ratio, 1.15) << bytes << " bytes: " << to_text(times);
      worst = std::max(worst, ratio);
    }
  }
  EXPECT_GT(worst, 1.0) << "the search uses powers of two only";
}

TEST(PackingModel, SplitsIfStagesAreSlowComparedToFrames) {
  TcpTimes times{.send = 1000,
                 .receive = 1000,
                 .sent_kib = 100,
                 .received_kib = 100,
                 .copied_kib = 100,
                 .wire_kib = 0};
  const std::size_t bytes = 16 * kib;
  EXPECT_EQ(PackingModel(times).best_parts(2 * kib), (Parts{2 * kib, 2 * kib}));
  const Parts coarse = PackingModel(times).best_parts(bytes);
  EXPECT_LT(coarse.first, bytes);
  times.send = times.receive = 10;
  const Parts fine = PackingModel(times).best_parts(bytes);
  EXPECT_LT(fine.each, coarse.each) << "frames are cheap";
  EXPECT_LT(PackingModel(times).best_parts(2 * kib).first, 2 * kib);
  times.send = times.receive = 1'000'000;
  EXPECT_EQ(PackingModel(times).best_parts(bytes), (Parts{bytes, bytes}));
}

// Cutting can only hide the time of copying.
TEST(PackingModel, DoesNotSplitIfTheNetworkTakesNearlyAllTheTime) {
  TcpTimes times{.send = 2000,
                 .receive = 2000,
                 .sent_kib = 100,
                 .received_kib = 100,
                 .copied_kib = 100,
                 .wire_kib = 80'000};
  EXPECT_EQ(PackingModel(times).best_parts(64 * kib), (Parts{64 * kib, 64 * kib}));
  times.wire_kib = 400;
  EXPECT_LT(PackingModel(times).best_parts(64 * kib).first, 64 * kib);
}

TEST(PackingModel, AvoidsTinyCopiesByDirectSends) {
  const TcpTimes times{.send = 1000,
                       .receive = 1000,
                       .sent_kib = 200,
                       .received_kib = 200,
                       .copied_kib = 1,
                       .wire_kib = 0};
  EXPECT_LT(PackingModel(times).best_parts(64 * kib).first, 64 * kib);
  EXPECT_EQ(PackingModel(times).min_direct_row(), std::size_t{32} * kib) << "all are packed";
}

TEST(PackingModel, KeepsItsBuffersSmall) {
  std::minstd_rand random(3);
  for (int round = 0; round < 60; ++round) {
    const PackingModel model(random_times(random));
    for (std::size_t bytes = 1; bytes <= 2048 * kib; bytes = 2 * bytes + 1) {
      const Parts parts = model.best_parts(bytes);
      EXPECT_GT(parts.first, 0U);
      EXPECT_LE(parts.first, parts.each);
      EXPECT_LE(std::min(parts.each, bytes), max_part_bytes);
    }
  }
}

// --- monotonicity

TEST(PackingModel, TakesLongerPartsForLongerTransfersAndExpensiveFrames) {
  std::minstd_rand random(4);
  for (int round = 0; round < 60; ++round) {
    TcpTimes times = random_times(random);
    std::size_t before = 0;
    for (std::size_t bytes = 2 * kib; bytes <= 2048 * kib; bytes *= 2) {
      const Parts parts = PackingModel(times).best_parts(bytes);
      if (parts.first < bytes) {
        EXPECT_GE(2 * parts.each, before) << bytes << " bytes: " << to_text(times);
        before = parts.each;
      }
    }
    const std::size_t cheap = PackingModel(times).best_parts(256 * kib).each;
    times.send *= 16;
    times.receive *= 16;
    EXPECT_GE(2 * PackingModel(times).best_parts(256 * kib).each, cheap) << to_text(times);
  }
}

TEST(PackingModel, SendsShorterRowsDirectlyIfCopiesAreExpensive) {
  TcpTimes times{.piece = 15, .copied_kib = 60};
  EXPECT_EQ(PackingModel(times).min_direct_row(), 512U);
  std::size_t before = std::numeric_limits<std::size_t>::max();
  for (double copied = 0.5; copied < 5000; copied *= 2) {
    times.copied_kib = copied;
    const std::size_t row = PackingModel(times).min_direct_row();
    EXPECT_LE(row, before);
    EXPECT_GE(row, 256U);
    EXPECT_LE(row, 32 * kib);
    before = row;
  }
  EXPECT_EQ(before, 256U);
}

// --- the table, and settings

TEST(PartSizes, AreConstantsByDefault) {
  const PartSizes sizes;
  EXPECT_EQ(sizes.of(32 * kib), (Parts{32 * kib, 32 * kib}));
  EXPECT_EQ(sizes.of(32 * kib + 8), (Parts{16 * kib, 32 * kib}));
  EXPECT_EQ(sizes.of(512 * kib), (Parts{32 * kib, 64 * kib}));
  EXPECT_EQ(sizes.of(std::size_t{1} << 40U), (Parts{128 * kib, 256 * kib}));
}

TEST(PartSizes, AreTheModelsForEachSize) {
  const PackingModel model(TcpTimes{.send = 500, .receive = 500});
  const PartSizes sizes(model);
  EXPECT_EQ(sizes.of(1), (Parts{1, 1}));
  for (std::size_t bytes = 2 * kib; bytes <= 2048 * kib; bytes *= 2) {
    EXPECT_EQ(sizes.of(bytes), model.best_parts(bytes)) << bytes;
    EXPECT_LE(sizes.min_pipelined() <= bytes ? sizes.of(bytes).first : 0, bytes - 1);
    EXPECT_EQ(sizes.of(bytes).first < bytes, bytes >= sizes.min_pipelined()) << bytes;
  }
  EXPECT_EQ(sizes.of(std::size_t{1} << 40U), model.best_parts(2048 * kib));
}

Settings settings_with(const std::string& times) {
  Settings settings;
  settings.tcp_times = times;
  return settings;
}

TEST(PackingChoice, TakesTheConstantsForFixedTimes) {
  const Settings settings = settings_with("fixed");
  const auto times = choose_times(settings, {}, true);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->from, TimesFrom::fixed);
  const Packing packing = choose_packing(settings, *times);
  EXPECT_EQ(packing.limits.min_direct_row, 512U);
  EXPECT_EQ(packing.parts, PartSizes());
}

TEST(PackingChoice, TakesTheModelsForGivenTimes) {
  const Settings settings = settings_with("piece=100,copied=100,send=10,receive=10");
  const auto times = choose_times(settings, {}, true);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->from, TimesFrom::settings);
  const Packing packing = choose_packing(settings, *times);
  EXPECT_EQ(packing.limits.min_direct_row, 2048U);
  EXPECT_EQ(packing.parts, PartSizes(PackingModel(times->times)));
  EXPECT_LT(packing.parts.of(2 * kib).first, 2 * kib);
}

TEST(PackingChoice, TakesSettingsBeforeTheModelAndMeasuresNothingIfTheyGiveAll) {
  Settings settings = settings_with("measured");
  settings.direct_row = 1;
  settings.chunk_kib = 1;
  settings.pipeline = 2048;
  const auto times = choose_times(settings, {}, true);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->from, TimesFrom::none);
  Packing packing = choose_packing(settings, *times);
  EXPECT_EQ(packing.limits.min_direct_row, 9U) << "words are never torn";
  EXPECT_EQ(packing.parts.of(2047), (Parts{2047, 2047}));
  EXPECT_EQ(packing.parts.of(2048), (Parts{1024, 1024}));
  settings.chunk_kib = 0;
  packing = choose_packing(settings, *choose_times(settings_with("send=1000000"), {}, true));
  settings.tcp_times = "send=1000000";
  packing = choose_packing(settings, *choose_times(settings, {}, true));
  EXPECT_EQ(packing.parts.of(8 * kib), (Parts{4 * kib, 4 * kib})) << "the model has one part";
  settings.pipeline = 64 * 1024;
  settings.tcp_times = "fixed";
  packing = choose_packing(settings, *choose_times(settings, {}, true));
  EXPECT_EQ(packing.parts.of(64 * kib - 1), (Parts{64 * kib - 1, 64 * kib - 1}));
  EXPECT_EQ(packing.parts.of(64 * kib), (Parts{16 * kib, 32 * kib}));
  EXPECT_EQ(packing.parts.min_pipelined(), 64 * kib);
}

}  // namespace
}  // namespace tessera::rma::server
