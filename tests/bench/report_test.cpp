// SPDX-License-Identifier: BSD-3-Clause
//
// The output of a run: the table, and the JSON object checked against bench/schema.json.
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/support/options.hpp"
#include "bench/support/record.hpp"
#include "bench/support/table.hpp"
#include "tests/bench/rank_threads.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::bench {
namespace {

Measured measured(std::string name, double median_ns) {
  Measured one;
  one.name = std::move(name);
  one.bytes = 4096;
  one.repetitions = 10;
  for (int i = -50; i <= 50; ++i) {
    one.samples_ns.push_back(median_ns + i);
  }
  one.stats_ns = summarise(one.samples_ns);
  return one;
}

/// The baseline takes 1 µs, Tessera 2 µs.
std::vector<Measured> two_measured() {
  std::vector<Measured> results = {measured("memcpy", 1000), measured("shm", 2000)};
  results[1].ratio = ratio_of_medians(results[1].samples_ns, results[0].samples_ns);
  return results;
}

RunInfo example_run() {
  SingleRankGroup group;
  const std::array argv = {"tessera-bench", "latency"};
  RunInfo run = describe_run(group, static_cast<int>(argv.size()), argv.data());
  run.launch.options = {{"--cache", "1048576"}};
  run.env = {{"TESSERA_TRANSPORT", "shm"}};
  return run;
}

Report example_report() {
  Report report(example_run());
  report.add(to_records({"latency", "put", "", 4096}, two_measured(), 1));
  Record record;
  record.bench = record.backend = record.op = "by rank";
  record.by_rank = {1, 2};
  record.by_rank_ci95 = {{0.5, 1.5}, {2, 2.5}};
  record.stats = summarise(record.by_rank);
  report.add({record});
  report.add(MatrixPattern{"fe2d:2", 4, 4, 10, {{3, 2}, {2, 3}}});
  Targets targets;
  targets.add({{"put", "memcpy", Target::Sense::time_at_most, 3},
               {"put / mpi", "mpi", Target::Sense::speed_at_least, 8}});
  targets.observe("put", "put 4096", {2, {1.9, 2.1}});
  report.set_targets(targets.results());
  return report;
}

TEST(Records, AreInMicrosecondsWithTheirRatio) {
  const auto records = to_records({"latency", "put", "", 4096}, two_measured());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_DOUBLE_EQ(records[1].stats.median, 2.0);
  EXPECT_EQ(records[1].unit, "us");
  EXPECT_NEAR(records[1].bytes_per_s, 4096 / 2e-6, 1);
  EXPECT_FALSE(records[0].ratio);
  ASSERT_TRUE(records[1].ratio);
  EXPECT_EQ(records[1].ratio->reference, "memcpy");
  EXPECT_DOUBLE_EQ(records[1].ratio->ratio.value, 2.0);
}

TEST(Report, IsInvalidWithOneInvalidRecord) {
  Report report = example_report();
  EXPECT_TRUE(report.is_valid());
  auto wrong = two_measured();
  wrong[1].valid = false;
  report.add(to_records({"latency", "put", "", 8}, wrong));
  EXPECT_FALSE(report.is_valid());
}

TEST(Environment, IsOfNoteWhereItChoosesAWay) {
  for (const char* const name : {"TESSERA_SERVER", "OMP_NUM_THREADS", "OMPI_MCA_btl",
                                 "OMPI_MCA_pml", "OMPI_MCA_osc", "UCX_TLS", "MPIR_CVAR_NOLOCAL"}) {
    EXPECT_TRUE(is_of_note(name)) << name;
  }
  for (const char* const name :
       {"OMPI_MCA_ess", "OMPI_MCA_btl_base_verbose", "UCX_LOG_LEVEL", "PATH"}) {
    EXPECT_FALSE(is_of_note(name)) << name;
  }
}

TEST(Report, SaysThatNothingWasChecked) {
  RunInfo run = example_run();
  run.launch.options[no_check_option] = "yes";
  Report report(run);
  report.add(to_records({"rma", "put", "", 8}, two_measured()));
  report.add(Rating{"gups", 1, "GUPS", true});
  EXPECT_EQ(report.to_json().at("results").at(0).at("checked"), false);
  EXPECT_EQ(report.to_json().at("ratings").at(0).at("checked"), false);
  EXPECT_EQ(report.to_json().at("headline").at("allowed"), false);
  EXPECT_EQ(example_report().to_json().at("results").at(0).at("checked"), true);
}

TEST(Report, SaysHowSureAnIntervalOfFewSamplesIs) {
  auto few = two_measured();
  few[0].stats_ns.samples_n = 5;
  few[1].stats_ns.samples_n = 6;
  Report report(example_run());
  report.add(to_records({"rma", "put", "", 8}, few));
  const auto json = report.to_json();
  EXPECT_DOUBLE_EQ(json.at("results").at(0).at("confidence"), 0.9375);
  EXPECT_FALSE(json.at("results").at(1).contains("confidence"));
}

TEST(Report, WritesTheFieldsOfTheConvention) {
  const auto json = example_report().to_json();
  EXPECT_EQ(json.at("schema"), "tessera-bench/1");
  EXPECT_EQ(json.at("launch").at("argv").at(1), "latency");
  EXPECT_EQ(json.at("env").at("TESSERA_TRANSPORT"), "shm");
  EXPECT_EQ(json.at("launch").at("options").at("--cache"), "1048576");
  const auto& result = json.at("results").at(1);
  EXPECT_EQ(result.at("samples_n"), 101);
  EXPECT_DOUBLE_EQ(result.at("median"), 2.0);
  EXPECT_DOUBLE_EQ(result.at("ci95_median").at(0), 1.989);
  EXPECT_EQ(result.at("ratio").at("to"), "memcpy");
  EXPECT_FALSE(json.at("results").at(0).contains("against")) << "it is about the other one";
  EXPECT_EQ(result.at("against").size(), 1U);
  EXPECT_EQ(result.at("against").at(0), result.at("ratio"));
  EXPECT_EQ(json.at("results").at(2).at("by_rank").at(1), 2);
  EXPECT_EQ(json.at("results").at(2).at("by_rank_ci95").at(1).at(1), 2.5);
  EXPECT_EQ(json.at("patterns").at(0).at("cells").at(1).at(0), 2);
  EXPECT_EQ(json.at("targets").at(0).at("cases_without_reference"), 0);
}

/// Runs the schema validator on a document; its exit code, or no_validator.
int validate(const nlohmann::ordered_json& document) {
  const auto folder = std::filesystem::temp_directory_path();
  const auto file = folder / fmt::format("tessera_report_{}.json", getpid());
  std::ofstream(file) << document;
  const int code = tessera::test::validate_by_schema(file.string(), TESSERA_BENCH_SCHEMA);
  std::filesystem::remove(file);
  return code;
}

TEST(Report, IsValidJsonByTheSchema) {
  const int code = validate(example_report().to_json());
  if (code == tessera::test::no_validator) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  EXPECT_EQ(code, 0);
}

TEST(Report, OfAnUnfinishedRunIsValidByTheSchemaToo) {
  Report report = example_report();
  report.set_unfinished("signal 2 (Interrupt)");
  EXPECT_EQ(report.to_json()["unfinished"], "signal 2 (Interrupt)");
  const int code = validate(report.to_json());
  if (code == tessera::test::no_validator) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  EXPECT_EQ(code, 0);
}

TEST(Report, WithAMissingOrUnknownFieldIsInvalidByTheSchema) {
  auto document = example_report().to_json();
  document["results"][0].erase("median");
  const int code = validate(document);
  if (code == tessera::test::no_validator) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  EXPECT_EQ(code, 1);
  document = example_report().to_json();
  document["host"]["colour"] = "grey";
  EXPECT_EQ(validate(document), 1);
}

TEST(Objections, NameEachCause) {
  RunInfo run;
  run.host.governor = "performance";
  run.noise_percent = 1;
  run.host.tcp_congestion = "cubic";
  EXPECT_TRUE(objections(run).empty());
  run.host.tcp_congestion = "bbr";
  ASSERT_EQ(objections(run).size(), 1U);
  EXPECT_EQ(objections(run)[0],
            "TCP's congestion control is bbr, which paces long messages: it slows down other "
            "libraries; Tessera and the baselines choose another one");
  run.host.tcp_congestion = "";
  run.host.memory_bytes = std::int64_t{1} << 30;
  run.host.llc_bytes = std::int64_t{480} << 20;
  ASSERT_EQ(objections(run).size(), 1U);
  EXPECT_EQ(objections(run)[0],
            "a cache of 480 MiB is large for 1024 MiB of memory: cold data are less than four "
            "times the cache (if the cache's size is wrong, give the right one with --cache)");
  run.host.llc_bytes = 1 << 20;
  run.host.governor = "unknown";
  run.noise_percent = 7.5;
  run.launch.oversubscribed = true;
  run.launch.ranks = 4;
  run.host.cores = 2;
  const auto reasons = objections(run);
  ASSERT_EQ(reasons.size(), 3U);
  EXPECT_EQ(reasons[0], "oversubscribed: 4 ranks on 1 node(s), 2 core(s) here");
  EXPECT_EQ(reasons[2], "the time of a fixed piece of work varies by 7.5 %, more than 5 %");
}

TEST(DescribeRun, SeesMoreRanksThanCores) {
  const int ranks = static_cast<int>(std::thread::hardware_concurrency()) + 1;
  run_threads(ranks, [ranks](RankGroup& group) {
    const char* argv = "bench";
    const RunInfo run = describe_run(group, 1, &argv);
    EXPECT_EQ(run.launch.ranks, ranks);
    EXPECT_EQ(run.launch.nodes, 1);
    EXPECT_TRUE(run.launch.oversubscribed);
  });
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> found;
  for (std::string line; std::getline(in, line);) {
    found.push_back(line);
  }
  return found;
}

/// `line` with each run of blanks replaced by one.
std::string squeezed(const std::string& line) {
  std::istringstream in(line);
  std::string result;
  for (std::string word; in >> word;) {
    result += result.empty() ? word : " " + word;
  }
  return result;
}

TEST(Table, HasTheShapeOfOsu) {
  std::ostringstream out;
  const RunInfo run = example_run();
  Heading heading;
  heading.title = "Put Latency";
  heading.subject = 1;
  Table table(out, heading, run);
  table.add(4096, two_measured());
  const auto text = lines(out.str());
  ASSERT_GE(text.size(), 4U);
  EXPECT_EQ(text[0], "# Tessera Put Latency v" + run.suite_version);
  EXPECT_EQ(text[1].find("# backend: shm, sync: default, ranks: 1, nodes: 1, cores: "), 0U)
      << text[1];
  for (std::size_t i = 2; i + 2 < text.size(); ++i) {
    EXPECT_TRUE(text[i].starts_with("# ")) << text[i];
  }
  EXPECT_EQ(squeezed(text[text.size() - 2]), "# Size Latency (us) memcpy (us) ratio");
  EXPECT_EQ(squeezed(text.back()), "4096 2.0000 1.0000 2.000");
  EXPECT_EQ(text.back().find("2.0000") + 6, 30U);  // columns of 10 and 20, as OSU prints them
}

TEST(Table, KeepsABlankBetweenColumns) {
  EXPECT_EQ(column("2.000", 10), "     2.000");
  EXPECT_EQ(column("12345678.9", 10), " 12345678.9");
}

TEST(Table, SaysThatSamplesAreFew) {
  std::ostringstream out;
  const RunInfo run = example_run();
  Table table(out, {}, run);
  auto few = two_measured();
  for (Measured& each : few) {
    each.stats_ns.samples_n = 5;
  }
  table.add(8, few);
  EXPECT_NE(out.str().find("# fewer than 6 samples"), std::string::npos) << out.str();
}

TEST(Table, SaysWhereItsOwnCasesAreComplete) {
  RunInfo run = example_run();
  run.launch.options[sync_option] = "flush_local";
  const auto heading_of = [&run](const std::string& sync) {
    std::ostringstream out;
    Heading heading;
    heading.sync = sync;
    print_heading(out, heading, run, "shm");
    return out.str();
  };
  EXPECT_NE(heading_of("").find("sync: flush_local,"), std::string::npos);
  EXPECT_NE(heading_of("flush").find("sync: flush,"), std::string::npos);
}

TEST(Table, NamesTheSettingsThatChooseProtocols) {
  const auto heading_with = [](std::map<std::string, std::string> env) {
    std::ostringstream out;
    RunInfo run = example_run();
    run.env = std::move(env);
    print_heading(out, {}, run, "verbs");
    return out.str();
  };
  EXPECT_NE(heading_with({{"TESSERA_TUNE", "direct_row=16"},
                          {"TESSERA_TRANSPORT", "shm,verbs"},
                          {"TESSERA_VERBS_GID", "1"}})
                .find("\n# protocols: TESSERA_TUNE=direct_row=16 TESSERA_VERBS_GID=1\n"),
            std::string::npos);
  EXPECT_EQ(heading_with({{"TESSERA_TRANSPORT", "shm"}}).find("protocols"), std::string::npos);
}

TEST(Table, SaysWhereOperationsAreComplete) {
  std::ostringstream out;
  RunInfo run = example_run();
  run.launch.options = {{sync_option, "flush"}};
  print_heading(out, {}, run, "shm");
  EXPECT_NE(out.str().find("# backend: shm, sync: flush, ranks: "), std::string::npos);
}

TEST(Table, IsAboutTheSameCandidateWhereverItStands) {
  std::ostringstream out;
  const RunInfo run = example_run();
  Heading heading;
  heading.subject = 1;
  Table table(out, heading, run);
  auto measured = two_measured();
  table.add(8, measured);
  measured.push_back(measured[0]);
  measured[2].name = "mpi";
  std::rotate(measured.begin(), measured.begin() + 1, measured.end());
  EXPECT_EQ(table.subject_in(measured), 0U);
  table.add(16, measured);
  const auto text = lines(out.str());
  EXPECT_EQ(squeezed(text[text.size() - 2]),
            "# Size Latency (us) mpi (us) ratio memcpy (us) ratio");
  EXPECT_EQ(squeezed(text.back()), "16 2.0000 1.0000 2.000 1.0000 2.000");
  measured.erase(measured.begin());
  EXPECT_THROW((void)table.subject_in(measured), std::logic_error);
}

TEST(Table, NamesALineThatHasNoSize) {
  std::ostringstream out;
  const RunInfo run = example_run();
  Heading heading;
  heading.subject = 1;
  heading.size_name = "Op";
  Table table(out, heading, run);
  table.add("fetch_add", two_measured());
  const auto text = lines(out.str());
  EXPECT_EQ(squeezed(text[text.size() - 2]), "# Op Latency (us) memcpy (us) ratio");
  EXPECT_EQ(squeezed(text.back()), "fetch_add 2.0000 1.0000 2.000");
  EXPECT_EQ(text.back().find("2.0000") + 6, 30U);
}

TEST(Table, WithFullColumnsNamesThemAsOsuDoes) {
  std::ostringstream out;
  const RunInfo run = example_run();
  Heading heading;
  heading.full = true;
  Table table(out, heading, run);
  table.add(4096, {measured("shm", 2000)});
  const auto text = lines(out.str());
  EXPECT_EQ(squeezed(text[text.size() - 2]), "# Size Latency (us) Avg Min P50 P99 Max Iterations");
  EXPECT_EQ(squeezed(text.back()), "4096 2.0000 2.0000 1.9500 2.0000 2.0490 2.0500 1010");
}

TEST(Table, OfBandwidthsHasItsLeastWhereTimesAreGreatest) {
  std::ostringstream out;
  const RunInfo run = example_run();
  Heading heading;
  heading.quantity = Quantity::bandwidth;
  heading.full = true;
  Table table(out, heading, run);
  table.add(4096, {measured("shm", 2000)});
  const auto text = lines(out.str());
  EXPECT_EQ(squeezed(text[text.size() - 2]),
            "# Size Bandwidth (MB/s) Avg Min P50 P1 Max Iterations");
  EXPECT_EQ(squeezed(text.back()),
            "4096 2048.0000 2048.0000 1998.0488 2048.0000 1999.0239 2100.5128 1010");
}

TEST(Report, LeavesOutRatiosToNothing) {
  Report report(example_run());
  std::vector<Record> records = to_records({"rma", "put", "", 8}, two_measured());
  const double infinity = std::numeric_limits<double>::infinity();
  records[1].ratio = RatioTo{"memcpy", {infinity, {1, infinity}}};
  records[1].against = {{"memcpy", {infinity, {1, infinity}}}};
  report.add(std::move(records));
  const auto json = report.to_json();
  EXPECT_FALSE(json["results"][1].contains("ratio"));
  EXPECT_TRUE(json["results"][1]["against"].empty());
}

TEST(Table, HasNoRatioToNothing) {
  std::ostringstream out;
  const RunInfo run = example_run();
  Heading heading;
  heading.subject = 1;
  heading.full = true;
  Table table(out, heading, run);
  auto measured = two_measured();
  measured[0].samples_ns.assign(101, 0);
  table.add(8, measured);
  EXPECT_EQ(out.str().find("inf"), std::string::npos) << out.str();
  EXPECT_EQ(squeezed(lines(out.str()).back()).substr(0, 9), "8 2.0000 ");
}

TEST(Records, HaveARateWhereOperationsAreCounted) {
  auto measured = two_measured();
  measured[1].operations = 1;  // one of two ranks draws
  const auto records = to_records({"rma", "draws", "1 of 2 ranks", 8}, measured);
  EXPECT_EQ(records[0].operations_per_s, 0);
  EXPECT_NEAR(records[1].operations_per_s, 500'000, 1);
}

TEST(Report, TellsWhatIsRecordedTwice) {
  Report report(example_run());
  report.add(to_records({"rma", "ghosts", "64 x 64 x 64", 8}, two_measured()));
  report.add(to_records({"rma", "ghosts_by_width", "64 x 64 x 64", 8}, two_measured()));
  EXPECT_TRUE(report.recorded_twice().empty());
  report.add(to_records({"rma", "ghosts", "64 x 64 x 64", 8}, two_measured()));
  EXPECT_EQ(report.recorded_twice(),
            (std::vector<std::string>{"rma ghosts 64 x 64 x 64 8 B, memcpy",
                                      "rma ghosts 64 x 64 x 64 8 B, shm"}));
  EXPECT_FALSE(report.records().back().notes.empty());
  EXPECT_TRUE(report.is_valid());
}

TEST(GrantedCores, AreThoseOfTheControlGroupAndOfThoseAboveIt) {
  const tessera::test::TemporaryFolder root;
  const auto write = [&root](const std::string& path, const std::string& text) {
    const std::filesystem::path file = root.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  };
  EXPECT_EQ(granted_cores(root.path(), 8), 8) << "no limit is known";
  write("/proc/self/cgroup", "4:cpuacct,cpu:/batch/step\n0::/batch/step\n");
  write("/sys/fs/cgroup/batch/cpu.max", "250000 100000\n");
  write("/sys/fs/cgroup/batch/step/cpu.max", "max 100000\n");
  EXPECT_EQ(granted_cores(root.path(), 8), 2) << "of the group above";
  EXPECT_EQ(granted_cores(root.path(), 1), 1);
  write("/sys/fs/cgroup/cpu/batch/step/cpu.cfs_quota_us", "50000\n");
  write("/sys/fs/cgroup/cpu/batch/step/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(granted_cores(root.path(), 8), 1) << "of the old hierarchy; a part of one core is one";
}

TEST(Table, GivesBandwidthsInMegabytes) {
  std::ostringstream out;
  const RunInfo run = example_run();
  Heading heading;
  heading.quantity = Quantity::bandwidth;
  Table table(out, heading, run);
  table.add(4096, {measured("shm", 2000)});
  EXPECT_NE(out.str().find("Bandwidth (MB/s)"), std::string::npos);
  EXPECT_NE(out.str().find("2048.0000"), std::string::npos);  // 4096 bytes in 2 µs
}

TEST(Table, PrintsNotesAsComments) {
  std::ostringstream out;
  const RunInfo run = example_run();
  Table table(out, {}, run);
  auto wrong = std::vector{measured("shm", 2000)};
  wrong[0].valid = false;
  wrong[0].notes = {"remote byte 3 is 0x01"};
  table.add(8, wrong);
  EXPECT_NE(out.str().find("\n# 8 shm: INVALID: remote byte 3 is 0x01\n"), std::string::npos);
}

}  // namespace
}  // namespace tessera::bench
