// SPDX-License-Identifier: BSD-3-Clause
//
// What the programs say to users who mistype, and when a rank dies; and their exit codes.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/fault/program.hpp"

namespace tessera::apps {
namespace {

using fault::Ending;
using fault::occurrences;
using fault::Program;

constexpr int usage = 2;

Ending run(const std::vector<std::string>& words) {
  return Program(words).wait();
}

TEST(CommandLine, CountsBelowOneAreRefusedInOneSentence) {
  const std::vector<std::vector<std::string>> lines = {{TESSERA_RUN, "-n", "0", "true"},
                                                       {TESSERA_MG, "--iterations", "0"},
                                                       {TESSERA_MG, "--threads", "0"},
                                                       {TESSERA_MG, "--threads", "two"}};
  for (const auto& line : lines) {
    const Ending ending = run(line);
    EXPECT_EQ(ending.exit_code, usage) << line[1];
    EXPECT_NE(ending.output.find("expected a whole number of at least 1\n"), std::string::npos)
        << ending.output;
  }
  const Ending ending = run({TESSERA_MG, "--threads", "9999999999"});
  EXPECT_NE(ending.output.find("at most 2147483647\n"), std::string::npos) << ending.output;
}

TEST(CommandLine, AnUnknownSubcommandIsToldWhichThereAre) {
  for (const char* word : {"docter", "inf"}) {
    const Ending ending = run({TESSERA, word});
    EXPECT_EQ(ending.exit_code, usage);
    EXPECT_NE(ending.output.find("subcommands are: info, doctor\n"), std::string::npos)
        << ending.output;
  }
}

TEST(Info, WarnsOfNamesThatAreNoSettings) {
  const Ending ending = run({"env", "TESSERA_SPIN=5", TESSERA, "info"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_NE(ending.output.find("TESSERA_SPIN is not a setting"), std::string::npos)
      << ending.output;
}

TEST(Info, RefusesATransportThatIsNotThere) {
  for (const char* names : {"udp", "shm,udp", "", ","}) {
    const Ending ending = run({"env", fmt::format("TESSERA_TRANSPORT={}", names), TESSERA, "info"});
    EXPECT_EQ(ending.exit_code, 1) << names;
    EXPECT_NE(ending.output.find("TESSERA_TRANSPORT names"), std::string::npos) << ending.output;
  }
}

TEST(Mg, NamesTheTransportThatIsUsed) {
  const Ending ending =
      run({"env", "TESSERA_TRANSPORT=loopback,shm", TESSERA_MG, "--threads", "2"});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_NE(ending.output.find("transport: loopback\n"), std::string::npos) << ending.output;
}

TEST(Mg, TheLowestSurvivorTellsOnceWhatWasLostAndWhen) {
  for (const std::size_t victim : {0U, 1U}) {
    Program mg({TESSERA_RUN, "-n", "3", TESSERA_MG, "--iterations", "1000000000"});
    constexpr int header_lines = 8;
    ASSERT_TRUE(mg.wait_for_lines(header_lines)) << mg.output();
    const std::vector<int> ranks = mg.children();
    ASSERT_EQ(ranks.size(), 3U);
    kill(ranks[victim], SIGKILL);
    const Ending ending = mg.wait();
    EXPECT_EQ(occurrences(ending.output, "tessera-mg: "), 1U) << ending.output;
    EXPECT_NE(ending.output.find(fmt::format("rank {} died", victim)), std::string::npos)
        << ending.output;
  }
}

}  // namespace
}  // namespace tessera::apps
