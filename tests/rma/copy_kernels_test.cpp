// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels that copy contiguous and strided data, compared with a copy byte by byte.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "rma/kernels/copy.hpp"
#include "rma/kernels/stream.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/random_shape.hpp"

namespace tessera::rma::kernels {
namespace {

using test::random_in;
using test::Side;

/// The effect that copy_shape must have, byte by byte.
void copy_naively(Side& to, Side& from, const CopyShape& shape, Direction direction) {
  const bool is_put = direction == Direction::to_remote;
  for (const test::Run& byte : test::bytes_of(shape)) {
    *to.at(is_put ? byte.remote : byte.local) = *from.at(is_put ? byte.local : byte.remote);
  }
}

/// Compares copy_shape with the model once, including guard bytes and the source.
void compare_with_model(std::mt19937_64& random, const CopyShape& shape, Direction direction) {
  const test::Bounds bounds = test::bounds_of(shape);
  const auto shift = [&] {
    return static_cast<std::size_t>(random_in(random, 0, 1) * random_in(random, 0, 15));
  };
  Side local = test::make_side(random, bounds.local.lowest, bounds.local.highest, shift());
  Side remote = test::make_side(random, bounds.remote.lowest, bounds.remote.highest, shift());
  Side expected_local = local;
  Side expected_remote = remote;
  if (direction == Direction::to_remote) {
    copy_naively(expected_remote, local, shape, direction);
  } else {
    copy_naively(expected_local, remote, shape, direction);
  }
  copy_shape(local.at(0), remote.at(0), shape, direction);
  ASSERT_EQ(local.bytes, expected_local.bytes) << test::describe(shape);
  ASSERT_EQ(remote.bytes, expected_remote.bytes) << test::describe(shape);
}

TEST(CopyShapeKernel, AgreesWithTheModelForRandomShapes) {
  std::mt19937_64 random = test::make_random();
  for (int round = 0; round < tessera::test::rounds(4000); ++round) {
    const int levels = round % (max_stride_levels + 1);
    const std::int64_t unit = std::int64_t{1} << random_in(random, 0, 4);
    const CopyShape shape =
        test::random_shape(random, levels, test::random_run_bytes(random), unit);
    const auto direction = static_cast<Direction>(random_in(random, 0, 1));
    compare_with_model(random, round % 2 == 0 ? shape : shape.normalised(), direction);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST(CopyShapeKernel, AgreesWithTheModelForEveryShortRowLength) {
  std::mt19937_64 random = test::make_random();
  for (std::size_t row_bytes = 0; row_bytes <= 300; ++row_bytes) {
    const auto dense = static_cast<std::int64_t>(row_bytes);
    for (const std::int64_t gap : {1, 8, 64}) {
      compare_with_model(random, CopyShape::rows(row_bytes, 5, dense, dense + gap),
                         Direction::to_remote);
      compare_with_model(random, CopyShape::rows(row_bytes, 5, -dense - gap, dense),
                         Direction::from_remote);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST(CopyRun, CopiesExactlyItsBytesAtEveryAlignment) {
  std::mt19937_64 random = test::make_random();
  for (std::size_t bytes = 0; bytes <= 200; ++bytes) {
    for (std::size_t shift = 0; shift < 64; ++shift) {
      const auto length = static_cast<std::int64_t>(bytes);
      Side from = test::make_side(random, 0, length, shift % 8);
      Side to = test::make_side(random, 0, length, shift / 8);
      Side expected = to;
      for (std::int64_t i = 0; i < length; ++i) {
        *expected.at(i) = *from.at(i);
      }
      Side small = to;
      copy_run(to.at(0), from.at(0), bytes);
      ASSERT_EQ(to.bytes, expected.bytes) << bytes << " bytes, shift " << shift;
      copy_small(small.at(0), from.at(0), bytes);
      ASSERT_EQ(small.bytes, expected.bytes) << bytes << " bytes, shift " << shift;
    }
  }
}

TEST(StreamRun, CopiesExactlyItsBytesAtEveryAlignment) {
  std::mt19937_64 random = test::make_random();
  for (std::size_t bytes = 0; bytes <= 600; bytes += bytes < 300 ? 7 : 1) {
    const auto length = static_cast<std::int64_t>(bytes);
    Side from = test::make_side(random, 0, length, bytes % 11);
    Side to = test::make_side(random, 0, length, bytes % 67);
    Side expected = to;
    std::memcpy(expected.at(0), from.at(0), bytes);
    stream_run(to.at(0), from.at(0), bytes);
    ASSERT_EQ(to.bytes, expected.bytes) << bytes << " bytes";
  }
}

TEST(CopyRun, CopiesWhatIsLargerThanTheCache) {
  std::vector<std::uint32_t> from(stream_from_bytes / sizeof(std::uint32_t) + 3);
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<std::uint32_t>(i * 2654435761U);
  }
  std::vector<std::uint32_t> to(from.size());
  copy_run(to.data(), from.data(), from.size() * sizeof(std::uint32_t));
  EXPECT_TRUE(to == from);
}

TEST(MoveRun, MovesOverlappingRunsBothWays) {
  std::mt19937_64 random = test::make_random();
  for (std::size_t bytes = 0; bytes <= 200; ++bytes) {
    for (std::int64_t distance = -70; distance <= 70; ++distance) {
      Side side = test::make_side(random, -70, 270, 0);
      Side expected = side;
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(bytes); ++i) {
        *expected.at(distance + i) = *side.at(i);
      }
      move_run(side.at(distance), side.at(0), bytes);
      ASSERT_EQ(side.bytes, expected.bytes) << bytes << " bytes by " << distance;
    }
  }
}

/// The kernel that copies a value to and from the shared word in the tests of tearing.
enum class Path { run, small, shape };

void move_word(Path path, std::byte* local, std::byte* shared, std::size_t bytes,
               Direction direction) {
  const bool is_put = direction == Direction::to_remote;
  switch (path) {
    case Path::run:
      copy_run(is_put ? shared : local, is_put ? local : shared, bytes);
      break;
    case Path::small:
      copy_small(is_put ? shared : local, is_put ? local : shared, bytes);
      break;
    case Path::shape:
      // Two rows: the word and another one beside it.
      copy_shape(local, shared, CopyShape::rows(bytes, 2, 16, 64), direction);
      break;
  }
}

/// Two threads put words of equal bytes while a third gets them; each word that it gets must have
/// equal bytes. `shift` misaligns the private side. Under ThreadSanitizer this also checks that the
/// accesses are not data races.
void expect_whole_words(Path path, std::size_t bytes, std::size_t shift) {
  constexpr int rounds = 2000;
  alignas(64) std::array<std::byte, 128> shared = {};
  const auto write = [&](std::uint8_t first) {
    std::array<std::byte, 64> local = {};
    for (int i = 0; i < rounds; ++i) {
      local.fill(static_cast<std::byte>(first + i % 100));
      move_word(path, local.data() + shift, shared.data(), bytes, Direction::to_remote);
    }
  };
  int torn = 0;
  std::thread one(write, std::uint8_t{1});
  std::thread two(write, std::uint8_t{101});
  for (int i = 0; i < rounds; ++i) {
    std::array<std::byte, 64> local = {};
    std::byte* const word = local.data() + shift;
    move_word(path, word, shared.data(), bytes, Direction::from_remote);
    for (std::size_t at = 1; at < bytes; ++at) {
      torn += word[at] != word[0] ? 1 : 0;
    }
  }
  one.join();
  two.join();
  EXPECT_EQ(torn, 0) << bytes << " bytes, private side shifted by " << shift;
}

TEST(CopyKernels, AlignedWordsNeverTear) {
  for (const Path path : {Path::run, Path::small, Path::shape}) {
    for (const std::size_t bytes : {1U, 2U, 4U, 8U}) {
      expect_whole_words(path, bytes, 0);
      expect_whole_words(path, bytes, 3);
    }
  }
}

}  // namespace
}  // namespace tessera::rma::kernels
