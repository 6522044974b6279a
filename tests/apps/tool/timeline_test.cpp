// SPDX-License-Identifier: BSD-3-Clause
//
// The page of `tessera timeline`: its contents, and what is refused.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "apps/tool/timeline.hpp"

namespace tessera::tool {
namespace {

using nlohmann::json;

rma::Result<std::string> page_of(const std::string& trace) {
  std::istringstream in(trace);
  return timeline_page(in, "trace.json");
}

// The data that the page holds for its script.
json data_of(const std::string& page) {
  const std::string head = "<script id=\"data\" type=\"application/json\">";
  const std::size_t begin = page.find(head) + head.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::string trace_of(const std::string& events, const std::string& about = "{}") {
  return fmt::format(R"({{"traceEvents":[{}],"otherData":{}}})", events, about);
}

std::string rank_named(int rank, const std::string& name) {
  return fmt::format(
      R"({{"name":"process_name","ph":"M","pid":{},"tid":0,"args":{{"name":"{}"}}}})", rank, name);
}

std::string wait_of(int rank, const std::string& name, double begin, double duration) {
  return fmt::format(
      R"({{"name":"{}","ph":"X","pid":{},"tid":1,"ts":{},"dur":{},"args":{{"rank":3,"bytes":8}}}})",
      name, rank, begin, duration);
}

TEST(Timeline, HasARowForEachRankWithTheOuterWaitFirst) {
  const auto page = page_of(trace_of(fmt::format(
      "{},{},{},{},{}", rank_named(0, "rank 0 on node 0"), rank_named(1, "rank 1 on node 1"),
      wait_of(1, "agree", 2.0, 0.5), wait_of(1, "memory", 2.0, 1.25), wait_of(0, "get", 7, 1))));
  ASSERT_TRUE(page.ok()) << page.status().message();
  const json data = data_of(*page);
  EXPECT_EQ(data["title"], "trace.json: 2 ranks, 3 waits");
  EXPECT_EQ(data["note"], "");
  EXPECT_EQ(data["names"], (json{"agree", "memory", "get"}));
  EXPECT_EQ(data["details"], (json::array({"bytes: 8, rank: 3"})));
  ASSERT_EQ(data["rows"].size(), 2U);
  EXPECT_EQ(data["rows"][0], json({{"label", "rank 0 on node 0"}, {"events", {7000, 1000, 2, 0}}}));
  EXPECT_EQ(data["rows"][1],
            json({{"label", "rank 1 on node 1"}, {"events", {2000, 1250, 1, 0, 2000, 500, 0, 0}}}));
}

std::string phase_of(int rank, const std::string& name, double begin, double duration) {
  return fmt::format(
      R"({{"name":"{0}","ph":"X","pid":{1},"tid":1,"ts":{2},"dur":{3},"cat":"phase",)"
      R"("args":{{"phase":"step/{0}"}}}})",
      name, rank, begin, duration);
}

TEST(Timeline, HasPhasesAroundTheirWaitsAndApartFromThem) {
  const auto page = page_of(trace_of(fmt::format(
      "{},{},{},{}", rank_named(0, "rank 0 on node 0"), phase_of(0, "barrier", 1.0, 3.0),
      wait_of(0, "barrier", 2.0, 0.5), wait_of(0, "get", 3.0, 0.5))));
  ASSERT_TRUE(page.ok()) << page.status().message();
  const json data = data_of(*page);
  EXPECT_EQ(data["title"], "trace.json: 1 ranks, 2 waits, 1 phases");
  EXPECT_EQ(data["names"], (json{"barrier", "barrier", "get"}));
  EXPECT_EQ(data["phases"], json::array({0}));
  EXPECT_EQ(data["details"][0], "phase: step/barrier");
  EXPECT_EQ(data["rows"][0]["events"], (json{1000, 3000, 0, 0, 2000, 500, 1, 1, 3000, 500, 2, 1}));
}

TEST(Timeline, FetchesNothing) {
  const auto page = page_of(trace_of(wait_of(0, "get", 1, 1)));
  ASSERT_TRUE(page.ok()) << page.status().message();
  for (const char* word : {"http:", "https:", "src=", "@import", "fetch(", "url("}) {
    EXPECT_EQ(page->find(word), std::string::npos) << word;
  }
}

TEST(Timeline, IsNotEndedByATextOfTheTrace) {
  const auto page =
      page_of(trace_of(rank_named(0, "</script><b>") + "," + wait_of(0, "sync </script>", 1, 1)));
  ASSERT_TRUE(page.ok()) << page.status().message();
  const json data = data_of(*page);
  EXPECT_EQ(data["rows"][0]["label"], "</script><b>");
  EXPECT_EQ(data["names"][0], "sync </script>");
}

TEST(Timeline, ReportsWhatIsMissing) {
  const auto page = page_of(
      trace_of(wait_of(0, "get", 1, 1), R"({"missing":"rank 1 died","dropped_events":12})"));
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_EQ(data_of(*page)["note"],
            "rank 1 died; 12 later events were not recorded: raise TESSERA_TUNE=profile_events");
}

TEST(Timeline, RefusesFilesThatAreNotTraces) {
  const std::pair<std::string, std::string> refused[] = {
      {"", "the file is damaged: "},
      {R"({"traceEvents":[)", "the file is damaged: "},
      {R"({"tessera_profile":1})", "the file has no traceEvents"},
      {"[]", "the file has no traceEvents"},
      {trace_of(R"({"name":"get","ph":"X","ts":1})"), "has no number 'dur'"},
      {trace_of(wait_of(0, "get", -1, 1)), "has 'ts' outside 0 to 3.2e+15 µs"},
      {trace_of(R"({"name":7,"ph":"X","ts":1,"dur":1})"), "the file is damaged: "},
      {trace_of("", R"({"missing":7})"), "'trace.json': its otherData: "},
  };
  for (const auto& [trace, words] : refused) {
    const auto page = page_of(trace);
    ASSERT_FALSE(page.ok()) << trace;
    EXPECT_EQ(page.status().code(), rma::Code::invalid_argument);
    EXPECT_NE(page.status().message().find(words), std::string::npos) << page.status().message();
  }
}

}  // namespace
}  // namespace tessera::tool
