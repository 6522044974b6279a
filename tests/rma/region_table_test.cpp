// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/region_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace tessera::rma::detail {
namespace {

// A pointer that is never dereferenced. It is made from the region's number, so that a reader can
// check it.
RegionState* state_of(std::uint32_t id) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<RegionState*>(std::uintptr_t{id} * 64);
}

void insert(RegionTable& table, std::uint32_t id) {
  table.insert(RegionId{id}, *state_of(id));
}

std::uint32_t below(std::mt19937& random, std::uint32_t limit) {
  return static_cast<std::uint32_t>(random() % limit);
}

#ifdef TESSERA_SANITIZED
constexpr std::uint32_t many = 10'000;  // a sanitizer makes each step tens of times slower
#else
constexpr std::uint32_t many = 100'000;
#endif

TEST(RegionTable, BeginsAnEpochWhenAskedAndKeepsAllRegions) {
  RegionTable table;
  insert(table, 3);
  insert(table, 4);
  for (int round = 0; round < 100; ++round) {
    const auto before = table.shared_epoch();
    table.prepare_epoch();
    EXPECT_EQ(table.epoch(), before.get()) << "preparing does not begin an epoch";
    table.renew_epoch();
    EXPECT_NE(table.epoch(), before.get());
  }
  EXPECT_EQ(table.find(RegionId{3}), state_of(3));
  const auto before = table.shared_epoch();
  table.remove(RegionId{3});
  table.remove(RegionId{4});
  EXPECT_NE(table.epoch(), before.get()) << "the epoch after the removal of regions is another one";
}

TEST(RegionTable, FindsWhatAMapFinds) {
  RegionTable table;
  std::map<std::uint32_t, bool> model;
  std::mt19937 random(7);
  std::uint32_t next = 1;
  for (std::uint32_t i = 0; i < many; ++i) {
    if (model.empty() || random() % 100 < 52) {
      insert(table, next);
      model[next] = true;
      // Numbers increase with gaps of varying size, so that probes collide.
      next += 1 + (below(random, 8) == 0 ? below(random, 1'000) : 0);
    } else {
      const auto victim = std::next(
          model.begin(),
          static_cast<std::ptrdiff_t>(random() % std::min<std::size_t>(model.size(), 50)));
      table.remove(RegionId{victim->first});
      EXPECT_EQ(table.find(RegionId{victim->first}), nullptr);
      model.erase(victim);
    }
  }
  EXPECT_EQ(table.states().size(), model.size());
  for (std::uint32_t id = 1; id < next; ++id) {
    ASSERT_EQ(table.find(RegionId{id}), model.contains(id) ? state_of(id) : nullptr) << id;
  }
  table.clear();
  EXPECT_TRUE(table.states().empty());
  EXPECT_EQ(table.find(RegionId{model.begin()->first}), nullptr);
}

TEST(RegionTable, RemovingAMissingRegionChangesNothing) {
  RegionTable table;
  insert(table, 1);
  table.remove(RegionId{2});
  table.remove(RegionId{65});  // the same index in a table of 64
  EXPECT_EQ(table.find(RegionId{1}), state_of(1));
  EXPECT_EQ(table.find(RegionId{65}), nullptr);
}

// Readers always find permanent regions with complete entries, while a writer inserts and removes
// others and the table grows.
TEST(RegionTable, ReadersSeeWholeEntriesWhileAWriterWorks) {
  RegionTable table;
  constexpr std::uint32_t lasting = 40;
  for (std::uint32_t id = 1; id <= lasting; ++id) {
    insert(table, id);
  }
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::atomic<std::int64_t> looks{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937 random(static_cast<std::uint32_t>(reader));
      while (!done) {
        const std::uint32_t id = 1 + below(random, lasting);
        if (table.find(RegionId{id}) != state_of(id)) {
          ++wrong;
        }
        ++looks;
      }
    });
  }
  for (std::uint32_t id = lasting + 1; id < many; ++id) {
    insert(table, id);
    if (id % 5 != 0) {
      table.remove(RegionId{id});
    }
  }
  done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(wrong, 0) << "of " << looks;
}

TEST(RegionTable, RegionZeroHasNoMember) {
  RegionTable table;
  EXPECT_EQ(table.find(RegionId{0}), nullptr);
  insert(table, 1);
  table.remove(RegionId{0});
  EXPECT_EQ(table.states().size(), 1U);
  table.remove(RegionId{1});
  EXPECT_EQ(table.find(RegionId{0}), nullptr);
}

}  // namespace
}  // namespace tessera::rma::detail
