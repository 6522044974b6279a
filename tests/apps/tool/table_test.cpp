// SPDX-License-Identifier: BSD-3-Clause
//
// From findings of many ranks to one table, as text and as JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "apps/tool/doctor.hpp"
#include "rma/base/version.hpp"
#include "tests/apps/tool/environment_of.hpp"

namespace tessera::tool {
namespace {

std::vector<PlacedFinding> lines_of(const Snapshot& all, const std::string& name) {
  std::vector<PlacedFinding> lines = join(all, examine(all));
  std::erase_if(lines, [&](const PlacedFinding& each) { return each.finding.name != name; });
  return lines;
}

TEST(Examine, FindsNothingInAHealthyJob) {
  const Snapshot all = job_of(3, 2);
  const auto lines = join(all, examine(all));
  EXPECT_EQ(worst_of(lines), State::green) << table_text(all, lines, false);
  std::set<std::string> names;
  for (const PlacedFinding& line : lines) {
    EXPECT_TRUE(names.insert(line.finding.name).second) << line.finding.name << " is there twice";
    EXPECT_EQ(line.finding.remedy, "") << line.finding.name;
  }
}

TEST(Examine, EachLineThatIsNotGreenHasARemedyOfOneLine) {
  Snapshot all = emulated(2, 4);
  for (Environment& each : all.ranks) {
    each.limits = {.address_space = mib,
                   .file_size = mib,
                   .descriptors = 8,
                   .max_descriptors = 8,
                   .locked = mib,
                   .max_locked = mib};
    each.huge_pages = {};
    each.memory.available = mib;
    each.ptrace_scope = 1;
    each.clock.source = "hpet";
    each.blas.openblas_variable = "9";
    each.network.error = "there is none";
    each.processors = {.usable = {0}, .online = 4, .quota = 0};
    each.rdma.ports = {
        {.device = "mlx5_0", .port = 1, .state = "DOWN", .link_layer = {}, .rate = {}}};
    each.rdma.refusal = "port 1 is DOWN";
  }
  all.is_job_tried = false;
  const auto lines = join(all, examine(all));
  EXPECT_EQ(worst_of(lines), State::red);
  for (const PlacedFinding& line : lines) {
    EXPECT_EQ(line.finding.remedy.empty(), line.finding.state == State::green) << line.finding.name;
    EXPECT_EQ(line.finding.remedy.find('\n'), std::string::npos) << line.finding.name;
  }
  EXPECT_GT(std::count_if(lines.begin(), lines.end(),
                          [](const auto& each) { return each.finding.state != State::green; }),
            12);
}

TEST(Join, ReportsOnceWhatHoldsForAll) {
  const auto lines = lines_of(job_of(3, 2), "descriptors");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].finding, green("descriptors", "at most 20000 may be open (ulimit -n)"));
  EXPECT_EQ(lines[0].ranks, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(Join, NamesTheNodeThatDiffersAndPutsItFirst) {
  Snapshot all = job_of(3, 2);
  for (const std::size_t rank : {2U, 3U}) {
    all.ranks[rank].limits.descriptors = 64;
  }
  const auto lines = lines_of(all, "descriptors");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].finding.state, State::yellow);
  EXPECT_EQ(lines[0].finding.found,
            "h2: at most 64 may be open (ulimit -n), but a process may need 1024: one for each "
            "node it communicates with");
  EXPECT_EQ(lines[0].ranks, (std::vector<int>{2, 3}));
  EXPECT_EQ(lines[1].finding.found, "h1, h3: at most 20000 may be open (ulimit -n)");
}

TEST(Join, NamesRanksIfTheirNodeIsDivided) {
  Snapshot all = emulated(2, 2);
  all.ranks[3].limits.descriptors = 64;
  const auto lines = lines_of(all, "descriptors");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].finding.found.starts_with("rank 3: at most 64 may"))
      << lines[0].finding.found;
  EXPECT_TRUE(lines[1].finding.found.starts_with("ranks 0, 1, 2: ")) << lines[1].finding.found;
  for (Environment& each : all.ranks) {
    each.limits.descriptors = 20'000;
  }
  all.ranks[2].limits.descriptors = all.ranks[3].limits.descriptors = 64;
  EXPECT_TRUE(lines_of(all, "descriptors")[0].finding.found.starts_with("node 1: at most 64 may"));
}

TEST(Join, PutsAmountsThatDifferIntoOneLine) {
  Snapshot all = job_of(6, 1);
  for (std::size_t rank = 0; rank < all.ranks.size(); ++rank) {
    all.ranks[rank].memory.available = (50 + rank) * gib;
  }
  const auto lines = lines_of(all, "memory");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].finding.found,
            "h1: 50.0 GiB of 64.0 GiB available; h2: 51.0 GiB of 64.0 GiB available; h3: 52.0 GiB "
            "of 64.0 GiB available; h4: 53.0 GiB of 64.0 GiB available; and 2 more");
}

TEST(Join, AsksOneRankOfAMachine) {
  Snapshot all = job_of(2, 2);
  all.ranks[1].memory.available = gib;  // seen a moment later
  const auto lines = lines_of(all, "memory");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].finding.found, "60.0 GiB of 64.0 GiB available");
}

TEST(TableText, HasWordsAlwaysAndColoursIfRequested) {
  const Snapshot all = job_of(2, 2);
  const std::vector<PlacedFinding> lines = {{green("clock", "tsc"), {}},
                                            {yellow("memory", "little", "more"), {}},
                                            {red("job", "none", "one"), {}}};
  const std::string head =
      "tessera doctor " + std::string(rma::version()) + ": 4 ranks on 2 nodes\n\n";
  EXPECT_EQ(table_text(all, lines, false), head +
                                               "green  clock: tsc\n"
                                               "yellow memory: little\n"
                                               "       remedy: more\n"
                                               "red    job: none\n"
                                               "       remedy: one\n"
                                               "\n"
                                               "1 green, 1 yellow, 1 red\n");
  EXPECT_EQ(table_text(all, lines, true), head +
                                              "\033[32mgreen \033[0m clock: tsc\n"
                                              "\033[33myellow\033[0m memory: little\n"
                                              "       remedy: more\n"
                                              "\033[31mred   \033[0m job: none\n"
                                              "       remedy: one\n"
                                              "\n"
                                              "1 green, 1 yellow, 1 red\n");
}

TEST(TableJson, HasEachLineAndTheNodes) {
  const Snapshot all = job_of(2, 2);
  const auto report = table_json(all, {{yellow("memory", "little", "more"), {2, 3}}});
  EXPECT_EQ(report["schema"], "tessera-doctor/1");
  EXPECT_EQ(report["state"], "yellow");
  EXPECT_EQ(report["ranks"], 4);
  EXPECT_EQ(report["nodes"][1],
            (nlohmann::ordered_json{{"name", "h2"}, {"host", "h2"}, {"ranks", {2, 3}}}));
  EXPECT_EQ(report["checks"], nlohmann::ordered_json::array({{{"name", "memory"},
                                                              {"state", "yellow"},
                                                              {"found", "little"},
                                                              {"remedy", "more"},
                                                              {"ranks", {2, 3}}}}));
}

TEST(Environment, TravelAsTextWithoutLoss) {
  Environment own = healthy();
  own.rdma.ports = {
      {.device = "mlx5_0", .port = 2, .state = "ACTIVE", .link_layer = {}, .rate = {}}};
  own.holders = {{.process = 7, .program = "a.out", .bytes = gib, .is_orphan = true}};
  own.configuration.changed = {"TESSERA_TUNE=chunk=64"};
  const Environment came = from_text(to_text(own));
  EXPECT_EQ(to_text(came), to_text(own));
  EXPECT_EQ(came.limits.locked, no_limit);
  EXPECT_EQ(came.rdma.ports.at(0).port, 2);
  EXPECT_EQ(came.network.interfaces.at(1).speed_mbit, 25'000);
  own.host = "h\xff";  // not valid UTF-8
  EXPECT_EQ(from_text(to_text(own)).host, "h\xef\xbf\xbd");
}

}  // namespace
}  // namespace tessera::tool
