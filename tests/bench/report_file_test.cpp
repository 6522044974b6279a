// SPDX-License-Identifier: BSD-3-Clause
//
// Messages about files that the report can't use; and it reads the files that the suite writes.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "bench/report/run_file.hpp"
#include "bench/support/measure.hpp"
#include "tests/bench/report_examples.hpp"

namespace tessera::bench::report {
namespace {

std::string complaint_about(const std::string& text) {
  try {
    (void)parse_run_file("x.json", text);
  } catch (const BadFile& problem) {
    return problem.what();
  }
  return "none";
}

/// The message for the example after `change`.
std::string complaint_after(const std::function<void(Json&)>& change) {
  Json json = example_json();
  change(json);
  return complaint_about(json.dump());
}

TEST(RunFile, HasWhatWasWritten) {
  const RunFile run = parse_run_file("x.json", example_json().dump());
  EXPECT_EQ(run.file, "x.json");
  EXPECT_EQ(run.git, "abc");
  EXPECT_EQ(run.ranks, 2);
  EXPECT_EQ(run.env.at("TESSERA_TRANSPORT"), "shm");
  EXPECT_EQ(run.host.front(), (std::pair<std::string, std::string>{"cpu", "Abacus <2>"}));
  ASSERT_EQ(run.results.size(), 18U);
  EXPECT_EQ(run.results[2].backend, "shm");
  EXPECT_DOUBLE_EQ(run.results[2].median, 2 * (0.008 + 0.0123456));
  ASSERT_TRUE(run.results[2].against);
  EXPECT_EQ(run.results[2].against->at(1).reference, "mpi");
  EXPECT_FALSE(run.results[1].against);
  ASSERT_EQ(run.targets.size(), 2U);
  EXPECT_EQ(run.targets[0].worst->value, 2);
  EXPECT_FALSE(run.targets[1].worst);
  EXPECT_EQ(run.targets[1].cases_without_reference, 3);
}

TEST(RunFile, ReadsWhatTheSuiteWrites) {
  Measured floor;
  floor.name = "memcpy";
  floor.bytes = 8;
  floor.samples_ns = {1000, 1010, 1020};
  floor.stats_ns = summarise(floor.samples_ns);
  Measured own = floor;
  own.name = "shm";
  Report report(RunInfo{});
  report.add(to_records({"rma", "put", "", 8}, {floor, own}, 1));
  Record by_rank;
  by_rank.bench = "spmv";
  by_rank.backend = "plain";
  by_rank.op = "communication";
  by_rank.stats = summarise(floor.samples_ns);
  by_rank.by_rank = {3, 4};
  by_rank.by_rank_ci95 = {{2, 3.5}, {4, 4}};
  report.add({by_rank});
  report.add(MatrixPattern{"band", 4, 6, 5, {{2, 0, 0}, {0, 2, 1}}});
  const RunFile run = to_run_file("live", report.to_json());
  ASSERT_EQ(run.results.size(), 3U);
  EXPECT_FALSE(run.results[0].against);
  EXPECT_EQ(run.results[1].against->at(0).reference, "memcpy");
  EXPECT_DOUBLE_EQ(run.results[1].against->at(0).ratio.value, 1);
  EXPECT_EQ(run.results[2].by_rank, (std::vector<double>{3, 4}));
  EXPECT_EQ(run.results[2].by_rank_ci95, (std::vector<Interval>{{2, 3.5}, {4, 4}}));
  ASSERT_EQ(run.patterns.size(), 1U);
  EXPECT_EQ(run.patterns[0].name, "band");
  EXPECT_EQ(run.patterns[0].columns, 6);
  EXPECT_EQ(run.patterns[0].cells[1], (std::vector<std::int64_t>{0, 2, 1}));
}

TEST(RunFile, PassesOverFieldsOfNewerVersions) {
  Json json = example_json();
  json["host"]["colour"] = {"grey", "green"};
  json["results"][0]["mood"] = nullptr;
  json["weather"] = 3;
  const RunFile run = to_run_file("x.json", json);
  EXPECT_EQ(run.host.back().second, "grey, green");
}

TEST(RunFile, SaysWhereTextIsNoJson) {
  EXPECT_EQ(complaint_about("").find("x.json: line 1, column 1: "), 0U) << complaint_about("");
  const std::string cut = complaint_about("{\"schema\":\n  \"tessera-bench/1\", \"git\"");
  EXPECT_EQ(cut.find("x.json: line 2, column "), 0U) << cut;
  EXPECT_NE(cut.find("unexpected end of input; expected ':'"), std::string::npos) << cut;
  const std::string typo = complaint_about("{\n\"a\": 1,\n\"b\" 2}");
  EXPECT_EQ(typo.find("x.json: line 3, column 5: "), 0U) << typo;
}

TEST(RunFile, RefusesEveryTruncation) {
  const std::string whole = example_json().dump(1);
  for (std::size_t length = 0; length + 1 < whole.size(); length += 97) {
    EXPECT_EQ(complaint_about(whole.substr(0, length)).find("x.json: line "), 0U) << length;
  }
}

TEST(RunFile, RefusesOtherProgramsFiles) {
  EXPECT_EQ(complaint_about("{\"context\": 1}"),
            "x.json: /: expected a field 'schema' with \"tessera-bench/1\", found none: "
            "tessera-bench --json did not write this file");
  EXPECT_EQ(complaint_about("{\"schema\": \"other/2\"}"),
            "x.json: /schema: expected \"tessera-bench/1\", found \"other/2\"");
  EXPECT_EQ(complaint_about("[1]"), "x.json: /: expected an object, found a list");
  EXPECT_EQ(complaint_about("7"), "x.json: /: expected an object, found the number 7");
}

TEST(RunFile, RefusesIntervalsOfOtherRanks) {
  EXPECT_EQ(complaint_after([](Json& json) {
              json["results"][0]["by_rank"] = {1, 2};
              json["results"][0]["by_rank_ci95"] = {{1, 2}};
            }),
            "x.json: /results/0/by_rank_ci95: expected 2 intervals, one for each number of "
            "by_rank, found 1");
}

TEST(RunFile, SaysWhatWasExpectedWhere) {
  EXPECT_EQ(complaint_after([](Json& json) { json["results"][3]["median"] = "fast"; }),
            "x.json: /results/3/median: expected a number, found a string");
  EXPECT_EQ(complaint_after([](Json& json) { json["results"][0]["median"] = nullptr; }),
            "x.json: /results/0/median: expected a number, found null");
  EXPECT_EQ(complaint_after([](Json& json) { json["results"][1].erase("size"); }),
            "x.json: /results/1: expected a field 'size', found none");
  EXPECT_EQ(complaint_after([](Json& json) { json["results"][1]["size"] = -8; }),
            "x.json: /results/1/size: expected a whole number of at least 0, found -8");
  EXPECT_EQ(complaint_after([](Json& json) { json["results"][1]["size"] = 8.5; }),
            "x.json: /results/1/size: expected a whole number, found the number 8.5");
  EXPECT_EQ(complaint_after([](Json& json) {
              json["results"][2]["ci95_median"] = {1, 2, 3};
            }),
            "x.json: /results/2/ci95_median: expected two numbers, found a list of 3");
  EXPECT_EQ(complaint_after([](Json& json) {
              json["results"][2]["ci95_median"] = {2, 1};
            }),
            "x.json: /results/2/ci95_median: expected the smaller number first, found [2, 1]");
  EXPECT_EQ(complaint_after([](Json& json) { json["results"][2]["valid"] = 1; }),
            "x.json: /results/2/valid: expected true or false, found the number 1");
  EXPECT_EQ(complaint_after([](Json& json) { json["launch"]["argv"] = "x"; }),
            "x.json: /launch/argv: expected a list, found a string");
  EXPECT_EQ(complaint_after([](Json& json) {
              json["results"] = {{"a", 1}};
            }),
            "x.json: /results: expected a list, found an object");
  EXPECT_EQ(complaint_after([](Json& json) { json["targets"][0]["asked"] = "some"; }),
            "x.json: /targets/0/asked: expected at_most or at_least, found 'some'");
  EXPECT_EQ(complaint_after([](Json& json) { json["results"][2]["against"][1]["to"] = 1; }),
            "x.json: /results/2/against/1/to: expected a string, found the number 1");
}

/// The message for a pattern of a matrix with five entries, with these cells.
std::string complaint_about_cells(const Json& cells) {
  return complaint_after([&cells](Json& json) {
    json["patterns"] = Json::array(
        {{{"name", "a"}, {"rows", 4}, {"columns", 4}, {"entries", 5}, {"cells", cells}}});
  });
}

TEST(RunFile, RefusesPatternsThatNoMatrixHas) {
  EXPECT_EQ(complaint_about_cells({{1, 2}, {0, 2}}), "none");
  EXPECT_EQ(complaint_about_cells({{1, 2}, {2}}),
            "x.json: /patterns/0/cells/1: expected 2 cells, as in the first line, found 1");
  EXPECT_EQ(complaint_about_cells(Json::array({Json::array()})),
            "x.json: /patterns/0/cells/0: expected 1 cells, as in the first line, found 0");
  EXPECT_EQ(complaint_about_cells({{1, 2}, {0, 3}}),
            "x.json: /patterns/0/cells/1/1: expected a sum of at most 5, the matrix's entries");
  EXPECT_EQ(complaint_about_cells({{1, 2}, {0, 1}}),
            "x.json: /patterns/0/cells: expected 5 entries in cells, found 4");
  EXPECT_EQ(complaint_about_cells(Json::array()),
            "x.json: /patterns/0/cells: expected 5 entries in cells, found 0");
  EXPECT_EQ(complaint_about_cells({{1, -2}}),
            "x.json: /patterns/0/cells/0/1: expected a whole number of at least 0, found -2");
}

TEST(RunFile, RefusesNumbersThatNothingCanHold) {
  std::string text = example_json().dump();
  const std::string size = "\"size\":8,";
  text.replace(text.find(size), size.size(), "\"size\":18446744073709551615,");
  EXPECT_EQ(complaint_about(text),
            "x.json: /results/0/size: expected a whole number of at least 0, found "
            "18446744073709551615");
  EXPECT_EQ(complaint_about("{\"schema\": 1e999}"),
            "x.json: number overflow parsing '1e999'; expected numbers below 1.8e308");
}

/// The message for the third result after `change`; it has a median of 0.0406912.
std::string complaint_about_result(const Json& change) {
  return complaint_after([&change](Json& json) { json["results"][2].update(change); });
}

TEST(RunFile, RefusesStatisticsThatNoSamplesHave) {
  EXPECT_EQ(complaint_about_result({{"median", 7}, {"p99", 7}, {"ci95_median", {6, 8}}}), "none");
  EXPECT_EQ(complaint_about_result({{"median", 0}, {"ci95_median", {0, 0}}}), "none");
  EXPECT_EQ(complaint_about_result({{"median", 9}, {"p99", 9}, {"ci95_median", {6, 8}}}),
            "x.json: /results/2/median: expected a number in ci95_median, [6, 8], found 9");
  EXPECT_EQ(complaint_about_result({{"median", 7}, {"p99", 6.5}, {"ci95_median", {6, 8}}}),
            "x.json: /results/2/p99: expected a number of at least the median, 7, found 6.5");
  EXPECT_EQ(complaint_about_result({{"median", -7}, {"ci95_median", {-8, -6}}}),
            "x.json: /results/2/ci95_median: expected times of at least 0, found -8");
  EXPECT_EQ(complaint_about_result({{"median", -7}, {"ci95_median", {-8, -6}}, {"unit", "%"}}),
            "none")
      << "the hidden part may be negative";
}

TEST(RunFile, RefusesNumbersThatNothingWasMeasuredBy) {
  EXPECT_EQ(
      complaint_about_result({{"median", 1e300}}),
      "x.json: /results/2/median: expected 0 or a size between 1e-30 and 1e+30, found 1e+300");
  EXPECT_EQ(complaint_about_result({{"bytes_per_s", 1e-300}}),
            "x.json: /results/2/bytes_per_s: expected 0 or a size between 1e-30 and 1e+30, found "
            "1e-300");
  EXPECT_EQ(complaint_after([](Json& json) { json["targets"][0]["limit"] = 0; }),
            "x.json: /targets/0/limit: expected a number above 0, found 0");
  EXPECT_EQ(complaint_after([](Json& json) {
              json["ratings"] = {{{"name", "a"}, {"value", -1}, {"unit", "b"}, {"valid", true}}};
            }),
            "x.json: /ratings/0/value: expected a number of at least 0, found -1");
  EXPECT_EQ(complaint_after([](Json& json) { json["launch"]["nodes"] = 3; }),
            "x.json: /launch/nodes: expected at most 2 nodes, the number of ranks, found 3");
  EXPECT_EQ(complaint_about_result({{"backend", ""}}),
            "x.json: /results/2/backend: expected a name, found an empty string");
}

TEST(RunFile, HasWhatEndedTheRunTooEarly) {
  Json json = example_json();
  EXPECT_FALSE(to_run_file("x.json", json).is_unfinished());
  json["unfinished"] = "signal 2 (Interrupt)";
  EXPECT_EQ(to_run_file("x.json", json).unfinished, "signal 2 (Interrupt)");
}

TEST(RunFile, RefusesWhatIsNestedTooDeep) {
  const std::string nested = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_EQ(complaint_about("{\"host\": " + nested + "}"),
            "x.json: nested more than 64 levels deep");
}

std::string complaint_about_path(const std::string& path) {
  try {
    (void)read_run_file(path);
  } catch (const BadFile& problem) {
    return problem.what();
  }
  return "none";
}

TEST(RunFile, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(complaint_about_path("/nowhere/a.json"),
            "cannot read /nowhere/a.json: No such file or directory");
  const std::string folder = std::filesystem::temp_directory_path().string();
  EXPECT_EQ(complaint_about_path(folder), "cannot read " + folder + ": Is a directory");
  const auto empty =
      std::filesystem::temp_directory_path() / fmt::format("tessera_empty_{}.json", getpid());
  std::ofstream(empty).close();
  EXPECT_EQ(complaint_about_path(empty.string()).find(empty.string() + ": line 1, column 1: "), 0U);
  std::filesystem::remove(empty);
}

}  // namespace
}  // namespace tessera::bench::report
