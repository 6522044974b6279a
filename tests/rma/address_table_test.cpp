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

std::unique_ptr<AddressTable> make_book() {
  return std::move(AddressTable::create(arena, arena_bytes)).value();
}

TEST(AddressTable, FindsARegionInTheArenaFromAnyOfItsBytes) {
  const auto book = make_book();
  const std::byte* const slice = arena + 10 * granule_bytes;
  book->assign(slice, granule_bytes + 5, RegionId{3});
  EXPECT_EQ(book->find(slice - 1), RegionId{0});
  EXPECT_EQ(book->find(slice), RegionId{3});
  EXPECT_EQ(book->find(slice + granule_bytes + 4), RegionId{3});
  EXPECT_EQ(book->find(slice + 2 * granule_bytes), RegionId{0});
  book->withdraw(slice, granule_bytes + 5, RegionId{3});
  EXPECT_EQ(book->find(slice), RegionId{0});
}

TEST(AddressTable, FindsTheLastGranuleOfTheArenaAndNothingAfterIt) {
  const auto book = make_book();
  const std::byte* const last = arena + arena_bytes - granule_bytes;
  book->assign(last, granule_bytes, RegionId{9});
  EXPECT_EQ(book->find(arena + arena_bytes - 1), RegionId{9});
  EXPECT_EQ(book->find(arena + arena_bytes), RegionId{0});
  EXPECT_EQ(book->find(arena - 1), RegionId{0});
  EXPECT_EQ(book->find(nullptr), RegionId{0});
}

TEST(AddressTable, FindsMemoryElsewhereByItsExactBytes) {
  const auto book = make_book();
  std::vector<std::byte> memory(1000);
  book->assign(memory.data() + 100, 50, RegionId{4});
  book->assign(memory.data() + 150, 50, RegionId{5});
  EXPECT_EQ(book->find(memory.data() + 99), RegionId{0});
  EXPECT_EQ(book->find(memory.data() + 100), RegionId{4});
  EXPECT_EQ(book->find(memory.data() + 149), RegionId{4});
  EXPECT_EQ(book->find(memory.data() + 150), RegionId{5});
  EXPECT_EQ(book->find(memory.data() + 200), RegionId{0});
  book->withdraw(memory.data() + 100, 50, RegionId{4});
  EXPECT_EQ(book->find(memory.data() + 120), RegionId{0});
  EXPECT_EQ(book->find(memory.data() + 160), RegionId{5});
}

TEST(AddressTable, AttachedMemoryMayOverlapAndTheLastOneAttachedIsFound) {
  const auto book = make_book();
  std::vector<std::byte> memory(1000);
  book->attach(memory.data(), 1000, RegionId{1});
  book->attach(memory.data() + 100, 50, RegionId{2});
  book->attach(memory.data() + 100, 50, RegionId{3});
  EXPECT_EQ(book->find(memory.data() + 120), RegionId{3});
  EXPECT_EQ(book->find(memory.data() + 150), RegionId{1});
  EXPECT_EQ(book->find(memory.data() + 1000), RegionId{0});
  book->detach(memory.data() + 100, RegionId{3});
  EXPECT_EQ(book->find(memory.data() + 120), RegionId{2});
  book->detach(memory.data() + 100, RegionId{2});
  EXPECT_EQ(book->find(memory.data() + 120), RegionId{1});
  book->detach(memory.data(), RegionId{1});
  EXPECT_EQ(book->find(memory.data() + 120), RegionId{0});
}

TEST(AddressTable, MemoryOfTheArenaThatIsAttachedStaysWhatItWas) {
  const auto book = make_book();
  book->assign(arena, granule_bytes, RegionId{1});
  book->attach(arena + 8, granule_bytes, RegionId{2});
  EXPECT_EQ(book->find(arena + 8), RegionId{1});
  EXPECT_EQ(book->find(arena + granule_bytes + 7), RegionId{2});
  book->detach(arena + 8, RegionId{2});
  EXPECT_EQ(book->find(arena + 8), RegionId{1});
  EXPECT_EQ(book->find(arena + granule_bytes + 7), RegionId{0});
}

TEST(AddressTable, EmptySlicesAndNullLeaveNoTrace) {
  const auto book = make_book();
  book->assign(nullptr, 100, RegionId{1});
  book->assign(arena, 0, RegionId{1});
  EXPECT_EQ(book->find(arena), RegionId{0});
}

TEST(AddressTable, ForeignAddressesAreUniqueAndComeBackUnchanged) {
  const auto book = make_book();
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
      std::byte* const at = book->reserve_foreign(bytes, RegionId{i}).value();
      lowest = lowest == nullptr ? at : std::min(lowest, at);
      const auto behind = model.upper_bound(at);
      EXPECT_TRUE(behind == model.end() || at + bytes <= behind->first);
      EXPECT_TRUE(behind == model.begin() ||
                  std::prev(behind)->first + std::prev(behind)->second.bytes <= at);
      model[at] = {bytes, i};
    } else {
      const auto victim =
          std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
      book->release_foreign(victim->first, victim->second.bytes);
      EXPECT_EQ(book->find(victim->first), RegionId{0});
      model.erase(victim);
    }
  }
  for (const auto& [at, piece] : model) {
    EXPECT_EQ(book->find(at), RegionId{piece.region});
    EXPECT_EQ(book->find(at + piece.bytes - 1), RegionId{piece.region});
  }
  // Adjacent gaps merge: after all is released, the whole range is available in one piece.
  for (const auto& [at, piece] : model) {
    book->release_foreign(at, piece.bytes);
  }
  const auto whole = book->reserve_foreign(512ULL << 20, RegionId{1});
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(*whole, lowest);
}

TEST(AddressTable, ReportsThatForeignAddressesAreExhausted) {
  const auto book = make_book();
  const auto refused = book->reserve_foreign(1ULL << 50, RegionId{1});
  EXPECT_EQ(refused.status().code(), Code::limit_exceeded);
  EXPECT_EQ(refused.status().message(),
            "no contiguous 1.0 PiB are left in the 4.0 TiB of address space that are reserved for "
            "remote pointers");
}

}  // namespace
}  // namespace tessera::rma::detail
