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

// What a table holds of a region, made from its number so that a reader can check it.
void insert(RegionTable& table, std::uint32_t id) {
  RegionEntry entry;
  entry.first_rank = static_cast<std::int32_t>(id % 97);
  entry.reach = 1;
  entry.stride = id * std::size_t{3};
  entry.bytes = id * std::size_t{5};
  table.insert(RegionId{id}, entry);
}

std::uint32_t below(std::mt19937& random, std::uint32_t limit) {
  return static_cast<std::uint32_t>(random() % limit);
}

bool is_entry_of(const RegionEntry& entry, std::uint32_t id) {
  return entry.first_rank == static_cast<std::int32_t>(id % 97) &&
         entry.stride == id * std::size_t{3} && entry.bytes == id * std::size_t{5};
}

#ifdef TESSERA_SANITIZED
constexpr std::uint32_t many = 10'000;  // a sanitizer makes each of them tens of times slower
#else
constexpr std::uint32_t many = 100'000;
#endif

TEST(RegionTable, FindsWhatAMapFinds) {
  RegionTable table;
  std::map<std::uint32_t, bool> model;
  std::mt19937 random(7);
  std::uint32_t next = 1;
  for (std::uint32_t i = 0; i < many; ++i) {
    if (model.empty() || random() % 100 < 52) {
      insert(table, next);
      model[next] = true;
      // Numbers rise, with gaps of any size, so that probes collide.
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
    const RegionEntry* const found = table.find(RegionId{id});
    ASSERT_EQ(found != nullptr, model.contains(id)) << id;
    EXPECT_TRUE(found == nullptr || is_entry_of(*found, id)) << id;
  }
  table.clear();
  EXPECT_TRUE(table.states().empty());
  EXPECT_EQ(table.find(RegionId{model.begin()->first}), nullptr);
}

TEST(RegionTable, RemovingWhatIsNotThereChangesNothing) {
  RegionTable table;
  insert(table, 1);
  table.remove(RegionId{2});
  table.remove(RegionId{65});  // same place in a table of 64
  EXPECT_NE(table.find(RegionId{1}), nullptr);
  EXPECT_EQ(table.find(RegionId{65}), nullptr);
}

// Regions that live throughout are found at every moment, whole, while others come and go and the
// table grows.
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
        const RegionEntry* const found = table.find(RegionId{id});
        if (found == nullptr || !is_entry_of(*found, id)) {
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

TEST(RegionEntry, GivesASliceOnlyForWhatLiesInIt) {
  std::vector<std::byte> memory(std::size_t{3} * 128);
  const std::int32_t order[] = {1, -1, 0};
  RegionEntry entry;
  entry.first_rank = 10;
  entry.reach = 3;
  entry.order = order;
  entry.base = memory.data();
  entry.stride = 128;
  entry.bytes = 100;
  const auto slice = [&](std::int32_t rank, std::uint64_t offset, std::size_t bytes) {
    return entry.slice({WorldRank{rank}, RegionId{1}, offset}, bytes);
  };
  EXPECT_EQ(slice(10, 0, 100), memory.data() + 128);
  EXPECT_EQ(slice(12, 92, 8), memory.data());
  EXPECT_EQ(slice(12, 100, 0), memory.data());
  EXPECT_EQ(slice(12, 93, 8), nullptr);
  EXPECT_EQ(slice(12, ~std::uint64_t{0}, 8), nullptr);
  EXPECT_EQ(slice(12, 0, 101), nullptr);
  EXPECT_EQ(slice(11, 0, 1), nullptr) << "not a member";
  EXPECT_EQ(slice(9, 0, 1), nullptr);
  EXPECT_EQ(slice(13, 0, 1), nullptr);
  EXPECT_EQ(slice(-1, 0, 1), nullptr);
}

}  // namespace
}  // namespace tessera::rma::detail
