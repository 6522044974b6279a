// SPDX-License-Identifier: BSD-3-Clause
//
// The command line that all suites share.
#include "bench/support/options.hpp"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "apps/common/command_line.hpp"
#include "bench/support/machine.hpp"

namespace tessera::bench {
namespace {

/// Parses a line as main() would.
SuiteOptions parse(std::vector<std::string> words) {
  SuiteOptions options;
  CLI::App app;
  add_options(app, options);
  std::reverse(words.begin(), words.end());  // CLI11 expects them in this order
  app.parse(words);
  return options;
}

TEST(SuiteOptions, HaveDefaults) {
  const SuiteOptions options = parse({});
  EXPECT_EQ(options.min_size, 8);
  EXPECT_EQ(options.max_size, 4 << 20);
  EXPECT_TRUE(options.check);
  EXPECT_FALSE(options.full);
  EXPECT_TRUE(options.measure_options().prime);
}

TEST(SuiteOptions, TellWhichOfThemMakeOtherNumbers) {
  using Options = std::map<std::string, std::string>;
  EXPECT_EQ(parse({"-i", "30", "--quiet", "-w", "allocate"}).distinguishing(), Options());
  EXPECT_EQ(parse({"-s", "flush", "-w", "create", "--cold", "--cache", "1M"}).distinguishing(),
            (Options{{"--sync-option", "flush"},
                     {"--win-option", "create"},
                     {"--cold", "yes"},
                     {"--cache", "1048576"}}));
}

TEST(SuiteOptions, TellWhatWasNotChecked) {
  EXPECT_EQ(parse({"--no-check"}).distinguishing().count("--no-check"), 1U);
}

TEST(SuiteOptions, TakeTheSpellingOfOsu) {
  const SuiteOptions options = parse({"-m", "64:1M", "-i", "30", "-x", "5", "-f"});
  EXPECT_EQ(options.min_size, 64);
  EXPECT_EQ(options.max_size, 1 << 20);
  EXPECT_EQ(options.samples, 30);
  EXPECT_EQ(options.warm_up_samples, 5);
  EXPECT_TRUE(options.full);
}

TEST(SuiteOptions, TakeTheSpellingOfOsuForWindows) {
  const SuiteOptions options = parse({"-W", "16", "-s", "flush", "-w", "create"});
  EXPECT_EQ(options.window, 16);
  EXPECT_EQ(options.sync, "flush");
  EXPECT_TRUE(options.attaches);
  EXPECT_EQ(parse({}).window, 64);
  EXPECT_FALSE(parse({"-w", "allocate"}).attaches);
  EXPECT_THROW((void)parse({"-W", "0"}), CLI::ValidationError);
  EXPECT_THROW((void)parse({"-s", "pscw"}), CLI::ValidationError);
  EXPECT_THROW((void)parse({"-w", "dynamic"}), CLI::ValidationError);
}

TEST(SuiteOptions, SayWherePutsAreCompleteForAllTables) {
  for (const Completes usual : {Completes::here, Completes::at_target}) {
    EXPECT_EQ(parse({}).completes(usual), usual);
    EXPECT_EQ(parse({"-s", "flush"}).completes(usual), Completes::at_target);
    EXPECT_EQ(parse({"-s", "flush_local"}).completes(usual), Completes::here);
  }
}

TEST(SuiteOptions, TakeHalfARange) {
  EXPECT_EQ(parse({"-m", "2K"}).max_size, 2048);
  EXPECT_EQ(parse({"-m", "2K"}).min_size, 8);
  EXPECT_EQ(parse({"-m", "2K:"}).min_size, 2048);
  EXPECT_EQ(parse({"-m", ":1G"}).max_size, 1 << 30);
}

TEST(SuiteOptions, RefuseWhatIsNoSize) {
  for (const char* text : {"abc", "8:x", "-4", "0", "4T", "8K8", "100:8", "9999999999999999999"}) {
    EXPECT_THROW((void)parse({std::string("-m=") + text}), CLI::ValidationError) << text;
  }
  for (const char* text : {"", ":", "+8", " 8", "8:+64"}) {
    EXPECT_THROW((void)parse({"-m", text}), CLI::ValidationError) << text;
  }
}

TEST(Edges, AreWholeNumbersBetweenCommas) {
  EXPECT_EQ(parse_edges("4"), (std::vector<std::int64_t>{4}));
  EXPECT_EQ(parse_edges("100,0200"), (std::vector<std::int64_t>{100, 200}));
  for (const char* text : {"", ",", "4,", ",4", "4,,5", "+4", "0", "100001", "4 5"}) {
    EXPECT_THROW((void)parse_edges(text), CLI::ValidationError) << text;
  }
}

TEST(SuiteOptions, TakeTheUsersWordForTheCache) {
  EXPECT_EQ(parse({"--cache", "1M"}).cold_bytes(), 64U << 20) << "the least";
  EXPECT_EQ(parse({"--cache", "20M"}).cold_bytes(), 80U << 20);
  EXPECT_EQ(parse({"--cache", "512G"}).cold_bytes(),
            static_cast<std::size_t>(max_cold_bytes(memory_bytes())));
  EXPECT_THROW((void)parse({"--cache", "big"}), CLI::ValidationError);
}

TEST(SuiteOptions, SwitchCheckingAndWarmCachesOff) {
  const SuiteOptions options = parse({"--no-check", "--cold", "--quiet"});
  EXPECT_FALSE(options.measure_options().verify);
  EXPECT_FALSE(options.measure_options().prime);
  EXPECT_TRUE(options.quiet);
}

TEST(ParseCommandLine, GivesTheExitCode) {
  SuiteOptions options;
  CLI::App app;
  add_options(app, options);
  const std::array good = {"suite", "-f"};
  const std::array help = {"suite", "--help"};
  const std::array bad = {"suite", "--nonsense"};
  EXPECT_EQ(apps::parse_command_line(app, 2, good.data()), std::nullopt);
  EXPECT_EQ(apps::parse_command_line(app, 2, help.data()), 0);
  EXPECT_EQ(apps::parse_command_line(app, 2, bad.data()), 2);
}

TEST(SuiteOptions, GoThroughPowersOfTwo) {
  SuiteOptions options;
  options.min_size = 24;
  options.max_size = 130;
  EXPECT_EQ(options.sizes(), (std::vector<std::int64_t>{24, 32, 64, 128}));
  options.max_size = 24;
  EXPECT_EQ(options.sizes(), (std::vector<std::int64_t>{24}));
}

}  // namespace
}  // namespace tessera::bench
