// SPDX-License-Identifier: BSD-3-Clause
//
// What the experiments' panels compute of the results.
#include "bench/report/panels.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/report_examples.hpp"

namespace tessera::bench::report {
namespace {

/// A measurement of suite net with these candidates, of which only times count here.
RunFile with_measurement(const std::string& op, const std::string& shape, std::int64_t size,
                         const std::vector<std::pair<std::string, double>>& times) {
  RunFile run = example_run();
  const Result like = run.results[0];
  run.results.clear();
  for (const auto& [backend, time] : times) {
    Result result = like;
    result.bench = "net";
    result.op = op;
    result.shape = shape;
    result.size = size;
    result.backend = backend;
    result.median = time;
    result.ci95 = {time, time};
    run.results.push_back(result);
  }
  return run;
}

TEST(Panels, ComputeWhatAComputationHides) {
  // Alone 100, with a computation of 100 150: a half is hidden.
  const Dataset data(
      one(with_measurement("overlap_steps", "computation 100 %", 4096,
                           {{"computation", 100}, {"tcp", 100}, {"tcp overlapped", 150}})));
  const std::string text = hidden_by_steps()(data);
  EXPECT_TRUE(has(text, "<th>4096</th><td>50</td><td class=\"ci\">[50, 50]</td>")) << text;
  EXPECT_TRUE(has(text, "<th>100</th><td>50</td>"));
}

TEST(Panels, TellNothingWhereOthersDisturbedTheComputation) {
  const Dataset data(
      one(with_measurement("overlap_steps", "computation 100 %", 4096,
                           {{"computation", 200}, {"tcp", 100}, {"tcp overlapped", 150}})));
  EXPECT_EQ(hidden_by_steps()(data), "");
}

TEST(Panels, ShowEachRanksCommunication) {
  RunFile run = with_measurement("communication", "fe2d:200", 12, {{"plain", 30}});
  run.results[0].by_rank = {20, 40.5};
  const std::string text = communication_by_rank()(Dataset(one(run)));
  EXPECT_TRUE(has(text, "<th>0</th><td>20</td>")) << text;
  EXPECT_TRUE(has(text, "<th>1</th><td>40.5</td>"));
}

TEST(Panels, ComputeTheGainOfOneFenceForAll) {
  RunFile run = with_measurement("fence_all", "", 16, {{"fence each", 30}, {"fence_all", 20}});
  run.results[1].ratio = RatioTo{"fence each", {2.0 / 3, {2.0 / 3, 2.0 / 3}}};
  EXPECT_EQ(gain_of_fence_all()(Dataset(one(run))), "") << "one place is no curve";
  for (const std::size_t i : {0U, 1U}) {
    run.results.push_back(run.results[i]);
    run.results.back().size = 24;
  }
  EXPECT_TRUE(has(gain_of_fence_all()(Dataset(one(run))), "<th>2</th><td>50</td>"));
}

TEST(Panels, TakeSmallOperationsFromTheRightSuite) {
  const Dataset data(one(with_measurement("put_here", "", 8, {{"tcp", 1.25}})));
  const std::string text = small_operations(
      {"Put"}, {{"far", "net", {"put_here"}}, {"near", "rma", {"put_here"}}})(data);
  EXPECT_TRUE(has(text, "<th>far</th><td>1.25 [1.25, 1.25]</td>")) << text;
  EXPECT_FALSE(has(text, "near"));
}

TEST(Panels, ShowTimesByRanksFromSeveralFiles) {
  std::vector<RunFile> runs;
  for (const int ranks : {1, 2, 4}) {
    runs.push_back(with_measurement("product", "", 8, {{"plain", 12.0 / ranks}}));
    runs.back().ranks = ranks;
  }
  const Panel panel = times_by_ranks("net", {{"product", "Product"}});
  const std::string text = panel(Dataset(std::move(runs)));
  EXPECT_TRUE(has(text, "<th>4</th><td>3</td>")) << text;
  EXPECT_EQ(panel(Dataset(one(with_measurement("product", "", 8, {{"plain", 1}})))), "");
}

}  // namespace
}  // namespace tessera::bench::report
