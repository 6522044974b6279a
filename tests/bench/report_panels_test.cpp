// SPDX-License-Identifier: BSD-3-Clause
//
// What the experiments' panels compute from the results.
#include "bench/report/panels.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/report_examples.hpp"

namespace tessera::bench::report {
namespace {

/// A measurement of suite net with these candidates; only their times matter here.
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
  // 100 alone, 150 with a computation of 100: half of it is hidden.
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

TEST(Panels, ShowTheIntervalOfEachRanksCommunication) {
  RunFile run = with_measurement("communication", "fe2d:200", 12, {{"plain", 30}});
  run.results[0].by_rank = {20};
  run.results[0].by_rank_ci95 = {{19, 22.5}};
  const std::string text = communication_by_rank()(Dataset(one(run)));
  EXPECT_TRUE(has(text, "<th>0</th><td>20</td><td class=\"ci\">[19, 22.5]</td>")) << text;
}

TEST(Panels, JoinEachRanksCommunicationOverLaunches) {
  std::vector<RunFile> runs;
  for (const double time : {20.0, 10.0, 60.0}) {
    runs.push_back(with_measurement("communication", "fe2d:200", 12, {{"plain", time}}));
    runs.back().results[0].by_rank = {time, 2 * time};
    runs.back().results[0].by_rank_ci95 = {{time - 1, time + 1}, {2 * time - 1, 2 * time + 1}};
  }
  const std::string text = communication_by_rank()(Dataset(std::move(runs)));
  EXPECT_TRUE(has(text, "<th>0</th><td>20</td><td class=\"ci\">[9, 61]</td>")) << text;
  EXPECT_TRUE(has(text, "<th>1</th><td>40</td><td class=\"ci\">[19, 121]</td>"));
}

TEST(Panels, TakeHowManyRanksWereChangedFromTheShape) {
  RunFile run =
      with_measurement("fence_all", "ranks changed: 1", 8, {{"fence each", 30}, {"fence_all", 20}});
  run.results[1].ratio = RatioTo{"fence each", {2.0 / 3, {2.0 / 3, 2.0 / 3}}};
  for (const std::size_t i : {0U, 1U}) {
    run.results.push_back(run.results[i]);
    run.results.back().shape = "ranks changed: 3";
    run.results.back().size = 24;
  }
  const Dataset data(one(run));
  EXPECT_TRUE(has(gain_of_fence_all()(data), "<th>3</th><td>50</td>"));
  const std::string times = curves_of("net", "fence_all", Show::time)(data);
  EXPECT_TRUE(has(times, "<th>Ranks changed</th>")) << times;
  EXPECT_TRUE(has(times, "<th>3</th><td>30</td>"));
  EXPECT_FALSE(has(times, "3 B"));
}

TEST(Panels, ComputeTheGainOfOneFenceForAll) {
  RunFile run = with_measurement("fence_all", "", 16, {{"fence each", 30}, {"fence_all", 20}});
  run.results[1].ratio = RatioTo{"fence each", {2.0 / 3, {2.0 / 3, 2.0 / 3}}};
  EXPECT_EQ(gain_of_fence_all()(Dataset(one(run))), "") << "a single point is not a curve";
  for (const std::size_t i : {0U, 1U}) {
    run.results.push_back(run.results[i]);
    run.results.back().size = 24;
  }
  EXPECT_TRUE(has(gain_of_fence_all()(Dataset(one(run))), "<th>2</th><td>50</td>"));
}

TEST(Panels, ShowTheGainByOutstandingFencesOfTheMostRanks) {
  RunFile run = with_measurement(
      "fence_all", "ranks changed: 7", 56,
      {{"fence each", 30}, {"fence_all of 3", 20}, {"fence_all of 5", 15}, {"fence_all of 7", 10}});
  const auto add_ratios = [](RunFile& file, double scale) {
    for (std::size_t i = 1; i < file.results.size(); ++i) {
      const double ratio = scale * file.results[i].median / 30;
      file.results[i].ratio = RatioTo{"fence each", {ratio, {ratio, ratio}}};
    }
  };
  add_ratios(run, 1);
  RunFile fewer = run;
  add_ratios(fewer, 2);
  for (auto& each : fewer.results) {
    each.shape = "ranks changed: 5";
    each.size = 40;
    run.results.push_back(each);
  }
  const std::string text = gain_of_fence_all()(Dataset(one(run)));
  EXPECT_TRUE(has(text, "<th>Outstanding fences</th>")) << text;
  EXPECT_TRUE(has(text, "<th>3</th><td>50</td>")) << text;
  EXPECT_TRUE(has(text, "<th>5</th><td>100</td>"));
  EXPECT_TRUE(has(text, "<th>7</th><td>200</td>"));
}

TEST(Panels, TakeSmallOperationsFromTheRightSuite) {
  const Dataset data(one(with_measurement("put_here", "", 8, {{"tcp", 1.25}})));
  const std::string text = small_operations(
      {"Put"}, {{"far", "net", {"put_here"}}, {"near", "rma", {"put_here"}}})(data);
  EXPECT_TRUE(has(text, "<th>far</th><td>1.25 [1.25, 1.25]</td>")) << text;
  EXPECT_FALSE(has(text, "near"));
}

TEST(Panels, DrawWhereAMatrixHasEntries) {
  RunFile run = example_run();
  run.patterns.push_back({"band <5>", 6, 6, 12, {{4, 1, 0}, {1, 4, 1}, {0, 1, 0}}});
  run.patterns.push_back({"full", 2, 2, 4, {{4}}});
  const Dataset data(one(std::move(run)));
  const std::string text = patterns_of({"band <5>", "missing"})(data);
  EXPECT_TRUE(has(text, "Entries of band &lt;5&gt;<small>6 × 6, 12 entries, in 3 × 3 cells"))
      << text;
  EXPECT_TRUE(has(text, "shade0\" d=\"M1,0h1v1H1zM0,1h1v1H0zM2,1h1v1H2zM1,2h1v1H1z\"/>"));
  EXPECT_TRUE(has(text, "shade4\" d=\"M0,0h1v1H0zM1,1h1v1H1z\"/>"));
  EXPECT_TRUE(has(text, "<th>4</th><td>2</td><td>8</td>"));
  EXPECT_TRUE(has(text, "<th>1</th><td>4</td><td>4</td>"));
  EXPECT_FALSE(has(text, "missing"));
  EXPECT_TRUE(has(patterns_of({"full"})(data), "shade4\" d=\"M0,0h1v1H0z\"/>"));
  EXPECT_EQ(patterns_of({"band"})(data), "");
}

TEST(Panels, DrawNeighboursOfAShadeAsOne) {
  RunFile run = example_run();
  run.patterns.push_back({"rows", 2, 8, 24, {{5, 5, 5, 0, 5, 4, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}}});
  const std::string text = patterns_of({"rows"})(Dataset(one(std::move(run))));
  EXPECT_TRUE(has(text, "shade4\" d=\"M0,0h3v1H0zM4,0h1v1H4z\"/>")) << text;
  EXPECT_TRUE(has(text, "shade0\" d=\"M5,0h1v1H5z\"/>"));
}

TEST(Panels, DrawAMatrixWithoutEntries) {
  RunFile run = example_run();
  run.patterns.push_back({"empty", 3, 3, 0, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}});
  const std::string text = patterns_of({"empty"})(Dataset(one(std::move(run))));
  EXPECT_TRUE(has(text, "3 × 3, 0 entries")) << text;
  EXPECT_FALSE(has(text, "<path"));
}

TEST(Panels, ShowTimesByRanksFromSeveralFiles) {
  std::vector<RunFile> runs;
  for (const int ranks : {1, 2, 4}) {
    runs.push_back(with_measurement("product", "", 8, {{"plain", 12.0 / ranks}}));
    runs.back().ranks = ranks;
  }
  const Panel panel = times_by_ranks("products", "net", {{"product", "Product"}});
  const std::string text = panel(Dataset(std::move(runs)));
  EXPECT_TRUE(has(text, "<th>4</th><td>3</td>")) << text;
  EXPECT_EQ(panel(Dataset(one(with_measurement("product", "", 8, {{"plain", 1}})))), "");
}

TEST(Panels, StandForWhatOthersDraw) {
  RunFile run = with_measurement("class_A", "", 8, {{"tessera-mg", 1}});
  const auto is_measured = [&run](const char* op, Runs runs) {
    const Panel panel = part_of_another("a bar", "net", op, runs);
    EXPECT_EQ(panel(Dataset(one(run))), "");
    return panel.is_measured(Dataset(one(run)));
  };
  EXPECT_TRUE(is_measured("class_A", Runs::any));
  EXPECT_FALSE(is_measured("class_C", Runs::any));
  EXPECT_TRUE(is_measured("class_A", Runs::on_one_node));
  EXPECT_FALSE(is_measured("class_A", Runs::between_nodes));
  run.nodes = 2;
  EXPECT_FALSE(is_measured("class_A", Runs::on_one_node));
  EXPECT_TRUE(is_measured("class_A", Runs::between_nodes));
}

TEST(Panels, ShowOneNodeOnlyWhatRanOnOne) {
  RunFile run = with_measurement("put", "", 8, {{"memcpy", 1}, {"tcp", 2}});
  run.results.push_back(with_measurement("put", "", 16, {{"tcp", 2}}).results.front());
  const Panel curves = curves_of("net", "put", Show::time, Runs::on_one_node);
  const Panel row = small_operations({"Put"}, {{"own node", "net", {"put"}, Runs::on_one_node}});
  EXPECT_NE(curves(Dataset(one(run))), "");
  EXPECT_NE(row(Dataset(one(run))), "");
  run.nodes = 2;
  EXPECT_EQ(curves(Dataset(one(run))), "");
  EXPECT_EQ(row(Dataset(one(run))), "");
}

TEST(Panels, StandForWhatOthersDrawBesideOneOfAName) {
  const Panel panel = part_of_another("a bar", "net", "class_A", Runs::any, "mpi");
  const RunFile alone = with_measurement("class_A", "", 8, {{"tessera-mg", 1}});
  const RunFile beside =
      with_measurement("class_A", "", 8, {{"mpi two-sided", 2}, {"tessera-mg", 1}});
  EXPECT_FALSE(panel.is_measured(Dataset(one(alone))));
  EXPECT_TRUE(panel.is_measured(Dataset(one(beside))));
}

TEST(Panels, TakeWhatWentThroughMemoryForNothingMeasured) {
  const Panel panel = part_of_another("MPI, for comparison", "net", "put", Runs::any, "mpi");
  const auto is_measured = [&panel](const std::string& other) {
    return panel.is_measured(
        Dataset(one(with_measurement("put", "", 8, {{other, 2}, {"tcp", 1}}))));
  };
  EXPECT_TRUE(is_measured("mpi two-sided"));
  EXPECT_FALSE(is_measured("mpi in memory"));
  EXPECT_FALSE(is_measured("mpi two-sided in memory"));
  EXPECT_FALSE(is_measured("mpi two-sided in memory overlapped"));
}

TEST(Panels, CompareLongestComputationsWithNoShorterOnes) {
  // Only one of the two transfers has a result with the longest computation.
  RunFile run = with_measurement("overlap_steps", "computation 50 %", 4096,
                                 {{"computation", 50},
                                  {"tcp", 100},
                                  {"tcp overlapped", 125},
                                  {"tcp with helpers", 100},
                                  {"tcp with helpers overlapped", 140}});
  const RunFile longest = with_measurement("overlap_steps", "computation 150 %", 4096,
                                           {{"computation", 150},
                                            {"tcp", 100},
                                            {"tcp overlapped", 160},
                                            {"tcp with helpers", 100},
                                            {"tcp with helpers overlapped", 90}});
  run.results.insert(run.results.end(), longest.results.begin(), longest.results.end());
  const std::string text = hidden_by_steps()(Dataset(one(std::move(run))));
  const std::string by_size = text.substr(0, text.find("Get of 4 KiB"));
  EXPECT_TRUE(has(by_size, "<th>4096</th><td>90</td>")) << by_size;
  EXPECT_FALSE(has(by_size, "helpers")) << by_size;
  EXPECT_TRUE(has(text, "<th>50</th><td>25</td>") && has(text, "tcp with helpers")) << text;
}

TEST(Panels, KeepFamiliesOfRanksApart) {
  std::vector<RunFile> runs;
  for (const char* const cpu : {"Abacus", "Soroban"}) {
    for (const int ranks : {2, 4}) {
      runs.push_back(
          with_measurement("product", "", 8, {{"plain", cpu[0] == 'A' ? ranks : 10 * ranks}}));
      runs.back().host[0].second = cpu;
      runs.back().ranks = ranks;
      runs.back().binding = ranks == 2 ? "0-1" : "none";
    }
  }
  const std::string text =
      times_by_ranks("products", "net", {{"product", "Product"}})(Dataset(std::move(runs)));
  const std::size_t second = text.find("<figure", 1);
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_TRUE(has(text.substr(0, second), "<small>cpu Abacus</small>")) << text;
  EXPECT_TRUE(has(text.substr(0, second), "<th>4</th><td>4</td>")) << text;
  EXPECT_TRUE(has(text.substr(second), "<small>cpu Soroban</small>")) << text;
  EXPECT_TRUE(has(text.substr(second), "<th>4</th><td>40</td>")) << text;
}

TEST(Panels, HaveOneTimeForEachNumberOfRanks) {
  // Without MPI, and with it: one family would have two times for two ranks.
  std::vector<RunFile> runs;
  for (const int ranks : {2, 4, 2}) {
    runs.push_back(with_measurement("product", "", 8, {{"plain", 10.0 * ranks}}));
    runs.back().ranks = ranks;
  }
  runs.back().host.back() = {"mpi", "Open MPI v4"};
  runs.back().results[0].median = 7123.5;
  const Panel panel = times_by_ranks("products", "net", {{"product", "Product"}});
  const std::string text = panel(Dataset(std::move(runs)));
  EXPECT_TRUE(has(text, "<th>2</th><td>20</td>")) << text;
  EXPECT_FALSE(has(text, "7123.5")) << text;
}

TEST(Panels, TellAnUnevenDensity) {
  std::vector<RunFile> runs;
  for (const int ranks : {3, 5}) {
    runs.push_back(with_measurement("product", "", 8, {{"plain", 1}}));
    runs.back().ranks = ranks;
    runs.back().nodes = (ranks + 1) / 2;
  }
  const Panel panel = times_by_ranks("products", "net", {{"product", "Product"}});
  EXPECT_TRUE(has(panel(Dataset(std::move(runs))), "Product by ranks, up to 2 ranks a node"));
}

TEST(Panels, DivideByNoRatioOfNothing) {
  RunFile run = with_measurement("fence_all", "", 16, {{"fence each", 30}, {"fence_all", 20}});
  run.results[1].ratio = RatioTo{"fence each", {0, {0.5, 0.7}}};
  for (const std::size_t i : {0U, 1U}) {
    run.results.push_back(run.results[i]);
    run.results.back().size = 24;
  }
  EXPECT_EQ(gain_of_fence_all()(Dataset(one(run))), "");
}

}  // namespace
}  // namespace tessera::bench::report
