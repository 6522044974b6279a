// SPDX-License-Identifier: BSD-3-Clause
//
// Windows by epochs: their locks in each access mode, and local buffers that are in windows
// themselves, staged or not.
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "rma/region.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace {

std::atomic<int> shared_locks{0};
std::atomic<int> exclusive_locks{0};
// Local buffers between these two addresses.
std::atomic<std::uintptr_t> watched_begin{0};
std::atomic<std::uintptr_t> watched_end{0};
std::atomic<int> watched_buffers{0};

void record_buffer(const void* buffer) {
  const auto at = reinterpret_cast<std::uintptr_t>(buffer);
  watched_buffers += at >= watched_begin && at < watched_end ? 1 : 0;
}

}  // namespace

// Replaces the functions of the MPI library.
extern "C" {
int MPI_Win_lock(int type, int rank, int assertion, MPI_Win window) {
  (type == MPI_LOCK_SHARED ? shared_locks : exclusive_locks) += 1;
  return PMPI_Win_lock(type, rank, assertion, window);
}
int MPI_Put(const void* from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there,
            MPI_Datatype their_type, MPI_Win window) {
  record_buffer(from);
  return PMPI_Put(from, count, type, rank, at, there, their_type, window);
}
int MPI_Get(void* to, int count, MPI_Datatype type, int rank, MPI_Aint at, int there,
            MPI_Datatype their_type, MPI_Win window) {
  record_buffer(to);
  return PMPI_Get(to, count, type, rank, at, there, their_type, window);
}
int MPI_Accumulate(const void* from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there,
                   MPI_Datatype their_type, MPI_Op op, MPI_Win window) {
  record_buffer(from);
  return PMPI_Accumulate(from, count, type, rank, at, there, their_type, op, window);
}
}

namespace tessera::rma::mpi {
namespace {

using test::neighbour;
using test::ok;
using test::on_ranks;

constexpr std::size_t words = 3000;
constexpr std::size_t slice_bytes = words * sizeof(std::int64_t);

test::RunOptions by_epochs(const std::string& staging) {
  return {.change = [staging](Settings& settings) {
    settings.mpi_epochs = "per_operation";
    settings.mpi_staging = staging;
  }};
}

TEST(Epochs, AreSharedIfTheModeExcludesConflicts) {
  on_ranks(by_epochs("auto"), [](Job& job) {
    if (job.size() == 1) {
      GTEST_SKIP() << "a rank alone has no window";
    }
    Region region = Region::allocate(job.world(), slice_bytes).value();
    const RemoteAddress at = region.at(neighbour(job));
    double value = 0;
    const auto expect_locks = [&](bool are_shared, const auto& operation) {
      ASSERT_TRUE(ok(job.barrier()));
      const int shared = shared_locks;
      const int exclusive = exclusive_locks;
      ASSERT_TRUE(ok(operation()));
      EXPECT_EQ(shared_locks > shared, are_shared);
      EXPECT_EQ(exclusive_locks > exclusive, !are_shared);
      ASSERT_TRUE(ok(job.barrier()));
    };
    const auto gets = [&] { return get(job, at, &value, 8); };
    const auto puts = [&] { return put(job, at, &value, 8); };
    const auto adds = [&] { return accumulate(job, at, &value, 8, Scale::of(1.0)); };
    for (int round = 0; round < 2; ++round) {
      expect_locks(false, gets);
      expect_locks(false, puts);
      ASSERT_TRUE(ok(region.set_access_mode(AccessMode::read_only)));
      expect_locks(true, gets);
      ASSERT_TRUE(ok(region.set_access_mode(AccessMode::accumulate_only)));
      expect_locks(true, adds);
      ASSERT_TRUE(ok(region.set_access_mode(AccessMode::any, Conflicts::none)));
      expect_locks(true, puts);
      ASSERT_TRUE(ok(region.set_access_mode(AccessMode::any)));
    }
  });
}

// Every rank moves from its own slice to its neighbours' and back, in a circle and all at once.
void move_between_slices(Job& job, bool is_staged) {
  Region source = Region::allocate(job.world(), slice_bytes).value();
  Region target = Region::allocate(job.world(), 2 * slice_bytes).value();
  auto* const mine = reinterpret_cast<std::int64_t*>(source.local());
  watched_begin = reinterpret_cast<std::uintptr_t>(source.local());
  watched_end = watched_begin + slice_bytes;
  const TeamRank next = neighbour(job);
  const auto value = [&](std::int64_t rank, std::size_t i, int round) {
    return 1'000'000 * (rank + 1) + 10 * static_cast<std::int64_t>(i) + round;
  };
  const int before = watched_buffers;
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < words; ++i) {
      mine[i] = value(job.rank().value, i, round);
    }
    ASSERT_TRUE(ok(job.barrier()));
    // Contiguous, every other word, and a list of them.
    ASSERT_TRUE(ok(put(job, target.at(next), mine, slice_bytes)));
    ASSERT_TRUE(
        ok(put(job, target.at(next, slice_bytes), mine, CopyShape::rows(8, words / 2, 16, 16))));
    std::vector<Fragment> odd;
    for (std::size_t i = 1; i < words; i += 2) {
      odd.push_back({&mine[i], slice_bytes + 8 * i, 8});
    }
    ASSERT_TRUE(ok(put(job, target.at(next), odd)));
    ASSERT_TRUE(
        ok(accumulate(job, target.at(next), mine, slice_bytes, Scale::of(std::int64_t{2}))));
    ASSERT_TRUE(ok(job.barrier()));
    const auto previous = (job.rank().value + job.size() - 1) % job.size();
    {
      LocalAccess access = LocalAccess::begin(target).value();
      const auto* const came = reinterpret_cast<const std::int64_t*>(access.data());
      for (std::size_t i = 0; i < words; ++i) {
        ASSERT_EQ(came[i], 3 * value(previous, i, round)) << i;
        ASSERT_EQ(came[words + i], value(previous, i, round)) << i;
      }
    }
    ASSERT_TRUE(ok(job.barrier()));
    ASSERT_TRUE(ok(get(job, target.at(next, slice_bytes), mine, slice_bytes / 2)));
    for (Fragment& each : odd) {
      each.remote_offset -= slice_bytes;
    }
    ASSERT_TRUE(ok(get(job, target.at(next, slice_bytes), odd)));
    for (std::size_t i = 0; i < words; ++i) {
      ASSERT_EQ(mine[i], value(job.rank().value, i, round)) << i;
    }
    ASSERT_TRUE(ok(job.barrier()));
  }
  if (job.size() > 1) {
    EXPECT_EQ(watched_buffers == before, is_staged);
  }
  watched_end = 0;
}

TEST(Epochs, StageLocalBuffersInWindowsIfRequired) {
  on_ranks(by_epochs("always"), [](Job& job) { move_between_slices(job, true); });
}

TEST(Epochs, UseLocalBuffersInWindowsIfTheyAreNotStaged) {
  on_ranks(by_epochs("never"), [](Job& job) { move_between_slices(job, false); });
}

TEST(Epochs, StageNoOtherLocalBuffers) {
  on_ranks(by_epochs("always"), [](Job& job) {
    Region region = Region::allocate(job.world(), slice_bytes).value();
    std::vector<std::int64_t> mine(words, 7 + job.rank().value);
    watched_begin = reinterpret_cast<std::uintptr_t>(mine.data());
    watched_end = watched_begin + slice_bytes;
    const int before = watched_buffers;
    ASSERT_TRUE(ok(put(job, region.at(neighbour(job)), mine.data(), slice_bytes)));
    EXPECT_TRUE(job.size() == 1 || watched_buffers > before);
    ASSERT_TRUE(ok(job.barrier()));
    watched_end = 0;
    // Freed memory is an ordinary buffer.
    ASSERT_TRUE(ok(region.free()));
  });
}

}  // namespace
}  // namespace tessera::rma::mpi
