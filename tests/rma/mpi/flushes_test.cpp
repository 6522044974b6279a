// SPDX-License-Identifier: BSD-3-Clause
//
// How often operations wait for the target: the calls of MPI_Win_flush, counted.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace {

thread_local int flushes = 0;

}  // namespace

// Replaces the function of the MPI library.
extern "C" int MPI_Win_flush(int rank, MPI_Win window) {
  ++flushes;
  return PMPI_Win_flush(rank, window);
}

namespace tessera::rma::mpi {
namespace {

using test::ok;
using test::on_ranks;

// Runs `body(at)` on rank 0, with memory of rank 1 that the program has attached: no MPI library
// serves it by loads and stores of the origin, so each flush waits for the target.
template <class Body>
void with_attached_memory(Body&& body) {
  on_ranks([&](Job& job) {
    if (job.size() == 1) {
      GTEST_SKIP() << "needs another rank";
    }
    std::vector<std::int64_t> memory(4096);
    Region region = Region::attach(job.world(), memory.data(), 8 * memory.size()).value();
    if (job.rank().value == 0) {
      body(job, region.at(TeamRank{1}));
    }
    ASSERT_TRUE(ok(job.barrier()));
    ASSERT_TRUE(ok(region.free()));
  });
}

// The flushes of rank 0 in `work`.
template <class Work>
int flushes_in(Work&& work) {
  const int before = flushes;
  EXPECT_TRUE(ok(work()));
  return flushes - before;
}

TEST(Flushes, AreNotNeededBetweenPutsToDifferentBytes) {
  with_attached_memory([](Job& job, RemoteAddress at) {
    ASSERT_TRUE(ok(job.fence_all()));
    const auto put_word = [&](std::uint64_t place, std::int64_t value) {
      return put(job, at + place, &value, 8);
    };
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(flushes_in([&] { return put_word(static_cast<std::uint64_t>(i) * 40, i); }), 0);
    }
    EXPECT_EQ(flushes_in([&] { return job.fence(at.rank); }), 1);
    EXPECT_EQ(flushes_in([&] { return job.fence(at.rank); }), 0);
    EXPECT_EQ(get_value<std::int64_t>(job, at + 40 * 63).value(), 63);
    // The same bytes.
    EXPECT_EQ(flushes_in([&] { return put_word(16, 1); }), 0);
    EXPECT_EQ(flushes_in([&] { return put_word(16, 2); }), 1);
    EXPECT_EQ(get_value<std::int64_t>(job, at + 16).value(), 2);
    ASSERT_TRUE(ok(job.fence(at.rank)));
  });
}

TEST(Flushes, ComeBeforeGetsOfChangedBytesOnly) {
  with_attached_memory([](Job& job, RemoteAddress at) {
    ASSERT_TRUE(ok(job.fence_all()));
    const std::vector<std::int64_t> row(10, 7);
    std::vector<std::int64_t> back(10);
    const CopyShape rows = CopyShape::rows(8, 10, 8, 32);
    std::vector<Fragment> list;
    for (std::size_t i = 0; i < back.size(); ++i) {
      list.push_back({&back[i], 8000 + 24 * i, 8});
    }
    EXPECT_EQ(flushes_in([&] { return put(job, at + 4096, row.data(), rows); }), 0);
    EXPECT_EQ(flushes_in([&] { return get(job, at, back.data(), 80); }), 0);
    EXPECT_EQ(flushes_in([&] { return get(job, at + (4096 + 320), back.data(), rows); }), 0);
    EXPECT_EQ(flushes_in([&] { return get(job, at, list); }), 0);
    EXPECT_EQ(flushes_in([&] { return get(job, at + 4096, back.data(), rows); }), 1);
    EXPECT_EQ(back, row);
    EXPECT_EQ(flushes_in([&] { return put(job, at, list); }), 0);
    back.assign(back.size(), 0);
    EXPECT_EQ(flushes_in([&] { return get(job, at + 8048, back.data(), 8); }), 1);
    EXPECT_EQ(back.front(), 7);
  });
}

TEST(Flushes, ComeBeforeShortPutsThatMayBeFlags) {
  with_attached_memory([](Job& job, RemoteAddress at) {
    ASSERT_TRUE(ok(job.fence_all()));
    const std::vector<std::int64_t> row(10, 7);
    const std::int64_t flag = 1;
    EXPECT_EQ(flushes_in([&] { return put(job, at, row.data(), 80); }), 0);
    EXPECT_EQ(flushes_in([&] { return put(job, at + 160, row.data(), 80); }), 0);
    EXPECT_EQ(flushes_in([&] { return put(job, at + 800, &flag, 8); }), 1);
    EXPECT_EQ(flushes_in([&] { return put(job, at + 816, &flag, 8); }), 0);
    ASSERT_TRUE(ok(job.fence(at.rank)));
  });
}

TEST(Flushes, ComeAfterABoundedNumberOfPuts) {
  with_attached_memory([](Job& job, RemoteAddress at) {
    ASSERT_TRUE(ok(job.fence_all()));
    const std::int64_t value = 5;
    const int all = flushes_in([&] {
      Status status;
      for (std::uint64_t i = 0; i < 1000 && status.ok(); ++i) {
        status = put(job, at + 32 * i, &value, 8);
      }
      return status;
    });
    EXPECT_GE(all, 1);
    EXPECT_LE(all, 8);
    ASSERT_TRUE(ok(job.fence(at.rank)));
  });
}

// Atomics follow all earlier changes, and are complete at return.
TEST(Flushes, ComeBeforeAtomics) {
  with_attached_memory([](Job& job, RemoteAddress at) {
    ASSERT_TRUE(ok(job.fence_all()));
    const std::int64_t value = 5;
    ASSERT_TRUE(ok(put(job, at, &value, 8)));
    EXPECT_GE(flushes_in([&] { return fetch_add<std::int64_t>(job, at + 64, 1).status(); }), 1);
    std::int64_t back = 0;
    EXPECT_EQ(flushes_in([&] { return get(job, at, &back, 8); }), 0);
    EXPECT_EQ(back, value);
  });
}

}  // namespace
}  // namespace tessera::rma::mpi
