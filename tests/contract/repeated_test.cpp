// SPDX-License-Identifier: BSD-3-Clause
//
// A repeated operation takes a shorter path than its first call. It must have the same effect, keep
// its order, and refuse invalid arguments.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::neighbour;
using test::ok;
using test::on_ranks;

constexpr int times = 4;

/// Pieces of 8 to 24 bytes, in different orders in remote and local memory. Piece `odd` lies
/// elsewhere.
std::vector<Fragment> list_in(std::vector<std::byte>& local, std::size_t from, std::size_t odd) {
  constexpr std::size_t pieces = 23;
  constexpr std::size_t room = 32;
  std::vector<Fragment> list;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t bytes = 8 * (1 + i % 3);
    const std::size_t index = i * 7 % pieces;
    list.push_back({local.data() + from + i * room, index * room + (i == odd ? 8 : 0), bytes});
  }
  return list;
}

constexpr std::size_t repeated_slice_bytes = 4096;
constexpr std::size_t none = 1000;

void fill(std::vector<std::byte>& bytes, int round) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 5 + static_cast<std::size_t>(round) * 17);
  }
}

/// Puts the list and gets the whole slice, which must equal the result of a loop of copies.
void put_and_compare(Job& job, const RemoteAddress& there, const std::vector<Fragment>& list,
                     std::uint64_t base, std::vector<std::byte>& expected) {
  ASSERT_TRUE(ok(put(job, there + base, list)));
  for (const Fragment& each : list) {
    std::memcpy(expected.data() + base + each.remote_offset, each.local, each.bytes);
  }
  std::vector<std::byte> found(repeated_slice_bytes);
  ASSERT_TRUE(ok(get(job, there, found.data(), found.size())));
  ASSERT_EQ(found, expected);
}

TEST(Repeated, ListsMoveTheSameEachTime) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), repeated_slice_bytes).value();
    const RemoteAddress there = region.at(neighbour(job));
    std::vector<std::byte> local(repeated_slice_bytes);
    std::vector<std::byte> expected(repeated_slice_bytes);
    for (int round = 0; round < times; ++round) {
      fill(local, round);
      put_and_compare(job, there, list_in(local, 0, none), 0, expected);
      put_and_compare(job, there, list_in(local, 512, none), 1024, expected);
      put_and_compare(job, there, list_in(local, 0, 5), 0, expected);
    }
  });
}

TEST(Repeated, ListsAreGotTheSameEachTime) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), repeated_slice_bytes).value();
    const RemoteAddress there = region.at(neighbour(job));
    std::vector<std::byte> remote(repeated_slice_bytes);
    for (int round = 0; round < times; ++round) {
      fill(remote, round);
      ASSERT_TRUE(ok(put(job, there, remote.data(), remote.size())));
      for (const std::size_t odd : {none, std::size_t{3}}) {
        std::vector<std::byte> local(repeated_slice_bytes);
        std::vector<std::byte> expected(repeated_slice_bytes);
        const std::vector<Fragment> list = list_in(local, 64, odd);
        ASSERT_TRUE(ok(get(job, there + 128, list)));
        for (const Fragment& each : list) {
          std::memcpy(expected.data() + (static_cast<std::byte*>(each.local) - local.data()),
                      remote.data() + 128 + each.remote_offset, each.bytes);
        }
        ASSERT_EQ(local, expected) << "round " << round;
      }
    }
  });
}

TEST(Repeated, OperationsOfAllKindsKeepTheirOrder) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), repeated_slice_bytes).value();
    const RemoteAddress there = region.at(neighbour(job), 64);
    const Scale once = Scale::of(std::int64_t{1});
    const CopyShape rows = CopyShape::rows(8, 3, 8, 16);
    for (std::int64_t round = 0; round < 50; ++round) {
      const std::array<std::int64_t, 3> sent{round, round + 1, round + 2};
      std::array<std::int64_t, 3> found{};
      if (round % 2 == 0) {
        ASSERT_TRUE(ok(put_async(job, there, sent.data(), rows).wait()));
      } else {
        ASSERT_TRUE(ok(put(job, there, sent.data(), rows)));
      }
      ASSERT_TRUE(ok(accumulate(job, there, sent.data(), rows, once)));
      ASSERT_TRUE(ok(accumulate(job, there + 16, sent.data(), sizeof sent[0], once)));
      ASSERT_EQ(fetch_add(job, there, std::int64_t{5}).value(), 2 * round);
      ASSERT_TRUE(ok(get(job, there, found.data(), rows)));
      const std::array<std::int64_t, 3> expected{2 * round + 5, 3 * round + 2, 2 * round + 4};
      ASSERT_EQ(found, expected);
      ASSERT_EQ(swap(job, there + 16, std::int64_t{-1}).value(), expected[1]);
      ASSERT_TRUE(ok(get_async(job, there + 16, found.data(), sizeof found[0]).wait()));
      ASSERT_EQ(found[0], -1);
    }
  });
}

/// The first transfer lies inside the slice, so that its path is cached; the next one goes beyond
/// the slice's end.
TEST(Repeated, WhatDoesNotLieInTheSliceIsRefused) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const TeamRank target = neighbour(job);
    std::array<std::int64_t, 4> local{};
    const Scale once = Scale::of(std::int64_t{1});
    const CopyShape rows = CopyShape::rows(8, 2, 8, 16);
    for (const std::uint64_t offset : {32U, 48U, 56U, 64U, 1U << 31U}) {
      const RemoteAddress at = region.at(target, offset);
      const bool holds_rows = offset + 24 <= 64;
      const bool holds_two = offset + 16 <= 64;
      const bool holds_word = offset + 8 <= 64;
      const auto as_expected = [](const Status& status, bool is_good) {
        return is_good ? ok(status) : fails(status, Code::out_of_range);
      };
      EXPECT_TRUE(as_expected(put(job, at, local.data(), rows), holds_rows));
      EXPECT_TRUE(as_expected(get(job, at, local.data(), rows), holds_rows));
      EXPECT_TRUE(as_expected(accumulate(job, at, local.data(), rows, once), holds_rows));
      EXPECT_TRUE(as_expected(put(job, at, local.data(), 16), holds_two));
      EXPECT_TRUE(as_expected(get(job, at, local.data(), 16), holds_two));
      EXPECT_TRUE(as_expected(get_async(job, at, local.data(), 16).wait(), holds_two));
      EXPECT_TRUE(as_expected(accumulate(job, at, local.data(), 16, once), holds_two));
      EXPECT_TRUE(as_expected(fetch_add(job, at, std::int64_t{1}).status(), holds_word));
    }
    EXPECT_TRUE(
        fails(accumulate(job, region.at(target), local.data(), 4, once), Code::invalid_argument));
    EXPECT_TRUE(fails(get(job, region.at(target), nullptr, 8), Code::invalid_argument));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(Repeated, ARegionThatWasFreedIsClosed) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job));
    std::int64_t word = 7;
    for (int i = 0; i < times; ++i) {
      ASSERT_TRUE(ok(put(job, at, &word, sizeof word)));
      ASSERT_TRUE(ok(get(job, at, &word, sizeof word)));
    }
    ASSERT_TRUE(ok(region.free()));
    EXPECT_TRUE(fails(put(job, at, &word, sizeof word), Code::closed));
    EXPECT_TRUE(fails(get(job, at, &word, sizeof word), Code::closed));
    EXPECT_TRUE(fails(fetch_add(job, at, word).status(), Code::closed));
    // A new region in the same table entry has memory of its own.
    Region next = Region::allocate(job.world(), 64).value();
    word = 1;
    ASSERT_TRUE(ok(get(job, next.at(neighbour(job)), &word, sizeof word)));
    EXPECT_EQ(word, 0);
  });
}

}  // namespace
}  // namespace tessera::rma
