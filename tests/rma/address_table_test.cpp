// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/address_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "rma/node/node_memory.hpp"

namespace tessera::rma::detail {
namespace {

// The book never accesses the memory that it records, so its arena need not be mapped.
// NOLINTNEXTLINE(performance-no-int-to-ptr)
const auto* const arena = reinterpret_cast<const std::byte*>(std::uintptr_t{1} << 40);
constexpr std::uint64_t arena_bytes = 1ULL << 30;

std::unique_ptr<AddressTable> make_table() {
  return std::move(AddressTable::create(arena, arena_bytes)).value();
}

TEST(AddressTable, FindsARegionInTheArenaFromAnyOfItsBytes) {
  const auto table = make_table();
  const std::byte* const slice = arena + 10 * granule_bytes;
  table->assign(slice, granule_bytes + 5, RegionId{3});
  EXPECT_EQ(table->find(slice - 1), RegionId{0});
  EXPECT_EQ(table->find(slice), RegionId{3});
  EXPECT_EQ(table->find(slice + granule_bytes + 4), RegionId{3});
  EXPECT_EQ(table->find(slice + 2 * granule_bytes), RegionId{0});
  table->withdraw(slice, granule_bytes + 5, RegionId{3});
  EXPECT_EQ(table->find(slice), RegionId{0});
}

TEST(AddressTable, FindsTheLastGranuleOfTheArenaAndNothingAfterIt) {
  const auto table = make_table();
  const std::byte* const last = arena + arena_bytes - granule_bytes;
  table->assign(last, granule_bytes, RegionId{9});
  EXPECT_EQ(table->find(arena + arena_bytes - 1), RegionId{9});
  EXPECT_EQ(table->find(arena + arena_bytes), RegionId{0});
  EXPECT_EQ(table->find(arena - 1), RegionId{0});
  EXPECT_EQ(table->find(nullptr), RegionId{0});
}

TEST(AddressTable, FindsMemoryElsewhereByItsExactBytes) {
  const auto table = make_table();
  std::vector<std::byte> memory(1000);
  table->assign(memory.data() + 100, 50, RegionId{4});
  table->assign(memory.data() + 150, 50, RegionId{5});
  EXPECT_EQ(table->find(memory.data() + 99), RegionId{0});
  EXPECT_EQ(table->find(memory.data() + 100), RegionId{4});
  EXPECT_EQ(table->find(memory.data() + 149), RegionId{4});
  EXPECT_EQ(table->find(memory.data() + 150), RegionId{5});
  EXPECT_EQ(table->find(memory.data() + 200), RegionId{0});
  table->withdraw(memory.data() + 100, 50, RegionId{4});
  EXPECT_EQ(table->find(memory.data() + 120), RegionId{0});
  EXPECT_EQ(table->find(memory.data() + 160), RegionId{5});
}

TEST(AddressTable, AttachedMemoryMayOverlapAndTheLastOneAttachedIsFound) {
  const auto table = make_table();
  std::vector<std::byte> memory(1000);
  table->attach(memory.data(), 1000, RegionId{1});
  table->attach(memory.data() + 100, 50, RegionId{2});
  table->attach(memory.data() + 100, 50, RegionId{3});
  EXPECT_EQ(table->find(memory.data() + 120), RegionId{3});
  EXPECT_EQ(table->find(memory.data() + 150), RegionId{1});
  EXPECT_EQ(table->find(memory.data() + 1000), RegionId{0});
  table->detach(memory.data() + 100, RegionId{3});
  EXPECT_EQ(table->find(memory.data() + 120), RegionId{2});
  table->detach(memory.data() + 100, RegionId{2});
  EXPECT_EQ(table->find(memory.data() + 120), RegionId{1});
  table->detach(memory.data(), RegionId{1});
  EXPECT_EQ(table->find(memory.data() + 120), RegionId{0});
}

TEST(AddressTable, MemoryOfTheArenaThatIsAttachedStaysWhatItWas) {
  const auto table = make_table();
  table->assign(arena, granule_bytes, RegionId{1});
  table->attach(arena + 8, granule_bytes, RegionId{2});
  EXPECT_EQ(table->find(arena + 8), RegionId{1});
  EXPECT_EQ(table->find(arena + granule_bytes + 7), RegionId{2});
  table->detach(arena + 8, RegionId{2});
  EXPECT_EQ(table->find(arena + 8), RegionId{1});
  EXPECT_EQ(table->find(arena + granule_bytes + 7), RegionId{0});
}

TEST(AddressTable, EmptySlicesAndNullLeaveNoTrace) {
  const auto table = make_table();
  table->assign(nullptr, 100, RegionId{1});
  table->assign(arena, 0, RegionId{1});
  EXPECT_EQ(table->find(arena), RegionId{0});
}

TEST(AddressTable, ForeignAddressesAreUniqueAndComeBackUnchanged) {
  const auto table = make_table();
  std::mt19937 random(99);
  struct Piece {
    std::uint64_t bytes;
    std::uint32_t region;
  };
  std::map<std::byte*, Piece> model;
  std::byte* lowest = nullptr;
  for (std::uint32_t i = 1; i <= 3000; ++i) {
    if (model.empty() || random() % 5 < 3) {
      const std::uint64_t bytes = 1 + random() % (20 * granule_bytes);
      std::byte* const at = table->reserve_foreign(bytes, RegionId{i}).value();
      lowest = lowest == nullptr ? at : std::min(lowest, at);
      const auto next = model.upper_bound(at);
      EXPECT_TRUE(next == model.end() || at + bytes <= next->first);
      EXPECT_TRUE(next == model.begin() ||
                  std::prev(next)->first + std::prev(next)->second.bytes <= at);
      model[at] = {bytes, i};
    } else {
      const auto victim =
          std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
      table->release_foreign(victim->first, victim->second.bytes);
      EXPECT_EQ(table->find(victim->first), RegionId{0});
      model.erase(victim);
    }
  }
  for (const auto& [at, piece] : model) {
    EXPECT_EQ(table->find(at), RegionId{piece.region});
    EXPECT_EQ(table->find(at + piece.bytes - 1), RegionId{piece.region});
  }
  // Adjacent gaps merge: after all is released, the whole range is available in one piece.
  for (const auto& [at, piece] : model) {
    table->release_foreign(at, piece.bytes);
  }
  const auto whole = table->reserve_foreign(512ULL << 20, RegionId{1});
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(*whole, lowest);
}

TEST(AddressTable, ReportsThatForeignAddressesAreExhausted) {
  const auto table = make_table();
  const auto refused = table->reserve_foreign(1ULL << 50, RegionId{1});
  EXPECT_EQ(refused.status().code(), Code::limit_exceeded);
  EXPECT_EQ(refused.status().message(),
            "no contiguous 1.0 PiB are left in the 4.0 TiB of address space that are reserved for "
            "remote pointers");
}

}  // namespace
}  // namespace tessera::rma::detail
