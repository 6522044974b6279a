// SPDX-License-Identifier: BSD-3-Clause
//
// Phases: what a profile reports for them, how they nest, and how they end.
#include "rma/phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rma/profile/phase_log.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"
#include "tests/rma/profile_rig.hpp"
#include "tests/support/json_schema.hpp"

namespace tessera::rma {
namespace {

using nlohmann::json;
using test::fails;
using test::neighbour;
using test::ok;
using test::ProfiledRun;
using test::Ranks;

json phase_of(const json& file, const std::string& path) {
  for (const json& each : file["phases"]) {
    if (each["phase"] == path) {
      return each;
    }
  }
  return {};
}

json operations_of(const json& phase, const std::string& name) {
  for (const json& each : phase["regions"]) {
    if (each["name"] == name) {
      return each;
    }
  }
  return {};
}

std::vector<std::string> paths_of(const json& file) {
  std::vector<std::string> paths;
  for (const json& each : file["phases"]) {
    paths.push_back(each["phase"]);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Two steps, with 3 puts of 8 bytes to A in "deposit", one get of 16 in "push", and a barrier in
// neither; before them one put outside of phases.
void do_two_steps(Job& job) {
  Region a = Region::allocate(job.world(), 1024, {.name = "A"}).value();
  const RemoteAddress at = a.at(neighbour(job));
  std::vector<double> values(8, 1.0);
  require(put(job, at, values.data(), 64));
  for (int step = 0; step < 2; ++step) {
    const auto outer = job.phase("step");
    {
      const auto inner = job.phase("deposit");
      for (int i = 0; i < 3; ++i) {
        require(put(job, at, values.data(), 8));
      }
    }
    {
      const auto inner = job.phase("push");
      require(get(job, at, values.data(), 16));
    }
    require(job.world().barrier());
  }
  require(job.world().barrier());
}

class Phases : public testing::TestWithParam<Ranks> {};

TEST_P(Phases, HaveTheirOwnOperationsAndWaitsAndThoseOfPhasesWithin) {
  ProfiledRun run("json", GetParam());
  run.run(do_two_steps);
  const auto n = static_cast<std::uint64_t>(GetParam().count);
  const json file = run.json();
  ASSERT_TRUE(file.is_object()) << run.log_text();
  EXPECT_EQ(paths_of(file), (std::vector<std::string>{"step", "step/deposit", "step/push"}));
  const json step = phase_of(file, "step");
  const json deposit = phase_of(file, "step/deposit");
  const json push = phase_of(file, "step/push");
  for (const json& each : {step, deposit, push}) {
    EXPECT_EQ(each["count"], 2 * n) << each;
    EXPECT_EQ(each["left_open"], 0) << each;
    EXPECT_GE(each["seconds"], each["waiting_seconds"]) << each;
  }
  EXPECT_GE(step["seconds"].get<double>(),
            deposit["seconds"].get<double>() + push["seconds"].get<double>());
  const json puts = {{"operations", 6 * n}, {"bytes", 48 * n}};
  const json gets = {{"operations", 2 * n}, {"bytes", 32 * n}};
  EXPECT_EQ(operations_of(deposit, "A"), (json{{"name", "A"}, {"put", puts}}));
  EXPECT_EQ(operations_of(push, "A"), (json{{"name", "A"}, {"get", gets}}));
  EXPECT_EQ(operations_of(step, "A"), (json{{"name", "A"}, {"put", puts}, {"get", gets}}));
  EXPECT_EQ(step["moved_bytes"], 80 * n);
  EXPECT_EQ(step["waits"]["barrier"]["count"], 2 * n);
  EXPECT_FALSE(deposit["waits"].contains("barrier"));
}

TEST_P(Phases, AreSlicesOfATimelineThatEncloseTheirWaits) {
  ProfiledRun run("trace", GetParam());
  run.run(do_two_steps);
  const json trace = run.json();
  ASSERT_TRUE(trace.is_object()) << run.log_text();
  constexpr double rounding = 0.0021;  // of two times with three digits each
  std::int64_t phases = 0;
  std::int64_t barriers_within = 0;
  std::map<std::pair<int, int>, double> step_end;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") {
      continue;
    }
    const std::pair<int, int> thread{event["pid"], event["tid"]};
    const double end = event["ts"].get<double>() + event["dur"].get<double>();
    if (event["cat"] == "phase") {
      ++phases;
      const std::string name = event["name"];
      EXPECT_EQ(event["args"]["phase"], name == "step" ? name : "step/" + name);
      if (name == "step") {
        step_end[thread] = end;
      } else {
        EXPECT_LE(end, step_end[thread] + rounding);
      }
    } else if (event["name"] == "barrier" && event["ts"].get<double>() < step_end[thread]) {
      ++barriers_within;
      EXPECT_LE(end, step_end[thread] + rounding);
    }
  }
  EXPECT_EQ(phases, 6 * GetParam().count);
  EXPECT_EQ(barriers_within, 2 * GetParam().count);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Phases, testing::ValuesIn(test::all_kinds_of_ranks()));

constexpr Ranks one{.count = 1};
constexpr Ranks two{.count = 2};

TEST(PhaseFile, IsValidAgainstItsSchema) {
  ProfiledRun run("json", {.count = 3, .each_node = 2});
  run.run(do_two_steps);
  const int code = tessera::test::validate_by_schema(run.settings.profile_file, PROFILE_SCHEMA);
  if (code == tessera::test::no_validator) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  EXPECT_EQ(code, 0);
}

TEST(PhaseTable, NamesThePhaseItsLongestCallAndItsLargestTransfer) {
  ProfiledRun run("summary", two);
  run.run([](Job& job) {
    Region a = Region::allocate(job.world(), 1024, {.name = "rho"}).value();
    std::vector<double> values(8, 1.0);
    const auto outer = job.phase("step");
    const auto inner = job.phase("deposit");
    require(put(job, a.at(neighbour(job)), values.data(), 64));
    require(a.free());
  });
  const std::string log = run.log_text();
  const std::size_t table = log.find("\nphase ");
  ASSERT_NE(table, std::string::npos) << log;
  EXPECT_NE(log.find("\n  step  ", table), std::string::npos) << log;
  EXPECT_NE(log.find("\n    deposit  ", table), std::string::npos) << log;
  EXPECT_NE(log.find("free rho ", table), std::string::npos) << log;
  EXPECT_NE(log.find(", put rho 128 B", table), std::string::npos) << log;
  EXPECT_EQ(log.find("was open", table), std::string::npos) << log;
}

TEST(PhaseTable, IsAbsentWithoutPhases) {
  ProfiledRun run("summary", one);
  run.run([](Job& job) { require(job.barrier()); });
  EXPECT_EQ(run.log_text().find("\nphase "), std::string::npos) << run.log_text();
}

TEST(Phase, ThatIsOpenWhenTheJobStopsEndsThereAndIsReported) {
  ProfiledRun run("json", two);
  run.run([](Job& job) {
    const auto outer = job.phase("outer");
    const auto inner = job.phase("inner");
    require(job.stop());
  });
  const json file = run.json();
  EXPECT_EQ(phase_of(file, "outer")["left_open"], 2) << file["phases"];
  EXPECT_EQ(phase_of(file, "outer/inner")["count"], 2);
  ProfiledRun printed("summary", one);
  printed.run([](Job& job) {
    require(begin_phase(job, "deposit"));
    require(job.stop());
  });
  EXPECT_TRUE(printed.log_contains("phase 'deposit' was open 1 time when its rank stopped"))
      << printed.log_text();
}

// A phase that can be destroyed at any time.
struct Kept {
  Phase phase;
};

TEST(Phase, OutlivesItsJobWithoutHarm) {
  ProfiledRun run("json", one);
  std::unique_ptr<Kept> kept;
  run.run([&](Job& job) { kept.reset(new Kept{job.phase("kept")}); });
  EXPECT_EQ(phase_of(run.json(), "kept")["left_open"], 1);
  kept.reset();
}

TEST(Phase, EndsThePhasesThatBeganWithinIt) {
  ProfiledRun run("json", one);
  run.run([](Job& job) {
    auto outer = job.phase("outer");
    const auto inner = job.phase("inner");
    outer.end();
    outer.end();
    const auto next = job.phase("next");
  });
  const json file = run.json();
  EXPECT_EQ(paths_of(file), (std::vector<std::string>{"next", "outer", "outer/inner"}));
  EXPECT_EQ(phase_of(file, "outer/inner")["count"], 1);
  EXPECT_EQ(phase_of(file, "outer/inner")["left_open"], 0);
}

TEST(Phase, MayEndOnAnotherThread) {
  ProfiledRun run("json", one);
  run.run([](Job& job) {
    std::unique_ptr<Kept> first(new Kept{job.phase("first")});
    std::thread([&] { first.reset(); }).join();
    const auto second = job.phase("second");  // not within the first
  });
  EXPECT_EQ(paths_of(run.json()), (std::vector<std::string>{"first", "second"}));
}

TEST(Phase, BelongsToItsThread) {
  ProfiledRun run("json", one);
  run.run([](Job& job) {
    Region a = Region::allocate(job.world(), 64, {.name = "A"}).value();
    const auto mine = job.phase("main");
    std::thread([&] {
      const auto other = job.phase("other");
      const double value = 2;
      require(put(job, a.at(TeamRank{0}), &value, 8));
    }).join();
  });
  const json file = run.json();
  EXPECT_EQ(paths_of(file), (std::vector<std::string>{"main", "other"}));
  EXPECT_EQ(phase_of(file, "other")["moved_bytes"], 8);
  EXPECT_EQ(phase_of(file, "main")["moved_bytes"], 0);
}

TEST(Phase, OfAThreadThatEndsEndsWithIt) {
  ProfiledRun run("json", one);
  run.run([](Job& job) {
    std::thread([&] { require(begin_phase(job, "short")); }).join();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  const json phase = phase_of(run.json(), "short");
  EXPECT_EQ(phase["left_open"], 0) << phase;
  EXPECT_LT(phase["seconds"].get<double>(), run.json()["seconds"].get<double>());
}

TEST(Phase, EndsByNameOnlyIfItIsTheInnermostOne) {
  ProfiledRun run("json", one);
  run.run([](Job& job) {
    EXPECT_TRUE(fails(begin_phase(job, ""), Code::invalid_argument, {"a phase needs a name"}));
    EXPECT_TRUE(fails(end_phase(job, "push"), Code::invalid_argument,
                      {"end of phase 'push': this thread is in no phase",
                       "end phases on the thread that began them, the innermost one first"}));
    require(begin_phase(job, "step"));
    require(begin_phase(job, "push"));
    EXPECT_TRUE(fails(end_phase(job, "step"), Code::invalid_argument,
                      {"end of phase 'step': the innermost phase of this thread is 'step/push'"}));
    EXPECT_TRUE(ok(end_phase(job, "push")));
    EXPECT_TRUE(ok(end_phase(job)));
    EXPECT_FALSE(end_phase(job).ok());
  });
  const json file = run.json();
  EXPECT_EQ(paths_of(file), (std::vector<std::string>{"step", "step/push"}));
  EXPECT_EQ(phase_of(file, "step")["count"], 1);
}

TEST(Phase, WithoutAProfileIsNotRecorded) {
  ProfiledRun run("off", one);
  run.run([](Job& job) {
    const auto phase = job.phase("x");
    EXPECT_TRUE(ok(begin_phase(job, "y")));
    EXPECT_TRUE(ok(end_phase(job, "z")));
    EXPECT_TRUE(fails(begin_phase(job, ""), Code::invalid_argument, {"a phase needs a name"}));
    EXPECT_EQ(detail::current_phase(job), 0U);
  });
  EXPECT_TRUE(run.json().is_null());
}

TEST(Phase, BeyondTheLimitCountsAsOneOfMany) {
  constexpr std::size_t more = 20;
  ProfiledRun run("json", one);
  run.run([](Job& job) {
    for (std::size_t i = 0; i < detail::PhaseLog::max_phases + more; ++i) {
      const auto phase = job.phase(fmt::format("step {}", i));
    }
  });
  const json file = run.json();
  EXPECT_EQ(file["phases"].size(), detail::PhaseLog::max_phases + 1);
  EXPECT_EQ(phase_of(file, "(further phases)")["count"], more);
}

TEST(Phase, OfOneJobIsNoPhaseOfAnother) {
  ProfiledRun outer("json", one);
  ProfiledRun inner("json", one);
  outer.run([&](Job& job) {
    const auto phase = job.phase("outer");
    inner.settings.transport = "shm";
    JobOptions options;
    options.settings = inner.settings;
    Job other = Job::start(std::move(options)).value();
    const auto within = other.phase("inner");
    require(other.barrier());
    require(other.stop());
    require(job.barrier());
  });
  EXPECT_EQ(paths_of(outer.json()), std::vector<std::string>{"outer"});
  EXPECT_EQ(paths_of(inner.json()), std::vector<std::string>{"inner"});
  EXPECT_EQ(phase_of(outer.json(), "outer")["waits"]["barrier"]["count"], 1);
}

}  // namespace
}  // namespace tessera::rma
