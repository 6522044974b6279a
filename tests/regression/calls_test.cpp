// SPDX-License-Identifier: BSD-3-Clause
//
// Calls that blocked each other, ended the program, or needed another library in Global Arrays:
// locks, threads, progress, errors, solvers.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "arrays/elementwise.hpp"
#include "arrays/reductions.hpp"
#include "arrays/transform.hpp"
#include "linalg/eigen.hpp"
#include "linalg/gemm.hpp"
#include "linalg/solve.hpp"
#include "rma/lock.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::LockSet;
using rma::TeamRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;

// Global Arrays had one mutex for all of its mutexes: to lock a second one was a deadlock.
TEST(Locks, OneRankHoldsSeveralAtOnce) {
  on_ranks([](Job& job) {
    auto locks = LockSet::create(job.world(), 3).value();
    const TeamRank me{job.rank().value};
    for (std::int64_t index = 0; index < 3; ++index) {
      EXPECT_TRUE(ok(locks.lock(me, index)));
    }
    EXPECT_TRUE(ok(job.barrier())) << "with all locks of all ranks held";
    for (std::int64_t index = 0; index < 3; ++index) {
      EXPECT_TRUE(ok(locks.unlock(me, index)));
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

// Holders of different mutexes of Global Arrays blocked each other.
TEST(Locks, HoldersOfOthersDoNotWait) {
  on_ranks([](Job& job) {
    const bool is_first = job.rank().value == 0;
    auto locks = LockSet::create(job.world(), is_first ? 2 : 0).value();
    if (is_first) {
      EXPECT_TRUE(ok(locks.lock(TeamRank{0}, 0)));
    }
    EXPECT_TRUE(ok(job.barrier()));
    if (!is_first) {
      EXPECT_FALSE(locks.try_lock(TeamRank{0}, 0).value()) << "it is held";
      EXPECT_TRUE(ok(locks.lock(TeamRank{0}, 1)));
      EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, 1)));
    }
    EXPECT_TRUE(ok(job.barrier())) << "only now is lock 0 given back";
    if (is_first) {
      EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, 0)));
    }
  });
}

// Global Arrays issues #12 and #27: built with CMake, it didn't lock against other threads.
TEST(Threads, SeveralOfARankTransferAtOnce) {
  on_ranks([](Job& job) {
    constexpr int rounds = 100;
    auto sums = Array<double>::create(job, {12, 10}, {.name = "sums"}).value();
    auto counts = Array<std::int64_t>::create(job, {4}, {.name = "counts"}).value();
    auto halves = Array<double>::create(job, {12, 10}, {.name = "halves"}).value();
    EXPECT_TRUE(ok(fill(halves, 0.5)));
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&] {
        const std::vector<double> ones(120, 1.0);
        std::vector<double> got(120);
        for (int round = 0; round < rounds; ++round) {
          wrong += sums.accumulate(sums.box(), ones).ok() ? 0 : 1;
          wrong += counts.fetch_add({3}, 1).ok() ? 0 : 1;
          wrong += halves.get_async(halves.box(), got).wait().ok() ? 0 : 1;
          wrong += std::count(got.begin(), got.end(), 0.5) == 120 ? 0 : 1;
          wrong += sums.fence().ok() ? 0 : 1;
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(ok(sums.sync()));
    EXPECT_TRUE(ok(counts.sync()));
    const int all = 3 * rounds * job.size();
    EXPECT_EQ(sum(sums).value(), 120.0 * all);
    EXPECT_EQ(counts.get_element({3}).value(), all);
    EXPECT_TRUE(ok(counts.sync()));
    EXPECT_TRUE(ok(halves.sync()));
  });
}

// Global Arrays' default port transferred nothing while the target computed.
TEST(Progress, NeedsNoCallOfTheTarget) {
  on_ranks([](Job& job) {
    auto array =
        Array<std::int64_t>::create(job, {job.size()}, {.name = "A", .holders = {TeamRank{0}}})
            .value();
    if (job.rank().value == 0) {
      auto access = array.local().value();
      const auto view = access.view();
      for (std::int64_t rank = 1; rank < job.size(); ++rank) {
        while (std::atomic_ref(view(rank)).load(std::memory_order_acquire) != rank) {
          std::this_thread::yield();
        }
      }
      EXPECT_TRUE(ok(access.end()));
    } else {
      const std::int64_t mine = job.rank().value;
      EXPECT_EQ(array.fetch_add({mine}, mine).value(), 0);
      EXPECT_EQ(array.get_element({mine}).value(), mine);
    }
    EXPECT_TRUE(ok(array.sync()));
  });
}

// Global Arrays issue #29: a fence was for all arrays and all ranks. Here it is for one array.
TEST(Fences, AreOfOneArray) {
  on_ranks([](Job& job) {
    auto array = Array<double>::create(job, {job.size()}, {.name = "A"}).value();
    auto other = Array<double>::create(job, {job.size()}, {.name = "B"}).value();
    const Index next{(job.rank().value + 1) % job.size()};
    const double value = 1.0 + job.rank().value;
    EXPECT_TRUE(ok(array.put(Box::at(next), std::span(&value, 1))));
    EXPECT_TRUE(ok(other.put(Box::at(next), std::span(&value, 1))));
    EXPECT_TRUE(ok(array.fence()));
    EXPECT_TRUE(ok(job.world().barrier()));
    const std::int64_t before = (job.rank().value + job.size() - 1) % job.size();
    EXPECT_EQ(array.local().value().view()(job.rank().value), 1.0 + static_cast<double>(before));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

// Global Arrays ended the program on each of these, mostly without the array's name.
TEST(Errors, AreReturnedAndTheProgramContinues) {
  on_ranks([](Job& job) {
    auto array = Array<double>::create(job, {10, 10}, {.name = "A"}).value();
    std::vector<double> buffer(200);
    EXPECT_TRUE(fails(array.get(Box({0, 0}, {10, 11}), buffer), Code::out_of_range,
                      {"array 'A' (float64, 10 x 10)", "dimension 1 exceeds by 1"}));
    EXPECT_TRUE(fails(array.put(array.box(), std::span(buffer).first(99)), Code::invalid_argument,
                      {"the local buffer has 99 elements, but the box has 100"}));
    auto other = Array<double>::create(job, {10, 11}, {.name = "B"}).value();
    EXPECT_TRUE(fails(add(1.0, array, 1.0, other, array), Code::invalid_argument,
                      {"extents differ: 10 x 10 of array 'A'", "and 10 x 11 of array 'B'",
                       "they must be equal"}));
    EXPECT_TRUE(fails(linalg::gemm(array, other, array), Code::invalid_argument, {"gemm"}));
    EXPECT_TRUE(fails(Distribution::scalapack({10, 10}, {2, 2}, {job.size() + 1, 1}, job.size()),
                      Code::invalid_argument));
    EXPECT_TRUE(fails(Array<double>::create(job, {std::int64_t{1} << 48}, {.name = "huge"}),
                      Code::no_memory, {"creating array 'huge'"}));
    EXPECT_TRUE(ok(other.free()));
    EXPECT_TRUE(fails(fill(other, 1.0), Code::closed, {"array 'B'"}));
    EXPECT_TRUE(ok(fill(array, 2.0)));
    EXPECT_EQ(sum(array).value(), 200.0);
  });
}

// Element (i, j) of a matrix without structure that is not symmetric.
double element(const Index& at) {
  return std::sin(static_cast<double>(at[0] * 37 + at[1] * at[1] * 11 + 1));
}

// Global Arrays could not solve systems without ScaLAPACK, and from Fortran at most 100 equations.
TEST(LinearAlgebra, SolvesWithoutScalapack) {
  on_ranks([](Job& job) {
    const std::int64_t n = 150;
    auto a = Array<double>::create(job, {n, n}, {.name = "A"}).value();
    auto x = Array<double>::create(job, {n, 2}, {.name = "X"}).value();
    EXPECT_TRUE(
        ok(for_each_element(a, [](const Index& at, double& value) { value = element(at); })));
    EXPECT_TRUE(ok(for_each_element(x, [](const Index& at, double& value) {
      value = static_cast<double>(at[0] % 7 - at[1]);
    })));
    auto b = x.duplicate("B").value();
    EXPECT_TRUE(ok(copy(x, b)));
    EXPECT_TRUE(ok(linalg::solve(a, x, {.method = linalg::Method::own})));
    EXPECT_TRUE(ok(linalg::gemm(a, x, b, {.alpha = -1.0, .beta = 1.0})));
    EXPECT_LT(norm_max(b).value(), 1e-8 * norm_max(x).value());
  });
}

// Global Arrays' ga_diag_std and related functions needed PeIGS, which is not available.
TEST(LinearAlgebra, FindsEigenvaluesWithoutScalapack) {
  on_ranks([](Job& job) {
    const std::int64_t n = 40;
    auto a = Array<double>::create(job, {n, n}, {.name = "second differences"}).value();
    EXPECT_TRUE(ok(for_each_element(a, [](const Index& at, double& value) {
      const std::int64_t apart = std::abs(at[0] - at[1]);
      value = apart == 0 ? 2.0 : apart == 1 ? -1.0 : 0.0;
    })));
    const auto values = linalg::eigenvalues(a, {.how = {.method = linalg::Method::own}});
    ASSERT_TRUE(ok(values));
    for (std::size_t k = 0; k < values->size(); ++k) {
      const double angle = std::numbers::pi * static_cast<double>(k + 1) / (n + 1);
      EXPECT_NEAR((*values)[k], 2 - 2 * std::cos(angle), 1e-12);
    }
  });
}

}  // namespace
}  // namespace tessera::arrays
