// SPDX-License-Identifier: BSD-3-Clause
//
// The errors of programs for wrong command lines, and for a dying rank; and their exit codes.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/mg/problem.hpp"
#include "rma/base/memory.hpp"
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

TEST(CommandLine, AnMpirunOptionIsRefusedWithTheRightOne) {
  const Ending ending = run({TESSERA_RUN, "-np", "2", "true"});
  EXPECT_EQ(ending.exit_code, usage);
  EXPECT_EQ(ending.output,
            "tessera-run: there is no option -np; give the number of ranks with -n N\n");
}

TEST(CommandLine, AnEmptyFileNameIsRefused) {
  for (const std::vector<std::string>& line : {std::vector<std::string>{TESSERA_MG, "--json", ""},
                                               {TESSERA, "info", "--json", ""},
                                               {TESSERA_RUN, "--json", "", "true"}}) {
    const Ending ending = run(line);
    EXPECT_EQ(ending.exit_code, usage) << line[0];
    EXPECT_NE(ending.output.find("--json: an empty name is not a file\n"), std::string::npos)
        << ending.output;
  }
}

TEST(CommandLine, CountsWithLeadingZerosAreDecimal) {
  const Ending ending = run({TESSERA_MG, "--iterations", "010", "--threads", "01"});
  EXPECT_NE(ending.output.find("\niterations: 10\n"), std::string::npos) << ending.output;
  EXPECT_EQ(run({TESSERA_RUN, "-n", "08", "true"}).exit_code, 0);
  EXPECT_EQ(occurrences(run({TESSERA_RUN, "-n", "010", "false"}).output, "exited with code 1"),
            10U);
}

TEST(CommandLine, ThreadsOfRanksAreRefused) {
  const Ending ending = run({TESSERA_RUN, "-n", "2", "--quiet", TESSERA_MG, "--threads", "2"});
  EXPECT_EQ(ending.exit_code, usage);
  EXPECT_EQ(ending.output,
            "tessera-mg: --threads: tessera-run already starts ranks; use only one of the two\n");
}

// What a shell does for `COMMAND >FILE 2>&1`, or for one of the two.
Ending redirected(const std::string& redirections, const std::vector<std::string>& command) {
  std::vector<std::string> words = {"sh", "-c", "\"$@\" " + redirections, "sh"};
  words.insert(words.end(), command.begin(), command.end());
  return run(words);
}

TEST(CommandLine, LostOutputFailsTheRunAndIsNamed) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> programs = {
      {"tessera-mg", {TESSERA_MG}},
      {"tessera-mg", {TESSERA_MG, "--help"}},
      {"tessera", {TESSERA, "info"}},
      {"tessera", {TESSERA, "info", "--json", "-"}},
      {"tessera-run", {TESSERA_RUN, "--version"}},
      {"tessera-run", {TESSERA_RUN, "-n", "2", "echo", "a line"}}};
  for (const auto& [name, command] : programs) {
    const Ending ending = redirected(">/dev/full", command);
    EXPECT_EQ(ending.exit_code, 1) << name;
    EXPECT_EQ(ending.output, name + ": cannot write to standard output: No space left on device\n");
  }
}

TEST(CommandLine, WithoutAStandardStreamTheRunContinues) {
  const std::string lost = "cannot write to standard output: Bad file descriptor\n";
  const Ending alone = redirected(">&-", {TESSERA_MG, "--class", "S"});
  EXPECT_EQ(alone.exit_code, 1);
  EXPECT_EQ(alone.output, "tessera-mg: " + lost);
  const Ending launched = redirected(">&-", {TESSERA_RUN, "-n", "2", TESSERA_MG, "--class", "S"});
  EXPECT_EQ(launched.exit_code, 1);
  EXPECT_EQ(launched.output, "tessera-run: " + lost);
  EXPECT_EQ(redirected("2>&-", {TESSERA_MG, "--json", "/nowhere/x"}).exit_code, usage);
  EXPECT_EQ(redirected("2>&-", {TESSERA_RUN, "-n", "2", "false"}).exit_code, 1);
  EXPECT_EQ(redirected("<&-", {TESSERA_MG, "--class", "S"}).exit_code, 0);
}

TEST(CommandLine, LostMessagesDoNotChangeTheExitCode) {
  EXPECT_EQ(redirected("2>/dev/full", {TESSERA_MG, "--class", "Z"}).exit_code, usage);
  EXPECT_EQ(redirected("2>/dev/full", {TESSERA_MG, "--json", "/nowhere/x"}).exit_code, usage);
  EXPECT_EQ(redirected("2>/dev/full", {TESSERA_RUN, "-n", "2", "false"}).exit_code, 1);
  EXPECT_EQ(redirected(">/dev/full 2>&1", {TESSERA, "info"}).exit_code, 1);
}

TEST(CommandLine, AnUnknownSubcommandIsRefusedWithTheKnownOnes) {
  const std::vector<std::pair<std::string, std::string>> words = {
      {"docter", "subcommand"}, {"inf", "subcommand"}, {"--docter", "option"}};
  for (const auto& [word, kind] : words) {
    const Ending ending = run({TESSERA, word});
    EXPECT_EQ(ending.exit_code, usage);
    EXPECT_EQ(ending.output,
              fmt::format(
                  "tessera: '{}' is not a valid {}\nThe subcommands are: info, doctor, timeline\n",
                  word, kind));
  }
}

TEST(CommandLine, MistakesAreReportedOnceAndByTheProgram) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> lines = {
      {{TESSERA_MG, "B"}, "tessera-mg: the following argument was not expected: B\n"},
      {{TESSERA}, "tessera: a subcommand is required\n"},
      {{TESSERA_RUN, "-n"}, "tessera-run: --ranks: 1 required INT missing\n"},
      {{TESSERA_RUN, "-n", "3", "--quiet", TESSERA_MG, "B"},
       "tessera-mg: the following argument was not expected: B\n"},
      {{TESSERA_RUN, "-n", "3", "--quiet", TESSERA_MG, "--class", "Z"},
       "tessera-mg: unknown problem class 'Z': choose one of S, W, A, B, C, D\n"}};
  for (const auto& [line, message] : lines) {
    const Ending ending = run(line);
    EXPECT_EQ(ending.exit_code, usage) << message;
    EXPECT_EQ(ending.output.find(message), 0U) << ending.output;
    EXPECT_EQ(occurrences(ending.output, message), 1U) << ending.output;
  }
}

TEST(Info, WarnsOfNamesThatAreNotSettings) {
  const Ending ending = run({"env", "TESSERA_SPIN=5", TESSERA, "info"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_NE(ending.output.find("TESSERA_SPIN is not a setting"), std::string::npos)
      << ending.output;
}

TEST(Info, RefusesAnUnknownTransport) {
  for (const char* names : {"udp", "shm,udp", "", ","}) {
    const Ending ending = run({"env", fmt::format("TESSERA_TRANSPORT={}", names), TESSERA, "info"});
    EXPECT_EQ(ending.exit_code, 1) << names;
    EXPECT_NE(ending.output.find("TESSERA_TRANSPORT names"), std::string::npos) << ending.output;
  }
}

TEST(Info, PrintsTheTableOfSettingsDespiteAnInvalidOne) {
  const Ending ending = run({"env", "TESSERA_BOOTSTRAP=xx", TESSERA, "info"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.output.find("tessera: TESSERA_BOOTSTRAP=xx is not usable"), std::string::npos);
  // The table to which the message refers has the values that are allowed.
  EXPECT_NE(ending.output.find("\nTESSERA_BOOTSTRAP          auto           default"),
            std::string::npos)
      << ending.output;
}

TEST(Profile, AnUnknownModeIsNamedWithTheKnownOnes) {
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

TEST(Profile, IsWrittenToTheFolderOfTheJobsStart) {
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

TEST(Mg, MoreThreadsThanTheSystemAllowsAreRefusedBeforeAnyIsStarted) {
  for (const char* threads : {"1000000", "2147483647"}) {
    const Ending ending = run({TESSERA_MG, "--class", "S", "--threads", threads});
    EXPECT_EQ(ending.exit_code, usage);
    EXPECT_TRUE(ending.output.starts_with(
        fmt::format("tessera-mg: --threads: {} ranks as threads are more than the ", threads)))
        << ending.output;
    EXPECT_NE(ending.output.find(" that this process may have: "), std::string::npos)
        << ending.output;
  }
}

TEST(Mg, AnUnknownClassIsRefusedWithTheKnownOnes) {
  for (const char* name : {"Z", "E", "SS", ""}) {
    const Ending ending = run({TESSERA_MG, "--class", name});
    EXPECT_EQ(ending.exit_code, usage);
    EXPECT_EQ(ending.output, fmt::format("tessera-mg: unknown problem class '{}': choose one of S, "
                                         "W, A, B, C, D\n",
                                         name));
  }
}

bool has_memory_for_class_d(std::int64_t ranks, int times = 1) {
  const mg::Problem problem = *mg::parse_class("D").problem;
  return static_cast<double>(rma::available_memory_bytes()) >
         times * static_cast<double>(mg::memory_bytes(problem, ranks));
}

TEST(Mg, AClassThatDoesNotFitTheMachineIsRefused) {
  constexpr std::int64_t ranks = 4;
  if (has_memory_for_class_d(ranks)) {
    GTEST_SKIP() << "this machine has memory enough for class D";
  }
  const Ending ending =
      run({TESSERA_RUN, "-n", std::to_string(ranks), "--nodes", "2", TESSERA_MG, "--class", "D"});
  EXPECT_EQ(ending.exit_code, usage) << ending.output;
  EXPECT_EQ(occurrences(ending.output, "class D needs "), 1U) << ending.output;
  EXPECT_NE(ending.output.find(" on this machine, for 4 of its ranks; "), std::string::npos);
  EXPECT_NE(ending.output.find("\n  hint: use a smaller class, or more machines\n"),
            std::string::npos)
      << ending.output;
  EXPECT_EQ(occurrences(ending.output, "exited with code 2"), 4U) << ending.output;
}

#ifdef TESSERA_BENCH_PROGRAM
TEST(Bench, AClassThatDoesNotFitTheMachineIsRefused) {
  if (has_memory_for_class_d(2, 2)) {
    GTEST_SKIP() << "this machine has memory enough for class D twice";
  }
  const Ending ending = run({TESSERA_RUN, "-n", "2", "--nodes", "2", TESSERA_BENCH_PROGRAM, "mg",
                             "--classes", "D", "--compare", "tcp", "--quiet"});
  EXPECT_EQ(ending.exit_code, usage) << ending.output;
  EXPECT_EQ(occurrences(ending.output, "class D with 2 exchanges needs "), 1U) << ending.output;
  EXPECT_NE(ending.output.find("choose a smaller class, or --compare none\n"), std::string::npos);
}
#endif

TEST(Mg, TheLowestSurvivorReportsOnceWhatWasLostAndWhen) {
  for (const std::size_t victim : {0U, 1U}) {
    Program mg({TESSERA_RUN, "-n", "3", TESSERA_MG, "--iterations", "1000000000"});
    constexpr int header_lines = 8;
    ASSERT_TRUE(mg.wait_for_lines(header_lines)) << mg.output();
    const std::vector<int> ranks = mg.children();
    ASSERT_EQ(ranks.size(), 3U);
    kill(ranks[victim], SIGKILL);
    const Ending ending = mg.wait();
    EXPECT_EQ(occurrences(ending.output, "tessera-mg: "), 1U) << ending.output;
    // A run that was still setting up waits for a flag.
    const bool is_named =
        occurrences(ending.output, fmt::format("rank {} died", victim)) == 1 ||
        occurrences(ending.output, fmt::format("rank {} is gone: the flag", victim)) == 1;
    EXPECT_TRUE(is_named) << ending.output;
  }
}

}  // namespace
}  // namespace tessera::apps
