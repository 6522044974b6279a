// SPDX-License-Identifier: BSD-3-Clause
//
// Tests of the page: its tables have the records' numbers, drawings show them at the right
// positions, text never becomes markup, and the page needs no other file. tests/bench/report_check
// reads pages of real runs.
#include "bench/report/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/report/drawing.hpp"
#include "bench/report/sections.hpp"
#include "bench/report/sweep.hpp"
#include "tests/bench/report_examples.hpp"

namespace tessera::bench::report {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// An error message for wrong nesting of elements, or an empty string. Expects what pages contain:
/// no comments, no CDATA, one DOCTYPE.
std::string nesting_problem(const std::string& text) {
  static const std::regex tag("<(/?)([A-Za-z!][A-Za-z0-9]*)((?:[^<>\"]|\"[^<\"]*\")*)>");
  std::vector<std::string> open;
  std::size_t tags = 0;
  for (std::sregex_iterator each(text.begin(), text.end(), tag), end; each != end; ++each) {
    ++tags;
    const std::string name = (*each)[2];
    const std::string rest = (*each)[3];
    if (name[0] == '!' || (!rest.empty() && rest.back() == '/')) {
      continue;
    }
    if ((*each)[1].length() == 0) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return fmt::format("</{}> closes {}", name, open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  if (tags != count(text, "<")) {
    return fmt::format("{} '<', but {} tags", count(text, "<"), tags);
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

/// The cells of a table's body, row by row.
std::vector<std::vector<std::string>> cells_of(const std::string& table) {
  static const std::regex cell("<t[hd][^>]*>([^<]*)</t[hd]>");
  std::vector<std::vector<std::string>> lines;
  std::istringstream in(table.substr(table.find("<tbody>")));
  for (std::string line; std::getline(in, line);) {
    lines.emplace_back();
    for (std::sregex_iterator each(line.begin(), line.end(), cell), end; each != end; ++each) {
      lines.back().push_back((*each)[1]);
    }
  }
  lines.pop_back();  // the table's end
  return lines;
}

TEST(ChartTable, HasTheRecordsNumbers) {
  const RunFile run = example_run();
  const Dataset data(one(run));
  const auto sweeps = sweeps_of(data.variants()[0], "rma", "put");
  ASSERT_EQ(sweeps.size(), 1U);
  const auto lines = cells_of(table_of(chart_of(sweeps[0], Show::time)));
  ASSERT_EQ(lines.size(), 3U);
  for (std::size_t line = 0; line < 3; ++line) {
    ASSERT_EQ(lines[line].size(), 7U) << "size, and a value and an interval of three";
    EXPECT_EQ(lines[line][0], std::to_string(run.results[3 * line].size));
    for (std::size_t i = 0; i < 3; ++i) {
      const Result& result = run.results[3 * line + i];
      EXPECT_EQ(lines[line][1 + 2 * i], plain(result.median));
      EXPECT_EQ(lines[line][2 + 2 * i],
                fmt::format("[{}, {}]", plain(result.ci95.lo), plain(result.ci95.hi)));
    }
  }
}

TEST(ChartTable, HasSpeedsAndPercents) {
  const RunFile run = example_run();
  const Dataset data(one(run));
  const auto sweeps = sweeps_of(data.variants()[0], "rma", "put");
  const auto speeds = cells_of(table_of(chart_of(sweeps.at(0), Show::speed)));
  EXPECT_EQ(speeds.at(0).at(1), plain(run.results[0].bytes_per_s * 1e-6));
  const auto percents = cells_of(table_of(chart_of(sweeps.at(0), Show::percent_of_baseline)));
  ASSERT_EQ(percents.at(0).size(), 5U) << "two baselines";
  EXPECT_EQ(percents[0][1], "50") << "of memcpy: twice as long";
  EXPECT_EQ(percents[0][2], fmt::format("[{}, {}]", plain(50 / 1.02), plain(50 / 0.98)));
  EXPECT_EQ(percents[0][3], "400") << "of mpi, which takes 8 times as long as memcpy";
}

TEST(ChartTable, ComparesSpeedsWhereTheWorkDiffers) {
  RunFile run = example_run();
  for (Result& result : run.results) {
    result.bytes_per_s *= result.backend == "shm" ? 2 : 1;  // as two ranks compared with one
  }
  const Dataset data(one(run));
  const auto sweeps = sweeps_of(data.variants()[0], "rma", "put");
  EXPECT_EQ(cells_of(table_of(chart_of(sweeps.at(0), Show::percent_of_baseline)))[0][1], "100");
}

/// One measurement of each shape, by one candidate.
Dataset of_shapes(const std::vector<std::pair<std::string, std::int64_t>>& shapes) {
  RunFile run = example_run();
  run.results.resize(1);
  const Result like = run.results[0];
  run.results.clear();
  for (const auto& [shape, size] : shapes) {
    run.results.push_back(like);
    run.results.back().shape = shape;
    run.results.back().size = size;
  }
  return Dataset(one(run));
}

TEST(Sweeps, GoByRowsForEachLength) {
  const Dataset data =
      of_shapes({{"1 x 16 B", 16}, {"4 x 16 B", 64}, {"1 x 64 B", 64}, {"4 x 64 B", 256}});
  const auto sweeps = sweeps_of(data.variants()[0], "rma", "put");
  ASSERT_EQ(sweeps.size(), 2U);
  EXPECT_EQ(sweeps[1].name(), "rma put, rows of 64 B");
  EXPECT_EQ(sweeps[1].lines[1].x, 4);
}

TEST(Sweeps, GoByBytesOfAPieceWhereAllDiffer) {
  const Dataset data = of_shapes({{"4 x 32 B", 128}, {"16 x 128 B", 2048}});
  const auto sweeps = sweeps_of(data.variants()[0], "rma", "put");
  ASSERT_EQ(sweeps.size(), 1U);
  EXPECT_EQ(sweeps[0].lines[1].x, 128);
}

TEST(Sweeps, GoBySizeForEachOtherShape) {
  const Dataset data = of_shapes({{"apart", 8}, {"apart", 64}, {"same", 8}, {"same", 64}});
  EXPECT_EQ(sweeps_of(data.variants()[0], "rma", "put").size(), 2U);
  const Dataset cubes = of_shapes({{"8 x 8 x 8", 8}, {"9 x 9 x 9", 64}});
  EXPECT_EQ(sweeps_of(cubes.variants()[0], "rma", "put").size(), 1U);
}

TEST(Sweeps, GoByWhatAShapeCounts) {
  const Dataset data =
      of_shapes({{"ranks changed: 0", 0}, {"ranks changed: 1", 8}, {"ranks changed: 3", 24}});
  const auto sweeps = sweeps_of(data.variants()[0], "rma", "put");
  ASSERT_EQ(sweeps.size(), 1U);
  EXPECT_EQ(sweeps[0].name(), "rma put");
  EXPECT_EQ(sweeps[0].x.title, "Ranks changed");
  EXPECT_EQ(sweeps[0].x.unit, Unit::count);
  EXPECT_EQ(sweeps[0].lines[2].x, 3);
  for (const char* const other : {"ranks changed: 3 of 4", "ranks changed:3", ": 3", "ranks: -1"}) {
    EXPECT_FALSE(counted_of(other)) << other;
  }
}

Chart small_chart() {
  Chart chart = blank_chart("A <chart>", {"Size", Unit::bytes, Spacing::logarithmic},
                            {"Time", Unit::time, Spacing::logarithmic});
  chart.series = {{"a & b", 0, {{8, 1, {0.9, 1.1}}, {64, 10, {9, 11}}}},
                  {"c", 1, {{8, 100, {90, 110}}, {64, 0, {0, 0}}}}};
  return chart;
}

TEST(Drawing, EscapesAllText) {
  const std::string drawn = figure(small_chart());
  EXPECT_EQ(nesting_problem(drawn), "");
  EXPECT_FALSE(has(drawn, "A <chart>"));
  EXPECT_TRUE(has(drawn, "A &lt;chart&gt;"));
  EXPECT_TRUE(has(drawn, "a &amp; b"));
}

TEST(Drawing, PutsPointsWhereTheyAre) {
  Chart chart = small_chart();
  chart.series.resize(1);
  const std::string drawn = draw(chart);
  static const std::regex line("class=\"line\" d=\"M([0-9.]+),([0-9.]+)L([0-9.]+),([0-9.]+)\"");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(drawn, found, line)) << drawn;
  EXPECT_LT(std::stod(found[1]), std::stod(found[3])) << "larger sizes to the right";
  EXPECT_GT(std::stod(found[2]), std::stod(found[4])) << "longer times above";
}

TEST(Drawing, LeavesOutWhatALogarithmCannotShow) {
  const std::string drawn = draw(small_chart());
  EXPECT_EQ(count(drawn, "class=\"mark\""), 3U);
  EXPECT_FALSE(has(drawn, "nan"));
  EXPECT_FALSE(has(drawn, "inf"));
}

TEST(Drawing, HasATitleADescriptionAndTheNumbersOfEachPoint) {
  Chart chart = small_chart();
  finish(chart);
  const std::string drawn = draw(chart);
  EXPECT_TRUE(has(drawn,
                  "<title>A &lt;chart&gt;</title><desc>a &amp; b: from 1 µs at 8 B "
                  "to 10 µs at 64 B."));
  EXPECT_TRUE(has(drawn, "<title>8 B: a &amp; b 1 [0.9,1.1] µs</title>"));
}

TEST(Drawing, ShowsBarsOrDotsOfCategories) {
  Chart chart = small_chart();
  chart.categories = {"first", "second <2>"};
  chart.series = {{"a", 0, {{0, 1, {1, 1}}, {1, 2, {2, 2}}}}, {"b", 1, {{1, 4, {4, 4}}}}};
  const std::string drawn = draw(chart);
  EXPECT_EQ(count(drawn, "class=\"bar\""), 0U) << "a logarithmic axis has no 0";
  EXPECT_EQ(count(drawn, "class=\"mark\""), 3U);
  EXPECT_FALSE(has(legend(chart), "class=\"bar\""));
  chart.y.spacing = Spacing::linear;
  const std::string from_0 = draw(chart);
  EXPECT_EQ(count(from_0, "class=\"bar\""), 3U);
  EXPECT_TRUE(has(from_0, "second &lt;2&gt;"));
  EXPECT_EQ(nesting_problem(from_0), "");
  EXPECT_TRUE(has(legend(chart), "class=\"bar\""));
}

TEST(Drawing, HasBarsWhereAnAxisFrom0ShowsThemAll) {
  const auto finished = [](double longest) {
    Chart chart = small_chart();
    chart.categories = {"first", "second"};
    chart.series = {{"a", 0, {{0, 1, {1, 1}}, {1, longest, {longest, longest}}}}};
    finish(chart);
    return chart;
  };
  EXPECT_TRUE(finished(10).has_bars());
  EXPECT_FALSE(finished(1000).has_bars());
}

TEST(Drawing, BreaksLongNamesOfCategories) {
  Chart chart = small_chart();
  chart.x.title = "";
  chart.categories = {"put here", "put + fence", "inseparable", "c", "d", "e", "f"};
  chart.series = {{"a", 0, {{0, 1, {1, 1}}, {1, 2, {2, 2}}}}};
  const std::string drawn = draw(chart);
  EXPECT_TRUE(has(drawn, ">put here<")) << drawn;
  EXPECT_TRUE(has(drawn, ">put +<"));
  EXPECT_TRUE(has(drawn, ">fence<"));
  EXPECT_TRUE(has(drawn, "<title>inseparable</title>"));
  EXPECT_TRUE(has(drawn, ">inseparab…<")) << "has no blank";
  chart.x.title = "Operation";
  EXPECT_TRUE(has(draw(chart), ">put + fen…<")) << "the second line is the title's";
}

TEST(Drawing, LeavesOutTicksOfIntervalsThatHaveNoRoom) {
  const std::string wide = draw_interval_axis(range_of({{0.0002, {0.00016, 0.0003}}}));
  EXPECT_FALSE(has(wide, ">0.0001<")) << "it would stick out: " << wide;
  EXPECT_TRUE(has(wide, ">1<"));
  EXPECT_TRUE(has(draw_interval_axis(range_of({{0.7, {0.6, 0.8}}})), ">0.6<"));
}

TEST(Drawing, OfNothingIsNothing) {
  EXPECT_EQ(figure(Chart{}), "");
}

TEST(Page, IsWellFormedAndSelfContained) {
  const std::string text = page(Dataset(one(example_run())));
  EXPECT_EQ(nesting_problem(text), "");
  std::string others = text;
  for (const std::string own : {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}) {
    const std::regex attribute(fmt::format("xmlns=\"{}\"", own));
    others = std::regex_replace(others, attribute, "");
  }
  for (const char* const foreign :
       {"http:", "https:", "src=", "<script", "<link", "@import", "url("}) {
    EXPECT_FALSE(has(others, foreign)) << foreign;
  }
  EXPECT_TRUE(has(text, "prefers-color-scheme: dark"));
}

TEST(Page, SaysWhereItsNumbersAreFrom) {
  const std::string text = page(Dataset(one(example_run("runs/a.json"))));
  for (const char* const part : {"runs/a.json", "Abacus &lt;2&gt;", "1 GiB", "TESSERA_TRANSPORT",
                                 "performance", "0.1.0", "abc"}) {
    EXPECT_TRUE(has(text, part)) << part;
  }
  EXPECT_FALSE(has(text, "No headlines"));
}

TEST(Page, SaysOfAllLaunchesWhereTheyRan) {
  std::vector<RunFile> runs = {example_run("a.json"), example_run("b.json"), example_run("c.json")};
  for (const std::size_t each : {1U, 2U}) {
    runs[each].host[4] = {"kernel", "Linux <6>"};
  }
  const std::string text = machines(Dataset(std::move(runs)));
  EXPECT_TRUE(has(text, "<tr><th>files</th><td class=\"long\">3</td>")) << text;
  EXPECT_TRUE(has(text, "<tr><th>kernel</th><td class=\"long\">Linux; Linux &lt;6&gt;</td>"))
      << text;
  EXPECT_TRUE(has(text, "<tr><th>cpu</th><td class=\"long\">Abacus &lt;2&gt;</td>")) << text;
}

TEST(Page, SaysWhatEndedARunTooEarly) {
  RunFile run = example_run("runs/a.json");
  EXPECT_FALSE(has(page(Dataset(one(run))), "Incomplete"));
  run.unfinished = "signal 2 (Interrupt)";
  const std::string text = page(Dataset(one(run)));
  EXPECT_TRUE(has(text, "Incomplete.")) << text;
  EXPECT_TRUE(has(text, "<li>runs/a.json: signal 2 (Interrupt)</li>")) << text;
}

TEST(ChartTable, HasNoPercentOfARatioOfNothing) {
  RunFile run = example_run();
  for (Result& result : run.results) {
    if (result.against) {
      for (RatioTo& ratio : *result.against) {
        ratio.ratio.value = 0;
      }
    }
  }
  const Dataset data(one(std::move(run)));
  const auto sweeps = sweeps_of(data.variants()[0], "rma", "put");
  EXPECT_TRUE(chart_of(sweeps.at(0), Show::percent_of_baseline).is_empty());
}

TEST(Page, ShowsObjectionsAndWrongData) {
  RunFile run = example_run();
  run.objections = {"oversubscribed: 4 ranks"};
  run.results[2].valid = false;
  run.results[2].notes = {"byte 3 is <wrong>"};
  const std::string text = page(Dataset(one(run)));
  EXPECT_TRUE(has(text, "No headlines"));
  EXPECT_TRUE(has(text, "oversubscribed: 4 ranks (a.json)"));
  EXPECT_TRUE(has(text, "a.json: rma put  8 B by shm: byte 3 is &lt;wrong&gt;"));
}

/// A page of one run with a rating; the run has the option `option`.
std::string page_with_rating(const std::string& option) {
  Json json = example_json();
  json["ratings"] = {{{"name", "mg class A"}, {"value", 9}, {"unit", "Mop/s"}, {"valid", true}}};
  json["launch"]["argv"].push_back(option);
  return page(Dataset(one(to_run_file("a.json", json))));
}

TEST(Page, CallsVerifiedOnlyWhatWasChecked) {
  const std::string checked = page_with_rating("-c");
  EXPECT_TRUE(has(checked, "<td class=\"text good\">verified</td>"));
  EXPECT_FALSE(has(checked, "Not checked."));
  const std::string unchecked = page_with_rating("--no-check");
  EXPECT_FALSE(has(unchecked, "verified"));
  EXPECT_TRUE(has(unchecked, "<td class=\"text faint\">data not checked; not a headline</td>"));
  EXPECT_TRUE(has(unchecked, "Not checked.</strong>"));
}

TEST(Page, SaysWhatIntervalsOfFewSamplesAre) {
  Json json = example_json();
  EXPECT_FALSE(has(page(Dataset(one(to_run_file("a.json", json)))), "Few samples."));
  json["results"][0]["samples_n"] = 5;
  json["targets"][0]["samples_n"] = 5;
  const std::string few = page(Dataset(one(to_run_file("a.json", json))));
  EXPECT_TRUE(has(few, "Few samples.</strong>"));
  EXPECT_TRUE(has(few, "too few samples")) << "neither met nor missed";
}

TEST(Page, SaysWhatKeepsABaselineFromBeingCompared) {
  const auto text_beside = [](int ranks) {
    std::vector<RunFile> runs = {example_run("old.json"), example_run("new.json", 3, "def")};
    runs[0].ranks = ranks;
    return page(Dataset(std::move(runs), {"old.json"}));
  };
  EXPECT_FALSE(has(text_beside(2), "Nothing can be compared"));
  const std::string text = text_beside(4);
  EXPECT_TRUE(has(text, "Nothing can be compared with the given baseline")) << text;
  EXPECT_TRUE(has(text, "<li>new.json: ranks 4 in the baseline, ranks 2 here</li>")) << text;
}

TEST(Page, HarmlesslyShowsHostileText) {
  const std::string evil = "</title><script>alert('x')</script>&\"";
  Json json = example_json();
  for (const char* const field : {"suite_version", "git"}) {
    json[field] = evil;
  }
  json["host"]["cpu"] = evil;
  json["host"][evil] = evil;
  json["launch"]["argv"] = {evil};
  json["launch"]["binding"] = evil;
  json["env"][evil] = evil;
  json["headline"]["objections"] = {evil};
  json["targets"][0]["name"] = json["targets"][0]["where"] = evil;
  json["targets"][1]["reference"] = evil;
  json["ratings"] = {{{"name", evil}, {"value", 1}, {"unit", evil}, {"valid", false}}};
  for (Json& result : json["results"]) {
    result["notes"] = {evil};
    result["valid"] = false;
    result["shape"] = evil;
    for (const char* const field : {"bench", "op", "backend"}) {
      result[field] = std::string(result[field]) + evil;
    }
  }
  Json memory = json["results"][0];
  memory["unit"] = evil;
  json["results"].push_back(memory);
  Json newer = json;
  newer["git"] = evil + "2";
  std::vector<RunFile> runs;
  runs.push_back(to_run_file(evil + ".json", json));
  runs.push_back(to_run_file("b.json", newer));
  const std::string text = page(Dataset(std::move(runs)));
  EXPECT_EQ(nesting_problem(text), "");
  EXPECT_FALSE(has(text, "<script"));
  EXPECT_TRUE(has(text, "&lt;script&gt;"));
}

TEST(OtherUnits, TellCasesApartAndBytesForPeople) {
  RunFile run = example_run();
  run.results.resize(1);
  const Result like = run.results[0];
  run.results.clear();
  const auto add = [&](const std::string& op, const std::string& shape, const std::string& unit,
                       double value) {
    run.results.push_back(like);
    Result& added = run.results.back();
    added.backend = "tessera-agent";
    added.op = op;
    added.shape = shape;
    added.unit = unit;
    added.median = value;
    added.ci95 = {value, value};
  };
  add("overlap_steps_hidden", "percent computed: 25", "%", 20);
  add("overlap_steps_hidden", "percent computed: 50", "%", 40);
  add("transpose", "", "bytes", 3 * 1048576);
  const std::string text = single_results(Dataset(one(run)));
  EXPECT_TRUE(has(text, "<th>rma overlap_steps_hidden, percent computed: 25, 8 B</th>")) << text;
  EXPECT_TRUE(has(text, "<th>rma overlap_steps_hidden, percent computed: 50, 8 B</th>"));
  EXPECT_TRUE(has(text, "<td>3 MiB</td><td class=\"ci\">[3 MiB, 3 MiB]</td>")) << text;
  EXPECT_TRUE(has(text, ">Tessera, tessera-agent<"));
}

TEST(Page, SaysThatFilesHaveNoResults) {
  RunFile run = example_run();
  run.results.clear();
  run.targets.clear();
  const std::string text = page(Dataset(one(run)));
  EXPECT_TRUE(has(text, "These files have no results."));
  EXPECT_EQ(nesting_problem(text), "");
  EXPECT_EQ(count(text, "<figure"), 0U);
}

TEST(Page, TellsTargetsThatWereMetMissedOrHadNoReference) {
  const std::string good = targets(Dataset(one(example_run("a.json", 2))));
  EXPECT_TRUE(has(good, ">met<"));
  EXPECT_TRUE(has(good, "no reference: armci-mpi"));
  EXPECT_TRUE(has(targets(Dataset(one(example_run("a.json", 4)))), ">missed<"));
}

TEST(Page, ListsChangesWithTheirStanding) {
  std::vector<RunFile> runs;
  runs.push_back(example_run("a.json", 2, "old"));
  runs.push_back(example_run("b.json", 3, "new"));
  const std::string text = changes(Dataset(std::move(runs)));
  EXPECT_TRUE(has(text, "6 of 6 results changed"));
  EXPECT_EQ(count(text, ">slower<"), 6U);
  EXPECT_TRUE(has(text, "a hint: 1 of at least 5 launches"));
  EXPECT_TRUE(has(text, "<td>1.5</td>"));
}

TEST(Page, SaysOfHowManyNothingIsSaidAndWhy) {
  std::vector<RunFile> runs;
  runs.push_back(example_run("a.json", 2, "old"));
  runs.push_back(example_run("b.json", 3, "new"));
  EXPECT_TRUE(has(changes(Dataset(runs)), " 0 more have no baseline in their rounds.</p>"));
  for (Result& result : runs[1].results) {
    result.samples_n = result.size == 8 ? 3 : result.samples_n;
  }
  const std::string text = changes(Dataset(std::move(runs)));
  EXPECT_TRUE(has(text, "4 of 4 results changed")) << text;
  EXPECT_TRUE(has(text, "0 more have no baseline in their rounds, 2 have too few samples."))
      << text;
}

TEST(Experiments, AreAllThereWithTheirCommandOrWhatTheyWaitFor) {
  const Dataset data(one(example_run()));
  std::vector<std::string> numbers;
  for (const Paper& each :
       {armci_paper(), protocols_paper(), armci_mpi_paper(), clustering_paper()}) {
    EXPECT_EQ(nesting_problem(paper(data, each)), "") << each.id;
    for (const Experiment& experiment : each.experiments) {
      numbers.push_back(each.id + " " + experiment.number);
      EXPECT_FALSE(experiment.shown.empty()) << numbers.back();
      EXPECT_FALSE(experiment.parts.empty() && experiment.later.empty()) << numbers.back();
    }
  }
  EXPECT_EQ(numbers.size(), 23U);
  const std::string armci = paper(data, armci_paper());
  EXPECT_TRUE(has(armci, "rma get: bandwidth")) << "figure 17 is in the example";
  EXPECT_TRUE(has(armci, "Not in these files: bandwidth of verbs put, ")) << "figure 14 is not";
  EXPECT_TRUE(has(paper(data, clustering_paper()), "scale.memory"));
}

/// A run with one result of each of these operations.
RunFile with_operations(const std::vector<std::pair<std::string, std::string>>& operations) {
  RunFile run = example_run();
  const Result like = run.results[2];  // Tessera's
  run.results.clear();
  for (const auto& [bench, op] : operations) {
    run.results.push_back(like);
    run.results.back().bench = bench;
    run.results.back().op = op;
  }
  return run;
}

/// The text of one experiment of a paper, without markup of code.
std::string text_of(const Paper& of, const std::string& number, const Dataset& data) {
  Paper only{of.id, of.title, {}};
  std::copy_if(of.experiments.begin(), of.experiments.end(), std::back_inserter(only.experiments),
               [&number](const Experiment& each) { return each.number == number; });
  return std::regex_replace(paper(data, only), std::regex("</?(span|code)>"), "");
}

TEST(Experiments, TellWhatIsMissingOfThemWhereTheRestIsThere) {
  const Dataset data(one(with_operations({{"rma", "put"}, {"net", "put_here"}})));
  const std::string text = text_of(armci_paper(), "Table 1", data);
  EXPECT_TRUE(has(text, "<th>own node</th>")) << text;
  EXPECT_TRUE(has(text, "<th>another node, TCP</th>"));
  EXPECT_TRUE(has(text,
                  "Not in these files: the row of another node over RDMA. "
                  "TESSERA_RANKS_PER_NODE=1 tessera-run -n 2 tessera-bench verbs.latency, "
                  "with --json FILE, measures it. This needs an RDMA device"));
  EXPECT_EQ(count(text, "Not in these files"), 1U) << text;
  const std::string registration = text_of(protocols_paper(), "Figure 2", data);
  EXPECT_TRUE(has(registration, "Not in these files: time of verbs put_registration. "));
  EXPECT_EQ(count(registration, "Not in these files"), 1U);
}

TEST(Experiments, HaveAHintForEachCommandWhereNothingIsThere) {
  const Dataset data(one(with_operations({{"x", "y"}})));
  const std::string text = text_of(armci_paper(), "Figure 18", data);
  EXPECT_EQ(count(text, "Not in these files"), 2U) << text;
  EXPECT_EQ(count(text, "class=\"figures\""), 0U);
}

// Classes A and B are present without messages.
TEST(Experiments, AskForClassCByItselfAndForClassesWithMessages) {
  const Dataset data(one(with_operations({{"mg", "class_A"}, {"mg", "class_B"}})));
  const std::string text = text_of(armci_paper(), "Figures 21 and 22", data);
  EXPECT_TRUE(has(text, "Not in these files: class C. ")) << text;
  EXPECT_TRUE(has(text,
                  "tessera-bench mg --classes C -i 5 -x 1, with --json FILE, measures it. This "
                  "takes about 9 GiB of memory and many minutes."));
  for (const char* where : {"on one node", "between nodes"}) {
    EXPECT_TRUE(has(text, fmt::format("Not in these files: class S {0}, class W {0}, class A {0}, "
                                      "class B {0}. ",
                                      where)));
  }
  EXPECT_TRUE(
      has(text, "measures it. Without MPI&#39;s messages, these charts have nothing to compare."));
}

TEST(Experiments, ShowCoupledClusterOfOneNumberOfRanksAndAskForASecond) {
  const Dataset data(
      one(with_operations({{"ccsd", "O = 4, V = 16"}, {"ccsd", "(T) O = 4, V = 16"}})));
  const std::string text = text_of(armci_mpi_paper(), "Figure 6", data);
  EXPECT_TRUE(has(text, "<figcaption>Contractions of CCSD, time")) << text;
  EXPECT_TRUE(has(text,
                  "Not in these files: contractions by numbers of ranks, triples by numbers of "
                  "ranks. TESSERA_RANKS_PER_NODE=1 tessera-run -n 4 tessera-bench ccsd -m 8:32M"));
  EXPECT_TRUE(has(text, "<figcaption>Triples of CCSD(T), time"));
}

TEST(Experiments, ShowTransfersOnWindowsAndAskForTheMethods) {
  const Dataset data(one(with_operations({{"mpi", "get"}, {"mpi", "put"}, {"mpi", "accumulate"}})));
  const std::string figure_3 = text_of(armci_mpi_paper(), "Figure 3", data);
  EXPECT_TRUE(has(figure_3, "<figcaption>mpi get: bandwidth")) << figure_3;
  EXPECT_FALSE(has(figure_3, "TESSERA_TRANSPORT=mpi")) << "nothing of that part is missing";
  const std::string figure_4 = text_of(armci_mpi_paper(), "Figure 4", data);
  EXPECT_TRUE(has(figure_4, "TESSERA_TRANSPORT=mpi mpirun -n 2 tessera-bench mpi.lists, with "))
      << figure_4;
}

TEST(Experiments, ShowCoupledClusterByTransport) {
  const Dataset data(one(with_operations({{"mpi", "O = 4, V = 16"}})));
  const std::string text = text_of(armci_mpi_paper(), "Figure 6", data);
  EXPECT_TRUE(has(text, "<figcaption>Contractions of CCSD by transport, time")) << text;
  EXPECT_TRUE(has(text, "Not in these files: Triples of CCSD(T) by transport, time. "));
}

}  // namespace
}  // namespace tessera::bench::report
