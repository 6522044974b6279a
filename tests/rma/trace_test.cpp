// SPDX-License-Identifier: BSD-3-Clause
//
// TESSERA_PROFILE=trace: a file in the Chrome trace event format. Its events are in order, nested,
// and on one clock for all ranks.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rma/profile/trace.hpp"
#include "rma/transfer.hpp"
#include "tests/rma/profile_rig.hpp"

namespace tessera::rma {
namespace {

using nlohmann::json;
using test::ProfiledRun;
using test::Ranks;

constexpr int barriers = 20;

// Many barriers, with a get before each.
void meet_often(Job& job) {
  Region region = Region::allocate(job.world(), 1024).value();
  std::vector<double> values(64);
  for (int i = 0; i < barriers; ++i) {
    require(get(job, region.at(test::neighbour(job)), values.data(), 512));
    require(job.world().barrier());
  }
}

struct Interval {
  double begin = 0;
  double end = 0;
};

// The events of one kind, by rank, in the order of the file.
std::map<int, std::vector<Interval>> intervals(const json& trace, const std::string& name) {
  std::map<int, std::vector<Interval>> all;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["name"] == name) {
      const double begin = event["ts"];
      all[event["pid"]].push_back({begin, begin + event["dur"].get<double>()});
    }
  }
  return all;
}

class Trace : public testing::TestWithParam<Ranks> {};

TEST_P(Trace, EventsAreInOrderAndOneEndsBeforeTheNextOrWithinIt) {
  ProfiledRun run("trace", GetParam());
  run.run(meet_often);
  const json trace = run.json();
  ASSERT_TRUE(trace.is_object()) << run.log_text();
  constexpr double rounding = 0.0021;  // of two times with three digits each
  std::map<std::pair<int, int>, std::vector<Interval>> open;
  std::map<std::pair<int, int>, double> last;
  std::size_t count = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "M") {
      continue;
    }
    ++count;
    const std::pair<int, int> thread{event["pid"], event["tid"]};
    const Interval now{event["ts"], event["ts"].get<double>() + event["dur"].get<double>()};
    EXPECT_GE(now.begin, last[thread]);
    last[thread] = now.begin;
    std::vector<Interval>& outer = open[thread];
    while (!outer.empty() && outer.back().end <= now.begin + rounding) {
      outer.pop_back();
    }
    EXPECT_TRUE(outer.empty() || now.end <= outer.back().end + rounding) << event;
    outer.push_back(now);
  }
  EXPECT_EQ(trace["otherData"]["events"], count);
  EXPECT_EQ(trace["otherData"]["dropped_events"], 0);
  EXPECT_EQ(trace["otherData"]["complete"], true);
}

TEST_P(Trace, HasARowForEachRank) {
  ProfiledRun run("trace", GetParam());
  run.run(meet_often);
  std::map<int, std::string> rows;
  const json trace = run.json();
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") {
      rows[event["pid"]] = event["args"]["name"];
    }
  }
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(GetParam().count));
  EXPECT_EQ(rows[0], "rank 0 on node 0");
  EXPECT_EQ(rows[GetParam().count - 1], "rank " + std::to_string(GetParam().count - 1) +
                                            " on node " + std::to_string(GetParam().nodes() - 1));
}

TEST_P(Trace, EventsHaveTheNamesOfCallsAndTheirKinds) {
  ProfiledRun run("trace", GetParam());
  run.run([](Job& job) {
    auto region = Region::allocate(job.world(), 64, {.name = "the \"rho\""}).value();
    EXPECT_TRUE(test::ok(region.free()));
  });
  const json trace = run.json();
  ASSERT_TRUE(trace.is_object()) << run.log_text();
  std::map<std::string, int> names;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["args"]["wait"] == "memory") {
      ++names[event["name"]];
    }
  }
  EXPECT_EQ(names["allocate the \"rho\""], GetParam().count);
  EXPECT_EQ(names["free the \"rho\""], GetParam().count);
  EXPECT_EQ(names.size(), 2U);
}

// No rank leaves a barrier before all ranks have arrived. The times of ranks on several nodes must
// agree with this.
TEST_P(Trace, BarriersOfAllRanksMeetOnOneClock) {
  ProfiledRun run("trace", GetParam());
  run.run(meet_often);
  const json trace = run.json();
  const auto by_rank = intervals(trace, "barrier");
  ASSERT_EQ(by_rank.size(), static_cast<std::size_t>(GetParam().count));
  const double error = trace["otherData"]["clock_error_us"];
  EXPECT_EQ(GetParam().nodes() == 1, error == 0);
  for (const auto& [rank, own] : by_rank) {
    // All ranks have the same number of barriers, including those of allocating and freeing memory.
    ASSERT_EQ(own.size(), by_rank.at(0).size()) << rank;
    ASSERT_GE(own.size(), static_cast<std::size_t>(barriers));
  }
  for (std::size_t i = 0; i < by_rank.at(0).size(); ++i) {
    double last_came = by_rank.at(0)[i].begin;
    double first_left = by_rank.at(0)[i].end;
    for (const auto& [rank, own] : by_rank) {
      last_came = std::max(last_came, own[i].begin);
      first_left = std::min(first_left, own[i].end);
    }
    EXPECT_LE(last_came, first_left + 2 * error + 0.01) << i;
  }
}

// All nodes are on this machine and share its clock, so the correct offsets are known: 0.
TEST(TraceClock, IsAheadOfItselfByLessThanItsError) {
  ProfiledRun run("trace", {.count = 3, .each_node = 1});
  run.run(meet_often);
  const json about = run.json()["otherData"];
  EXPECT_GT(about["clock_error_us"], 0);
  for (const json& sample : about["clocks"]) {
    EXPECT_LE(std::abs(sample["ahead_us"].get<double>()), sample["error_us"].get<double>());
  }
  EXPECT_EQ(about["clocks"].size(), 4U) << "two nodes, at the start and at the end";
}

TEST(TraceClock, InterpolatesLinearlyBetweenItsSamples) {
  const detail::ClockSample start{.at_ns = 1000, .ahead_ns = 50, .error_ns = 1};
  const detail::ClockSample stop{.at_ns = 3000, .ahead_ns = 150, .error_ns = 1};
  const detail::ClockSample none{};
  EXPECT_EQ(on_common_clock(1000, start, stop), 1050);
  EXPECT_EQ(on_common_clock(2000, start, stop), 2100);
  EXPECT_EQ(on_common_clock(3000, start, stop), 3150);
  EXPECT_EQ(on_common_clock(2000, start, none), 2050);
  EXPECT_EQ(on_common_clock(2000, none, none), 2000);
}

TEST(TraceEvents, BeyondTheSettingAreCountedAndReportedInTheFile) {
  constexpr int kept = 8;
  ProfiledRun all("trace", {.count = 2});
  all.run(meet_often);
  ProfiledRun few("trace", {.count = 2});
  few.settings.profile_events = kept;
  few.run(meet_often);
  const json about = few.json()["otherData"];
  EXPECT_EQ(about["events"], 2 * kept);
  EXPECT_EQ(about["events"].get<int>() + about["dropped_events"].get<int>(),
            all.json()["otherData"]["events"].get<int>());
}

INSTANTIATE_TEST_SUITE_P(Ranks, Trace, testing::ValuesIn(test::all_kinds_of_ranks()));

}  // namespace
}  // namespace tessera::rma
