// SPDX-License-Identifier: BSD-3-Clause
//
// Contiguous put and get.
#include "rma/transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/model_memory.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::neighbour;
using test::ok;
using test::on_ranks;

constexpr std::size_t transfer_slice_bytes = (1 << 20) + 256;

constexpr std::array<std::size_t, 26> transfer_sizes{
    0,  1,  2,  3,  4,   5,    7,    8,    9,    15,    16,    17,      31,
    33, 63, 64, 65, 127, 1000, 4096, 4097, 9999, 65537, 99991, 1 << 20, (1 << 20) - 7};

// The bytes that rank `rank` puts in round `round`; they identify both.
std::vector<std::byte> pattern(std::size_t bytes, std::int32_t rank, std::size_t round) {
  std::vector<std::byte> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    result[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(rank) * 31 + round);
  }
  return result;
}

// Puts and gets back `bytes` at `offset` of the neighbour, and checks that the bytes around them do
// not change. Each slice is used only by the rank before its owner.
void round_trip(Job& job, const Region& region, std::size_t bytes, std::size_t offset,
                std::size_t round, bool async) {
  const RemoteAddress at = region.at(neighbour(job), offset);
  const std::vector<std::byte> sent = pattern(bytes, job.rank().value, round);
  const std::vector<std::byte> guard(8, std::byte{0xa5});
  std::vector<std::byte> received(bytes + 16, std::byte{0xee});
  std::vector<std::byte> expected(bytes + 16, guard[0]);
  std::copy(sent.begin(), sent.end(), expected.begin() + 8);
  RemoteAddress before = at;
  before.offset -= guard.size();
  ASSERT_TRUE(ok(put(job, before, guard.data(), guard.size())));
  ASSERT_TRUE(ok(put(job, at + bytes, guard.data(), guard.size())));
  if (async) {
    ASSERT_TRUE(ok(put_async(job, at, sent.data(), bytes).wait()));
    ASSERT_TRUE(ok(get_async(job, before, received.data(), received.size()).wait()));
  } else {
    ASSERT_TRUE(ok(put(job, at, sent.data(), bytes)));
    ASSERT_TRUE(ok(get(job, before, received.data(), received.size())));
  }
  ASSERT_EQ(received, expected) << bytes << " bytes at offset " << offset;
}

// Long data in all alignments takes a long time under a sanitizer, which treats them all alike.
bool is_worthwhile(std::size_t bytes, std::size_t shift) {
  constexpr std::size_t is_long = 65'536;
  return !tessera::test::is_sanitized || bytes < is_long || shift == 0 || shift == 11;
}

TEST(Put, AndGetMoveEverySizeAtAnyAlignment) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), transfer_slice_bytes).value();
    for (std::size_t i = 0; i < transfer_sizes.size(); ++i) {
      for (const std::size_t shift : {0U, 1U, 4U, 11U}) {
        if (is_worthwhile(transfer_sizes[i], shift)) {
          round_trip(job, region, transfer_sizes[i], 64 + shift, i, false);
        }
      }
    }
  });
}

TEST(PutAsync, AndGetAsyncMoveEverySizeAtAnyAlignment) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), transfer_slice_bytes).value();
    for (std::size_t i = 0; i < transfer_sizes.size(); ++i) {
      for (const std::size_t shift : {0U, 3U}) {
        if (is_worthwhile(transfer_sizes[i], shift)) {
          round_trip(job, region, transfer_sizes[i], 64 + shift, i, true);
        }
      }
    }
  });
}

TEST(Put, IsSeenByTheTargetAfterABarrier) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 1000).value();
    const auto sent = pattern(1000, job.rank().value, 0);
    ASSERT_TRUE(ok(put(job, region.at(neighbour(job)), sent.data(), sent.size())));
    ASSERT_TRUE(ok(job.barrier()));
    LocalAccess access = LocalAccess::begin(region).value();
    const std::int32_t writer = (job.rank().value + job.size() - 1) % job.size();
    EXPECT_EQ(std::memcmp(access.data(), pattern(1000, writer, 0).data(), 1000), 0);
    EXPECT_TRUE(ok(access.end()));
  });
}

TEST(Get, SeesWhatItsOwnerStored) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 1000).value();
    {
      LocalAccess access = LocalAccess::begin(region).value();
      const auto own = pattern(1000, job.rank().value, 1);
      std::memcpy(access.data(), own.data(), own.size());
    }
    ASSERT_TRUE(ok(job.barrier()));
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      std::vector<std::byte> received(1000);
      EXPECT_TRUE(ok(get(job, region.at(TeamRank{rank}), received.data(), received.size())));
      EXPECT_EQ(received, pattern(1000, rank, 1));
    }
  });
}

TEST(Put, ToOneselfIsLikeAnyOther) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const TeamRank self = job.world().rank();
    const auto sent = pattern(64, job.rank().value, 2);
    ASSERT_TRUE(ok(put(job, region.at(self), sent.data(), sent.size())));
    const LocalAccess access = LocalAccess::begin(region).value();
    EXPECT_EQ(std::memcmp(access.data(), sent.data(), sent.size()), 0);
  });
}

TEST(Put, BetweenTwoSlicesOfTheSameRegion) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 4096).value();
    LocalAccess access = LocalAccess::begin(region).value();
    std::memset(access.data(), job.rank().value + 1, 2048);
    ASSERT_TRUE(ok(job.barrier()));
    // The source lies in the caller's own slice, the target in the upper half of the neighbour's.
    ASSERT_TRUE(ok(put(job, region.at(neighbour(job), 2048), access.data(), 2048)));
    ASSERT_TRUE(ok(job.barrier()));
    const std::int32_t writer = (job.rank().value + job.size() - 1) % job.size();
    EXPECT_EQ(access.data()[2048], static_cast<std::byte>(writer + 1));
    EXPECT_EQ(access.data()[4095], static_cast<std::byte>(writer + 1));
  });
}

struct Triple {
  double x;
  std::int32_t y;
  std::int16_t z;
  std::int16_t w;
  friend bool operator==(const Triple&, const Triple&) = default;
};

TEST(PutValue, AndGetValueMoveObjects) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 256).value();
    const RemoteAddress at = region.at(neighbour(job));
    EXPECT_TRUE(ok(put_value(job, at, std::int8_t{-3})));
    EXPECT_TRUE(ok(put_value(job, at + 2, std::int16_t{-300})));
    EXPECT_TRUE(ok(put_value(job, at + 4, 2.5F)));
    EXPECT_TRUE(ok(put_value(job, at + 8, -1e300)));
    const Triple triple{0.5, 7, -1, 9};
    EXPECT_TRUE(ok(put_value(job, at + 24, triple)));
    EXPECT_EQ(get_value<std::int8_t>(job, at).value(), -3);
    EXPECT_EQ(get_value<std::int16_t>(job, at + 2).value(), -300);
    EXPECT_EQ(get_value<float>(job, at + 4).value(), 2.5F);
    EXPECT_EQ(get_value<double>(job, at + 8).value(), -1e300);
    EXPECT_EQ(get_value<Triple>(job, at + 24).value(), triple);
    EXPECT_TRUE(fails(get_value<double>(job, at + 249), Code::out_of_range));
  });
}

TEST(Put, ReachesTheLastByteOfASlice) {
  on_ranks([](Job& job) {
    constexpr std::size_t odd_bytes = 70'001;
    Region region = Region::allocate(job.world(), odd_bytes).value();
    const TeamRank to = neighbour(job);
    EXPECT_TRUE(ok(put_value(job, region.at(to, odd_bytes - 1), std::byte{9})));
    EXPECT_EQ(get_value<std::byte>(job, region.at(to, odd_bytes - 1)).value(), std::byte{9});
    EXPECT_TRUE(ok(put(job, region.at(to, odd_bytes), nullptr, 0)));
    EXPECT_TRUE(fails(put_value(job, region.at(to, odd_bytes), std::byte{9}), Code::out_of_range));
  });
}

TEST(Transfers, OfNothingSucceed) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 16).value();
    const RemoteAddress at = region.at(neighbour(job), 3);
    EXPECT_TRUE(ok(put(job, at, nullptr, 0)));
    EXPECT_TRUE(ok(get(job, at, nullptr, 0)));
    EXPECT_TRUE(ok(accumulate(job, at, nullptr, 0, Scale::of(1.0))));
    EXPECT_TRUE(ok(put(job, at, nullptr, CopyShape::rows(0, 7, 8, 8))));
    EXPECT_TRUE(ok(put(job, at, nullptr, CopyShape::rows(8, 0, 8, 8))));
    EXPECT_TRUE(ok(put(job, at, Fragments{})));
    EXPECT_TRUE(ok(get_async(job, at, Fragments{}).wait()));
    EXPECT_TRUE(ok(put_async(job, at, nullptr, 0).wait()));
  });
}

}  // namespace
}  // namespace tessera::rma
