// SPDX-License-Identifier: BSD-3-Clause
//
// What tessera-spmv prints and writes, and its exit codes.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/fault/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::apps::spmv {
namespace {

using fault::Ending;
using fault::occurrences;
using fault::Program;
using tessera::test::TemporaryFolder;
using tessera::test::write_contents;

constexpr int failed = 1;
constexpr int unusable = 2;

Ending run(std::vector<std::string> words) {
  words.insert(words.begin(), TESSERA_SPMV);
  return Program(words).wait();
}
Ending run_on_nodes(std::vector<std::string> words) {
  const std::vector<std::string> start = {TESSERA_RUN, "-n", "3", "--nodes", "2", TESSERA_SPMV};
  words.insert(words.begin(), start.begin(), start.end());
  return Program(words).wait();
}

TEST(SpmvCommandLine, RefusesUnknownArguments) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> lines = {
      {{}, "one of --matrix FILE and --generate KIND:NUMBERS is needed\n"},
      {{"--matrix", "a", "--generate", "fe2d:3"}, "give either --matrix or --generate, not both"},
      {{"--generate", "fe4d:3"}, "generator fe4d:3: this generator does not exist\n"},
      {{"--generate", "fe2d:3", "--mode", "fast"},
       "--mode 'fast': the modes are default, neighbours, plain"},
      {{"--generate", "fe2d:3", "--partition", "x"},
       "--partition x: the choices are rows, entries"},

      {{"--generate", "fe2d:3", "--solve", "lu"}, "lu not in {cg,bicgstab}"},
      {{"--generate", "fe2d:3", "--solve", "cg", "--tolerance", "0"},
       "--tolerance 0: must be more than 0 and less than 1\n"},
      {{"--generate", "fe2d:3", "--solve", "cg", "--tolerance", "1"},
       "--tolerance 1: must be more than 0 and less than 1\n"},
      {{"--generate", "fe2d:3", "--steps", "9"}, "--steps requires --solve\n"},
      {{"--generate", "fe2d:3", "--tolerance", "1e-3"}, "--tolerance requires --solve\n"},
      {{"--generate", "fe2d:3", "--precondition", "jacobi"}, "--precondition requires --solve\n"},
      {{"--generate", "fe2d:3", "--mode", "plain,runs,plain"}, "--mode contains plain twice\n"},

      {{"--generate", "fe2d:3", "--json", ""}, "--json: an empty name is not a file\n"},
      {{"--matrix", ""}, "--matrix: an empty name is not a file\n"},
      {{"--generate", "convection:5", "--solve", "cg"},
       "convection:5: conjugate gradients need a symmetric matrix"},
      {{"--generate", "fe2d:3", "--iterations", "0"}, "expected a whole number of at least 1\n"},
      {{"--matrix", "/none/such.mtx"}, "tessera-spmv: /none/such.mtx: No such file or directory\n"},
  };
  for (const auto& [words, message] : lines) {
    const Ending ending = run(words);
    EXPECT_EQ(ending.exit_code, unusable) << message;
    EXPECT_NE(ending.output.find(message), std::string::npos) << ending.output;
  }
}

TEST(SpmvCommandLine, OneRankReportsUnknownArguments) {
  const Ending ending = run_on_nodes({"--generate", "fe4d:3"});
  EXPECT_EQ(occurrences(ending.output, "tessera-spmv: generator fe4d:3"), 1U) << ending.output;
  EXPECT_EQ(occurrences(ending.output, "exited with code 2"), 3U) << ending.output;
}

// Copies on the disks of two nodes, one of them old.
TEST(SpmvCommandLine, AFileThatIsNotTheSameOnAllRanksIsRefused) {
  const TemporaryFolder folder;
  const std::string text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 ";
  for (const std::string rank : {"0", "1"}) {
    ASSERT_EQ(::mkdir(folder.file(rank).c_str(), 0700), 0);
    write_contents(folder.file(rank) + "/m", text + (rank == "0" ? "1\n" : "3\n"));
  }
  const std::string script = fmt::format(
      "case $TESSERA_LAUNCH in *:2:3) cd {0}/1;; *) cd {0}/0;; esac; exec '{1}' --matrix m",
      folder.path(), TESSERA_SPMV);
  const Ending ending =
      Program({TESSERA_RUN, "-n", "3", "--nodes", "2", "sh", "-c", script}).wait();
  EXPECT_EQ(occurrences(ending.output,
                        "tessera-spmv: m: the contents on rank 2 differ from those on rank 0\n"),
            1U)
      << ending.output;
  EXPECT_EQ(occurrences(ending.output, "exited with code 2"), 3U) << ending.output;
}

TEST(SpmvCommandLine, SkewSymmetricFilesAreNotSentFromOneMethodToTheOther) {
  const TemporaryFolder folder;
  const std::string path = folder.file("skew.mtx");
  write_contents(path,
                 "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1\n3 2 2\n");
  const Ending ending = run({"--matrix", path, "--solve", "cg"});
  EXPECT_EQ(ending.exit_code, unusable);
  EXPECT_NE(ending.output.find("bicgstab also breaks down on it"), std::string::npos)
      << ending.output;
}

TEST(SpmvCommandLine, ComplexSymmetricFilesAreSentToBicgstab) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.mtx");
  const char* entries = "2 2 3\n1 1 4 1\n2 1 1 1\n2 2 3 0\n";
  write_contents(path,
                 fmt::format("%%MatrixMarket matrix coordinate complex symmetric\n{}", entries));
  const Ending ending = run({"--matrix", path, "--solve", "cg"});
  EXPECT_EQ(ending.exit_code, unusable);
  EXPECT_EQ(ending.output,
            fmt::format("tessera-spmv: {}: conjugate gradients need a Hermitian matrix\n"
                        "  hint: use --solve bicgstab, which takes matrices of any symmetry\n",
                        path));
  EXPECT_EQ(run({"--matrix", path, "--solve", "bicgstab"}).exit_code, 0);
  write_contents(path,
                 fmt::format("%%MatrixMarket matrix coordinate complex general\n{}", entries));
  const Ending general = run({"--matrix", path, "--solve", "cg", "--steps", "9"});
  EXPECT_EQ(general.exit_code, failed);
  EXPECT_NE(general.output.find("conjugate gradients need a Hermitian matrix\n"), std::string::npos)
      << general.output;
}

TEST(SpmvCommandLine, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(run({"--help"}).exit_code, 0);
  EXPECT_EQ(run({"--version"}).output, "0.1.0\n");
}

TEST(SpmvCommandLine, ABadFileIsReportedOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.file("bad.mtx");
  write_contents(path, "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
  const Ending ending = run_on_nodes({"--matrix", path});
  EXPECT_NE(ending.exit_code, 0);
  EXPECT_EQ(occurrences(ending.output, path + ":3:1: row 3 is outside 1 to 2"), 1U)
      << ending.output;
  EXPECT_EQ(occurrences(ending.output, "exited with code 2"), 3U) << ending.output;
  EXPECT_EQ(run({"--matrix", path}).exit_code, unusable);
  EXPECT_EQ(run({"--matrix", path, "--threads", "3"}).exit_code, unusable);
}

TEST(SpmvCommandLine, WhatDoesNotFitTheMachineIsRefused) {
  const Ending ending = run_on_nodes({"--generate", "random:2000000000,1000"});
  EXPECT_NE(ending.exit_code, 0);
  EXPECT_EQ(occurrences(ending.output, "on this machine, for 3 of its ranks"), 1U) << ending.output;
  EXPECT_EQ(occurrences(ending.output, "exited with code 2"), 3U) << ending.output;
}

TEST(SpmvCommandLine, APartitionersMemoryIsThatOfTheFirstRank) {
  for (const char* partition : {"metis", "scotch"}) {
    const Ending ending =
        run_on_nodes({"--generate", "random:2000000000,1000", "--partition", partition});
    if (ending.output.find("was built without it") != std::string::npos) {
      continue;
    }
    EXPECT_EQ(occurrences(ending.output, "needs the whole pattern on rank 0"), 1U) << ending.output;
    EXPECT_EQ(occurrences(ending.output, "exited with code 2"), 3U) << ending.output;
  }
}

TEST(SpmvCommandLine, MatricesThatAreNotSquare) {
  const TemporaryFolder folder;
  const std::string path = folder.file("wide.mtx");
  write_contents(path, "%%MatrixMarket matrix coordinate real general\n2 5 2\n1 5 1\n2 1 3\n");
  const Ending product = run_on_nodes({"--matrix", path});
  EXPECT_EQ(product.exit_code, 0) << product.output;
  EXPECT_NE(product.output.find("rows: 2\ncolumns: 5\nentries: 2\n"), std::string::npos);
  const Ending solution = run({"--matrix", path, "--solve", "cg"});
  EXPECT_EQ(solution.exit_code, unusable);
  EXPECT_NE(solution.output.find("is 2 x 5: --solve needs a square matrix\n"), std::string::npos)
      << solution.output;
}

TEST(SpmvCommandLine, MatricesWithoutRowsOrEntries) {
  const TemporaryFolder folder;
  const std::string path = folder.file("empty.mtx");
  for (const char* sizes : {"0 0 0", "3 3 0", "0 4 0", "4 0 0"}) {
    write_contents(path, fmt::format("%%MatrixMarket matrix coordinate real general\n{}\n", sizes));
    const Ending ending = run_on_nodes({"--matrix", path, "--mode", "default,plain,aggregate"});
    EXPECT_EQ(ending.exit_code, 0) << sizes << '\n' << ending.output;
    EXPECT_NE(ending.output.find("VERIFICATION SUCCESSFUL\n"), std::string::npos) << ending.output;
  }
}

TEST(SpmvCommandLine, ComplexMatricesAndEntriesGivenTwice) {
  const TemporaryFolder folder;
  const std::string path = folder.file("complex.mtx");
  write_contents(path,
                 "%%MatrixMarket matrix coordinate complex hermitian\n2 2 4\n1 1 4 0\n2 2 5 0\n"
                 "2 1 1 1\n2 1 1 -3\n");
  const Ending ending =
      run_on_nodes({"--matrix", path, "--solve", "cg", "--precondition", "jacobi"});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_NE(ending.output.find("entries: 4\nentries_summed: 2\n"), std::string::npos)
      << ending.output;
}

TEST(SpmvCommandLine, WhatCannotBeSolvedIsReportedOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.file("hole.mtx");
  write_contents(path, "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 2 1\n");
  const Ending ending =
      run_on_nodes({"--matrix", path, "--solve", "bicgstab", "--precondition", "jacobi"});
  EXPECT_EQ(ending.exit_code, unusable);
  EXPECT_EQ(occurrences(ending.output, "tessera-spmv: " + path + ": sparse matrix 'A' "), 1U)
      << ending.output;
  EXPECT_EQ(occurrences(ending.output, "has a zero on its diagonal, in row 2\n"), 1U)
      << ending.output;
  EXPECT_EQ(occurrences(ending.output, "exited with code 2"), 3U) << ending.output;
}

TEST(SpmvCommandLine, ItsMatrixIsNotWrittenOver) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.mtx");
  const std::string text = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
  write_contents(path, text);
  const Ending ending = run_on_nodes({"--matrix", path, "--json", folder.path() + "/./a.mtx"});
  EXPECT_EQ(occurrences(ending.output, "would overwrite " + path), 1U) << ending.output;
  EXPECT_EQ(occurrences(ending.output, "exited with code 2"), 3U) << ending.output;
  EXPECT_EQ(tessera::test::contents_of(path), text);
}

TEST(SpmvCommandLine, APipeIsNotWaitedFor) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const Ending ending = run({"--matrix", folder.file("pipe")});
  EXPECT_EQ(ending.exit_code, unusable);
  EXPECT_NE(ending.output.find("pipe: is not a regular file\n"), std::string::npos)
      << ending.output;
}

TEST(SpmvCommandLine, ALongNameDoesNotHideTheReason) {
  const TemporaryFolder folder;
  std::string path = folder.path();
  for (int depth = 0; depth < 3; ++depth) {
    path += "/" + std::string(200, 'd');
    ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  }
  path += "/bad.mtx";
  const Ending missing = run_on_nodes({"--matrix", path});
  EXPECT_EQ(occurrences(missing.output, path + ": No such file or directory\n"), 1U)
      << missing.output;
  write_contents(path, "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
  const Ending ending = run_on_nodes({"--matrix", path});
  EXPECT_EQ(occurrences(ending.output, path + ":3:1: row 3 is outside 1 to 2"), 1U)
      << ending.output;
}

TEST(SpmvCommandLine, ThreadsOfRanksAreRefused) {
  const Ending ending = run_on_nodes({"--generate", "fe2d:5", "--threads", "2"});
  EXPECT_EQ(occurrences(ending.output, "tessera-spmv: --threads: tessera-run already starts ranks"),
            1U)
      << ending.output;
  EXPECT_EQ(occurrences(ending.output, "exited with code 2"), 3U) << ending.output;
}

TEST(SpmvCommandLine, RoundingsThatHideTheToleranceAreTheReason) {
  const TemporaryFolder folder;
  const std::string path = folder.file("hilbert.mtx");
  std::string text = "%%MatrixMarket matrix array real symmetric\n12 12\n";
  for (int column = 0; column < 12; ++column) {
    for (int row = column; row < 12; ++row) {
      text += fmt::format("{} ", 1.0 / (row + column + 1));
    }
    text += "\n";
  }
  write_contents(path, text);
  const Ending ending = run({"--matrix", path, "--solve", "cg", "--tolerance", "1e-17"});
  EXPECT_EQ(ending.exit_code, failed);
  EXPECT_NE(
      ending.output.find(" |b|, more than ten times the tolerance: rounding errors hid this\n"),
      std::string::npos)
      << ending.output;
}

TEST(SpmvCommandLine, AFailedVerificationIsOne) {
  const Ending ending = run({"--generate", "fe2d:20", "--solve", "cg", "--steps", "2"});
  EXPECT_EQ(ending.exit_code, failed);
  EXPECT_TRUE(ending.output.ends_with("VERIFICATION FAILED\n")) << ending.output;
}

// The message gives asymmetry as a reason only if the matrix may have it.
TEST(SpmvCommandLine, StepsThatDoNotSuffice) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.mtx");
  const char* sizes_and_entries = "3 3 5\n1 1 1\n2 1 .5\n2 2 2\n3 2 .5\n3 3 3\n";
  write_contents(
      path, fmt::format("%%MatrixMarket matrix coordinate real general\n{}", sizes_and_entries));
  const Ending general = run({"--matrix", path, "--solve", "cg", "--steps", "2"});
  EXPECT_NE(
      general.output.find(
          "solver_failure: 2 steps were not enough; conjugate gradients need a symmetric matrix\n"),
      std::string::npos)
      << general.output;
  write_contents(
      path, fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{}", sizes_and_entries));
  for (const std::vector<std::string>& matrix :
       {std::vector<std::string>{"--matrix", path}, {"--generate", "fe2d:20"}}) {
    std::vector<std::string> arguments = matrix;
    arguments.insert(arguments.end(), {"--solve", "cg", "--steps", "2"});
    const Ending symmetric = run(arguments);
    EXPECT_EQ(symmetric.exit_code, failed);
    EXPECT_NE(symmetric.output.find("solver_failure: 2 steps were not enough\n"), std::string::npos)
        << symmetric.output;
  }
}

TEST(SpmvCommandLine, QuietAndJson) {
  const TemporaryFolder folder;
  const std::string path = folder.file("result.json");
  const Ending ending =
      run_on_nodes({"--generate", "random:200,5", "--mode", "plain,aggregate", "--iterations", "3",
                    "--solve", "bicgstab", "--quiet", "--json", path});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(ending.output, "");
  const auto json = nlohmann::json::parse(tessera::test::contents_of(path));
  EXPECT_EQ(json["rows"], 200);
  EXPECT_EQ(json["communication_plain"].size(), 3U);
  EXPECT_EQ(json["communication_aggregate"].size(), 3U);
  EXPECT_EQ(json["verification"], true);
  EXPECT_LE(json["residual_norm"].get<double>(), 1e-7);
}

}  // namespace
}  // namespace tessera::apps::spmv
