// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/arena.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "rma/base/memory.hpp"
#include "tests/rma/node_rig.hpp"

namespace tessera::rma::detail {
namespace {

std::uint64_t granules_of(std::uint64_t bytes) {
  return std::max<std::uint64_t>((bytes + granule_bytes - 1) / granule_bytes, 1);
}

std::uint64_t memory_bytes(const NodeMemory& memory) {
  struct stat file {};
  EXPECT_EQ(fstat(memory.file(), &file), 0);
  return static_cast<std::uint64_t>(file.st_blocks) * 512;
}

// The allocated pieces as a map; rejects overlaps.
class Model {
 public:
  void add(std::uint64_t offset, std::uint64_t bytes) {
    const std::lock_guard guard(mutex_);
    const std::uint64_t end = offset + granules_of(bytes) * granule_bytes;
    const auto next = pieces_.lower_bound(offset);
    EXPECT_TRUE(next == pieces_.end() || next->first >= end) << "overlaps the next piece";
    EXPECT_TRUE(next == pieces_.begin() || std::prev(next)->second <= offset)
        << "overlaps the previous piece";
    pieces_[offset] = end;
  }
  void remove(std::uint64_t offset) {
    const std::lock_guard guard(mutex_);
    pieces_.erase(offset);
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> pieces_;  // start → end
};

TEST(Arena, RandomPiecesOfSeveralThreadsNeverOverlap) {
  const auto memory = rig_memory(4, 64ULL << 20);
  Model model;
  constexpr std::uint32_t seed = 20'240;
  std::vector<std::thread> threads;
  for (int local_rank = 0; local_rank < 4; ++local_rank) {
    threads.emplace_back([&, local_rank] {
      const auto node = rig_node(memory, local_rank, true);
      Arena& arena = node->arena();
      std::mt19937 random(seed + static_cast<std::uint32_t>(local_rank));
      std::vector<std::pair<std::uint64_t, std::uint64_t>> mine;
      for (int i = 0; i < 5000; ++i) {
        if (mine.empty() || (mine.size() < 40 && random() % 2 == 0)) {
          const std::uint64_t bytes = random() % (12 * granule_bytes);
          const std::uint64_t alignment = granule_bytes << random() % 4;
          const auto offset = arena.allocate(bytes, alignment);
          if (offset.ok()) {
            EXPECT_EQ(*offset % alignment, 0U);
            EXPECT_GE(*offset, memory->header().arena_offset);
            EXPECT_LE(*offset + bytes, memory->size());
            model.add(*offset, bytes);
            mine.emplace_back(*offset, bytes);
          } else {
            EXPECT_EQ(offset.status().code(), Code::limit_exceeded);
          }
        } else {
          const std::size_t at = random() % mine.size();
          model.remove(mine[at].first);
          arena.free(mine[at].first, mine[at].second);
          mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(at));
        }
      }
      for (const auto& [offset, bytes] : mine) {
        model.remove(offset);
        arena.free(offset, bytes);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  // All of it is free again: a piece as large as the whole arena fits.
  const auto node = rig_node(memory, 0, true);
  const std::uint64_t whole = memory->size() - memory->header().arena_offset;
  EXPECT_TRUE(node->arena().allocate(whole).ok()) << "seed " << seed;
}

TEST(Arena, ReportsThatNoGapIsLeftAndContinuesAfterAFree) {
  const auto memory = rig_memory(1, 64ULL << 20);
  const auto node = rig_node(memory, 0, true);
  Arena& arena = node->arena();
  const std::uint64_t whole = memory->size() - memory->header().arena_offset;
  const std::uint64_t all = arena.allocate(whole).value();
  const auto refused = arena.allocate(1);
  ASSERT_EQ(refused.status().code(), Code::limit_exceeded);
  EXPECT_EQ(refused.status().message(),
            "no gap of 1 bytes is left in the node's arena of 64.0 MiB of address space: 0 bytes "
            "are free, 0 bytes of them in one piece\n"
            "  hint: set TESSERA_ARENA_MIB to a larger value");
  arena.free(all, whole);
  EXPECT_EQ(arena.allocate(1).value(), all);
}

TEST(Arena, RefusesASizeThatOverflows) {
  const auto memory = rig_memory(1, 64ULL << 20);
  const auto node = rig_node(memory, 0, true);
  for (const std::uint64_t bytes :
       {~std::uint64_t{0}, ~std::uint64_t{0} - granule_bytes, std::uint64_t{1} << 63}) {
    EXPECT_EQ(node->arena().allocate(bytes).status().code(), Code::limit_exceeded) << bytes;
  }
}

TEST(Arena, BacksZeroedMemoryAfterReuse) {
  const auto memory = rig_memory(1, 64ULL << 20);
  const auto node = rig_node(memory, 0, true);
  Arena& arena = node->arena();
  constexpr std::uint64_t bytes = 3 * granule_bytes + 100;
  const std::uint64_t first = arena.allocate(bytes).value();
  ASSERT_TRUE(arena.back(first, bytes).ok());
  std::memset(arena.at(first), 0x5a, bytes);
  arena.free(first, bytes);
  const std::uint64_t again = arena.allocate(bytes).value();
  ASSERT_EQ(again, first);
  ASSERT_TRUE(arena.back(again, bytes).ok());
  EXPECT_TRUE(std::all_of(arena.at(again), arena.at(again) + bytes,
                          [](std::byte each) { return each == std::byte{0}; }));
}

TEST(Arena, RefusesMoreMemoryThanTheMachineHas) {
  const std::uint64_t too_much = 2 * total_memory_bytes();
  const auto memory = rig_memory(1, 2 * too_much);
  ASSERT_GT(memory->size(), too_much);
  const auto node = rig_node(memory, 0, true);
  const std::uint64_t offset = node->arena().allocate(too_much).value();
  const Status status = node->arena().back(offset, too_much);
  EXPECT_EQ(status.code(), Code::no_memory);
  EXPECT_TRUE(status.message().starts_with(human_bytes(too_much) +
                                           " of shared memory were requested on this node, but "))
      << status.message();
  EXPECT_TRUE(
      status.message().ends_with(", of which 64.0 MiB are reserved for other programs\n"
                                 "  hint: free memory, or spread the job over more nodes"))
      << status.message();
}

// A profiler's timer interrupts posix_fallocate, which then starts again from the beginning. It
// must complete nevertheless.
TEST(Arena, BacksMemoryDuringManySignals) {
  const auto memory = rig_memory(1, 1ULL << 30);
  const auto node = rig_node(memory, 0, true);
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval each_2_ms{.it_interval = {0, 2000}, .it_value = {0, 2000}};
  const itimerval never{};
  constexpr std::uint64_t bytes = 256ULL << 20;
  const std::uint64_t offset = node->arena().allocate(bytes).value();
  std::atomic<bool> done{false};
  std::thread alarm_off([&] {
    // If the arena does not handle this, the loop has no end: stop the alarms after the time limit.
    EXPECT_TRUE(eventually([&] { return done.load(); })) << "interrupted for ever";
    setitimer(ITIMER_REAL, &never, nullptr);
  });
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  setitimer(ITIMER_REAL, &each_2_ms, nullptr);
  const Status status = node->arena().back(offset, bytes);
  done = true;
  alarm_off.join();
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_TRUE(status.ok()) << status.describe();
  node->arena().free(offset, bytes);
}

TEST(Arena, SurvivesADeathAtAnyInstructionOfAllocateAndFree) {
  for (int steps = 0; steps < 1000; steps += steps_between_deaths) {
    const auto memory = rig_memory(2, 64ULL << 20);
    const auto node = rig_node(memory, 0, false);
    const std::uint64_t kept = node->arena().allocate(3 * granule_bytes).value();
    std::unique_ptr<Node> its_node;
    SteppedRank rank([&] { its_node = rig_node(memory, 1, false); },
                     [&] {
                       const auto offset = its_node->arena().allocate(5 * granule_bytes);
                       its_node->arena().free(*offset, 5 * granule_bytes);
                     });
    if (!rank.is_possible()) {
      GTEST_SKIP() << SteppedRank::impossible;
    }
    const bool more = rank.step(steps);
    rank.end();
    const auto after = node->arena().allocate(granule_bytes);
    ASSERT_TRUE(after.ok()) << "at instruction " << steps;
    EXPECT_GE(*after, kept + 3 * granule_bytes) << "at instruction " << steps;
    if (!more) {
      EXPECT_GT(steps, 50);
      break;
    }
  }
}

// A device addresses pages: the pages of a kept piece stay the same, whatever they are used for.
TEST(Arena, KeepsTheMemoryThatADeviceStillUses) {
  const auto memory = rig_memory(1, 64ULL << 20);
  const auto node = rig_node(memory, 0, true);
  Arena& arena = node->arena();
  constexpr std::uint64_t bytes = 4 * granule_bytes;
  const std::uint64_t piece = arena.allocate(bytes).value();
  ASSERT_TRUE(arena.back(piece, bytes).ok());
  std::memset(arena.at(piece), 7, bytes);
  // Its second half, and two granules that are not allocated.
  ASSERT_TRUE(arena.keep(piece + bytes / 2, bytes).ok());
  EXPECT_EQ(*arena.at(piece), std::byte{7}) << "existing data stay";
  const std::uint64_t before = memory_bytes(*memory);
  arena.free(piece, bytes);
  EXPECT_EQ(memory_bytes(*memory), before - bytes / 2)
      << "the other half is returned to the system";
  const std::uint64_t again = arena.allocate(2 * bytes).value();
  ASSERT_EQ(again, piece);
  ASSERT_TRUE(arena.back(again, 2 * bytes).ok());
  EXPECT_TRUE(std::all_of(arena.at(again), arena.at(again) + 2 * bytes,
                          [](std::byte each) { return each == std::byte{0}; }));
}

}  // namespace
}  // namespace tessera::rma::detail
