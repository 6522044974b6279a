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
#include "tests/support/effort.hpp"

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

TEST(Doctor, FindsThatAJobStarts) {
  const Ending ending = run({TESSERA, "doctor"});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_NE(ending.output.find("good  job: one of this process alone starts and ends\n"),
            std::string::npos)
      << ending.output;
}

// The doctor in a shell, behind that command.
Ending diagnosis(const std::string& command) {
  return run({"bash", "-c", fmt::format("{} {} doctor", command, TESSERA)});
}

TEST(Doctor, NamesSettingsThatAreWrong) {
  const Ending unknown = diagnosis("TESSERA_SPIN=1");
  EXPECT_EQ(unknown.exit_code, 0);
  EXPECT_NE(unknown.output.find("note  settings: TESSERA_SPIN is not a setting"), std::string::npos)
      << unknown.output;
  const Ending invalid = diagnosis("TESSERA_SPIN_NS=soon");
  EXPECT_EQ(invalid.exit_code, 1);
  EXPECT_NE(invalid.output.find("bad   settings: TESSERA_SPIN_NS=soon is not usable"),
            std::string::npos)
      << invalid.output;
}

TEST(Doctor, NamesLimitsAndWhatToDo) {
  if (tessera::test::is_sanitized) {
    GTEST_SKIP() << "a sanitizer needs address space of its own";
  }
  const Ending limits = diagnosis("ulimit -n 64 -v 40000000 -l 4096;");
  for (const char* line : {"note  descriptors: 64 may be open\n      fix: ulimit -n 4096",
                           "note  address space: limited to 38.1 GiB\n",
                           "note  locked memory: 4.0 MiB may be locked\n"}) {
    EXPECT_NE(limits.output.find(line), std::string::npos) << limits.output;
  }
  const Ending cramped = diagnosis("ulimit -v 60000;");
  EXPECT_EQ(cramped.exit_code, 1) << cramped.output;
  for (const char* line :
       {"bad   job: sharing the node's memory", "fix: raise the limit on address space"}) {
    EXPECT_NE(cramped.output.find(line), std::string::npos) << cramped.output;
  }
}

TEST(Doctor, WritesJsonForTickets) {
  const Ending ending = run({TESSERA, "doctor", "--json", "-"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_NE(ending.output.find("\"subject\": \"locked memory\""), std::string::npos)
      << ending.output;
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
