// SPDX-License-Identifier: BSD-3-Clause
//
// Scratch: large pieces are kept for the thread's next use, and never more than the largest use so
// far.
#include "linalg/detail/scratch.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <limits>
#include <thread>

#include "linalg/buffers.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/heap.h"

namespace tessera::linalg::detail {
namespace {

using rma::test::fails;
using rma::test::ok;

constexpr std::size_t mib = std::size_t{1} << 20U;

/// The memory that this process has allocated since this object was made.
class Growth {
 public:
  /// In MiB, without what malloc may add to align that many pieces.
  [[nodiscard]] bool is(std::size_t wanted, std::size_t pieces = 1) const {
    const std::size_t grown = (heap_bytes() - before_ + mib / 2) / mib;
    return grown >= wanted && grown <= wanted + 2 * pieces;
  }

 private:
  std::size_t before_ = heap_bytes();
};

void* place_of_a_piece(std::size_t bytes) {
  Scratch scratch;
  EXPECT_TRUE(ok(scratch.reserve(bytes)));
  std::memset(scratch.data(), 1, bytes);
  return scratch.data();
}

TEST(Scratch, IsKeptForTheNextUse) {
  release_buffers();
  const Growth growth;
  void* const first = place_of_a_piece(8 * mib);
  EXPECT_TRUE(growth.is(8));
  EXPECT_EQ(place_of_a_piece(8 * mib), first);
  EXPECT_EQ(place_of_a_piece(5 * mib), first) << "large enough";
  EXPECT_TRUE(growth.is(8));
  release_buffers();
  EXPECT_TRUE(growth.is(0, 0));
}

TEST(Scratch, KeepsNoMoreThanWasUsedAtOnce) {
  release_buffers();
  const Growth growth;
  {
    Scratch small;
    Scratch large;
    EXPECT_TRUE(ok(small.reserve(4 * mib)));
    EXPECT_TRUE(ok(large.reserve(16 * mib)));
  }
  EXPECT_TRUE(growth.is(20, 2));
  {
    Scratch larger;
    EXPECT_TRUE(ok(larger.reserve(18 * mib)));
    EXPECT_TRUE(growth.is(18)) << "pieces of 4 and 16 had to go";
  }
  for (std::size_t size = 2; size < 20; ++size) {
    place_of_a_piece(size * mib);
    EXPECT_TRUE(growth.is(size, 2) || growth.is(18, 2)) << size;
  }
  place_of_a_piece(40 * mib);
  EXPECT_TRUE(growth.is(40));
  release_buffers();
  EXPECT_TRUE(growth.is(0, 0));
}

TEST(Scratch, GivesTheSmallestThatIsLargeEnough) {
  release_buffers();
  void* at_large = nullptr;
  void* at_small = nullptr;
  {
    Scratch large;
    Scratch small;
    ASSERT_TRUE(ok(large.reserve(12 * mib)));
    ASSERT_TRUE(ok(small.reserve(6 * mib)));
    at_large = large.data();
    at_small = small.data();
  }
  EXPECT_EQ(place_of_a_piece(6 * mib), at_small);
  EXPECT_EQ(place_of_a_piece(7 * mib), at_large);
  release_buffers();
}

TEST(Scratch, SmallPiecesAreNotKept) {
  release_buffers();
  place_of_a_piece(100);
  const Growth growth;
  place_of_a_piece(mib);
  EXPECT_TRUE(growth.is(0, 0));
}

TEST(Scratch, ThreadsGiveBackWhatTheyKeepWhenTheyEnd) {
  const Growth growth;
  std::thread([&] {
    place_of_a_piece(8 * mib);
    EXPECT_TRUE(growth.is(8));
  }).join();
  EXPECT_TRUE(growth.is(0, 0));
}

TEST(Scratch, SaysWhatItHasNoMemoryFor) {
  release_buffers();
  const Growth growth;
  Scratch scratch;
  EXPECT_TRUE(fails(scratch.reserve(std::numeric_limits<std::size_t>::max() / 4),
                    rma::Code::no_memory, {"no memory for a buffer of", "TESSERA_LINALG_BUFFER"}));
  EXPECT_TRUE(growth.is(0, 0));
  EXPECT_TRUE(ok(scratch.reserve(4 * mib))) << "a failure is not counted";
  EXPECT_TRUE(growth.is(4));
}

}  // namespace
}  // namespace tessera::linalg::detail
