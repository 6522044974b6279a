// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks don't use each other's cores: the total of their threads is at most the number of cores.
#include "linalg/blas_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "linalg/detail/blas_library.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::linalg {
namespace {

using rma::Job;
using rma::test::on_ranks;

TEST(BlasThreads, OfAllRanksAreNoMoreThanCores) {
  on_ranks([](Job& job) {
    if (std::getenv("OPENBLAS_NUM_THREADS") != nullptr ||
        std::getenv("OMP_NUM_THREADS") != nullptr || job.settings().blas_threads > 0) {
      GTEST_SKIP() << "the user has chosen the number of threads";
    }
    const int threads = blas_threads(job);
    EXPECT_GE(threads, 1);
    // These tests run on one machine, whose processors the nodes share.
    EXPECT_LE(threads * job.size(), std::max(job.node_processors(), job.size()));
    limit_blas_threads(job);
    EXPECT_EQ(detail::library_threads(), threads);
  });
}

}  // namespace
}  // namespace tessera::linalg
