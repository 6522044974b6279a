// SPDX-License-Identifier: BSD-3-Clause
#include "rma/tuning.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rma/job.hpp"

namespace tessera::rma {
namespace {

Result<Settings> read(const std::vector<std::string>& lines,
                      std::vector<std::string>* warnings = nullptr) {
  return Settings::from(lines, warnings);
}

TEST(Settings, DefaultsApplyToUnsetVariables) {
  const Settings settings = read({"HOME=/root", "TESSERA_", "NOT_TESSERA_LOG=debug"}).value();
  for (const SettingInfo& row : setting_table()) {
    EXPECT_EQ(value_text(settings, row), value_text(Settings(), row)) << row.name;
  }
}

TEST(Settings, EveryRowIsNamedOnceAndHasUnitRangeAndMeaning) {
  std::set<std::string_view> names;
  for (const SettingInfo& row : setting_table()) {
    EXPECT_TRUE(row.name.starts_with("TESSERA_")) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is in the table twice";
    EXPECT_FALSE(row.unit.empty() || row.range.empty() || row.meaning.empty()) << row.name;
  }
}

TEST(Settings, EveryNumberIsTakenFromItsMinimumToItsMaximumAndNotBeyond) {
  for (const SettingInfo& row : setting_table()) {
    if (!std::holds_alternative<std::int64_t Settings::*>(row.field)) {
      continue;
    }
    const auto line = [&](std::int64_t value) { return fmt::format("{}={}", row.name, value); };
    for (const std::int64_t value : {row.least, row.most}) {
      const auto settings = read({line(value)});
      ASSERT_TRUE(settings.ok()) << settings.status().message();
      EXPECT_EQ(value_text(*settings, row), std::to_string(value));
    }
    for (const std::int64_t value : {row.least - 1, row.most + 1}) {
      const auto settings = read({line(value)});
      EXPECT_EQ(settings.status().code(), Code::invalid_argument) << line(value);
      EXPECT_EQ(settings.status().message(), fmt::format("{} is not usable: expected {} ({})",
                                                         line(value), row.range, row.unit));
    }
  }
}

TEST(Settings, WhatIsNotANumberIsRefusedWithTheRange) {
  for (const char* text : {"", " 5", "5 ", "0x10", "1e3", "ten", "5.0", "99999999999999999999"}) {
    const auto settings = read({fmt::format("TESSERA_LIVENESS_MS={}", text)});
    EXPECT_EQ(settings.status().code(), Code::invalid_argument) << '\'' << text << '\'';
    EXPECT_EQ(settings.status().message(),
              fmt::format("TESSERA_LIVENESS_MS={} is not usable: expected 1 to 60000 (ms)", text));
  }
}

TEST(Settings, AnArenaBelowTheMinimumIsRefused) {
  EXPECT_TRUE(read({"TESSERA_ARENA_MIB=0"}).ok());
  EXPECT_TRUE(read({"TESSERA_ARENA_MIB=64"}).ok());
  for (const char* line : {"TESSERA_ARENA_MIB=1", "TESSERA_ARENA_MIB=63"}) {
    const auto settings = read({line});
    ASSERT_EQ(settings.status().code(), Code::invalid_argument) << line;
    EXPECT_EQ(settings.status().message(),
              std::string(line) + " is not usable: expected 0, or 64 to 67108864 (MiB)");
  }
}

TEST(Settings, WordsAreTakenFromTheirListsOnly) {
  for (const char* level : {"silent", "warning", "info", "debug"}) {
    EXPECT_EQ(read({std::string("TESSERA_LOG=") + level})->log, level);
  }
  EXPECT_EQ(read({"TESSERA_LOG=loud"}).status().message(),
            "TESSERA_LOG=loud is not usable: expected silent, warning, info or debug");
  for (const char* name : {"auto", "alone", "fork", "mpi"}) {
    EXPECT_EQ(read({std::string("TESSERA_BOOTSTRAP=") + name})->bootstrap, name);
  }
  EXPECT_EQ(read({"TESSERA_BOOTSTRAP=ssh"}).status().message(),
            "TESSERA_BOOTSTRAP=ssh is not usable: expected auto, alone, fork or mpi");
  for (const char* who : {"agent", "origin"}) {
    EXPECT_EQ(read({std::string("TESSERA_ACCUMULATE=") + who})->accumulate, who);
  }
  EXPECT_EQ(read({"TESSERA_ACCUMULATE=both"}).status().message(),
            "TESSERA_ACCUMULATE=both is not usable: expected agent or origin");
  for (const char* whose : {"shared", "per_client"}) {
    EXPECT_EQ(read({std::string("TESSERA_SERVER_BUFFERS=") + whose})->server_buffers, whose);
  }
  EXPECT_EQ(read({"TESSERA_SERVER_BUFFERS=per-client"}).status().message(),
            "TESSERA_SERVER_BUFFERS=per-client is not usable: expected shared or per_client");
  for (const char* what : {"off", "races", "races-fail"}) {
    EXPECT_EQ(read({std::string("TESSERA_CHECK=") + what})->check, what);
  }
  EXPECT_EQ(read({"TESSERA_CHECK=race"}).status().message(),
            "TESSERA_CHECK=race is not usable: expected off, races or races-fail");
}

TEST(Settings, AnUnknownNameIsReportedWithTheNearestOne) {
  std::vector<std::string> warnings;
  ASSERT_TRUE(read({"TESSERA_TRANPORT=shm", "TESSERA_LIVENES=5", "TESSERA_LAUNCH=3:0:2",
                    "TESSERA_SPIN_NS=5"},
                   &warnings)
                  .ok());
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "TESSERA_TRANPORT is not a setting and was ignored; did you mean "
                          "TESSERA_TRANSPORT?",
                          "TESSERA_LIVENES is not a setting and was ignored; did you mean "
                          "TESSERA_LIVENESS_MS?"}));
}

TEST(Settings, ADissimilarNameGetsNoSuggestion) {
  std::vector<std::string> warnings;
  ASSERT_TRUE(
      read({"TESSERA_FOO=1", "TESSERA_=1", "TESSERA_SPIN=5", "TESSERA_ARMCI=return"}, &warnings)
          .ok());
  EXPECT_EQ(warnings,
            (std::vector<std::string>{
                "TESSERA_FOO is not a setting and was ignored; `tessera info` lists the settings",
                "TESSERA_ is not a setting and was ignored; `tessera info` lists the settings",
                "TESSERA_SPIN is not a setting and was ignored; did you mean TESSERA_SPIN_NS?",
                "TESSERA_ARMCI is not a setting and was ignored; did you mean "
                "TESSERA_ARMCI_ERRORS?"}));
}

TEST(Settings, EveryMisspelledRowFindsItselfAgain) {
  for (const SettingInfo& row : setting_table()) {
    std::string name(row.name);
    name.erase(name.size() - 2, 1);
    std::vector<std::string> warnings;
    ASSERT_TRUE(read({name + "=1"}, &warnings).ok());
    ASSERT_EQ(warnings.size(), 1U) << name;
    EXPECT_TRUE(warnings[0].ends_with(fmt::format("did you mean {}?", row.name))) << warnings[0];
  }
}

// The largest values also work, since no sum of times overflows.
TEST(Settings, AJobStartsWithEveryTimeAtItsMaximum) {
  Settings settings;
  settings.arena_mib = 64;
  for (const SettingInfo& row : setting_table()) {
    if (row.unit == "ms") {
      settings.*std::get<std::int64_t Settings::*>(row.field) = row.most;
    }
  }
  const Status status = run_on_threads(3, [](Job& job) { return job.barrier(); },
                                       {.settings = settings, .transports = {}});
  EXPECT_TRUE(status.ok()) << status.describe();
}

TEST(Settings, AnUnknownTransportIsNamedBesideTheKnownOnes) {
  Settings settings;
  settings.arena_mib = 64;
  settings.transport = "shm,pigeon";
  const auto job =
      Job::start({.bootstrap = alone_bootstrap(), .settings = settings, .transports = {}});
  EXPECT_EQ(job.status().code(), Code::invalid_argument);
  EXPECT_EQ(job.status().message(),
            "TESSERA_TRANSPORT names 'pigeon'; there are shm, loopback, tcp, verbs, mpi");
  settings.transport = ",";
  const auto none =
      Job::start({.bootstrap = alone_bootstrap(), .settings = settings, .transports = {}});
  EXPECT_EQ(none.status().message(), "TESSERA_TRANSPORT names no transport");
}

}  // namespace
}  // namespace tessera::rma
