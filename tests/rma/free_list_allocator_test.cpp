// SPDX-License-Identifier: BSD-3-Clause
//
// FreeListAllocator: freed memory is reused, and nothing leaks when threads end.
#include "rma/base/free_list_allocator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace tessera::rma::detail {
namespace {

struct Thing {
  std::array<double, 8> values{};
};

std::shared_ptr<Thing> make_thing() {
  return std::allocate_shared<Thing>(FreeListAllocator<Thing>());
}

TEST(FreeListAllocator, ReusesFreedMemory) {
  const Thing* const first = make_thing().get();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(make_thing().get(), first);
  }
}

TEST(FreeListAllocator, GivesEachThingMemoryOfItsOwn) {
  constexpr std::size_t many = 5000;  // more than the allocator keeps
  for (int round = 0; round < 3; ++round) {
    std::vector<std::shared_ptr<Thing>> things(many);
    std::set<const Thing*> addresses;
    for (auto& thing : things) {
      thing = make_thing();
      thing->values.fill(static_cast<double>(addresses.size()));
      addresses.insert(thing.get());
    }
    EXPECT_EQ(addresses.size(), many);
    for (std::size_t i = 0; i < many; ++i) {
      EXPECT_EQ(things[i]->values.back(), static_cast<double>(i));
    }
  }
}

// This test and the next one rely on AddressSanitizer to find leaks and uses after free.
TEST(FreeListAllocator, TakesThingsOfThreadsThatHaveEnded) {
  std::vector<std::shared_ptr<Thing>> things(2000);
  std::thread([&] {
    for (auto& thing : things) {
      thing = make_thing();
    }
  }).join();
  std::thread([&] { things.clear(); }).join();
}

TEST(FreeListAllocator, TakesThingsAtTheEndOfAThread) {
  std::thread([] {
    // Destroyed after the thread's free list, which is created later.
    thread_local std::shared_ptr<Thing> last;
    last = nullptr;
    last = make_thing();
  }).join();
}

}  // namespace
}  // namespace tessera::rma::detail
