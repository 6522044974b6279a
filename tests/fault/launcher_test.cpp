// SPDX-License-Identifier: BSD-3-Clause
//
// tessera-run as its users see it: exit codes, signals, arguments and output. Ranks run shell
// commands, or FAULT_WORKER with a scenario, its rank and a pipe (worker.cpp); pipe 1 is standard
// output.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/fault/program.hpp"
#include "tests/fault/run.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::fault {
namespace {

using std::chrono::milliseconds;
using tessera::test::contents_of;
using tessera::test::TemporaryFolder;

Program tessera_run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TESSERA_RUN);
  return Program(arguments);
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool exists(int pid) {
  return kill(pid, 0) == 0 || errno != ESRCH;
}

TEST(TesseraRun, ExitsWithZeroWhenAllRanksDo) {
  const Ending ending = tessera_run({"-n", "3", "true"}).wait();
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.output, "");
}

// A rank that ends the job also ends ranks that compute, and ranks that ignore SIGTERM.
TEST(TesseraRun, EndsAllRanksWhenOneEndsTheJob) {
  for (const char* const kind : {"end-job", "end-job-ignoring-sigterm"}) {
    const Ending ending = tessera_run({"-n", "4", FAULT_WORKER, kind, "2", "1"}).wait();
    EXPECT_EQ(ending.exit_code, 7) << kind;
    EXPECT_EQ(ending.output, "tessera-run: rank 2 exited with code 7\n") << kind;
  }
}

// The exit code is that of the rank that ended the job, although another rank exited with 0 before.
TEST(TesseraRun, ExitsWithTheCodeOfTheRankThatEndedTheJobAfterAnother) {
  const Ending ending =
      tessera_run({"-n", "3", FAULT_WORKER, "end-job-after-one", "2", "1"}).wait();
  EXPECT_EQ(ending.exit_code, 7);
  EXPECT_NE(ending.output.find("tessera-run: rank 2 exited with code 7\n"), std::string::npos);
}

// C's stdio keeps a stream locked while a thread waits for input from it, so ending the job must
// not need that lock.
TEST(TesseraRun, EndsTheJobWhileAThreadOfTheEndingRankReads) {
  const Ending ending =
      tessera_run({"-n", "2", "--quiet", FAULT_WORKER, "end-job-while-reading", "0", "1"}).wait();
  EXPECT_EQ(ending.exit_code, 7);
  // Standard output and standard error arrive through separate pipes.
  EXPECT_EQ(occurrences(ending.output, "of standard output, "), 1U) << ending.output;
  EXPECT_EQ(occurrences(ending.output, "of a stream"), 1U) << ending.output;
}

TEST(TesseraRun, EndsARankThatEndedTheJobButKeepsRunning) {
  const Ending ending =
      tessera_run({"-n", "3", FAULT_WORKER, "end-job-into-full-pipe", "1", "1"}).wait();
  EXPECT_EQ(ending.exit_code, 128 + SIGKILL);
  EXPECT_EQ(ending.output, "tessera-run: rank 1 was ended by signal 9 (Killed)\n");
}

// A tool that a rank starts is a job of one rank. Its exit code does not end the job, and the ranks
// continue.
TEST(TesseraRun, AToolThatARankStartsIsNotARank) {
  const Ending ending = tessera_run({"-n", "3", FAULT_WORKER, "start-a-tool", "1", "1"}).wait();
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(sorted_lines(ending.output),
            (std::vector<std::string>{"rank 0 of 3", "rank 0 of 3", "rank 1 of 3", "rank 1 of 3",
                                      "rank 2 of 3", "rank 2 of 3", "tool's code 3",
                                      "tool's code 3", "tool: rank 0 of 1", "tool: rank 0 of 1"}));
}

// A shell may start programs one after the other, each as a rank, and hide their exit codes.
TEST(TesseraRun, AWrapperMayStartProgramsOneAfterTheOther) {
  const std::string script =
      "'" FAULT_WORKER "' start-a-tool 5 1 && '" FAULT_WORKER "' start-a-tool 5 1; true";
  const Ending ending = tessera_run({"-n", "2", "sh", "-c", script}).wait();
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(occurrences(ending.output, "rank 0 of 2\n"), 4U) << ending.output;
  EXPECT_EQ(occurrences(ending.output, "rank 1 of 2\n"), 4U) << ending.output;
}

// Python's `subprocess.run(program)` does this, since its close_fds is True by default.
TEST(TesseraRun, AWrapperMayCloseAllDescriptors) {
  const std::string script =
      "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; '" FAULT_WORKER "' start-a-tool 1 1";
  const Ending ending = tessera_run({"-n", "4", "sh", "-c", script}).wait();
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  for (const char* const rank : {"0", "1", "2", "3"}) {
    EXPECT_EQ(occurrences(ending.output, std::string("rank ") + rank + " of 4\n"), 2U)
        << ending.output;
  }
  EXPECT_EQ(occurrences(ending.output, "tool: rank 0 of 1\n"), 2U) << "a tool is a job of one rank";
}

TEST(TesseraRun, StartsAJobBelowEachRankOfAnother) {
  const Ending ending =
      tessera_run({"-n", "2", TESSERA_RUN, "-n", "3", FAULT_WORKER, "start-a-tool", "9", "1"})
          .wait();
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  for (const char* const rank : {"0", "1", "2"}) {
    EXPECT_EQ(occurrences(ending.output, std::string("rank ") + rank + " of 3\n"), 4U)
        << ending.output;
  }
}

TEST(TesseraRun, ExitsWithTheCodeOfTheRankThatEndedTheJobDespiteAWrapper) {
  const std::string script = "set -- '" FAULT_WORKER
                             "' end-job 1 1; case $TESSERA_LAUNCH in *:1:2) \"$@\"; true;; "
                             "*) exec \"$@\";; esac";
  const Ending ending = tessera_run({"-n", "2", "sh", "-c", script}).wait();
  EXPECT_EQ(ending.exit_code, 7);
  EXPECT_EQ(ending.output, "tessera-run: rank 1 exited with code 7\n");
}

// TESSERA_LAUNCH is "descriptor@launcher:rank:ranks".
constexpr const char* rank_number = "r=${TESSERA_LAUNCH#*:}; r=${r%%:*}; ";

std::vector<std::string> each_rank(const std::string& ranks, const std::string& script) {
  return {"-n", ranks, "sh", "-c", rank_number + script};
}

TEST(TesseraRun, ExitsWithTheCodeOfTheFirstRankThatFailed) {
  const Ending ending =
      tessera_run(each_rank("4", "case $r in 1) sleep 0.1; exit 5;; 3) exit 9;; esac")).wait();
  EXPECT_EQ(ending.exit_code, 5) << "the lowest rank counts, not the earliest";
  EXPECT_EQ(sorted_lines(ending.output),
            (std::vector<std::string>{"tessera-run: rank 1 exited with code 5",
                                      "tessera-run: rank 3 exited with code 9"}));
}

TEST(TesseraRun, ExitsWith128AndTheSignalOfAKilledRankAndLetsTheOthersFinish) {
  const Ending ending = tessera_run(each_rank("3",
                                              "if [ $r = 0 ]; then kill -9 $$; fi; sleep 0.2; "
                                              "echo rank $r finished"))
                            .wait();
  EXPECT_EQ(ending.exit_code, 128 + SIGKILL);
  EXPECT_EQ(sorted_lines(ending.output),
            (std::vector<std::string>{"rank 1 finished", "rank 2 finished",
                                      "tessera-run: rank 0 was ended by signal 9 (Killed)"}));
}

// A reader such as `| head -1` closes the pipe: the ranks continue, and their exit codes count.
TEST(TesseraRun, ContinuesIfItsOutputIsNotRead) {
  const TemporaryFolder folder;
  const std::string file = folder.file("done");
  const std::string script =
      "for i in 1 2 3 4 5; do echo line; sleep 0.05; done; echo x >> '" + file + "'";
  const Ending ending = Program({"sh", "-c", R"(("$@"; echo "code $?" >&2) | head -1)", "sh",
                                 TESSERA_RUN, "-n", "2", "sh", "-c", script})
                            .wait();
  EXPECT_EQ(sorted_lines(ending.output), (std::vector<std::string>{"code 0", "line"}));
  EXPECT_EQ(contents_of(file), "x\nx\n");
}

TEST(TesseraRun, QuietOmitsFailedRanks) {
  std::vector<std::string> arguments = each_rank("2", "exit 3");
  arguments.insert(arguments.begin(), "--quiet");
  const Ending ending = tessera_run(arguments).wait();
  EXPECT_EQ(ending.exit_code, 3);
  EXPECT_EQ(ending.output, "");
}

TEST(TesseraRun, ExitsWith127WhenThereIsNoSuchProgram) {
  const Ending ending = tessera_run({"-n", "1", "--quiet", "/there/is/no/such"}).wait();
  EXPECT_EQ(ending.exit_code, 127);
  EXPECT_EQ(ending.output,
            "tessera-run: cannot start /there/is/no/such: No such file or directory\n");
}

TEST(TesseraRun, ExitsWith2ForBadUsage) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"-n", "2"},
                                                    {"-n", "0", "true"},
                                                    {"-n", "two", "true"},
                                                    {"-n", "-3", "true"},
                                                    {"--nodes", "3", "-n", "2", "true"},
                                                    {"--no-such-option", "true"}}) {
    const Ending ending = tessera_run(arguments).wait();
    EXPECT_EQ(ending.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_FALSE(ending.output.empty());
  }
  EXPECT_EQ(tessera_run({"--help"}).wait().exit_code, 0);
  EXPECT_EQ(tessera_run({"--version"}).wait().exit_code, 0);
}

Program under_bash(const std::string& script, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"bash", "-c", script + "; exec \"$@\"", "bash"});
  return Program(arguments);
}

// The limit also concerns shared memory, which is a file to the system.
TEST(TesseraRun, ReportsThatTheLimitOnFileSizesIsTooLow) {
  const Ending ending = under_bash("ulimit -f 1", {TESSERA_RUN, "-n", "4", "true"}).wait();
  EXPECT_EQ(ending.exit_code, 2) << ending.signal;
  EXPECT_EQ(ending.output,
            "tessera-run: 8.1 KiB of shared memory are needed to start 4 ranks, but files may have "
            "1.0 KiB at most\n  hint: raise the limit on file sizes (ulimit -f)\n");
}

// The smallest arena has 64 MiB. The limits are far below it, just below, equal, and just above.
TEST(TesseraRun, RanksReportThatTheLimitOnFileSizesIsTooLow) {
  for (const char* const kib : {"64", "65535", "65536", "65599", "65600"}) {
    const Ending ending =
        under_bash(std::string("ulimit -f ") + kib,
                   {TESSERA_RUN, "-n", "2", FAULT_WORKER, "start-a-tool", "9", "1"})
            .wait();
    const bool is_enough = std::stoi(kib) >= 65536;
    EXPECT_EQ(occurrences(ending.output, "rank 1 of 2\n"), is_enough ? 2U : 0U) << ending.output;
    EXPECT_EQ(occurrences(ending.output,
                          "a node's shared memory needs at least 64.0 MiB, but files may have "),
              is_enough ? 0U : 2U)
        << kib << ": " << ending.output;
  }
}

TEST(TesseraRun, ReportsThatItsOutputExceedsTheLimitOnFileSizes) {
  const TemporaryFolder folder;
  const std::string script = "ulimit -f 8; \"$@\" > '" + folder.file("out") + "'; echo code $?";
  const Ending ending = Program({"bash", "-c", script, "bash", TESSERA_RUN, "-n", "1", "sh", "-c",
                                 "yes | head -c 100000; echo on >&2"})
                            .wait();
  EXPECT_EQ(sorted_lines(ending.output),
            (std::vector<std::string>{
                "code 1", "on", "tessera-run: cannot write to standard output: File too large"}));
  EXPECT_EQ(contents_of(folder.file("out")).size(), 8192U);
}

TEST(TesseraRun, ForwardsAllArgumentsAfterTheProgram) {
  const Ending ending = tessera_run({"-n", "2", "printf", "%s|", "--class", "A", "-n", "5",
                                     "--nodes", "--help", "--", "", "a b"})
                            .wait();
  EXPECT_EQ(ending.exit_code, 0);
  const std::string once = "--class|A|-n|5|--nodes|--help|--||a b|";
  EXPECT_EQ(ending.output, once + once);
}

TEST(TesseraRun, AcceptsTheProgramAfterTwoDashes) {
  EXPECT_EQ(tessera_run({"-n", "2", "--", "echo", "--", "-n"}).wait().output, "-- -n\n-- -n\n");
  EXPECT_EQ(tessera_run({"--", "-no-such-program"}).wait().output,
            "tessera-run: cannot start -no-such-program: No such file or directory\n"
            "tessera-run: rank 0 exited with code 127\n");
  const Ending nothing = tessera_run({"-n", "2", "--"}).wait();
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_EQ(nothing.output, "tessera-run: there is no program to start; see tessera-run --help\n");
}

TEST(TesseraRun, TagsLinesWithTheirRanks) {
  const Ending ending =
      tessera_run({"--tag", "-n", "2", "sh", "-c", "printf 'one\\n\\ntwo\\n'; printf end >&2"})
          .wait();
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(sorted_lines(ending.output),
            (std::vector<std::string>{"[0] ", "[0] end", "[0] one", "[0] two", "[1] ", "[1] end",
                                      "[1] one", "[1] two"}));
}

// The launcher forwards output in pieces of at most 1 MiB.
TEST(TesseraRun, TagsALongLineOnce) {
  const Ending ending =
      tessera_run({"--tag", "-n", "1", "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x"})
          .wait();
  EXPECT_EQ(ending.output, "[0] " + std::string(3000000, 'x') + "\n");
}

TEST(TesseraRun, HelpShowsTheUsageAndTheDefaults) {
  const std::string help = tessera_run({"--help"}).wait().output;
  EXPECT_NE(help.find("\nUsage: tessera-run [OPTIONS] PROGRAM [ARGUMENTS…]\n"), std::string::npos)
      << help;
  EXPECT_NE(help.find("-n,--ranks INT=1 "), std::string::npos) << help;
}

TEST(TesseraRun, MoreRanksThanCanBeStartedAreRefusedBeforeTheFirst) {
  const Ending ending = tessera_run({"-n", "2147483647", "echo", "started"}).wait();
  EXPECT_EQ(ending.exit_code, 2);
  EXPECT_TRUE(ending.output.starts_with("tessera-run: 2147483647 ranks are more than the "))
      << ending.output;
  EXPECT_NE(ending.output.find(" that can be started here: "), std::string::npos) << ending.output;
  EXPECT_EQ(
      under_bash("ulimit -n 100", {TESSERA_RUN, "-n", "200", "echo", "started"}).wait().output,
      "tessera-run: cannot collect the output of 200 ranks: that takes 800 open files, and "
      "this process may have 100 (ulimit -n)\n"
      "  hint: raise the limit on open files (ulimit -n)\n");
}

TEST(TesseraRun, SplitsTheRanksOverEmulatedNodes) {
  EXPECT_EQ(tessera_run({"-n", "4", "--nodes", "2", "sh", "-c", "echo $TESSERA_RANKS_PER_NODE"})
                .wait()
                .output,
            "2\n2\n2\n2\n");
  EXPECT_EQ(tessera_run({"-n", "3", "--nodes", "2", "sh", "-c", "echo $TESSERA_RANKS_PER_NODE"})
                .wait()
                .output,
            "2\n2\n2\n");
}

TEST(TesseraRun, ForwardsSignals) {
  const std::string traps =
      "trap 'exit 40' INT; trap 'exit 41' TERM; trap 'exit 42' HUP; trap 'exit 43' USR1; "
      "trap 'exit 44' USR2; echo ready; while true; do sleep 0.01; done";
  int expected = 40;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    Program program = tessera_run({"-n", "2", "--quiet", "sh", "-c", traps});
    ASSERT_TRUE(program.wait_for_output("ready\nready\n"));
    kill(program.pid(), signal);
    EXPECT_EQ(program.wait().exit_code, expected) << "signal " << signal;
    ++expected;
  }
}

// Programs give these signals meanings of their own, such as writing a checkpoint.
TEST(TesseraRun, ContinuesAfterASignalThatDoesNotEndTheRanks) {
  Program program = tessera_run(
      {"-n", "2", "sh", "-c",
       "trap 'echo noted' USR1; trap 'exit 5' TERM; echo ready; while true; do sleep 0.01; done"});
  ASSERT_TRUE(program.wait_for_output("ready\nready\n"));
  for (int times = 1; times <= 2; ++times) {
    kill(program.pid(), SIGUSR1);
    ASSERT_TRUE(program.wait_for_lines(2 + 2 * times));
  }
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.wait().exit_code, 5);
}

void expect_ended(int pid, const char* what) {
  for (int tries = 0; tries < 500 && exists(pid); ++tries) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_FALSE(exists(pid)) << what;
}

// A shell that a signal ends does not pass the signal on to its child.
TEST(TesseraRun, EndsProcessesThatASignalledScriptLeavesRunning) {
  Program program =
      tessera_run({"-n", "2", "--quiet", "sh", "-c", "sh -c 'echo $$; exec sleep 1000'; true"});
  ASSERT_TRUE(program.wait_for_lines(2));
  const std::vector<std::string> lines = sorted_lines(program.output());
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.wait().exit_code, 128 + SIGTERM);
  for (const std::string& line : lines) {
    expect_ended(std::stoi(line), "the program of a script outlives it");
  }
}

TEST(TesseraRun, LetsAScriptEndItsProgram) {
  const std::string program =
      "trap 'sleep 0.3; echo saved; exit 9' USR1; trap 'echo cut off' TERM; echo ready; "
      "while true; do sleep 0.01; done";
  const std::string script =
      "trap 'kill -USR1 $p; wait $p; exit $?' TERM; sh -c \"$0\" & p=$!; echo ready; wait $p";
  Program run = tessera_run({"-n", "1", "--quiet", "sh", "-c", script, program});
  ASSERT_TRUE(run.wait_for_output("ready\nready\n"));
  kill(run.pid(), SIGTERM);
  const Ending ending = run.wait();
  EXPECT_EQ(ending.output, "ready\nready\nsaved\n");
  EXPECT_EQ(ending.exit_code, 9);
}

// The same if another rank ends the job, without a signal.
TEST(TesseraRun, EndsProcessesThatScriptsLeaveRunningWhenTheJobEnds) {
  const std::string script = "sh -c \"echo \\$\\$; exec '" FAULT_WORKER "' end-job 1 1\"; true";
  const Ending ending = tessera_run({"-n", "2", "--quiet", "sh", "-c", script}).wait();
  EXPECT_EQ(ending.exit_code, 7);
  const std::vector<std::string> lines = sorted_lines(ending.output);
  ASSERT_EQ(lines.size(), 2U) << ending.output;
  for (const std::string& line : lines) {
    expect_ended(std::stoi(line), "the program of a script outlives the job");
  }
}

TEST(TesseraRun, ItsRanksEndIfItIsKilled) {
  Program program = tessera_run({"-n", "2", "sh", "-c", "echo $$; exec sleep 1000"});
  ASSERT_TRUE(program.wait_for_lines(2));
  const std::vector<std::string> lines = sorted_lines(program.output());
  kill(program.pid(), SIGKILL);
  program.wait();
  for (const std::string& line : lines) {
    expect_ended(std::stoi(line), "a rank outlives its launcher");
  }
}

TEST(TesseraRun, LinesOfRanksStayWhole) {
  // Long lines, from a program that writes them in blocks, as C's stdio writes into a pipe.
  const Ending ending =
      tessera_run(each_rank("3",
                            "awk -v r=$r 'BEGIN { s = sprintf(\"%0200d\", r); "
                            "for (i = 0; i < 2000; ++i) print r \" \" i \" \" s }'"))
          .wait();
  EXPECT_EQ(ending.exit_code, 0);
  const std::vector<std::string> lines = sorted_lines(ending.output);
  EXPECT_EQ(lines.size(), 6000U);
  const auto wrong = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.size() < 204 || line.size() > 207 || line.find_last_of(' ') + 201 != line.size() ||
           line.back() != line.front();
  });
  EXPECT_EQ(wrong, 0);
}

// Returns whether the program ends within six seconds. Neither reads its output nor collects its
// exit code.
bool ends_unread(const Program& program) {
  siginfo_t info{};
  for (int tries = 0; tries < 600 && info.si_pid == 0; ++tries) {
    std::this_thread::sleep_for(milliseconds(10));
    waitid(P_PID, static_cast<id_t>(program.pid()), &info, WEXITED | WNOHANG | WNOWAIT);
  }
  return info.si_pid == program.pid();
}

// The pipe is full because its reader does not read, as in `tessera-run … | sleep 100`. Standard
// error goes to the same pipe.
TEST(TesseraRun, EndsByASignalAlthoughItsReaderDoesNotRead) {
  Program program = tessera_run({"-n", "2", "yes", "a line of a rank"});
  for (int tries = 0; tries < 500 && program.children().size() < 2; ++tries) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  std::this_thread::sleep_for(milliseconds(200));
  kill(program.pid(), SIGTERM);
  EXPECT_TRUE(ends_unread(program));
  const Ending ending = program.wait();
  EXPECT_EQ(ending.exit_code, 128 + SIGTERM);
  const std::vector<std::string> lines = sorted_lines(ending.output);
  EXPECT_GE(std::count(lines.begin(), lines.end(), "a line of a rank"),
            static_cast<std::ptrdiff_t>(lines.size()) - 1)
      << "all lines except the last must be whole";
}

// The signal arrives after the ranks ended, while the launcher still holds some of their output.
TEST(TesseraRun, EndsByASignalAlthoughItHoldsUnreadOutput) {
  Program program = tessera_run({"-n", "1", "--quiet", "sh", "-c", "yes | head -c 150000"});
  for (const bool all_exist : {true, false}) {
    for (int tries = 0; tries < 500 && program.children().empty() == all_exist; ++tries) {
      std::this_thread::sleep_for(milliseconds(2));
    }
  }
  EXPECT_TRUE(program.children().empty());
  kill(program.pid(), SIGTERM);
  EXPECT_TRUE(ends_unread(program));
  EXPECT_EQ(program.wait().exit_code, 1) << "the exit code must report lost output";
}

TEST(TesseraRun, KeepsWholeLinesForALateReader) {
  Program program =
      tessera_run(each_rank("3", "yes \"rank $r\" | head -n 50000; echo \"end of $r\" >&2"));
  std::this_thread::sleep_for(milliseconds(300));
  const Ending ending = program.wait();
  EXPECT_EQ(ending.exit_code, 0);
  for (const char* const rank : {"0", "1", "2"}) {
    EXPECT_EQ(occurrences(ending.output, std::string("rank ") + rank + "\n"), 50000U);
    EXPECT_EQ(occurrences(ending.output, std::string("end of ") + rank + "\n"), 1U);
  }
  EXPECT_EQ(ending.output.size(), 3 * (50000 * 7 + 9U));
}

TEST(TesseraRun, ARankMayEndWithoutALineEnd) {
  const Ending ending = tessera_run(each_rank("1", "printf 'no end'")).wait();
  EXPECT_EQ(ending.output, "no end");
}

}  // namespace
}  // namespace tessera::fault
