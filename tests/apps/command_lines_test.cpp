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
#include "tests/support/temporary_folder.hpp"

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

TEST(Profile, AModeThatThereIsNotIsNamedWithThoseThatThereAre) {
  const Ending ending = run({"env", "TESSERA_PROFILE=csv", TESSERA_MG, "--class", "S"});
  EXPECT_EQ(ending.exit_code, 1) << "as every setting that is refused";
  EXPECT_NE(ending.output.find("TESSERA_PROFILE=csv is not usable: expected off, summary, json or "
                               "trace"),
            std::string::npos)
      << ending.output;
}

TEST(Profile, AFileThatCannotBeWrittenDoesNotChangeTheExitCode) {
  const Ending ending = run({"env", "TESSERA_PROFILE=json", "TESSERA_PROFILE_FILE=/nowhere/p.json",
                             TESSERA_RUN, "-n", "2", TESSERA_MG, "--class", "S"});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_NE(ending.output.find("cannot write /nowhere/p.json: No such file or directory"),
            std::string::npos)
      << ending.output;
  EXPECT_NE(ending.output.find("VERIFICATION SUCCESSFUL"), std::string::npos) << ending.output;
  EXPECT_EQ(occurrences(ending.output, "tessera profile: 2 ranks"), 1U) << ending.output;
}

TEST(Profile, LiesInTheFolderWhereTheJobBegan) {
  const tessera::test::TemporaryFolder folder;
  for (const char* mode : {"json", "trace", "summary", "off"}) {
    const Ending ending = run({"env", "-C", folder.path(), fmt::format("TESSERA_PROFILE={}", mode),
                               TESSERA_RUN, "-n", "2", TESSERA_MG, "--class", "S"});
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
  }
  const std::vector<std::string> expected{"tessera-profile.json", "tessera-trace.json"};
  EXPECT_EQ(folder.names(), expected);
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
