// SPDX-License-Identifier: BSD-3-Clause
//
// The errors of programs with limited address space, as batch systems set it (ulimit -v).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/fault/program.hpp"
#include "tests/support/effort.hpp"

namespace tessera::apps {
namespace {

using fault::Ending;
using fault::occurrences;
using fault::Program;

constexpr int usage = 2;

class LimitedMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::is_sanitized) {
      GTEST_SKIP() << "a sanitizer needs address space of its own";
    }
  }
  static Ending run(int mib, const std::string& program, const std::string& options) {
    const std::string script =
        fmt::format("ulimit -v {}; exec '{}' {}", mib * 1024, program, options);
    return Program({"sh", "-c", script}).wait();
  }
};

TEST_F(LimitedMemory, MgNamesTheLimitThatBoundsTheArena) {
  const Ending ending = run(1500, TESSERA_MG, "--class C");
  EXPECT_EQ(ending.exit_code, usage) << ending.output;
  EXPECT_NE(ending.output.find(" is more than the node's arena of "), std::string::npos)
      << ending.output;
  EXPECT_NE(ending.output.find("hint: use more nodes, or raise the limit on address space, 1.5 GiB "
                               "(ulimit -v unlimited): it limits the arena\n"),
            std::string::npos)
      << ending.output;
}

TEST_F(LimitedMemory, MgReportsThatNoJobStarts) {
  const Ending ending = run(80, TESSERA_MG, "");
  EXPECT_EQ(ending.exit_code, usage) << ending.output;
  EXPECT_NE(ending.output.find("hint: raise the limit on address space: ulimit -v unlimited\n"),
            std::string::npos)
      << ending.output;
}

TEST_F(LimitedMemory, SpmvRefusesAMatrixThatDoesNotFitItsProcess) {
  const Ending ending = run(1500, TESSERA_SPMV, "--generate stencil27:80 --iterations 1");
  EXPECT_EQ(ending.exit_code, usage) << ending.output;
  EXPECT_NE(ending.output.find("tessera-spmv: the matrix of 512000 x 512000 with 1.38e+07 entries "
                               "needs 791.0 MiB more address space in each process; "),
            std::string::npos)
      << ending.output;
  EXPECT_NE(ending.output.find(" of a limit of 1.5 GiB (ulimit -v)\n  hint: run `ulimit -v "
                               "unlimited`, or use a smaller matrix"),
            std::string::npos)
      << ending.output;
}

TEST_F(LimitedMemory, SpmvRunsWhatHasRoom) {
  const Ending ending = run(1500, TESSERA_SPMV, "--generate fe2d:100 --quiet");
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
}

// OpenBLAS would ask for its buffer forever.
TEST_F(LimitedMemory, CcsdIsRefusedIfOpenBlasGetsNoBuffer) {
  const Ending ending = run(400, TESSERA_CCSD, "--fcidump '" H2O_STO3G "'");
  EXPECT_EQ(ending.exit_code, usage) << ending.output;
  EXPECT_EQ(occurrences(ending.output, " MiB of them for OpenBLAS; "), 1U) << ending.output;
  EXPECT_NE(ending.output.find(" of a limit of 400.0 MiB (ulimit -v)\n"), std::string::npos)
      << ending.output;
}

}  // namespace
}  // namespace tessera::apps
