// SPDX-License-Identifier: BSD-3-Clause
//
// Profiles (docs/profile.md): known operations give known counts in the file and in the table. Also
// tests profiles that cannot be collected or written.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/engine/op_kind.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/profile/job_profile.hpp"
#include "rma/profile/output.hpp"
#include "rma/profile/rank_profile.hpp"
#include "rma/profile/tick_clock.hpp"
#include "rma/profile/trace.hpp"
#include "rma/transfer.hpp"
#include "tests/rma/profile_rig.hpp"
#include "tests/support/json_schema.hpp"

namespace tessera::rma {
namespace {

using nlohmann::json;
using test::neighbour;
using test::ok;
using test::ProfiledRun;
using test::Ranks;

// Operations of each rank on its neighbour; a single rank is its own neighbour.
void do_known_operations(Job& job) {
  Region a = Region::allocate(job.world(), 4096, {.name = "A"}).value();
  Region b = Region::allocate(job.world(), 128, {.name = "B"}).value();
  LockSet locks = LockSet::create(job.world(), 1).value();
  const RemoteAddress at = a.at(neighbour(job));
  std::vector<double> values(100, 1.0);
  require(put(job, at, values.data(), 800));
  for (int i = 0; i < 5; ++i) {
    require(put(job, at, values.data(), 8));
  }
  require(put_async(job, at + 2048, values.data(), 16).wait());
  require(put(job, at, values.data(), CopyShape::rows(16, 10, 16, 32)));
  const std::array<Fragment, 3> pieces{
      {{values.data(), 0, 8}, {values.data() + 1, 64, 8}, {values.data() + 2, 128, 8}}};
  require(put(job, at, pieces));
  require(get(job, at, values.data(), 80));
  require(get(job, at, values.data(), CopyShape::rows(8, 4, 8, 24)));
  require(accumulate(job, at, values.data(), 240, Scale::of(1.0)));
  require(fetch_add<std::int64_t>(job, at + 1024, 1).status());
  require(fetch_add<std::int32_t>(job, at + 1032, 1).status());
  require(get(job, b.at(neighbour(job)), values.data(), 64));
  require(locks.lock(neighbour(job), 0));
  require(locks.unlock(neighbour(job), 0));
  require(job.barrier());
  require(job.barrier());
  require(job.world().broadcast(std::as_writable_bytes(std::span(values).first(16)), TeamRank{0}));
  require(job.world().allreduce(1.0, Reduction::sum).status());
  require(job.world().allgather_value(1.0).status());
}

// The first entry of an array with all the given fields; null if none has them.
json find(const json& entries, const json& fields) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const json& each) {
    return std::all_of(fields.items().begin(), fields.items().end(), [&](const auto& field) {
      return each.contains(field.key()) && each[field.key()] == field.value();
    });
  });
  return found == entries.end() ? json() : *found;
}

json tally(std::uint64_t operations, std::uint64_t bytes) {
  return {{"operations", operations}, {"bytes", bytes}};
}

class Profile : public testing::TestWithParam<Ranks> {};

void expect_kind(const json& operations, const std::string& op, const std::string& form,
                 const json& expected) {
  json fields = {{"operation", op}};
  if (!form.empty()) {
    fields["form"] = form;
  }
  json found = find(operations, fields);
  ASSERT_FALSE(found.is_null()) << op << " " << form << " in " << operations;
  EXPECT_EQ(found["operations"], expected["operations"]) << op << " " << form;
  EXPECT_EQ(found["bytes"], expected["bytes"]) << op << " " << form;
}

TEST_P(Profile, CountsOperationsByKindRegionAndRank) {
  ProfiledRun run("json", GetParam());
  run.run(do_known_operations);
  const auto n = static_cast<std::uint64_t>(GetParam().count);
  const json file = run.json();
  ASSERT_TRUE(file.is_object()) << run.log_text();
  EXPECT_EQ(file["ranks"], n);
  EXPECT_EQ(file["nodes"], GetParam().nodes());
  EXPECT_EQ(file["complete"], true);

  const json& operations = file["operations"];
  EXPECT_EQ(operations.size(), 8U) << operations;
  expect_kind(operations, "put", "contiguous", tally(7 * n, 856 * n));
  expect_kind(operations, "put", "strided", tally(n, 160 * n));
  expect_kind(operations, "put", "vector", tally(3 * n, 24 * n));
  expect_kind(operations, "get", "contiguous", tally(2 * n, 144 * n));
  expect_kind(operations, "get", "strided", tally(n, 32 * n));
  expect_kind(operations, "accumulate", "contiguous", tally(n, 240 * n));
  expect_kind(operations, "atomic", "", tally(2 * n, 12 * n));
  expect_kind(operations, "lock", "", tally(n, 0));

  const json a = find(file["regions"], {{"name", "A"}});
  ASSERT_FALSE(a.is_null());
  EXPECT_EQ(a["regions"], 1);
  EXPECT_EQ(a["bytes"], 4096 * n);
  expect_kind(a["operations"], "get", "contiguous", tally(n, 80 * n));
  expect_kind(a["operations"], "put", "vector", tally(3 * n, 24 * n));
  const json b = find(file["regions"], {{"name", "B"}});
  EXPECT_EQ(b["operations"].size(), 1U) << b;
  expect_kind(b["operations"], "get", "contiguous", tally(n, 64 * n));

  EXPECT_EQ(file["traffic"].size(), n);
  for (std::uint64_t rank = 0; rank < n; ++rank) {
    const json flow = find(file["traffic"], {{"from", rank}, {"to", (rank + 1) % n}});
    ASSERT_FALSE(flow.is_null()) << rank;
    EXPECT_EQ(flow["put"], tally(11, 1040));
    EXPECT_EQ(flow["get"], tally(3, 176));
    EXPECT_EQ(flow["accumulate"], tally(1, 240));
    EXPECT_EQ(flow["atomic"], tally(2, 12));
    EXPECT_EQ(flow["lock"], tally(1, 0));
  }
}

TEST_P(Profile, NamesTheCallsThatWait) {
  ProfiledRun run("json", GetParam());
  run.run(do_known_operations);
  const auto n = static_cast<std::uint64_t>(GetParam().count);
  const json calls = run.json()["calls"];
  const auto count = [&](const char* call) { return find(calls, {{"call", call}})["count"]; };
  EXPECT_EQ(count("allocate A"), n) << calls;
  EXPECT_EQ(count("free A"), n);
  EXPECT_EQ(count("free B"), n);
  EXPECT_EQ(count("create lock set"), n);
  EXPECT_EQ(count("free lock set"), n);
  EXPECT_EQ(count("barrier"), json()) << "a barrier that the program called is only in waits";
}

TEST_P(Profile, CountsWaitsOnceAndWithTheirTime) {
  ProfiledRun run("json", GetParam());
  run.run(do_known_operations);
  const auto n = static_cast<std::uint64_t>(GetParam().count);
  const json file = run.json();
  const json& waits = file["waits"];
  const auto count = [&](const char* wait) { return find(waits, {{"wait", wait}})["count"]; };
  EXPECT_EQ(count("barrier"), 2 * n) << "barriers within allocations count as memory";
  EXPECT_EQ(count("broadcast"), n);
  EXPECT_EQ(find(waits, {{"wait", "broadcast"}})["bytes"], 128 * n);
  EXPECT_EQ(count("reduce"), n);
  EXPECT_EQ(count("allgather"), n);
  EXPECT_EQ(count("memory"), 6 * n) << "allocated and freed: two regions and the locks";
  EXPECT_EQ(count("lock"), n);
  EXPECT_EQ(count("agree"), json()) << "called only within allocations";
  // Two calls of Job::barrier and the end of the job fence. A fence in the freeing of regions is
  // part of "memory".
  EXPECT_EQ(count("fence"), 3 * n);

  // Blocking transfers wait only if they go to another node.
  std::uint64_t waiting_gets = 0;
  for (std::int32_t rank = 0; rank < GetParam().count; ++rank) {
    waiting_gets += GetParam().share_a_node(rank, (rank + 1) % GetParam().count) ? 0U : 3U;
  }
  EXPECT_EQ(count("get"), waiting_gets == 0 ? json() : json(waiting_gets));

  double seconds = 0;
  for (const json& wait : waits) {
    seconds += wait["seconds"].get<double>();
    EXPECT_LE(wait["longest_seconds"], wait["seconds"]);
  }
  double by_rank = 0;
  for (const json& rank : file["by_rank"]) {
    EXPECT_LE(rank["waiting_seconds"], rank["seconds"]);
    by_rank += rank["waiting_seconds"].get<double>();
  }
  EXPECT_EQ(file["by_rank"].size(), n);
  EXPECT_GT(seconds, 0);
  EXPECT_NEAR(seconds, by_rank, 1e-6 * seconds);
}

TEST_P(Profile, SummaryIsPrintedOnceByRankZero) {
  ProfiledRun run("summary", GetParam());
  run.run(do_known_operations);
  const std::string ranks = std::to_string(GetParam().count);
  EXPECT_TRUE(run.log_contains("tessera profile: " + ranks + " rank")) << run.log_text();
  EXPECT_EQ(run.log_text().find("tessera profile:"), run.log_text().rfind("tessera profile:"));
  for (const char* part : {"put strided", "get contiguous", "  A ", "  B ", "barrier", "max/mean",
                           "the hottest owner"}) {
    EXPECT_TRUE(run.log_contains(part)) << part << " in\n" << run.log_text();
  }
  EXPECT_TRUE(run.folder.names().empty());
}

TEST_P(Profile, OffWritesNothing) {
  ProfiledRun run("off", GetParam());
  run.run(do_known_operations);
  EXPECT_EQ(run.log_text(), "");
  EXPECT_TRUE(run.folder.names().empty());
}

TEST_P(Profile, AFileThatCannotBeWrittenIsAWarningAndTheTableIsPrintedInstead) {
  for (const char* mode : {"json", "trace"}) {
    ProfiledRun run(mode, GetParam());
    run.settings.profile_file = run.folder.file("missing/profile.json");
    run.run(do_known_operations);
    EXPECT_TRUE(run.log_contains("cannot write " + run.settings.profile_file)) << run.log_text();
    EXPECT_TRUE(run.log_contains("TESSERA_PROFILE_FILE")) << run.log_text();
    EXPECT_TRUE(run.log_contains("tessera profile:")) << run.log_text();
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Profile, testing::ValuesIn(test::all_kinds_of_ranks()));

TEST(ProfileFile, IsValidAgainstItsSchema) {
  ProfiledRun run("json", {.count = 3, .each_node = 2});
  run.run(do_known_operations);
  const int code = tessera::test::validate_by_schema(run.settings.profile_file, PROFILE_SCHEMA);
  if (code == tessera::test::no_validator) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  EXPECT_EQ(code, 0);
}

// Limits the size of this process's files for a scope, as a full disk does.
class ScopedFileSize {
 public:
  explicit ScopedFileSize(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~ScopedFileSize() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  ScopedFileSize(const ScopedFileSize&) = delete;
  ScopedFileSize& operator=(const ScopedFileSize&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(ProfileFile, ThatDoesNotFitIsRemoved) {
  const tessera::test::TemporaryFolder folder;
  const std::string file = folder.file("profile.json");
  const ScopedFileSize limit(4096);
  EXPECT_TRUE(test::fails(detail::write_file(file, std::string(100'000, 'x')),
                          Code::invalid_argument,
                          {"cannot write " + file + ": File too large", "TESSERA_PROFILE_FILE"}));
  EXPECT_TRUE(folder.names().empty());
}

TEST(ProfileFile, OfATraceThatDoesNotFitIsRemoved) {
  const tessera::test::TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  detail::RankProfile rank;
  rank.events.resize(1000);
  const ScopedFileSize limit(4096);
  detail::TraceFile trace;
  ASSERT_TRUE(ok(trace.open(file)));
  trace.add(rank, {}, {}, 0);
  errno = ETIMEDOUT;  // set by other calls between the writes
  EXPECT_TRUE(test::fails(trace.finish(1, ""), Code::invalid_argument,
                          {"cannot write " + file + ": File too large"}));
  EXPECT_TRUE(folder.names().empty());
}

TEST(ProfileFile, OfAnUnfinishedTraceIsRemoved) {
  const tessera::test::TemporaryFolder folder;
  {
    detail::TraceFile trace;
    ASSERT_TRUE(ok(trace.open(folder.file("trace.json"))));
    trace.add({}, {}, {}, 0);
  }
  EXPECT_TRUE(folder.names().empty());
}

// The profile names the rank whose memory has most traffic, and the rank that moved most bytes.
TEST(ProfileImbalance, NamesTheHottestOwnerAndTheRankThatMovedMost) {
  ProfiledRun run("json", {.count = 3});
  run.run([](Job& job) {
    Region region = Region::allocate(job.world(), 1024).value();
    std::array<std::byte, 100> bytes{};
    const auto own_offset = static_cast<std::uint64_t>(job.rank().value) * bytes.size();
    for (int i = 0; i < (job.rank().value == 1 ? 4 : 1); ++i) {
      require(put(job, region.at(TeamRank{2}, own_offset), bytes.data(), bytes.size()));
    }
  });
  const json imbalance = run.json()["imbalance"];
  EXPECT_EQ(imbalance["owned_bytes"]["rank"], 2);
  EXPECT_EQ(imbalance["owned_bytes"]["most"], 600);
  EXPECT_EQ(imbalance["owned_bytes"]["most_of_mean"], 3);
  EXPECT_EQ(imbalance["moved_bytes"]["rank"], 1);
  EXPECT_EQ(imbalance["moved_bytes"]["most_of_mean"], 2);
}

// The job uses more regions than the slice cache has entries, so entries change their regions.
TEST(ProfileRegions, KeepTheirCountsApartWhenCacheEntriesAreReplaced) {
  constexpr std::uint64_t regions = 200;
  ProfiledRun run("json", {.count = 2});
  run.run([](Job& job) {
    std::vector<Region> all;
    for (std::uint64_t i = 0; i < regions; ++i) {
      const std::string name = i % 2 == 0 ? "even" : "odd";
      all.push_back(Region::allocate(job.world(), 64, {.name = name}).value());
    }
    const double value = 1;
    for (int round = 0; round < 3; ++round) {
      for (std::uint64_t i = 0; i < regions; ++i) {
        const Region& region = all[i];
        for (std::uint64_t times = 0; times <= i % 2; ++times) {
          require(put(job, region.at(neighbour(job)), &value, sizeof value));
        }
      }
    }
  });
  const json file = run.json();
  const json even = find(file["regions"], {{"name", "even"}});
  const json odd = find(file["regions"], {{"name", "odd"}});
  EXPECT_EQ(even["regions"], regions / 2);
  EXPECT_EQ(even["bytes"], 64 * regions);
  expect_kind(even["operations"], "put", "contiguous", tally(3 * regions, 3 * 8 * regions));
  expect_kind(odd["operations"], "put", "contiguous", tally(6 * regions, 6 * 8 * regions));
}

// The counts of threads that have ended are included, and freed regions keep their counts.
TEST(ProfileRegions, HaveWhatOtherThreadsDidBeforeTheyWereFreed) {
  ProfiledRun run("json", {.count = 2});
  run.run([](Job& job) {
    for (int i = 0; i < 3; ++i) {
      Region region = Region::allocate(job.world(), 64, {.name = "temporary"}).value();
      std::thread([&] {
        double value = 0;
        require(get(job, region.at(neighbour(job)), &value, sizeof value));
      }).join();
      require(region.free());
    }
  });
  const json temporary = find(run.json()["regions"], {{"name", "temporary"}});
  EXPECT_EQ(temporary["regions"], 3);
  EXPECT_EQ(temporary["bytes"], 128) << "one region at a time";
  expect_kind(temporary["operations"], "get", "contiguous", tally(6, 48));
}

TEST(ProfileEnd, ARankThatDoesNotStopInTimeIsLeftOut) {
  for (const std::int64_t each_node : {0, 1}) {
    ProfiledRun run("json", {.count = 3, .each_node = each_node});
    run.settings.profile_wait_ms = 200;
    std::ofstream(run.settings.profile_file) << "{\"complete\": true}";  // by an earlier job
    run.run([](Job& job) {
      require(job.barrier());
      if (job.rank().value == 1) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
      }
    });
    EXPECT_TRUE(run.log_contains("rank 1 did not stop within 200 ms")) << run.log_text();
    const json own = run.json("profile.json.rank0");
    EXPECT_EQ(own["complete"], false);
    EXPECT_EQ(own["by_rank"].size(), 1U);
    EXPECT_EQ(find(own["waits"], {{"wait", "barrier"}})["count"], 1);
    EXPECT_FALSE(own["imbalance"].contains("owned_bytes")) << "other ranks are not known";
    EXPECT_TRUE(run.json("profile.json.rank2").is_object());
    EXPECT_TRUE(run.json().is_null());
  }
}

// The late rank finds that the others have printed their tables and are gone.
TEST(ProfileEnd, ARankThatDoesNotStopInTimePrintsNoTableOfItsOwn) {
  for (const std::int64_t each_node : {0, 1}) {
    ProfiledRun run("summary", {.count = 3, .each_node = each_node});
    run.settings.profile_wait_ms = 200;
    run.run([](Job& job) {
      require(job.barrier());
      if (job.rank().value == 1) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
      }
    });
    EXPECT_TRUE(run.log_contains("rank 0 only: rank 1 did not stop within 200 ms"))
        << run.log_text();
    EXPECT_EQ(run.log_text().find("tessera profile:"), run.log_text().rfind("tessera profile:"))
        << run.log_text();
  }
}

TEST(ProfileEnd, ThatSucceedsRemovesTheFilesOfAFailedOne) {
  ProfiledRun run("json", {.count = 2});
  for (const char* const name :
       {"profile.json.rank0", "profile.json.rank1", "profile.json.rank2"}) {
    std::ofstream(run.folder.file(name)) << "{}";
  }
  run.run([](Job& job) { require(job.barrier()); });
  EXPECT_EQ(run.folder.names(), (std::vector<std::string>{"profile.json", "profile.json.rank2"}))
      << "no rank of this job";
}

TEST(ProfileTable, KeepsNamesOnOneLineAndCharactersWhole) {
  detail::JobProfile profile{.job_ranks = 1, .missing = {}, .node_of = {0}, .ranks = {{}}};
  profile.ranks[0].regions.resize(3);
  profile.ranks[0].regions[0].name = "two\nlines\x1b[31m";
  profile.ranks[0].regions[1].name = "ääääääääääääääääääääääää";   // 24 letters, 48 bytes
  profile.ranks[0].regions[2].name = "ööööööööööööööööööööööööö";  // 25
  for (auto& region : profile.ranks[0].regions) {
    region.regions = 1;
  }
  const std::string table = profile.table();
  EXPECT_NE(table.find("  two?lines?[31m          "), std::string::npos) << table;
  EXPECT_NE(table.find("  ääääääääääääääääääääääää       1"), std::string::npos) << table;
  EXPECT_NE(table.find("  ööööööööööööööööööööö...       1"), std::string::npos) << table;
}

TEST(ProfileTable, OfOneRankOmitsTheHottestOwner) {
  detail::JobProfile profile{.job_ranks = 3, .missing = {}, .node_of = {0, 0, 0}, .ranks = {{}}};
  EXPECT_NE(profile.table().find("hottest owner"), std::string::npos);
  profile.missing = "rank 1 is gone";
  EXPECT_EQ(profile.table().find("hottest owner"), std::string::npos);
}

TEST(ProfileSettings, AnUnknownModeIsRefused) {
  const std::vector<std::string> lines{"TESSERA_PROFILE=csv"};
  EXPECT_TRUE(
      test::fails(Settings::from(lines), Code::invalid_argument,
                  {"TESSERA_PROFILE=csv is not usable", "expected off, summary, json or trace"}));
  const std::vector<std::string> events{"TESSERA_TUNE=profile_events=0"};
  EXPECT_TRUE(test::fails(Settings::from(events), Code::invalid_argument,
                          {"TESSERA_TUNE=profile_events=0 is not usable"}));
}

TEST(RankProfile, IsDecodedAsEncodedAndRefusesTruncatedInput) {
  detail::RankProfile sent;
  sent.rank = 3;
  sent.stop_ns = 77;
  sent.clock_at_stop = {1, -2, 3};
  sent.waits[4].longest_ns = 9;
  sent.peers.push_back({WorldRank{5}, {}});
  sent.peers[0].by_op[1] = {6, 7};
  sent.regions.resize(2);
  sent.regions[1].name = "amplitudes";
  sent.regions[1].tallies[8] = {1, 2};
  sent.events.push_back({.begin_ns = 11, .wait = detail::Wait::fence});
  sent.phases.resize(2);
  sent.phases[1].path = "step/deposit";
  sent.phases[1].calls.push_back({"sync rho", {.count = 4}});
  sent.phases[1].operations.push_back({"rho", {}});
  const std::vector<std::byte> bytes = sent.pack();
  const auto got = detail::RankProfile::unpack(bytes);
  ASSERT_TRUE(ok(got));
  EXPECT_EQ(got->pack(), bytes);
  EXPECT_EQ(got->regions[1].name, "amplitudes");
  EXPECT_EQ(got->peers[0].by_op[1].bytes, 7U);
  EXPECT_EQ(got->events[0].wait, detail::Wait::fence);
  EXPECT_EQ(got->phases[1].path, "step/deposit");
  EXPECT_EQ(got->phases[1].calls[0].label, "sync rho");
  EXPECT_EQ(got->phases[1].operations[0].name, "rho");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(detail::RankProfile::unpack(std::span(bytes).first(length)).ok()) << length;
  }
}

TEST(TickClock, ReportsTheTimesOfSteadyClock) {
  const detail::TickClock clock;
  const std::int64_t before = detail::steady_clock_ns();
  const std::int64_t begin = clock.now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::int64_t end = clock.now();
  const std::int64_t after = detail::steady_clock_ns();
  const detail::TickScale scale = clock.scale();
  constexpr std::int64_t reading_ns = 2'000;
  EXPECT_GE(scale.time_ns(begin), before - reading_ns);
  EXPECT_LE(scale.time_ns(end), after + reading_ns);
  EXPECT_GE(scale.span_ns(end - begin), 20'000'000 - reading_ns);
}

TEST(TickScale, IsTheRateBetweenTwoReadings) {
  const detail::TickScale scale({.ticks = 1'000, .ns = 50}, {.ticks = 4'000, .ns = 1'050});
  EXPECT_EQ(scale.span_ns(300), 100);
  EXPECT_EQ(scale.time_ns(1'300), 150);
  EXPECT_EQ(scale.time_ns(700), -50);
  EXPECT_EQ(detail::TickScale({.ticks = 7, .ns = 7}, {.ticks = 7, .ns = 7}).span_ns(5), 5);
}

TEST(OpKind, IsOneForEachOperationAndForm) {
  for (std::size_t kind = 0; kind < detail::op_kinds; ++kind) {
    EXPECT_EQ(detail::kind_of(detail::op_of(kind), detail::form_of(kind)), kind);
  }
  EXPECT_EQ(detail::kind_of(Op::accumulate, Form::scattered), detail::op_kinds - 1);
}

}  // namespace
}  // namespace tessera::rma
