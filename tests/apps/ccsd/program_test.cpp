// SPDX-License-Identifier: BSD-3-Clause
//
// tessera-ccsd as users run it: its output, its exit codes, restarts on another number of ranks,
// and its errors for bad input.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/fault/program.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::apps {
namespace {

using fault::Ending;
using fault::Program;
using tessera::test::contents_of;
using tessera::test::TemporaryFolder;
using tessera::test::write_contents;

constexpr int failed = 1;
constexpr int usage = 2;

Ending run(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return Program(words).wait();
}
Ending alone(const std::vector<std::string>& arguments) {
  return run({TESSERA_CCSD}, arguments);
}
Ending on_ranks(const char* ranks, const std::vector<std::string>& arguments) {
  return run({TESSERA_RUN, "-n", ranks, TESSERA_CCSD}, arguments);
}

/// Whether the program reports a build without checkpoints; other errors may name HDF5, too.
bool is_without_hdf5(const Ending& ending) {
  return ending.output.find("was built without HDF5") != std::string::npos;
}

/// The number in a result line `name: value unit`.
double result(const Ending& ending, const std::string& name) {
  std::istringstream lines(ending.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(name + ": ", 0) == 0) {
      return std::strtod(line.c_str() + name.size() + 2, nullptr);
    }
  }
  ADD_FAILURE() << "no line '" << name << "' in:\n" << ending.output;
  return 0.0;
}

void expect_refused(const Ending& ending, const std::string& sentence) {
  EXPECT_EQ(ending.exit_code, usage) << ending.output;
  const std::size_t at = ending.output.find(sentence);
  ASSERT_NE(at, std::string::npos) << sentence << " is not in:\n" << ending.output;
  EXPECT_EQ(ending.output.find(sentence, at + 1), std::string::npos) << "printed twice:\n"
                                                                     << ending.output;
}

/// Reference energies, all electrons correlated; made with Psi4 1.3.2.
struct Reference {
  const char* name;
  double scf;
  double mp2;
  double ccsd;
  double triples;
};
constexpr std::array<Reference, 6> references{{
    {"h2o_sto3g", -74.942079928192, -0.049149636120, -0.070680088377, -0.000099877272},
    {"h2o_631g", -75.952529075448, -0.142119832513, -0.149412687489, -0.001598595863},
    {"ch4_sto3g", -39.726639905305, -0.056687275213, -0.079284480376, -0.000140824079},
    {"hf_ccpvdz", -100.019411269157, -0.203781911795, -0.208743643081, -0.001936389639},
    {"h2o_ccpvdz", -76.026772053372, -0.204003563865, -0.213327426895, -0.003058707402},
    {"n2_631gs", -108.942622958515, -0.316440959813, -0.318395748990, -0.012231966259},
}};

// Of the digits that Psi4 prints, the last one or two are not converged.
void expect_energies(const Ending& ending, const Reference& expected) {
  constexpr double tolerance = 1e-11;
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_NEAR(result(ending, "scf_energy"), expected.scf, tolerance) << expected.name;
  EXPECT_NEAR(result(ending, "mp2_correlation"), expected.mp2, tolerance) << expected.name;
  EXPECT_NEAR(result(ending, "ccsd_correlation"), expected.ccsd, tolerance) << expected.name;
  EXPECT_NEAR(result(ending, "triples"), expected.triples, tolerance) << expected.name;
  EXPECT_NE(ending.output.find("\nVERIFICATION SUCCESSFUL\n"), std::string::npos);
}

TEST(CcsdProgram, HasPsi4sEnergies) {
  const std::filesystem::path folder = SHARED_FCIDUMP;
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "there is no " << folder;
  }
  for (const Reference& reference : references) {
    if (tessera::test::is_sanitized && reference.scf < -75.97) {
      continue;  // larger ones do the same more often
    }
    const std::string file = folder / (std::string(reference.name) + ".fcidump");
    expect_energies(on_ranks("2", {"--fcidump", file, "--triples"}), reference);
  }
}

TEST(CcsdProgram, HasTheSameEnergiesOnAnyRanksOfOneNodeAndOfTwo) {
  expect_energies(alone({"--fcidump", H2O_STO3G, "--triples"}), references[0]);
  for (const char* ranks : {"2", "3", "4"}) {
    for (const char* nodes : {"1", "2"}) {
      expect_energies(run({TESSERA_RUN, "-n", ranks, "--nodes", nodes, TESSERA_CCSD},
                          {"--fcidump", H2O_STO3G, "--triples"}),
                      references[0]);
    }
  }
}

/// The molecule with two of its orbitals exchanged.
std::string with_swapped(const std::string& text, int one, int other) {
  std::istringstream lines(text);
  std::string result;
  bool is_header = true;
  for (std::string line; std::getline(lines, line);) {
    if (is_header) {
      result += line + '\n';
      is_header = line.find("&END") == std::string::npos && line.find('/') == std::string::npos;
      continue;
    }
    std::istringstream fields(line);
    std::string field;
    fields >> field;
    result += field;
    for (int p = 0; fields >> p;) {
      result += ' ' + std::to_string(p == one ? other : p == other ? one : p);
    }
    result += '\n';
  }
  return result;
}

// As in files that are sorted by symmetry.
TEST(CcsdProgram, FreezesTheLowestOrbitalsInAnyOrderOfTheFile) {
  const TemporaryFolder folder;
  const std::string file = folder.file("swapped.fcidump");
  write_contents(file, with_swapped(contents_of(H2O_STO3G), 1, 5));
  for (const char* frozen : {"1", "2"}) {
    const std::vector<std::string> more = {"--triples", "--frozen-core", frozen, "--fcidump"};
    std::vector<std::string> sorted = more;
    sorted.emplace_back(H2O_STO3G);
    std::vector<std::string> swapped = more;
    swapped.push_back(file);
    const Ending expected = alone(sorted);
    for (const char* ranks : {"1", "3"}) {
      const Ending found = on_ranks(ranks, swapped);
      EXPECT_EQ(found.exit_code, 0) << found.output;
      for (const char* name : {"scf_energy", "mp2_correlation", "ccsd_correlation", "triples"}) {
        EXPECT_NEAR(result(found, name), result(expected, name), 1e-12) << name << frozen;
      }
    }
  }
}

/// The molecule without the orbital energies of its file.
std::string without_energies(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string value;
    int p = 0;
    int q = -1;
    const bool is_energy = fields >> value >> p >> q && p != 0 && q == 0;
    result += is_energy ? "" : line + '\n';
  }
  return result;
}

// As in files that are sorted by symmetry throughout.
TEST(CcsdProgram, OccupiesTheOrbitalsOfTheLowestEnergiesInTheFile) {
  const TemporaryFolder folder;
  const std::string file = folder.file("swapped.fcidump");
  write_contents(file, with_swapped(with_swapped(contents_of(H2O_STO3G), 5, 6), 1, 7));
  for (const char* frozen : {"0", "1", "2"}) {
    const Ending expected = alone({"--fcidump", H2O_STO3G, "--triples", "--frozen-core", frozen});
    for (const char* ranks : {"1", "3"}) {
      const Ending found =
          on_ranks(ranks, {"--fcidump", file, "--triples", "--frozen-core", frozen});
      EXPECT_EQ(found.exit_code, 0) << found.output;
      for (const char* name : {"scf_energy", "mp2_correlation", "ccsd_correlation", "triples"}) {
        EXPECT_NEAR(result(found, name), result(expected, name), 1e-12) << name << frozen;
      }
    }
  }
}

/// Such a file with the names of Molpro's header.
std::string with_symmetries(std::string text, const std::string& symmetries) {
  const std::string one = "ORBSYM=1,1,1,1,1,1,1,\n";
  return text.replace(text.find(one), one.size(),
                      symmetries + "OCC=  5,  0,  0,  0,\nCLOSED=  5,  0,  0,  0,\n");
}

// Molpro sorts by symmetry, and writes no orbital energies.
TEST(CcsdProgram, OccupiesTheOrbitalsThatTheHeaderNames) {
  const TemporaryFolder folder;
  const std::string file = folder.file("molpro.fcidump");
  const std::string swapped =
      without_energies(with_swapped(with_swapped(contents_of(H2O_STO3G), 5, 6), 1, 7));
  write_contents(file, with_symmetries(swapped, "ORBSYM=2,1,1,1,2,1,1,\n"));
  for (const char* ranks : {"1", "3"}) {
    const Ending found = on_ranks(ranks, {"--fcidump", file, "--triples"});
    EXPECT_EQ(found.exit_code, 0) << found.output;
    expect_energies(found, references[0]);
  }
  write_contents(file, with_symmetries(swapped, "ORBSYM=2,1,1,1,1,2,1,\n"));
  expect_refused(on_ranks("2", {"--fcidump", file}),
                 "or the 5 orbitals in the header's CLOSED or OCC are not the occupied ones: the "
                 "Fock matrix has ");
}

// The Fock matrix of wrong occupied orbitals is not diagonal, although the orbitals are canonical.
TEST(CcsdProgram, ReportsThatOccupiedOrbitalsMayNotComeFirst) {
  const TemporaryFolder folder;
  const std::string file = folder.file("swapped.fcidump");
  write_contents(file, without_energies(with_swapped(contents_of(H2O_STO3G), 5, 6)));
  expect_refused(on_ranks("2", {"--fcidump", file}),
                 "or the first 5 orbitals of the file are not the occupied ones: the Fock matrix "
                 "has ");
  // The energies select other orbitals than the integrals.
  write_contents(file, with_swapped(without_energies(contents_of(H2O_STO3G)), 5, 6) +
                           "-9 1 0 0 0\n-8 2 0 0 0\n-7 3 0 0 0\n-6 4 0 0 0\n1 5 0 0 0\n"
                           "2 6 0 0 0\n-5 7 0 0 0\n");
  expect_refused(on_ranks("2", {"--fcidump", file}),
                 "or the 5 orbitals with the lowest energies in the file are not the occupied "
                 "ones: the Fock matrix has ");
}

// Copies on the disks of two nodes, one of them old.
TEST(CcsdProgram, RefusesAFileThatIsNotTheSameOnAllRanks) {
  const TemporaryFolder folder;
  const std::string text = contents_of(H2O_STO3G);
  std::string middle = text + std::string(1 << 18, '\n');
  middle[middle.size() - 100'000] = ' ';
  const std::vector<std::pair<std::string, std::string>> copies = {
      {text, text + "\n"}, {text + std::string(1 << 18, '\n'), middle}};
  for (const auto& [one, other] : copies) {
    for (const char* rank : {"0", "1"}) {
      std::filesystem::create_directory(folder.file(rank));
      write_contents(folder.file(rank) + "/m", rank[0] == '0' ? one : other);
    }
    const std::string script = fmt::format(
        "case $TESSERA_LAUNCH in *:0:3) cd {0}/0;; *) cd {0}/1;; esac; exec '{1}' --fcidump m",
        folder.path(), TESSERA_CCSD);
    const Ending ending = run({TESSERA_RUN, "-n", "3", "--nodes", "3", "sh", "-c", script}, {});
    expect_refused(ending, "m: the contents on ranks 1, 2 differ from those on rank 0");
  }
}

TEST(CcsdProgram, ContinuesFromACheckpointOnAnotherNumberOfRanks) {
  const TemporaryFolder folder;
  const std::string file = folder.file("amplitudes.h5");
  const Ending whole = on_ranks("2", {"--fcidump", H2O_STO3G});
  const Ending first =
      on_ranks("3", {"--fcidump", H2O_STO3G, "--max-iterations", "8", "--checkpoint", file});
  if (is_without_hdf5(first)) {
    GTEST_SKIP() << first.output;
  }
  EXPECT_EQ(first.exit_code, failed);
  EXPECT_NE(first.output.find("\nVERIFICATION FAILED\n"), std::string::npos) << first.output;
  const Ending second = on_ranks("2", {"--fcidump", H2O_STO3G, "--triples", "--restart", file});
  expect_energies(second, references[0]);
  EXPECT_LT(result(second, "iterations"), result(whole, "iterations"));
  EXPECT_NEAR(result(second, "ccsd_correlation"), result(whole, "ccsd_correlation"), 1e-12);

  const Ending other =
      on_ranks("2", {"--fcidump", H2O_STO3G, "--frozen-core", "1", "--restart", file});
  expect_refused(other, "has amplitudes for 0 frozen orbitals, not 1");
  EXPECT_EQ(other.output.find("memory_total"), std::string::npos)
      << "it is looked at before anything large is made: " << other.output;
  expect_refused(alone({"--fcidump", H2O_STO3G, "--restart", folder.file("none.h5")}),
                 "opening checkpoint");
}

TEST(CcsdProgram, RefusesACheckpointThatCannotBeWrittenBeforeTheFirstIteration) {
  const TemporaryFolder folder;
  for (const auto& [file, reason] : std::vector<std::pair<std::string, std::string>>{
           {"/nowhere/x.h5", "No such file or directory"}, {folder.path(), "it is a directory"}}) {
    const Ending ending = on_ranks("2", {"--fcidump", H2O_STO3G, "--checkpoint", file});
    if (is_without_hdf5(ending)) {
      GTEST_SKIP() << ending.output;
    }
    expect_refused(ending, fmt::format("tessera-ccsd: creating checkpoint '{}'", file));
    EXPECT_NE(ending.output.find(reason), std::string::npos) << ending.output;
    EXPECT_EQ(ending.output.find("iteration"), std::string::npos) << ending.output;
    EXPECT_EQ(ending.output.find("memory_total"), std::string::npos) << ending.output;
  }
  EXPECT_TRUE(folder.names().empty()) << "what was tried is still there";
}

/// With a file system in `folder` that is too small for a checkpoint. Needs privileges.
Ending on_a_full_disk(const std::string& folder, const char* ranks,
                      const std::vector<std::string>& arguments) {
  const std::string script =
      "mount -t tmpfs -o size=8k none " + folder + " || exit 77; exec \"$@\"";
  return run(
      {"unshare", "--mount", "sh", "-c", script, "sh", TESSERA_RUN, "-n", ranks, TESSERA_CCSD},
      arguments);
}

TEST(CcsdProgram, ACheckpointThatCannotBeWrittenEndsNoCalculation) {
  const TemporaryFolder disk;
  const TemporaryFolder folder;
  const std::string file = disk.file("amplitudes.h5");
  for (const char* ranks : {"1", "2"}) {
    const Ending ending = on_a_full_disk(disk.path(), ranks,
                                         {"--fcidump", H2O_STO3G, "--triples", "--checkpoint", file,
                                          "--json", folder.file("r.json")});
    if (ending.output.find("unshare") != std::string::npos || ending.exit_code == 77 ||
        is_without_hdf5(ending)) {
      GTEST_SKIP() << ending.output;
    }
    EXPECT_EQ(ending.exit_code, usage) << ending.output;
    EXPECT_NEAR(result(ending, "total_energy"), -75.012859893841, 1e-10);
    EXPECT_NE(ending.output.find("\nVERIFICATION SUCCESSFUL\n"), std::string::npos);
    const std::string warning = "could not write the checkpoint, continuing without it";
    EXPECT_EQ(fault::occurrences(ending.output, warning), 1U) << ending.output;
    EXPECT_NE(ending.output.find("tessera-ccsd: iteration 1: " + warning), std::string::npos);
    EXPECT_EQ(fault::occurrences(ending.output, "are not in " + file), 1U) << ending.output;
    EXPECT_NE(ending.output.find("No space left on device"), std::string::npos);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"r.json"});
  }
}

TEST(CcsdProgram, ADanglingLinkGivenAsCheckpointStaysALink) {
  const TemporaryFolder folder;
  const std::string link = folder.file("latest.h5");
  std::filesystem::create_symlink("run.h5", link);
  const Ending ending = alone({"--fcidump", H2O_STO3G, "--checkpoint", link});
  if (is_without_hdf5(ending)) {
    GTEST_SKIP() << ending.output;
  }
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_regular_file(folder.file("run.h5")));
  for (const auto& [target, reason] : std::vector<std::pair<std::string, std::string>>{
           {"/nowhere/run.h5", "cannot write into directory /nowhere"},
           {"circle", "Too many levels of symbolic links"}}) {
    std::filesystem::create_symlink(target, folder.file("circle"));
    expect_refused(alone({"--fcidump", H2O_STO3G, "--checkpoint", folder.file("circle")}), reason);
    std::filesystem::remove(folder.file("circle"));
  }
}

TEST(CcsdProgram, ExplainsWhyARunFailed) {
  const TemporaryFolder folder;
  const Ending ending = on_ranks("2", {"--fcidump", H2O_STO3G, "--triples", "--max-iterations", "3",
                                       "--json", folder.file("r.json")});
  EXPECT_EQ(ending.exit_code, failed) << ending.output;
  const std::string reason = "not converged in 3 iterations: step_norm ";
  const std::size_t at = ending.output.find("\nfailure: " + reason);
  ASSERT_NE(at, std::string::npos) << ending.output;
  EXPECT_NE(ending.output.find(", more than 1e-12\n", at), std::string::npos) << ending.output;
  EXPECT_NE(contents_of(folder.file("r.json")).find("\"failure\": \"" + reason), std::string::npos);
  // There is no (T), and nothing that looks like the result.
  EXPECT_EQ(ending.output.find("total_energy"), std::string::npos) << ending.output;
  const Ending good = alone({"--fcidump", H2O_STO3G});
  EXPECT_EQ(good.output.find("failure"), std::string::npos) << good.output;
}

TEST(CcsdProgram, ReportsByItsCodeThatThreadsDidNotStart) {
  const Ending ending = run({"env", "TESSERA_TUNE=spin_ns=soon", TESSERA_CCSD},
                            {"--threads", "2", "--fcidump", H2O_STO3G});
  EXPECT_EQ(ending.exit_code, failed) << ending.output;
  EXPECT_NE(ending.output.find("TESSERA_TUNE=spin_ns=soon is not usable"), std::string::npos)
      << ending.output;
}

TEST(CcsdProgram, RefusesDamagedOrMissingCheckpoints) {
  const TemporaryFolder folder;
  const std::string file = folder.file("amplitudes.h5");
  const Ending written =
      alone({"--fcidump", H2O_STO3G, "--max-iterations", "2", "--checkpoint", file});
  if (is_without_hdf5(written)) {
    GTEST_SKIP() << written.output;
  }
  const std::string whole = contents_of(file);
  write_contents(file, whole.substr(0, whole.size() / 2));
  expect_refused(on_ranks("2", {"--fcidump", H2O_STO3G, "--restart", file}),
                 "can't be read as HDF5: truncated file");
  expect_refused(on_ranks("2", {"--fcidump", H2O_STO3G, "--restart", H2O_STO3G}),
                 "can't be read as HDF5: file signature not found");
}

TEST(CcsdProgram, WritesJsonAndIsQuiet) {
  const TemporaryFolder folder;
  const Ending ending = alone({"--fcidump", H2O_STO3G, "--triples", "--quiet", "--json",
                               folder.file("r.json"), "--threads", "3"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.output, "");
  const std::string json = contents_of(folder.file("r.json"));
  EXPECT_NE(json.find("\"ccsd_correlation\": -0.07068008837"), std::string::npos) << json;
  EXPECT_NE(json.find("\"verification\": true"), std::string::npos) << json;
}

TEST(CcsdProgram, MakesUpIntegralsThatConverge) {
  const Ending ending = on_ranks("2", {"--occupied", "4", "--virtual", "9", "--triples",
                                       "--frozen-core", "1", "--tile", "16"});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_LT(result(ending, "iterations"), 40);
  EXPECT_GT(result(ending, "contraction_rate"), 0.0);
  EXPECT_GT(result(ending, "multiply_rate"), 0.0);
  EXPECT_EQ(ending.output.find("scf_energy"), std::string::npos);
  EXPECT_EQ(alone({"--occupied", "3", "--virtual", "4", "--max-iterations", "2"}).exit_code, 0);
}

TEST(CcsdProgram, WithoutAnyToCorrelateTheEnergyIsThatOfTheReference) {
  const Ending ending = on_ranks("2", {"--fcidump", H2O_STO3G, "--frozen-core", "5", "--triples"});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_NEAR(result(ending, "total_energy"), references[0].scf, 1e-9);
  EXPECT_EQ(result(ending, "ccsd_correlation"), 0.0);
}

TEST(CcsdProgram, RefusesCommandLinesThatMakeNoSense) {
  expect_refused(alone({}), "--fcidump FILE is needed, or --occupied O --virtual V");
  expect_refused(alone({"--occupied", "3"}), "--occupied requires --virtual");
  expect_refused(alone({"--fcidump", "x", "--occupied", "3", "--virtual", "3"}), "excludes");
  expect_refused(alone({"--fcidump", "x", "--max-iterations", "0"}),
                 "expected a whole number of at least 1");
  expect_refused(alone({"--fcidump", "x", "--tile", "100000"}), "at most 16384");
  expect_refused(alone({"--occupied", "10", "--virtual", "100000"}), "at most 32767");
  expect_refused(
      alone({"--occupied", "4", "--virtual", "8", "--max-iterations", "1"}),
      "artificial integrals need at least two iterations, to check that the steps get smaller");
  for (const char* option : {"--fcidump", "--checkpoint", "--restart", "--json"}) {
    expect_refused(alone({"--fcidump", H2O_STO3G, option, ""}),
                   fmt::format("{}: an empty name is not a file\n", option));
  }
}

TEST(CcsdProgram, OneRankReportsWhatMakesNoSense) {
  expect_refused(on_ranks("3", {}), "--fcidump FILE is needed");
  expect_refused(on_ranks("3", {"--occupied", "4", "--virtual", "8", "--max-iterations", "1"}),
                 "at least two iterations");
}

TEST(CcsdProgram, TilesMayBeLargerThanTheMachine) {
  const Ending ending = on_ranks("2", {"--fcidump", H2O_STO3G, "--tile", "16384"});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
}

// Reports the first error in the file, whichever ranks keep the integrals.
TEST(CcsdProgram, TheFirstOfTwoFaultsIsReportedOnAnyNumberOfRanks) {
  const TemporaryFolder folder;
  const std::string file = folder.file("two.fcidump");
  write_contents(file, contents_of(H2O_STO3G) + "7.0 7 7 7 7\n7.0 1 1 1 1\n");
  for (const char* ranks : {"1", "2", "3"}) {
    expect_refused(on_ranks(ranks, {"--fcidump", file}),
                   "two.fcidump:311: the integral 7 7 7 7 is given twice");
  }
}

TEST(CcsdProgram, RefusesFilesOnceAndByName) {
  const TemporaryFolder folder;
  const std::string file = folder.file("bad.fcidump");
  expect_refused(on_ranks("3", {"--fcidump", file}), "tessera-ccsd: cannot read " + file);
  expect_refused(on_ranks("3", {"--fcidump", H2O_STO3G, "--frozen-core", "6"}),
                 "6 frozen core orbitals, but only 5 are occupied");
  std::string text = contents_of(H2O_STO3G);
  write_contents(file, text.substr(0, text.size() / 2));
  expect_refused(on_ranks("3", {"--fcidump", file}), "the file is truncated");
  // Only one rank keeps this integral.
  write_contents(file, text + "7.0 1 1 1 1\n");
  expect_refused(on_ranks("3", {"--fcidump", file}), "the integral 1 1 1 1 is given twice");
  write_contents(file, text + "nan 1 1 1 1\n");
  expect_refused(on_ranks("3", {"--fcidump", file}), "bad.fcidump:311:1: 'nan' is not finite");
  write_contents(file, text + "1.0 8 1 1 1\n");
  expect_refused(on_ranks("3", {"--fcidump", file}), "orbital 8 is out of range; the file has 7");
  write_contents(file, text + "(1.0,0.5) 1 1 1 1\n");
  expect_refused(on_ranks("3", {"--fcidump", file}), "complex values are not supported");
  write_contents(file, text + "0x10 1 1 1 1\n");
  expect_refused(alone({"--fcidump", file}), "'0x10' is not a number");
  write_contents(file, text.replace(text.find(".FALSE."), 7, ".TRUE."));
  expect_refused(on_ranks("3", {"--fcidump", file}), "unrestricted integrals are not supported");
}

TEST(CcsdProgram, TheSurvivorsReportWhichRankDiedAndInWhichIteration) {
  const TemporaryFolder folder;
  const std::string file = folder.file("amplitudes.h5");
  Program ccsd({TESSERA_RUN, "-n", "3", TESSERA_CCSD, "--occupied", "16", "--virtual", "80",
                "--checkpoint", file});
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(25);
  while (!std::filesystem::exists(file) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << "no iteration came to its end: " << ccsd.output();
  }
  const std::vector<int> ranks = ccsd.children();
  ASSERT_EQ(ranks.size(), 3U);
  kill(ranks[1], SIGKILL);
  const Ending ending = ccsd.wait();
  EXPECT_EQ(ending.exit_code, failed) << ending.output;
  const std::size_t position = ending.output.find("tessera-ccsd: iteration ");
  ASSERT_NE(position, std::string::npos) << ending.output;
  EXPECT_NE(ending.output.find("rank 1 died", position), std::string::npos) << ending.output;
}

TEST(CcsdProgram, RefusesIntegralsWhoseEnergyIsNotFinite) {
  const TemporaryFolder folder;
  const std::string file = folder.file("large.fcidump");
  write_contents(file, "&FCI NORB=1,NELEC=2 &END\n -1e308 1 1 0 0\n 0.0 0 0 0 0\n");
  expect_refused(on_ranks("2", {"--fcidump", file}), "the integrals are too large: the energy");
}

// The sums of the Fock matrix, where nothing else is large.
TEST(CcsdProgram, RefusesOccupiedOrbitalsThatDoNotFitTheMachine) {
  const TemporaryFolder folder;
  const std::string file = folder.file("full.fcidump");
  write_contents(file, "&FCI NORB=32767,NELEC=65534 &END\n 1.0 0 0 0 0\n");
  expect_refused(on_ranks("2", {"--fcidump", file, "--frozen-core", "32767"}),
                 "on this machine, for 2 of its ranks");
}

TEST(CcsdProgram, RefusesToWriteOverItsInput) {
  const TemporaryFolder folder;
  const std::string input = folder.file("h2o");
  const std::string text = contents_of(H2O_STO3G);
  write_contents(input, text);
  for (const char* option : {"--checkpoint", "--json"}) {
    expect_refused(on_ranks("2", {"--fcidump", input, option, folder.path() + "/./h2o"}),
                   "would overwrite " + input);
    expect_refused(alone({"--fcidump", input, option, input}), "would overwrite this file");
  }
  EXPECT_EQ(contents_of(input), text);
  expect_refused(alone({"--fcidump", input, "--json", folder.file("out"), "--checkpoint",
                        folder.path() + "/./out"}),
                 "would overwrite ");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"h2o"});
}

TEST(CcsdProgram, RefusesAmplitudeFilesWithoutAmplitudes) {
  for (const char* option : {"--checkpoint", "--restart"}) {
    expect_refused(
        on_ranks("2", {"--fcidump", H2O_STO3G, "--frozen-core", "5", option, "/nowhere"}),
        "there are no amplitudes because no orbitals are correlated");
  }
}

TEST(CcsdProgram, WhatExceedsEveryMachineIsReported) {
  const Ending ending = alone({"--occupied", "30000", "--virtual", "30000"});
  EXPECT_NE(ending.output.find("\nmemory_vvvv: more than 64.0 PiB on each rank\n"),
            std::string::npos)
      << ending.output;
  EXPECT_NE(ending.output.find("\nmemory_other_arrays: 0 bytes on each rank\n"), std::string::npos);
  expect_refused(ending, "(its vvvv takes more than 64.0 PiB on each rank) needs ");
  // All of them: 34 matrices of 30000⁴ numbers or so.
  EXPECT_NE(ending.output.find(" needs 2.6e+11 GiB on this machine"), std::string::npos)
      << ending.output;
}

TEST(CcsdProgram, RefusesWhatDoesNotFitTheMachine) {
  expect_refused(on_ranks("2", {"--occupied", "100", "--virtual", "3000"}),
                 "on this machine, for 2 of its ranks");
  // Emulated nodes use the same memory.
  expect_refused(run({TESSERA_RUN, "-n", "4", "--nodes", "2", TESSERA_CCSD},
                     {"--occupied", "100", "--virtual", "3000"}),
                 "on this machine, for 4 of its ranks");
}

}  // namespace
}  // namespace tessera::apps
