// SPDX-License-Identifier: BSD-3-Clause
//
// Threads that map, register and unmap at once. Each mapping has a unique stamp; a registration
// with another stamp is of memory that no longer exists.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "tests/rma/verbs/registrar_rig.hpp"
#include "tests/support/effort.hpp"

namespace tessera::rma::verbs {
namespace {

using test::Mapping;
using test::stamp;

class RegistrarRaces : public test::RegistrarTest {
 protected:
  template <class Body>
  void in_threads(int count, const Body& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] { body(i); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

  // Two uses of newly mapped memory.
  void use(const Mapping& memory, std::size_t pages) {
    const std::uint64_t value = ++stamps;
    for (std::size_t page = 0; page < pages; ++page) {
      stamp(memory.page(page), value);
    }
    for (int i = 0; i < 2; ++i) {
      const Registration registration = acquire(memory, 0, pages);
      wrong += library->stamp_in(registration.lkey(), memory.page()) == value ? 0 : 1;
      wrong += library->stamp_in(registration.lkey(), memory.page(pages - 1)) == value ? 0 : 1;
    }
  }

  std::atomic<std::uint64_t> stamps = 0;
  std::atomic<int> wrong = 0;
};

TEST_F(RegistrarRaces, MappedOver) {
  make();
  if (IsSkipped()) {
    return;
  }
  in_threads(4, [&](int /*thread*/) {
    Mapping mapping(4);
    for (int round = 0; round < tessera::test::rounds(2000); ++round) {
      // Over the old one: a free address may become another thread's heap at any moment.
      Mapping memory(4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                     mapping.page());
      use(memory, 4);
      memory.forget();
    }
  });
  EXPECT_EQ(wrong, 0);
  registrar->tidy();
  EXPECT_EQ(library->live_bytes(), 0U);
}

// The kernel may give an address to one thread before the call that unmapped it returns in another.
TEST_F(RegistrarRaces, MappedByAnotherThreadBeforeUnmappingReturns) {
  make();
  if (IsSkipped()) {
    return;
  }
  in_threads(4, [&](int thread) {
    std::mt19937 random(static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()) +
                        static_cast<unsigned>(thread));
    for (int round = 0; round < tessera::test::rounds(2000); ++round) {
      const std::size_t pages = 1 + random() % 4;
      Mapping memory(pages);
      use(memory, pages);
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_F(RegistrarRaces, ThreadsShareOneBufferWhileOthersComeAndGo) {
  make({.cached_bytes = 64 * page_bytes(), .cached_regions = 8});
  if (IsSkipped()) {
    return;
  }
  Mapping shared(32);
  for (std::size_t page = 0; page < 32; ++page) {
    stamp(shared.page(page), page + (std::uint64_t{1} << 40));
  }
  in_threads(4, [&](int thread) {
    std::mt19937 random(static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()) +
                        static_cast<unsigned>(thread));
    for (int round = 0; round < tessera::test::rounds(2000); ++round) {
      if (thread == 0) {
        Mapping memory(3);
        use(memory, 3);
        continue;
      }
      const std::size_t page = random() % 28;
      const Registration registration = acquire(shared, page, 1 + random() % 4);
      wrong += library->stamp_in(registration.lkey(), shared.page(page)) ==
                       page + (std::uint64_t{1} << 40)
                   ? 0
                   : 1;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(cache().kept_regions, 8U);
  EXPECT_LE(cache().kept_bytes, 64 * page_bytes());
  EXPECT_EQ(library->live_bytes(), cache().kept_bytes);
}

}  // namespace
}  // namespace tessera::rma::verbs
