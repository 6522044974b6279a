// SPDX-License-Identifier: BSD-3-Clause
//
// Many operations under way at once, compared with a model. Their sizes lie around every limit at
// which the library changes the way of moving bytes. Addresses are unaligned, and targets are all
// ranks, including the origin. No two operations of a round write the same bytes, so any order
// gives the same result.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/model_memory.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::rma {
namespace {

using test::ok;
using test::on_ranks;
using test::random_in;
using test::SharedSeed;

constexpr std::array<std::int64_t, 16> limits{
    8,        16,       64,       128,       512,       1 << 10, 2 << 10, 4 << 10,
    16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 1 << 20, 2 << 20, 4 << 20};
constexpr std::int64_t max_bytes = (4 << 20) + 64;

enum class HandleEnding : std::uint8_t { waited, moved, elsewhere, collected, dropped, detached };

// One transfer: a range of bytes in the origin's part of a target's slice and in local memory.
struct Piece {
  std::int32_t target = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool is_put = true;
};

// Pieces that share no byte, until each part is full.
std::vector<Piece> random_pieces(std::mt19937_64& random, std::int32_t ranks) {
  std::vector<Piece> pieces;
  for (std::int32_t target = 0; target < ranks; ++target) {
    std::int64_t at = random_in(random, 0, 9);
    while (pieces.size() < 60) {
      const std::int64_t limit =
          limits[static_cast<std::size_t>(random_in(random, 0, std::ssize(limits) - 1))];
      const std::int64_t bytes = limit + random_in(random, -3, 3);
      if (at + bytes > max_bytes) {
        break;
      }
      pieces.push_back({target, at, bytes, random_in(random, 0, 1) == 0});
      at += bytes + random_in(random, 0, 70);
    }
  }
  std::shuffle(pieces.begin(), pieces.end(), random);
  return pieces;
}

void end(Job& job, Handle handle, HandleEnding ending, Handle& all) {
  switch (ending) {
    case HandleEnding::waited:
      EXPECT_TRUE(ok(handle.wait()));
      EXPECT_TRUE(ok(handle.wait()));
      break;
    case HandleEnding::moved: {
      Handle other;
      other = std::move(handle);
      EXPECT_TRUE(ok(other.wait()));
      break;
    }
    case HandleEnding::elsewhere:
      std::thread([&] { EXPECT_TRUE(ok(handle.wait())); }).join();
      break;
    case HandleEnding::collected:
      all.collect(std::move(handle));
      break;
    case HandleEnding::dropped:
      break;
    case HandleEnding::detached:
      handle.detach();
      break;
  }
  static_cast<void>(job);
}

TEST(RandomSizes, AroundEveryLimitAgreeWithTheModel) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(job.rank().value);
    const auto part = static_cast<std::size_t>(max_bytes);
    Region region =
        Region::allocate(job.world(), part * static_cast<std::size_t>(job.size())).value();
    const std::uint64_t own = part * static_cast<std::uint64_t>(job.rank().value);
    std::vector<std::vector<std::byte>> model(static_cast<std::size_t>(job.size()),
                                              std::vector<std::byte>(part));
    std::vector<std::vector<std::byte>> local = model;
    for (int round = 0; round < tessera::test::rounds(6); ++round) {
      for (auto& each : local) {
        const auto first = static_cast<std::uint8_t>(random());
        for (std::size_t i = 0; i < each.size(); ++i) {
          each[i] = static_cast<std::byte>(first + i * 7 + i / 251);
        }
      }
      auto expected = local;
      Handle all;
      for (const Piece& piece : random_pieces(random, job.size())) {
        const auto target = static_cast<std::size_t>(piece.target);
        const auto bytes = static_cast<std::size_t>(piece.bytes);
        const RemoteAddress at =
            region.at(TeamRank{piece.target}, own + static_cast<std::uint64_t>(piece.offset));
        std::byte* const here = local[target].data() + piece.offset;
        const auto ending = static_cast<HandleEnding>(random_in(random, 0, 5));
        if (piece.is_put) {
          end(job, put_async(job, at, here, bytes), ending, all);
          std::copy_n(here, bytes, model[target].begin() + piece.offset);
        } else {
          end(job, get_async(job, at, here, bytes), ending, all);
          std::copy_n(model[target].begin() + piece.offset, bytes,
                      expected[target].begin() + piece.offset);
        }
      }
      ASSERT_TRUE(ok(all.wait()));
      ASSERT_TRUE(ok(job.fence_all()));
      ASSERT_TRUE(local == expected) << "round " << round;
      for (std::int32_t rank = 0; rank < job.size(); ++rank) {
        std::vector<std::byte> there(part);
        ASSERT_TRUE(ok(get(job, region.at(TeamRank{rank}, own), there.data(), part)));
        ASSERT_TRUE(there == model[static_cast<std::size_t>(rank)])
            << "round " << round << ", rank " << rank;
      }
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
