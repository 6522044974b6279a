// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/unmap_monitor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/rma/verbs/memory_rig.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::verbs {
namespace {

using rma::test::fails;
using rma::test::ok;
using test::Mapping;

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

class UnmapMonitorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = UnmapMonitor::create();
    if (!made.ok()) {
      ASSERT_EQ(made.status().code(), Code::unsupported) << made.status().describe();
      GTEST_SKIP() << "SKIPPED: " << made.status().message();
    }
    monitor = std::move(made).take();
  }

  // Checks the guarantees of is_quiet() and take() after a change has returned.
  std::vector<MappingChange> changes() {
    EXPECT_TRUE(monitor->is_quiet());
    const MappingChanges taken = monitor->take();
    return {taken.list().begin(), taken.list().end()};
  }
  // Checks that exactly this range changed.
  testing::AssertionResult changed(PageRange range) {
    const auto list = changes();
    if (list.size() == 1 && list[0].range == range) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << list.size() << " changes, or another range";
  }

  std::unique_ptr<UnmapMonitor> monitor;
};

TEST_F(UnmapMonitorTest, ReportsWhatWasUnmapped) {
  Mapping memory(8);
  ASSERT_TRUE(ok(monitor->watch(memory.range())));
  const PageRange range = memory.range();
  memory.unmap();
  EXPECT_TRUE(changed(range));
  EXPECT_TRUE(changes().empty());
}

TEST_F(UnmapMonitorTest, ReportsWhichPartWasUnmapped) {
  Mapping memory(8);
  ASSERT_TRUE(ok(monitor->watch(memory.range(0, 6))));
  munmap(memory.page(2), 2 * page_bytes());
  EXPECT_TRUE(changed(memory.range(2, 2)));
  munmap(memory.page(7), page_bytes());
  EXPECT_TRUE(changes().empty()) << "page 7 is not watched";
}

TEST_F(UnmapMonitorTest, ReportsWhatWasMappedOver) {
  Mapping memory(4);
  ASSERT_TRUE(ok(monitor->watch(memory.range())));
  ASSERT_EQ(
      mmap(memory.page(1), page_bytes(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
      memory.page(1));
  const auto list = changes();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].range, memory.range(1, 1));
  EXPECT_TRUE(list[0].is_gone);
}

TEST_F(UnmapMonitorTest, ReportsWhatWasMovedAndWhereTo) {
  Mapping memory(4);
  Mapping target(8);
  ASSERT_TRUE(ok(monitor->watch(memory.range())));
  void* const moved = mremap(memory.page(), memory.bytes(), 8 * page_bytes(),
                             MREMAP_MAYMOVE | MREMAP_FIXED, target.page());
  ASSERT_EQ(moved, target.page());
  const auto list = changes();
  const auto found = std::find_if(list.begin(), list.end(), [](const MappingChange& change) {
    return change.moved_to.bytes() > 0;
  });
  ASSERT_NE(found, list.end());
  EXPECT_EQ(found->range, memory.range());
  EXPECT_EQ(found->moved_to, target.range(0, 4));
  memory.forget();
}

TEST_F(UnmapMonitorTest, ReportsDiscardedPages) {
  for (const int advice : {MADV_DONTNEED, MADV_FREE}) {
    Mapping memory(4);
    std::memset(memory.page(), 1, memory.bytes());
    ASSERT_TRUE(ok(monitor->watch(memory.range())));
    ASSERT_EQ(madvise(memory.page(1), page_bytes(), advice), 0);
    const auto list = changes();
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].range, memory.range(1, 1));
    EXPECT_FALSE(list[0].is_gone);
    monitor->unwatch(memory.range());
  }
}

TEST_F(UnmapMonitorTest, ReportsNothingOfUnwatchedMemory) {
  Mapping memory(4);
  ASSERT_TRUE(ok(monitor->watch(memory.range())));
  monitor->unwatch(memory.range());
  memory.unmap();
  EXPECT_TRUE(changes().empty());
}

TEST_F(UnmapMonitorTest, MoreChangesThanFitBecomeOneOfAllMemory) {
  Mapping memory(200);
  ASSERT_TRUE(ok(monitor->watch(memory.range())));
  for (std::size_t i = 0; i < 200; i += 2) {
    munmap(memory.page(i), page_bytes());
  }
  const auto list = changes();
  ASSERT_LE(list.size(), 64U);
  EXPECT_TRUE(std::any_of(list.begin(), list.end(), [&](const MappingChange& change) {
    return change.range.contains(memory.range()) && change.range.begin == 0;
  }));
}

TEST_F(UnmapMonitorTest, MissingPagesOfWatchedMemoryAreNotDelayed) {
  Mapping memory(4);
  ASSERT_TRUE(ok(monitor->watch(memory.range())));
  EXPECT_EQ(memory.page(0)[1], 0);
  memory.page(1)[1] = 7;
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "pipe", 4), 4);
  ASSERT_EQ(read(ends[0], memory.page(2), 4), 4) << "the kernel may access it, too";
  EXPECT_EQ(std::string(memory.page(2), 4), "pipe");
  close(ends[0]);
  close(ends[1]);
  EXPECT_TRUE(changes().empty());
}

TEST_F(UnmapMonitorTest, AllThreadsThatUnmapContinue) {
  constexpr int rounds = 300;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        Mapping memory(3);
        EXPECT_TRUE(ok(monitor->watch(memory.range())));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(monitor->is_quiet());
}

TEST_F(UnmapMonitorTest, OfTwoMonitorsOneWatches) {
  auto other = UnmapMonitor::create();
  ASSERT_TRUE(ok(other));
  Mapping memory(4);
  ASSERT_TRUE(ok(monitor->watch(memory.range())));
  EXPECT_TRUE(fails((*other)->watch(memory.range(2, 2)), Code::unsupported,
                    {"this memory cannot be watched", "busy"}));
}

TEST_F(UnmapMonitorTest, DestroyedItDelaysNoThread) {
  Mapping memory(4);
  ASSERT_TRUE(ok(monitor->watch(memory.range())));
  monitor.reset();
  memory.unmap();
}

// --- kinds of memory

TEST_F(UnmapMonitorTest, PrivateMemoryIsPrivateOnceItIsPresent) {
  Mapping memory(600);  // more than one query covers
  // A huge page would make the last page present with those before it.
  madvise(memory.page(), memory.bytes(), MADV_NOHUGEPAGE);
  ASSERT_TRUE(ok(monitor->watch(memory.range())));
  EXPECT_FALSE(monitor->is_private(memory.range()));
  std::memset(memory.page(), 1, memory.bytes() - page_bytes());
  EXPECT_FALSE(monitor->is_private(memory.range()));
  EXPECT_TRUE(monitor->is_private(memory.range(0, 599)));
  memory.page(599)[0] = 1;
  EXPECT_TRUE(monitor->is_private(memory.range()));
}

TEST_F(UnmapMonitorTest, SharedMemoryIsNotPrivate) {
  const int file = memfd_create("test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(4 * page_bytes())), 0);
  Mapping memfd(4, PROT_READ | PROT_WRITE, MAP_SHARED, file);
  Mapping shared(4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
  for (const Mapping* memory : {&memfd, &shared}) {
    std::memset(memory->page(), 1, memory->bytes());
    EXPECT_FALSE(monitor->is_private(memory->range()));
    EXPECT_FALSE(monitor->is_private(memory->range(3, 1)));
  }
  close(file);
}

TEST_F(UnmapMonitorTest, FilesCannotBeWatched) {
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  Mapping memory(1, PROT_READ, MAP_PRIVATE, file);
  ASSERT_TRUE(memory.ok());
  EXPECT_TRUE(fails(monitor->watch(memory.range()), Code::unsupported,
                    {"this memory cannot be watched", "Invalid argument"}));
  close(file);
}

TEST_F(UnmapMonitorTest, SystemVMemoryCannotBeWatched) {
  const int id = shmget(IPC_PRIVATE, page_bytes(), 0600);
  ASSERT_GE(id, 0);
  void* const memory = shmat(id, nullptr, 0);
  shmctl(id, IPC_RMID, nullptr);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  EXPECT_TRUE(fails(monitor->watch({begin, begin + page_bytes()}), Code::unsupported));
  shmdt(memory);
}

TEST_F(UnmapMonitorTest, HugePagesAreWatchedInWholeOnes) {
  Mapping memory(huge_page_bytes / page_bytes(), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
  if (!memory.ok()) {
    GTEST_SKIP() << "no huge page is free: " << std::strerror(errno);
  }
  EXPECT_TRUE(fails(monitor->watch(memory.range(1, 2)), Code::unsupported));
  ASSERT_TRUE(ok(monitor->watch(memory.range())));
  memory.page()[0] = 1;
  EXPECT_TRUE(monitor->is_private(memory.range()));
  const PageRange range = memory.range();
  memory.unmap();
  EXPECT_TRUE(changed(range));
}

TEST_F(UnmapMonitorTest, SharedHugePagesAreNotPrivate) {
  const int id = shmget(IPC_PRIVATE, huge_page_bytes, 0600 | SHM_HUGETLB);
  if (id < 0) {
    GTEST_SKIP() << "no huge page is free: " << std::strerror(errno);
  }
  void* const memory = shmat(id, nullptr, 0);
  shmctl(id, IPC_RMID, nullptr);
  static_cast<char*>(memory)[0] = 1;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  EXPECT_FALSE(monitor->is_private({begin, begin + huge_page_bytes}));
  shmdt(memory);
}

}  // namespace
}  // namespace tessera::rma::verbs
