// SPDX-License-Identifier: BSD-3-Clause
//
// `tessera doctor`, `tessera info` and `tessera timeline` as users run them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/tool/environment.hpp"
#include "rma/base/control_group.hpp"
#include "rma/base/processors.hpp"
#include "rma/bootstrap.hpp"
#include "tests/fault/program.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::tool {
namespace {

using fault::Ending;
using fault::occurrences;
using fault::Program;
using nlohmann::json;

// For a shell.
constexpr const char* tessera = "'" TESSERA "'";
constexpr const char* tessera_run = "'" TESSERA_RUN "'";

constexpr int failed = 1;
constexpr int usage = 2;

Ending run(const std::vector<std::string>& words) {
  return Program(words).wait();
}

Ending shell(const std::string& command) {
  return run({"bash", "-c", command});
}

// The doctor in a shell, after that command; on this machine, whatever it lacks.
Ending diagnosis(const std::string& command, const std::string& options = "") {
  return shell(fmt::format("unset OMP_NUM_THREADS OPENBLAS_NUM_THREADS; {} {} doctor {}", command,
                           tessera, options));
}

bool has(const Ending& ending, const std::string& text) {
  return ending.output.find(text) != std::string::npos;
}

// The lines of a check in the doctor's JSON output.
std::vector<json> checks_named(const json& report, const std::string& name) {
  std::vector<json> found;
  for (const json& each : report["checks"]) {
    if (each["name"] == name) {
      found.push_back(each);
    }
  }
  return found;
}

TEST(Doctor, FindsThatAJobStarts) {
  const Ending ending = diagnosis("");
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_TRUE(has(ending, "\ngreen  job: a job of one rank starts, moves data and ends\n"))
      << ending.output;
  EXPECT_TRUE(has(ending, ", 0 red\n")) << ending.output;
  EXPECT_FALSE(has(ending, "\033")) << "colours are for terminals";
}

TEST(Doctor, NamesSettingsThatAreWrong) {
  const Ending unknown_name = diagnosis("TESSERA_SPIN=1");
  EXPECT_EQ(unknown_name.exit_code, 0);
  EXPECT_TRUE(has(unknown_name,
                  "yellow settings: TESSERA_SPIN is not a setting and was ignored\n       remedy: "
                  "unset TESSERA_SPIN, or set TESSERA_TUNE=spin_ns instead\n"))
      << unknown_name.output;
  const Ending invalid = diagnosis("TESSERA_TUNE=spin_ns=soon");
  EXPECT_EQ(invalid.exit_code, failed);
  EXPECT_TRUE(has(invalid, "red    settings: TESSERA_TUNE=spin_ns=soon is not usable"))
      << invalid.output;
  EXPECT_TRUE(has(invalid, "yellow job: not tested\n       remedy: fix the red findings first\n"))
      << invalid.output;
}

TEST(Doctor, NamesLimitsAndWhatToDo) {
  if (test::is_sanitized) {
    GTEST_SKIP() << "a sanitizer needs address space of its own";
  }
  const Ending limits = diagnosis("ulimit -S -n 64; ulimit -v 40000000; ulimit -l 64;");
  EXPECT_EQ(limits.exit_code, 0) << limits.output;
  EXPECT_TRUE(has(limits,
                  "yellow descriptors: at most 64 may be open (ulimit -n), but a process may need "
                  "1024: one for each node it communicates with\n       remedy: ulimit -n 4096\n"))
      << limits.output;
  EXPECT_TRUE(has(limits, "yellow address space: limited to 38.1 GiB")) << limits.output;
  EXPECT_TRUE(has(limits, " locked memory: 64.0 KiB may be locked (ulimit -l)")) << limits.output;
  // Jobs start with this limit, but programs with a BLAS hang.
  const Ending short_of_buffers = diagnosis("ulimit -v 390000;");
  EXPECT_EQ(short_of_buffers.exit_code, failed) << short_of_buffers.output;
  EXPECT_TRUE(has(short_of_buffers,
                  "red    address space: limited to 380.9 MiB (ulimit -v), with which programs "
                  "that multiply matrices do not run"))
      << short_of_buffers.output;
  EXPECT_TRUE(has(short_of_buffers, "remedy: ulimit -v unlimited")) << short_of_buffers.output;
  const Ending cramped = diagnosis("ulimit -v 60000;");
  EXPECT_EQ(cramped.exit_code, failed) << cramped.output;
  EXPECT_TRUE(has(cramped, "red    job: sharing the node's memory")) << cramped.output;
  EXPECT_TRUE(has(cramped, "remedy: raise the limit on address space")) << cramped.output;
  EXPECT_TRUE(has(cramped, "red    address space: limited to 58.6 MiB")) << cramped.output;
}

// Less than it tries to share: a file larger than the limit would end the process.
TEST(Doctor, SurvivesALimitOnFiles) {
  const Ending ending = diagnosis("ulimit -f 100;");
  EXPECT_EQ(ending.exit_code, failed) << ending.output;
  EXPECT_TRUE(has(ending, "red    file sizes: ")) << ending.output;
}

TEST(Doctor, CountsThreadsOfABlas) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const Ending ending = diagnosis(fmt::format("taskset -c 0 env OMP_NUM_THREADS={}", 8));
  EXPECT_TRUE(has(ending,
                  "yellow BLAS threads: OMP_NUM_THREADS=8 for each of 1 rank on 1 processor; "
                  "OpenBLAS reports "))
      << ending.output;
  EXPECT_TRUE(has(ending, "       remedy: export OMP_NUM_THREADS=1\n")) << ending.output;
  EXPECT_TRUE(has(ending, fmt::format("1 of {} may be used by 1 rank", processors)))
      << ending.output;
}

TEST(Doctor, ChecksAllRanksOfTesseraRunOnce) {
  const Ending ending =
      diagnosis(fmt::format("OPENBLAS_NUM_THREADS=1 {} -n 4 --nodes 2", tessera_run));
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(occurrences(ending.output, "tessera doctor "), 1U) << ending.output;
  for (const char* line :
       {": 4 ranks on 2 nodes\n",
        "green  launcher: tessera-run: 4 ranks on 2 nodes that 1 machine emulates\n",
        "green  job: a job of 4 ranks on 2 nodes that 1 machine emulates starts, moves data and "
        "ends",
        "connections between nodes: all 2 made; the slowest took ",
        "node 0 at 127.0.0.1:", "node 1 at 127.0.0.1:"}) {
    EXPECT_TRUE(has(ending, line)) << line << "\n" << ending.output;
  }
}

// The rank that differs is started with less.
TEST(Doctor, NamesTheNodeThatDiffers) {
  const std::string lowered =
      R"(bash -c 'case $TESSERA_LAUNCH in *:2:4|*:3:4) ulimit -S -n 100;; esac; exec "$@"' sh)";
  const Ending ending = diagnosis(fmt::format("{} -n 4 --nodes 2 {}", tessera_run, lowered));
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_TRUE(has(ending, "yellow descriptors: node 1: at most 100 may be open")) << ending.output;
  EXPECT_TRUE(has(ending, "green  descriptors: node 0: ")) << ending.output;
}

TEST(Doctor, RefusesRanksWhoseSettingsDoNotGoTogether) {
  const std::string changed =
      R"(bash -c 'case $TESSERA_LAUNCH in *:1:2) export TESSERA_TUNE=halo_pack_bytes=0;; esac; exec "$@"' sh)";
  const Ending ending = diagnosis(fmt::format("{} -n 2 {}", tessera_run, changed));
  EXPECT_EQ(ending.exit_code, failed) << ending.output;
  EXPECT_TRUE(
      has(ending,
          "red    settings of all ranks: TESSERA_TUNE=halo_pack_bytes=0 is set on only one of "
          "ranks 0 and 1, but must be the same on all ranks\n"))
      << ending.output;
  EXPECT_TRUE(has(ending, "yellow job: not tested\n")) << ending.output;
}

TEST(Doctor, NamesRanksThatShareOneProcessor) {
  if (sysconf(_SC_NPROCESSORS_ONLN) == 1) {
    GTEST_SKIP() << "this machine has one processor";
  }
  const Ending ending = diagnosis(fmt::format("taskset -c 0 {} -n 2", tessera_run));
  EXPECT_EQ(ending.exit_code, failed) << ending.output;
  EXPECT_TRUE(has(ending, "red    binding: all 2 ranks are bound to processor 0 of "))
      << ending.output;
}

TEST(Doctor, WritesJsonThatItsSchemaAllows) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("doctor.json");
  const Ending ending = diagnosis(fmt::format("TESSERA_SPIN=1 {} -n 4 --nodes 2", tessera_run),
                                  "--quiet --json " + file);
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(ending.output, "");
  const json report = json::parse(test::contents_of(file));
  EXPECT_EQ(report["schema"], "tessera-doctor/1");
  EXPECT_EQ(report["ranks"], 4);
  EXPECT_EQ(report["nodes"][1]["name"], "node 1");
  EXPECT_EQ(report["nodes"][1]["ranks"], (json{2, 3}));
  ASSERT_EQ(checks_named(report, "settings").size(), 1U);
  EXPECT_EQ(checks_named(report, "settings")[0],
            (json{{"name", "settings"},
                  {"state", "yellow"},
                  {"found", "TESSERA_SPIN is not a setting and was ignored"},
                  {"remedy", "unset TESSERA_SPIN, or set TESSERA_TUNE=spin_ns instead"},
                  {"ranks", {0, 1, 2, 3}}}));
  const int code = tessera::test::validate_by_schema(file, TESSERA_DOCTOR_SCHEMA);
  if (code == tessera::test::no_validator) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  EXPECT_EQ(code, 0);
}

TEST(Doctor, WritesNothingButJsonToStandardOutput) {
  const Ending ending = diagnosis("", "--json -");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(json::parse(ending.output)["ranks"], 1);
}

TEST(Doctor, ReportsThatItCannotWriteItsFile) {
  const Ending ending = diagnosis("", "--quiet --json /nowhere/doctor.json");
  EXPECT_EQ(ending.exit_code, usage);
  EXPECT_EQ(ending.output,
            "tessera: cannot write /nowhere/doctor.json: No such file or directory\n");
}

TEST(Doctor, QuietReportsByItsExitCodeOnly) {
  EXPECT_EQ(diagnosis("", "--quiet").output, "");
  const Ending ending = diagnosis("TESSERA_TUNE=spin_ns=soon", "--quiet");
  EXPECT_EQ(ending.output, "");
  EXPECT_EQ(ending.exit_code, failed);
}

// The variables of another MPI's launcher: with this MPI each process is alone.
TEST(Doctor, ReportsAWrongLauncher) {
  const Ending first = diagnosis("PMI_SIZE=4 PMI_RANK=0");
  EXPECT_EQ(first.exit_code, failed) << first.output;
  EXPECT_TRUE(has(first, "red    ")) << first.output;
  if (rma::mpi_library().is_built_in) {
    EXPECT_TRUE(has(first,
                    "red    launcher: mpirun started 4 processes, but they cannot find each other: "
                    "they would be 4 jobs of one rank\n"))
        << first.output;
  }
  const Ending second = diagnosis("PMI_SIZE=4 PMI_RANK=1");
  EXPECT_EQ(second.output, "") << "one of them speaks";
}

TEST(Doctor, SeesMemoryThatAnotherProcessHolds) {
  constexpr int bytes = 1 << 20;
  const int file = memfd_create("tessera", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(posix_fallocate(file, 0, bytes), 0);
  const Ending ending = diagnosis("");
  close(file);
  EXPECT_TRUE(has(ending, "memory of other jobs: held by ")) << ending.output;
}

TEST(Doctor, ChecksAllRanksOfMpirunOnce) {
  if (!rma::mpi_library().is_built_in) {
    GTEST_SKIP() << "built without MPI";
  }
  const Ending ending = diagnosis(
      fmt::format("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                  "OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none "
                  "TESSERA_RANKS_PER_NODE=2 TESSERA_TRANSPORT=shm,tcp {} -n 3",
                  TESSERA_MPIRUN));
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(occurrences(ending.output, "tessera doctor "), 1U) << ending.output;
  EXPECT_TRUE(has(ending, "launcher: mpirun: 3 ranks on 2 nodes that 1 machine emulates"))
      << ending.output;
  EXPECT_TRUE(has(ending, ", at MPI_THREAD_")) << ending.output;
  EXPECT_FALSE(has(ending, "\033")) << "mpirun gives ranks a terminal, and writes to a file";
}

TEST(Usage, IsRefusedOnceByAllRanks) {
  const Ending alone = run({TESSERA, "doctor", "--color"});
  EXPECT_EQ(alone.exit_code, usage);
  EXPECT_TRUE(has(alone, "--color")) << alone.output;
  const Ending many = run({TESSERA_RUN, "--quiet", "-n", "3", TESSERA, "doctor", "--color"});
  EXPECT_EQ(many.exit_code, usage);
  EXPECT_EQ(occurrences(many.output, "--color"), 1U) << many.output;
  for (const char* subcommand : {"doctor", "info", "timeline"}) {
    EXPECT_EQ(run({TESSERA, subcommand, "--help"}).exit_code, 0);
    EXPECT_EQ(run({TESSERA, subcommand, "--version"}).exit_code, 0);
  }
}

TEST(Timeline, IsMadeOfWhatAJobWrote) {
  const test::TemporaryFolder folder;
  const std::string trace = folder.file("trace.json");
  diagnosis(fmt::format("TESSERA_PROFILE=trace TESSERA_PROFILE_FILE='{}' {} --quiet -n 2", trace,
                        tessera_run),
            "--quiet");
  const Ending ending =
      shell(fmt::format("{0} timeline '{1}' --output '{1}.html' && {0} timeline "
                        "'{1}' | cmp - '{1}.html' && cat '{1}.html'",
                        tessera, trace));
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_TRUE(has(ending, R"({"title":"trace.json: 2 ranks, )")) << ending.output;
  EXPECT_TRUE(has(ending, R"({"label":"rank 1 on node 0","events":[)")) << ending.output;
}

TEST(Timeline, NamesTheFileThatItCannotReadOrWrite) {
  const test::TemporaryFolder folder;
  const std::string trace = folder.file("trace.json");
  const Ending missing = shell(fmt::format("{} timeline '{}'", tessera, trace));
  EXPECT_EQ(missing.exit_code, usage);
  EXPECT_EQ(missing.output,
            fmt::format("tessera: cannot read '{}': No such file or directory\n", trace));
  const Ending same =
      shell(fmt::format("echo '{{\"traceEvents\":[]}}' > '{1}'; {0} timeline '{1}' "
                        "--output '{1}'; cat '{1}'",
                        tessera, trace));
  EXPECT_TRUE(has(same, trace)) << same.output;
  EXPECT_TRUE(has(same, "{\"traceEvents\":[]}")) << same.output;
  const Ending other = shell(fmt::format("echo 7 > '{1}'; {0} timeline '{1}'", tessera, trace));
  EXPECT_EQ(other.exit_code, failed);
  EXPECT_TRUE(
      has(other, "tessera: 'trace.json' is not a timeline of Tessera: the file has no traceEvents"))
      << other.output;
}

TEST(Info, ShowsTheSourceOfAValue) {
  const Ending ending = shell(fmt::format("TESSERA_TUNE=chunk=64 {} info --json -", tessera));
  const json report = json::parse(ending.output);
  EXPECT_EQ(report["schema"], "tessera-info/1");
  int checked = 0;
  for (const json& row : report["settings"]) {
    if (row["name"] == "chunk") {
      EXPECT_EQ(row["value"], "64");
      EXPECT_EQ(row["default"], "0");
      EXPECT_EQ(row["from"], "environment");
      EXPECT_EQ(row["unit"], "KiB");
      EXPECT_EQ(row["range"], "0 to 1024");
      ++checked;
    } else if (row["name"] == "aggregate") {
      EXPECT_EQ(row["from"], "default");
      ++checked;
    }
  }
  EXPECT_EQ(checked, 2);
}

TEST(Info, ShowsHowAnAgentWaits) {
  const auto line = [](const std::string& command) {
    const Ending ending = shell(fmt::format("{} {} info | grep ^agent:", command, tessera));
    return ending.output;
  };
  EXPECT_EQ(line("TESSERA_SERVER=poll"), "agent: always polls (TESSERA_SERVER=poll)\n");
  EXPECT_EQ(line("TESSERA_SERVER=block"),
            "agent: sleeps between requests (TESSERA_SERVER=block)\n");
  const std::string alone = line("taskset -c $(taskset -cp $$ | sed 's/.*: *\\([0-9]*\\).*/\\1/')");
  EXPECT_TRUE(alone.starts_with("agent: polls for 50 us after a request: 1 processor")) << alone;
  EXPECT_TRUE(alone.ends_with(" leave none for it\n")) << alone;
}

// As a job's log prints, on the processors of this machine and bound to one of them.
TEST(Job, ReportsHowItsAgentsWait) {
  const auto job = [](const std::string& command) {
    return shell(
        fmt::format("unset OMP_NUM_THREADS OPENBLAS_NUM_THREADS; export TESSERA_LOG=info "
                    "TESSERA_TRANSPORT=shm,tcp; {} {} -n 2 --nodes 2 '{}' --class S",
                    command, tessera_run, TESSERA_MG));
  };
  rma::RankLocation location;
  location.processors = rma::own_processors();
  location.quota = rma::read_processor_quota("");
  std::vector<rma::RankLocation> locations{location, location};
  locations[1].node = rma::NodeId{1};
  const rma::AgentProcessors all = rma::processors_for_agent(rma::NodeId{0}, locations);
  const Ending free = job("");
  EXPECT_EQ(free.exit_code, 0) << free.output;
  EXPECT_TRUE(
      has(free,
          fmt::format(
              "the agent of node 1 stays awake for {} us after a request; it has {} of its own: {}",
              all.is_dedicated ? 1'000'000 : 50, all.is_dedicated ? "processors" : "no processor",
              all.reason)))
      << free.output;
  EXPECT_TRUE(has(free, "times of tcp (")) << free.output;
  const Ending bound = job("taskset -c $(taskset -cp $$ | sed 's/.*: *\\([0-9]*\\).*/\\1/')");
  EXPECT_TRUE(has(bound,
                  "the agent of node 0 stays awake for 50 us after a request; it has no processor "
                  "of its own: "))
      << bound.output;
  EXPECT_TRUE(has(bound, "2 threads of ranks and 2 of agents")) << bound.output;
  EXPECT_TRUE(has(job("TESSERA_SERVER=poll"),
                  "the agent of node 0 stays awake (TESSERA_SERVER=poll); it has "));
}

TEST(Info, ShowsHowTcpPacks) {
  const Ending ending = shell(fmt::format(
      "TESSERA_TUNE=tcp_times=send=10,receive=10,piece=100,copied=100 {} info --json -", tessera));
  const json tcp = json::parse(ending.output)["tcp"];
  EXPECT_EQ(tcp["times"], "send=10,receive=10,piece=100,sent=25,received=15,copied=100,wire=0");
  EXPECT_EQ(tcp["times_from"], "given");
  EXPECT_EQ(tcp["direct_row"], 2048);
  EXPECT_EQ(tcp["pipeline"], 2048);
  ASSERT_EQ(tcp["parts"].size(), 11U);
  EXPECT_EQ(tcp["parts"][0]["bytes"], 2048);
  EXPECT_LT(tcp["parts"][0]["first"].get<int>(), 2048);
  const Ending fixed = shell(fmt::format("TESSERA_TUNE=tcp_times=fixed {} info", tessera));
  EXPECT_TRUE(has(fixed, "\ntcp_direct_row: 512 B\n")) << fixed.output;
  EXPECT_TRUE(has(fixed, " ns (fixed)\n"));
  EXPECT_TRUE(has(fixed, " 65536:16384+32768 ")) << fixed.output;
  // A machine that is too busy for measurements has fixed times.
  const Ending measured = run({TESSERA, "info"});
  EXPECT_TRUE(has(measured, " ns (measured)\n") || has(measured, " ns (fixed)\n"))
      << measured.output;
  const Ending wrong = shell(fmt::format("TESSERA_TUNE=tcp_times=fast {} info", tessera));
  EXPECT_TRUE(
      has(wrong, "\ntcp_times: TESSERA_TUNE=tcp_times=fast is not usable: 'fast' is not a time"))
      << wrong.output;
}

TEST(Info, ShowsTheBuildAndTheTransports) {
  const Ending ending = shell(fmt::format("TESSERA_TRANSPORT=shm,tcp {} info --json -", tessera));
  const json report = json::parse(ending.output);
  EXPECT_NE(report["build"]["compiler"].get<std::string>(), "");
  EXPECT_GE(report["build"]["features"].size(), 3U);
  std::vector<std::string> chosen;
  for (const json& each : report["transports"]) {
    if (each["chosen"].get<bool>()) {
      EXPECT_TRUE(each["available"].get<bool>()) << each;
      chosen.push_back(each["name"]);
    }
  }
  EXPECT_EQ(chosen, (std::vector<std::string>{"shm", "tcp"}));
  const Ending text = run({TESSERA, "info"});
  EXPECT_TRUE(has(text, "\nbuild_compiler: ")) << text.output;
  EXPECT_TRUE(has(text, "\nshm: between ranks of one node\n")) << text.output;
  EXPECT_TRUE(has(text, "\nverbs: ")) << text.output;
}

}  // namespace
}  // namespace tessera::tool
