// SPDX-License-Identifier: BSD-3-Clause
//
// MA against a list of what was allocated: random blocks of all types, each filled with bytes of
// its own, which no later block may change.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "fortran/ga/ma/allocator.hpp"

namespace tessera::ga::ma {
namespace {

struct Known {
  Integer handle = 0;
  Integer kind = 0;
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::byte fill{};
};

class Model {
 public:
  explicit Model(unsigned seed) : random_(seed) {
    EXPECT_TRUE(memory_.initialize(MT_C_DBL, 3000, 5000).ok());
  }

  void step() {
    switch (number(0, 9)) {
      case 0:
      case 1:
      case 2:
        add(heap_, true);
        break;
      case 3:
      case 4:
      case 5:
        add(stack_, false);
        break;
      case 6:
      case 7:
        free_one();
        break;
      case 8:
        pop();
        break;
      default:
        number(0, 3) == 0 ? chop() : free_piece();
    }
    check();
  }

  void finish() {
    while (!stack_.empty()) {
      pop();
    }
    while (!heap_.empty()) {
      free_one();
    }
    EXPECT_TRUE(memory_.find_damage().empty());
    // All was joined again.
    const Integer most = *memory_.room(Allocator::Room::gap, MT_C_DBL);
    EXPECT_GE(most, 8000);
    EXPECT_EQ(most, *memory_.room(Allocator::Room::heap_other, MT_C_DBL));
    EXPECT_TRUE(memory_.push(MT_C_DBL, most, "all").ok());
  }

 private:
  Integer number(Integer low, Integer high) {
    return std::uniform_int_distribution<Integer>(low, high)(random_);
  }

  void add(std::vector<Known>& blocks, bool in_heap) {
    const Integer kind = number(MT_FIRST, MT_LAST);
    const auto which = in_heap ? Allocator::Room::heap_other : Allocator::Room::stack_other;
    const Integer most = *memory_.room(which, kind);
    const Integer elements = number(0, 5) == 0 ? number(0, most + 2) : number(0, 200);
    const std::string name = "block " + std::to_string(blocks.size());
    const auto handle =
        in_heap ? memory_.allocate(kind, elements, name) : memory_.push(kind, elements, name);
    // An inquiry returns exactly what can be had.
    if (elements > most) {
      EXPECT_FALSE(handle.ok());
      return;
    }
    if (elements == 0 && most == 0) {
      if (!handle.ok()) {
        return;
      }
    } else {
      ASSERT_TRUE(handle.ok()) << handle.status().message();
    }
    const ElementKind& element = *find_kind(kind);
    Known block{*handle, kind, *memory_.address_of(*handle),
                static_cast<std::size_t>(elements) * element.bytes,
                static_cast<std::byte>(number(1, 255))};
    if (block.bytes > 0) {
      std::memset(block.address, static_cast<int>(block.fill), block.bytes);
    }
    const auto from_base = *memory_.index_of(*handle) * static_cast<MA_AccessIndex>(element.bytes);
    EXPECT_EQ(
        reinterpret_cast<std::uintptr_t>(element.base) + static_cast<std::uintptr_t>(from_base),
        reinterpret_cast<std::uintptr_t>(block.address));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.address) % 64, 0U);
    blocks.push_back(block);
  }

  void free_one() {
    if (heap_.empty()) {
      return;
    }
    const auto at = static_cast<std::size_t>(number(0, static_cast<Integer>(heap_.size()) - 1));
    const Integer handle = heap_[at].handle;
    EXPECT_TRUE(memory_.free(handle).ok());
    EXPECT_FALSE(memory_.free(handle).ok());
    heap_.erase(heap_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void free_piece() {
    if (heap_.empty()) {
      return;
    }
    Known& block =
        heap_[static_cast<std::size_t>(number(0, static_cast<Integer>(heap_.size()) - 1))];
    const std::size_t element_bytes = find_kind(block.kind)->bytes;
    const auto elements = static_cast<Integer>(block.bytes / element_bytes);
    const Integer freed = number(0, elements);
    if (freed == elements) {
      return;  // frees the block
    }
    EXPECT_TRUE(memory_.free_last(block.handle, freed).ok());
    block.bytes -= static_cast<std::size_t>(freed) * element_bytes;
  }

  void pop() {
    if (stack_.empty()) {
      return;
    }
    if (stack_.size() > 1) {
      EXPECT_FALSE(memory_.pop(stack_[stack_.size() - 2].handle).ok());
    }
    EXPECT_TRUE(memory_.pop(stack_.back().handle).ok());
    stack_.pop_back();
  }

  void chop() {
    if (stack_.empty()) {
      return;
    }
    const auto at = static_cast<std::size_t>(number(0, static_cast<Integer>(stack_.size()) - 1));
    EXPECT_TRUE(memory_.chop(stack_[at].handle).ok());
    stack_.resize(at);
  }

  void check() {
    for (const auto* blocks : {&heap_, &stack_}) {
      for (const Known& each : *blocks) {
        const bool is_kept = std::all_of(each.address, each.address + each.bytes,
                                         [&](std::byte byte) { return byte == each.fill; });
        ASSERT_TRUE(is_kept);
      }
    }
    const auto damage = memory_.find_damage();
    ASSERT_TRUE(damage.empty()) << damage.front();
    std::size_t listed = 0;
    for (auto next = memory_.next_block(1); next.number != 0;
         next = memory_.next_block(next.number + 1)) {
      ++listed;
    }
    ASSERT_EQ(listed, heap_.size() + stack_.size());
  }

  std::mt19937 random_;
  Allocator memory_;
  std::vector<Known> heap_;
  std::vector<Known> stack_;
};

TEST(Ma, BlocksAreAsInTheModel) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed);
    for (int i = 0; i < 600 && !::testing::Test::HasFatalFailure(); ++i) {
      model.step();
    }
    model.finish();
  }
}

TEST(Ma, InquiriesRespectThePartitionAndTheOtherSide) {
  Allocator memory;
  ASSERT_TRUE(memory.initialize(MT_C_DBL, 20000, 50000).ok());
  using Room = Allocator::Room;
  const auto room = [&](Room which) { return *memory.room(which, MT_C_DBL); };
  const Integer extra = *memory.overhead(MT_C_DBL);
  const auto is_about = [&](Integer number, Integer wanted) {
    return number >= wanted && number <= wanted + 3 * extra;
  };
  EXPECT_PRED2(is_about, room(Room::heap), 50000);
  EXPECT_PRED2(is_about, room(Room::heap_both), 50000);
  EXPECT_PRED2(is_about, room(Room::heap_other), 70000);
  EXPECT_PRED2(is_about, room(Room::stack), 20000);
  EXPECT_PRED2(is_about, room(Room::stack_both), 20000);
  EXPECT_PRED2(is_about, room(Room::stack_other), 70000);
  const Integer first = *memory.allocate(MT_C_DBL, 10000, "a");
  ASSERT_TRUE(memory.allocate(MT_C_DBL, 20000, "b").ok());
  ASSERT_TRUE(memory.push(MT_C_DBL, 35000, "c").ok());
  ASSERT_TRUE(memory.free(first).ok());
  const auto is_near = [&](Integer number, Integer wanted) {
    return number > wanted - 4 * extra && number < wanted + 4 * extra;
  };
  EXPECT_PRED2(is_near, room(Room::heap), 20000);
  EXPECT_PRED2(is_near, room(Room::heap_both), 10000);
  EXPECT_PRED2(is_near, room(Room::heap_other), 10000);
  EXPECT_EQ(room(Room::stack), 0);
  EXPECT_EQ(room(Room::stack_both), 0);
  EXPECT_PRED2(is_near, room(Room::stack_other), 5000);
  EXPECT_EQ(room(Room::gap), room(Room::stack_other));
}

TEST(Ma, DamagedGuardsAreNamed) {
  Allocator memory;
  ASSERT_TRUE(memory.initialize(MT_C_DBL, 1000, 1000).ok());
  const Integer heap = *memory.allocate(MT_F_INT, 10, "indices");
  const Integer stack = *memory.push(MT_F_DBL, 7, "density");
  EXPECT_TRUE(memory.find_damage().empty());
  std::byte* const after = *memory.address_of(heap) + 10 * sizeof(Integer);
  const std::byte kept = *after;
  *after = ~kept;
  auto damage = memory.find_damage();
  ASSERT_EQ(damage.size(), 1U);
  EXPECT_NE(damage[0].find("heap block 'indices'"), std::string::npos) << damage[0];
  EXPECT_NE(damage[0].find("after its last element"), std::string::npos) << damage[0];
  const auto freed = memory.free(heap);
  ASSERT_FALSE(freed.ok());
  EXPECT_NE(freed.message().find("writes outside of its blocks"), std::string::npos);
  *after = kept;
  std::byte* const before = *memory.address_of(stack) - 1;
  *before = ~*before;
  damage = memory.find_damage();
  ASSERT_EQ(damage.size(), 1U);
  EXPECT_NE(damage[0].find("stack block 'density'"), std::string::npos) << damage[0];
  EXPECT_NE(damage[0].find("before its first element"), std::string::npos) << damage[0];
  EXPECT_FALSE(memory.pop(stack).ok());
  *before = ~*before;
  EXPECT_TRUE(memory.pop(stack).ok());
  EXPECT_TRUE(memory.free(heap).ok());
}

TEST(Ma, BadRequestsChangeNothing) {
  Allocator memory;
  const auto message = [](const rma::Status& status) { return status.message(); };
  EXPECT_NE(message(memory.push(MT_C_DBL, 1, "x").status()).find("call MA_init first"),
            std::string::npos);
  EXPECT_NE(message(memory.initialize(77, 1, 1)).find("77 is not the code of a type"),
            std::string::npos);
  EXPECT_EQ(memory.initialize(MT_C_DCPL, 1L << 60, 1).code(), rma::Code::no_memory);
  ASSERT_TRUE(memory.initialize(MT_C_DBL, 1000, 1000).ok());
  EXPECT_NE(message(memory.initialize(MT_C_DBL, 1, 1)).find("already"), std::string::npos);
  EXPECT_NE(message(memory.push(999, 1, "x").status()).find("999 is not the code of a type"),
            std::string::npos);
  EXPECT_NE(message(memory.push(MT_C_DBL, -1, "x").status()).find("block 'x' would have -1"),
            std::string::npos);
  const auto too_large = memory.allocate(MT_C_DBL, 1L << 61, "huge");
  EXPECT_EQ(too_large.status().code(), rma::Code::no_memory);
  EXPECT_NE(message(too_large.status()).find("no room in the heap for block 'huge'"),
            std::string::npos);
  const Integer heap = *memory.allocate(MT_C_DBL, 10, "heap");
  const Integer stack = *memory.push(MT_C_DBL, 10, "stack");
  EXPECT_NE(message(memory.pop(heap)).find("is in the heap, not in the stack"), std::string::npos);
  EXPECT_NE(message(memory.free(stack)).find("is in the stack, not in the heap"),
            std::string::npos);
  EXPECT_NE(message(memory.free(-1)).find("-1 is not the handle of a block"), std::string::npos);
  EXPECT_NE(message(memory.free(1L << 40)).find("is not the handle"), std::string::npos);
  EXPECT_NE(message(memory.set_alignment_bits(31)).find("use 0 to 30"), std::string::npos);
  EXPECT_FALSE(memory.free_last(heap, -1).ok());
  ASSERT_TRUE(memory.free(heap).ok());
  const Integer again = *memory.allocate(MT_C_DBL, 10, "again");
  EXPECT_NE(again, heap);  // though it has the same place
  EXPECT_FALSE(memory.free(heap).ok());
  EXPECT_TRUE(memory.free(again).ok());
}

TEST(Ma, SizesAreRoundedUp) {
  EXPECT_EQ(*Allocator::convert(MT_C_INT, 3, MT_C_DBL), 2);
  EXPECT_EQ(*Allocator::convert(MT_C_DCPL, 3, MT_C_CHAR), 48);
  EXPECT_EQ(*Allocator::convert(MT_C_CHAR, 33, MT_C_LDCPL), 2);
  EXPECT_EQ(*Allocator::convert(MT_C_DBL, 0, MT_C_CHAR), 0);
  EXPECT_FALSE(Allocator::convert(MT_C_DBL, -1, MT_C_CHAR).ok());
  EXPECT_FALSE(Allocator::convert(MT_C_DBL, 1L << 61, MT_C_CHAR).ok());
  EXPECT_FALSE(Allocator::convert(MT_C_DBL, 1, 5).ok());
}

TEST(Ma, ElementsAreAligned) {
  for (const Integer bits : {0, 3, 6, 12, 20}) {
    Allocator memory;
    ASSERT_TRUE(memory.set_alignment_bits(bits).ok());
    ASSERT_TRUE(memory.initialize(MT_C_DBL, 100, 100).ok());
    for (Integer kind = MT_FIRST; kind <= MT_LAST; ++kind) {
      const auto handle = memory.push(kind, 1, "x");
      if (!handle.ok()) {
        continue;
      }
      const auto address = reinterpret_cast<std::uintptr_t>(*memory.address_of(*handle));
      EXPECT_EQ(address % (std::uintptr_t{1} << bits), 0U);
      EXPECT_EQ(address % find_kind(kind)->bytes, 0U);
    }
    EXPECT_TRUE(memory.find_damage().empty());
  }
}

// Each nominal size can be had as one block, of any type.
TEST(Ma, NominalSizesCanBeHad) {
  for (Integer kind = MT_FIRST; kind <= MT_LAST; ++kind) {
    Allocator memory;
    ASSERT_TRUE(memory.initialize(kind, 33, 1000).ok());
    EXPECT_TRUE(memory.push(kind, 33, "stack").ok());
    EXPECT_TRUE(memory.allocate(kind, 1000, "heap").ok());
  }
}

}  // namespace
}  // namespace tessera::ga::ma
