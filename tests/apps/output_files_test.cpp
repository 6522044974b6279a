// SPDX-License-Identifier: BSD-3-Clause
//
// --json of the programs: paths that cannot be written are refused before the work; and the
// contents of the files.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/output_file.hpp"
#include "tests/fault/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::apps {
namespace {

using fault::Ending;
using fault::occurrences;
using fault::Program;
using nlohmann::json;
using tessera::test::contents_of;
using tessera::test::TemporaryFolder;
using tessera::test::write_contents;

constexpr int failed = 1;
constexpr int usage = 2;

using Words = std::vector<std::string>;

struct App {
  std::string name;
  Words small_run;
};

std::vector<App> apps() {
  return {{"tessera-mg", {TESSERA_MG, "--class", "S"}},
          {"tessera-spmv", {TESSERA_SPMV, "--generate", "fe2d:10"}},
          {"tessera-ccsd", {TESSERA_CCSD, "--fcidump", H2O_STO3G}}};
}

Ending run(Words words, const Words& more = {}) {
  words.insert(words.end(), more.begin(), more.end());
  return Program(words).wait();
}

Ending run_on_nodes(const App& app, const Words& more) {
  Words words = {TESSERA_RUN, "-n", "3", "--nodes", "2", "--quiet"};
  words.insert(words.end(), app.small_run.begin(), app.small_run.end());
  return run(words, more);
}

TEST(OutputFiles, AMissingFolderIsReportedOnceBeforeTheRun) {
  for (const App& app : apps()) {
    const std::string expected =
        app.name + ": cannot write /nowhere/at/all.json: No such file or directory\n";
    for (const Ending& ending : {run(app.small_run, {"--json", "/nowhere/at/all.json"}),
                                 run_on_nodes(app, {"--json", "/nowhere/at/all.json"})}) {
      EXPECT_EQ(ending.exit_code, usage) << app.name;
      EXPECT_EQ(ending.output, expected);
    }
  }
}

TEST(OutputFiles, AFolderIsNotAFile) {
  const TemporaryFolder folder;
  for (const App& app : apps()) {
    const Ending ending = run(app.small_run, {"--threads", "2", "--json", folder.path()});
    EXPECT_EQ(ending.exit_code, usage);
    EXPECT_EQ(ending.output,
              fmt::format("{}: cannot write {}: Is a directory\n", app.name, folder.path()));
  }
}

TEST(OutputFiles, ADanglingLinkIsTriedAtItsTarget) {
  const TemporaryFolder folder;
  const auto link_to = [&](const std::string& target, const char* name) {
    std::filesystem::create_symlink(target, folder.file(name));
    return folder.file(name);
  };
  const std::string good = link_to("new.json", "good");
  EXPECT_TRUE(try_output_file(good).ok());
  const std::string bad = link_to("/nowhere/new.json", "bad");
  EXPECT_EQ(try_output_file(bad).message(),
            fmt::format("cannot write {}: No such file or directory", bad));
  const std::string circle = link_to("circle", "circle");
  EXPECT_FALSE(try_output_file(circle).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.file("new.json")));
  EXPECT_FALSE(check_not_overwritten(good, {folder.file("new.json")}).ok());
}

TEST(OutputFiles, AGeneratedMatrixIsNotAFile) {
  const TemporaryFolder folder;
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const Ending ending = run({TESSERA_SPMV, "--generate", "fe2d:10", "--json", "fe2d:10"});
  std::filesystem::current_path(here);
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(json::parse(contents_of(folder.file("fe2d:10")))["rows"], 100);
}

TEST(OutputFiles, ARunThatFailsLeavesThemAsTheyWere) {
  const TemporaryFolder folder;
  const std::string old_file = folder.file("old.json");
  write_contents(old_file, "what was there");
  for (const std::string& file : {old_file, folder.file("new.json")}) {
    const Ending ending = run({TESSERA_SPMV, "--matrix", "/nowhere/a.mtx", "--json", file});
    EXPECT_EQ(ending.exit_code, usage);
    EXPECT_EQ(run({TESSERA_CCSD, "--fcidump", "/nowhere/a", "--json", file}).exit_code, usage);
  }
  EXPECT_EQ(contents_of(old_file), "what was there");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"old.json"});
}

TEST(OutputFiles, ANewFileIsTheSameByAnyName) {
  const TemporaryFolder folder;
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const rma::Status same = check_not_overwritten("./new.json", {"other.json", "new.json"});
  const rma::Status other = check_not_overwritten("./new.json", {"", "new/json", "other.json"});
  const rma::Status devices = check_not_overwritten("/dev/null", {"/dev/null"});
  std::filesystem::current_path(here);
  EXPECT_EQ(
      same.message(),
      "./new.json: this output would overwrite new.json, which the program also reads or writes");
  EXPECT_TRUE(other.ok()) << other.message();
  EXPECT_TRUE(devices.ok()) << devices.message();
}

TEST(OutputFiles, AreReplacedWhole) {
  const TemporaryFolder folder;
  const std::string file = folder.file("result.json");
  for (const App& app : apps()) {
    write_contents(file, std::string(100'000, 'x'));
    EXPECT_EQ(run(app.small_run, {"--quiet", "--json", file}).exit_code, 0);
    EXPECT_EQ(json::parse(contents_of(file))["verification"], true) << app.name;
  }
}

TEST(OutputFiles, AFullDiskFailsTheRunByName) {
  struct stat facts = {};
  if (stat("/dev/full", &facts) != 0) {
    GTEST_SKIP() << "there is no /dev/full";
  }
  for (const App& app : apps()) {
    const Ending ending = run(app.small_run, {"--json", "/dev/full"});
    EXPECT_EQ(ending.exit_code, usage);
    EXPECT_TRUE(ending.output.ends_with("\nVERIFICATION SUCCESSFUL\n" + app.name +
                                        ": cannot write /dev/full: No space left on device\n"))
        << ending.output;
  }
}

// The output with a limit on file sizes; then the usual limit is restored.
rma::Status write_within(rlim_t bytes, const std::string& path, std::string_view contents) {
  rlimit usual{};
  EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit short_files{bytes, usual.rlim_max};
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &short_files), 0);
  rma::Status written = write_output_file(path, contents);
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &usual), 0);
  static_cast<void>(std::signal(SIGXFSZ, handler));
  return written;
}

TEST(OutputFiles, KeepTheirContentsIfTheNewOnesDoNotFit) {
  const TemporaryFolder folder;
  const std::string file = folder.file("result.json");
  write_contents(file, "what was there");
  const rma::Status written = write_within(4, file, "what comes");
  EXPECT_EQ(written.message(), fmt::format("cannot write {}: File too large", file));
  EXPECT_EQ(contents_of(file), "what was there");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"result.json"});
}

TEST(OutputFiles, KeepTheirPermissionsLinksAndOtherNames) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a");
  write_contents(file, "old");
  std::filesystem::permissions(file, std::filesystem::perms{0640});
  std::filesystem::create_symlink("a", folder.file("link"));
  EXPECT_TRUE(write_output_file(folder.file("link"), "new").ok());
  EXPECT_EQ(contents_of(file), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms{0640});
  std::filesystem::create_hard_link(file, folder.file("other"));
  EXPECT_TRUE(write_output_file(file, "newer").ok());
  EXPECT_EQ(contents_of(folder.file("other")), "newer");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"a", "link", "other"}));
}

TEST(OutputFiles, AMinusIsStandardOutputWithNothingElse) {
  for (const App& app : apps()) {
    const Ending ending = run_on_nodes(app, {"--json", "-"});
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    ASSERT_TRUE(json::accept(ending.output)) << ending.output;
    EXPECT_EQ(json::parse(ending.output)["verification"], true);
  }
}

TEST(OutputFiles, StandardOutputIsOne) {
  const Ending ending = run({TESSERA_MG, "--quiet", "--json", "/dev/stdout"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(json::parse(ending.output)["class"], "S") << ending.output;
}

TEST(OutputFiles, HaveNumbersWhereLinesHaveWords) {
  const TemporaryFolder folder;
  const std::string file = folder.file("result.json");
  Ending ending = run(apps()[0].small_run, {"--threads", "2", "--json", file});
  json result = json::parse(contents_of(file));
  EXPECT_EQ(result["grid_edge_points"], 32);
  EXPECT_TRUE(result["traffic_put_operations"].is_number_integer()) << result;
  EXPECT_GT(result["traffic_put_bytes"], 1024);
  EXPECT_NE(ending.output.find(fmt::format("\ntraffic_put: {} operations, ",
                                           result["traffic_put_operations"].get<std::int64_t>())),
            std::string::npos)
      << ending.output;

  ending = run(apps()[1].small_run, {"--threads", "2", "--json", file});
  result = json::parse(contents_of(file));
  EXPECT_EQ(result["min_entries_of_rank"], 392);
  EXPECT_EQ(result["max_entries_of_rank"], 392);
  EXPECT_NE(ending.output.find("\nentries_of_ranks: 392 to 392\n"), std::string::npos);

  ending = run(apps()[2].small_run, {"--threads", "2", "--json", file});
  result = json::parse(contents_of(file));
  // Six tiles of the largest matrix, which has 25 rows and columns.
  EXPECT_EQ(result["memory_buffer_tiles_bytes_per_rank"], 6 * 25 * 25 * 8);
  EXPECT_GT(result["memory_total_bytes_per_rank"], 6 * 25 * 25 * 8);
  EXPECT_NE(ending.output.find("\nmemory_buffer_tiles: 29.3 KiB on each rank\n"), std::string::npos)
      << ending.output;
  EXPECT_NE(ending.output.find("\ntransport: shm\n"), std::string::npos) << ending.output;
}

TEST(OutputFiles, NamesThatAreNoUtf8SpoilNothing) {
  const TemporaryFolder folder;
  const std::string matrix = folder.file("\xff.mtx");
  write_contents(matrix, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  const std::string file = folder.file("result.json");
  EXPECT_EQ(run({TESSERA_SPMV, "--matrix", matrix, "--quiet", "--json", file}).exit_code, 0);
  EXPECT_EQ(json::parse(contents_of(file))["rows"], 1);
}

TEST(Mg, NumbersOfCyclesThatNoNormIsPublishedForAreNotVerified) {
  const TemporaryFolder folder;
  const std::string file = folder.file("result.json");
  const Ending ending = run({TESSERA_MG, "--class", "S", "--iterations", "1", "--json", file});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_TRUE(
      ending.output.ends_with("\nNOT VERIFIED: no norm is published for 1 cycles of class S; the "
                              "norm decreased from the start\n"))
      << ending.output;
  EXPECT_EQ(ending.output.find("VERIFICATION"), std::string::npos) << ending.output;
  const json result = json::parse(contents_of(file));
  EXPECT_TRUE(result.contains("verification") && result["verification"].is_null()) << result;
  EXPECT_LT(result["residual_norm"], result["initial_norm"]);
  EXPECT_FALSE(result.contains("published_norm"));
}

TEST(Mg, TheNumberOfCyclesOfTheClassIsVerifiedIfGiven) {
  const Ending ending = run({TESSERA_MG, "--class", "s", "--iterations", "4"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_TRUE(ending.output.ends_with("\nVERIFICATION SUCCESSFUL\n")) << ending.output;
}

// The report of tessera-run --json on three ranks.
json how_it_went(const Words& options, const std::string& script, const TemporaryFolder& folder) {
  const std::string file = folder.file("run.json");
  Words words = {TESSERA_RUN, "-n", "3", "--quiet", "--json", file};
  words.insert(words.end(), options.begin(), options.end());
  const Ending ending = run(words, {"sh", "-c", script});
  json result = json::parse(contents_of(file));
  EXPECT_EQ(result["exit_code"], ending.exit_code) << result;
  EXPECT_EQ(ending.output, "");
  return result;
}

TEST(Launcher, WritesToAFileHowEachRankEnded) {
  const TemporaryFolder folder;
  const std::string script = "case $TESSERA_LAUNCH in *:1:3) kill -9 $$;; *:2:3) exit 5;; esac";
  const json result = how_it_went({}, script, folder);
  EXPECT_EQ(result["exits"], json::parse(R"([{"rank": 0, "exit_code": 0}, {"rank": 1, "signal": 9},
                                             {"rank": 2, "exit_code": 5}])"));
  EXPECT_EQ(result["exit_code"], 128 + 9);
  EXPECT_EQ(result["program"], json({"sh", "-c", script}));
  EXPECT_EQ(result["ranks"], 3);
  EXPECT_EQ(result["nodes"], 1);
  EXPECT_GT(result["seconds"], 0.0);
}

TEST(Launcher, WritesToAFileWhereRanksWere) {
  const TemporaryFolder folder;
  EXPECT_EQ(how_it_went({"--nodes", "2"}, "exit 0", folder)["nodes"], 2);
  const std::string file = folder.file("run.json");
  const Words start = {"env",
                       "TESSERA_RANKS_PER_NODE=1",
                       "TESSERA_TRANSPORT=shm,tcp",
                       TESSERA_RUN,
                       "-n",
                       "3",
                       "--json",
                       file,
                       "true"};
  EXPECT_EQ(run(start).exit_code, 0);
  const json result = json::parse(contents_of(file));
  EXPECT_EQ(result["nodes"], 3);
  EXPECT_EQ(result["transport"], "shm,tcp");
}

TEST(Launcher, WritesNoLocationsIfSettingsAreInvalid) {
  const TemporaryFolder folder;
  const std::string file = folder.file("run.json");
  EXPECT_EQ(run({"env", "TESSERA_RANKS_PER_NODE=x", TESSERA_RUN, "--json", file, "true"}).exit_code,
            0);
  const json result = json::parse(contents_of(file));
  EXPECT_TRUE(result["nodes"].is_null() && result["transport"].is_null()) << result;
}

TEST(Launcher, LeavesStandardOutputToTheProgram) {
  const Ending ending = run({TESSERA_RUN, "--json", "-", "echo", "started"});
  EXPECT_EQ(ending.exit_code, usage);
  EXPECT_EQ(ending.output,
            "tessera-run: --json -: the program uses standard output; give a file name\n");
}

TEST(Launcher, StartsNothingIfItsFileCannotBeWritten) {
  const TemporaryFolder folder;
  const Ending ending =
      run({TESSERA_RUN, "--json", "/nowhere/run.json", "touch", folder.file("was started")});
  EXPECT_EQ(ending.exit_code, usage);
  EXPECT_EQ(ending.output,
            "tessera-run: cannot write /nowhere/run.json: No such file or directory\n");
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace tessera::apps
