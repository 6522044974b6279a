// SPDX-License-Identifier: BSD-3-Clause
//
// The number of BLAS threads, in jobs of ranks that are threads.
#include "linalg/blas_threads.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "linalg/detail/blas_library.hpp"
#include "tests/support/checks.hpp"

namespace tessera::linalg {
namespace {

using rma::Job;
using rma::Settings;
using rma::Status;
using rma::test::ok;

TEST(BlasThreads, OneForRanksThatAreThreads) {
  unsetenv("OPENBLAS_NUM_THREADS");
  unsetenv("OMP_NUM_THREADS");
  EXPECT_TRUE(ok(rma::run_on_threads(2, [](Job& job) {
    EXPECT_EQ(blas_threads(job), 1);
    limit_blas_threads(job);
    EXPECT_EQ(detail::library_threads(), 1);
    return Status();
  })));
}

TEST(BlasThreads, TheSettingGoesBeforeVariables) {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  Settings settings = Settings::from_environment().value();
  settings.blas_threads = 3;
  EXPECT_TRUE(ok(rma::run_on_threads(2,
                                     [](Job& job) {
                                       EXPECT_EQ(blas_threads(job), 3);
                                       return Status();
                                     },
                                     {.settings = settings})));
  unsetenv("OPENBLAS_NUM_THREADS");
}

TEST(BlasThreads, TheUsersVariablesAreLeftAlone) {
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    setenv(variable, "2", 1);
    EXPECT_TRUE(ok(rma::run_on_threads(1, [](Job& job) {
      EXPECT_EQ(blas_threads(job), 0);
      return Status();
    })));
    unsetenv(variable);
  }
}

}  // namespace
}  // namespace tessera::linalg
