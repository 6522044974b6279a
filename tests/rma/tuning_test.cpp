// SPDX-License-Identifier: BSD-3-Clause
#include "rma/tuning.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rma/job.hpp"
#include "rma/layer_settings.hpp"

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
    const bool is_lower = std::all_of(row.name.begin(), row.name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
    EXPECT_EQ(row.name.starts_with("TESSERA_"), !row.is_experimental()) << row.name;
    EXPECT_EQ(is_lower, row.is_experimental()) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is in the table twice";
    EXPECT_FALSE(row.unit.empty() || row.range.empty() || row.meaning.empty()) << row.name;
  }
}

TEST(Settings, EveryNumberIsTakenFromItsMinimumToItsMaximumAndNotBeyond) {
  for (const SettingInfo& row : setting_table()) {
    if (!std::holds_alternative<std::int64_t Settings::*>(row.field)) {
      continue;
    }
    const auto line = [&](std::int64_t value) {
      return fmt::format("{}={}", full_name(row), value);
    };
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
    const auto settings = read({fmt::format("TESSERA_TUNE=liveness_ms={}", text)});
    EXPECT_EQ(settings.status().code(), Code::invalid_argument) << '\'' << text << '\'';
    EXPECT_EQ(
        settings.status().message(),
        fmt::format("TESSERA_TUNE=liveness_ms={} is not usable: expected 1 to 60000 (ms)", text));
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
  for (const char* whose : {"shared", "per_client"}) {
    EXPECT_EQ(read({std::string("TESSERA_TUNE=server_buffers=") + whose})->server_buffers, whose);
  }
  EXPECT_EQ(read({"TESSERA_TUNE=server_buffers=per-client"}).status().message(),
            "TESSERA_TUNE=server_buffers=per-client is not usable: expected shared or per_client");
  for (const char* what : {"off", "races", "races-fail"}) {
    EXPECT_EQ(read({std::string("TESSERA_CHECK=") + what})->check, what);
  }
  EXPECT_EQ(read({"TESSERA_CHECK=race"}).status().message(),
            "TESSERA_CHECK=race is not usable: expected off, races or races-fail");
}

TEST(Settings, AnUnknownNameIsReportedWithTheNearestOne) {
  std::vector<std::string> warnings;
  ASSERT_TRUE(read({"TESSERA_TRANPORT=shm", "TESSERA_LIVENES=5", "TESSERA_LAUNCH=3:0:2",
                    "TESSERA_TUNE=spin_ns=5"},
                   &warnings)
                  .ok());
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "TESSERA_TRANPORT is not a setting and was ignored; did you mean "
                          "TESSERA_TRANSPORT?",
                          "TESSERA_LIVENES is not a setting and was ignored; did you mean "
                          "TESSERA_TUNE=liveness_ms?"}));
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
                "TESSERA_SPIN is not a setting and was ignored; did you mean TESSERA_TUNE=spin_ns?",
                "TESSERA_ARMCI is not a setting and was ignored; did you mean "
                "TESSERA_ARMCI_ERRORS?"}));
}

TEST(Settings, EveryMisspelledRowFindsItselfAgain) {
  for (const SettingInfo& row : setting_table()) {
    std::string name(row.name);
    name.erase(name.size() - 2, 1);
    const std::string question = fmt::format("did you mean {}?", full_name(row));
    if (row.is_experimental()) {
      const Status refused = read({fmt::format("TESSERA_TUNE={}=1", name)}).status();
      EXPECT_EQ(refused.code(), Code::invalid_argument);
      EXPECT_EQ(refused.message(),
                fmt::format("TESSERA_TUNE={0}=1 is not usable: there is no setting '{0}'; {1}",
                            name, question));
      continue;
    }
    std::vector<std::string> warnings;
    ASSERT_TRUE(read({name + "=1"}, &warnings).ok());
    ASSERT_EQ(warnings.size(), 1U) << name;
    EXPECT_TRUE(warnings[0].ends_with(question)) << warnings[0];
  }
}

TEST(Settings, ThoseOfLayersAboveAreKnownOnceTheyAreAdded) {
  static constexpr LayerSetting colour{"TESSERA_TEST_COLOUR", "red, green", "the colour of a test"};
  std::vector<std::string> warnings;
  ASSERT_TRUE(read({"TESSERA_TEST_COLOUR=green"}, &warnings).ok());
  ASSERT_EQ(warnings.size(), 1U) << "no layer has added it yet";
  EXPECT_TRUE(warnings[0].starts_with("TESSERA_TEST_COLOUR is not a setting")) << warnings[0];
  warnings.clear();
  const std::size_t before = layer_settings().size();
  add_layer_settings({&colour, 1});
  ASSERT_EQ(layer_settings().size(), before + 1);
  EXPECT_EQ(layer_settings().back().name, "TESSERA_TEST_COLOUR");
  ASSERT_TRUE(read({"TESSERA_TEST_COLOUR=green", "TESSERA_TEST_COLOR=green"}, &warnings).ok());
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "TESSERA_TEST_COLOR is not a setting and was ignored; did you mean "
                          "TESSERA_TEST_COLOUR?"}));
}

TEST(Settings, ThoseOfLayersAboveAreWordsOrTheirDefault) {
  static constexpr LayerSetting size{"TESSERA_TEST_SIZE", "small, large", "the size of a test"};
  EXPECT_EQ(size.default_word(), "small");
  ASSERT_EQ(unsetenv("TESSERA_TEST_SIZE"), 0);
  EXPECT_EQ(*read_layer_setting(size), "small");
  ASSERT_EQ(setenv("TESSERA_TEST_SIZE", "large", 1), 0);
  EXPECT_EQ(*read_layer_setting(size), "large");
  for (const char* wrong : {"", "larg", "small, large", "LARGE"}) {
    ASSERT_EQ(setenv("TESSERA_TEST_SIZE", wrong, 1), 0);
    EXPECT_EQ(read_layer_setting(size).status().message(),
              fmt::format("TESSERA_TEST_SIZE={} is not usable: expected small or large", wrong));
  }
  ASSERT_EQ(unsetenv("TESSERA_TEST_SIZE"), 0);
}

TEST(Settings, ExperimentalOnesAreInOneVariable) {
  const auto settings = read({"TESSERA_TUNE=spin_ns=5,,liveness_ms=20", "TESSERA_LOG=info",
                              "TESSERA_TUNE=liveness_ms=30,server_replies=via"});
  ASSERT_TRUE(settings.ok()) << settings.status().message();
  EXPECT_EQ(settings->spin_ns, 5);
  EXPECT_EQ(settings->liveness_ms, 30) << "the last one counts";
  EXPECT_EQ(settings->server_replies, "via");
  EXPECT_EQ(settings->log, "info");
  EXPECT_EQ(settings->tune, "spin_ns=5,,liveness_ms=20,liveness_ms=30,server_replies=via");
  EXPECT_EQ(read({"TESSERA_TUNE="})->tune, "");
}

TEST(Settings, AListInTheVariableOfExperimentalOnesMayContainCommas) {
  const auto settings = read({"TESSERA_TUNE=tcp_times=send=10,wire=820,spin_ns=5"});
  ASSERT_TRUE(settings.ok()) << settings.status().message();
  EXPECT_EQ(settings->tcp_times, "send=10,wire=820");
  EXPECT_EQ(settings->spin_ns, 5);
}

TEST(Settings, WrongPartsOfTheVariableOfExperimentalOnesAreRefused) {
  const auto message_of = [](const std::string& text) {
    return read({"TESSERA_TUNE=" + text}).status().message();
  };
  EXPECT_EQ(message_of("spin_ns"), "TESSERA_TUNE=spin_ns is not usable: 'spin_ns' has no value");
  EXPECT_EQ(message_of("spin_ns=5,log=debug"),
            "TESSERA_TUNE=spin_ns=5,log=debug is not usable: there is no setting 'log'; "
            "did you mean TESSERA_LOG?");
  EXPECT_EQ(message_of("TESSERA_LOG=debug"),
            "TESSERA_TUNE=TESSERA_LOG=debug is not usable: there is no setting 'TESSERA_LOG'; "
            "did you mean TESSERA_LOG?");
  EXPECT_EQ(message_of("xyzzy=1"),
            "TESSERA_TUNE=xyzzy=1 is not usable: there is no setting 'xyzzy'; "
            "`tessera info` lists the settings");
  EXPECT_EQ(message_of("server_replies=both"),
            "TESSERA_TUNE=server_replies=both is not usable: expected direct or via");
}

// Variables of earlier versions have no effect, and the warning has the new form.
TEST(Settings, VariablesThatExperimentalOnesHadGiveAWarning) {
  for (const SettingInfo& row : setting_table()) {
    if (!row.is_experimental()) {
      continue;
    }
    std::string name = "TESSERA_";
    std::transform(row.name.begin(), row.name.end(), std::back_inserter(name),
                   [](char c) { return static_cast<char>(std::toupper(c)); });
    std::vector<std::string> warnings;
    const auto settings = read({name + "=7"}, &warnings);
    ASSERT_TRUE(settings.ok()) << settings.status().message();
    EXPECT_EQ(value_text(*settings, row), value_text(Settings(), row));
    EXPECT_EQ(warnings, (std::vector<std::string>{fmt::format(
                            "{} is not a setting and was ignored; did you mean TESSERA_TUNE={}=7?",
                            name, row.name)}));
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
