// SPDX-License-Identifier: BSD-3-Clause
//
// Regions: sizes, large numbers of regions, attached memory, addresses and pointers, access modes.
#include "rma/region.hpp"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <set>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/region_list.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::neighbour;
using test::ok;
using test::on_ranks;

TEST(Region, IsZeroed) {
  on_ranks([](Job& job) {
    for (int round = 0; round < 3; ++round) {
      Region region = Region::allocate(job.world(), 200'000).value();
      LocalAccess access = LocalAccess::begin(region).value();
      ASSERT_EQ(access.size(), 200'000U);
      ASSERT_TRUE(std::all_of(access.data(), access.data() + access.size(),
                              [](std::byte byte) { return byte == std::byte{0}; }));
      std::memset(access.data(), 0xff, access.size());
    }
  });
}

TEST(Region, MayHaveSlicesOfDifferentSizesAndNone) {
  on_ranks([](Job& job) {
    const auto bytes_of = [](std::int32_t rank) {
      return rank % 3 == 0 ? std::size_t{0} : static_cast<std::size_t>(rank) * 100'003;
    };
    Region region = Region::allocate(job.world(), bytes_of(job.rank().value)).value();
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      const std::size_t bytes = bytes_of(rank);
      ASSERT_EQ(region.bytes(TeamRank{rank}), bytes);
      EXPECT_TRUE(fails(put_value(job, region.at(TeamRank{rank}, bytes), std::byte{1}),
                        Code::out_of_range, {"has " + std::to_string(bytes) + " bytes"}));
      if (bytes == 0) {
        EXPECT_EQ(region.raw_pointer(TeamRank{rank}), nullptr);
        EXPECT_EQ(region.direct(TeamRank{rank}), nullptr);
        continue;
      }
      const auto me = static_cast<std::uint64_t>(job.rank().value);
      EXPECT_TRUE(ok(put_value(job, region.at(TeamRank{rank}, bytes - 1 - me), std::byte{7})));
      const std::int32_t one = 1;
      EXPECT_TRUE(ok(accumulate(job, region.at(TeamRank{rank}, 4), &one, 4, Scale::of(one))));
      EXPECT_TRUE(ok(fetch_add<std::int64_t>(job, region.at(TeamRank{rank}, 8), 1)));
    }
    ASSERT_TRUE(ok(job.barrier()));
    const LocalAccess access = LocalAccess::begin(region).value();
    if (access.size() == 0) {
      EXPECT_EQ(access.data(), nullptr);
      return;
    }
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      EXPECT_EQ(access.data()[access.size() - 1 - static_cast<std::size_t>(rank)], std::byte{7});
    }
    std::int32_t sum = 0;
    std::memcpy(&sum, access.data() + 4, 4);
    EXPECT_EQ(sum, job.size());
    std::int64_t count = 0;
    std::memcpy(&count, access.data() + 8, 8);
    EXPECT_EQ(count, job.size());
  });
}

TEST(Region, MayBeEmptyEverywhere) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 0).value();
    EXPECT_EQ(region.local(), nullptr);
    EXPECT_TRUE(ok(put(job, region.at(neighbour(job)), nullptr, 0)));
    EXPECT_TRUE(fails(put_value(job, region.at(neighbour(job)), 1), Code::out_of_range));
    EXPECT_TRUE(ok(region.free()));
  });
}

std::size_t count_open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

TEST(Region, ThousandsLiveAtOnceWithoutADescriptorEach) {
  on_ranks([](Job& job) {
    constexpr std::size_t many = tessera::test::rounds(std::size_t{2000});
    Region first = Region::allocate(job.world(), 64).value();
    ASSERT_TRUE(ok(put_value(job, first.at(neighbour(job)), 1)));
    ASSERT_TRUE(ok(job.barrier()));
    const std::size_t before = count_open_descriptors();
    ASSERT_TRUE(ok(job.barrier()));
    std::vector<Region> regions;
    for (std::size_t i = 0; i < many; ++i) {
      regions.push_back(Region::allocate(job.world(), 64).value());
    }
    for (std::size_t i = 0; i < many; ++i) {
      ASSERT_TRUE(ok(put_value(job, regions[i].at(neighbour(job), 8), std::uint64_t{i})));
    }
    ASSERT_TRUE(ok(job.barrier()));
    // Other threads may count at the same time, and each count opens one descriptor.
    EXPECT_LE(count_open_descriptors(), before + static_cast<std::size_t>(job.size()));
    ASSERT_TRUE(ok(job.barrier()));
    for (std::size_t i = 0; i < many; i += 7) {
      const RemoteAddress own = regions[i].at(job.world().rank(), 8);
      ASSERT_EQ(get_value<std::uint64_t>(job, own).value(), i);
    }
    for (std::size_t i = 0; i < many; ++i) {
      ASSERT_TRUE(ok(regions[(i * 7) % many].free()));
    }
  });
}

TEST(Region, ThatWasFreedIsClosedForever) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress stale = region.at(neighbour(job));
    const std::string number = std::to_string(region.id().value);
    ASSERT_TRUE(ok(region.free()));
    ASSERT_TRUE(ok(region.free()));
    Region next = Region::allocate(job.world(), 64).value();
    EXPECT_NE(next.id(), stale.region);
    double value = 1;
    EXPECT_TRUE(
        fails(put_value(job, stale, value), Code::closed, {"region " + number, "it was freed"}));
    EXPECT_TRUE(fails(get(job, stale, &value, 8), Code::closed));
    EXPECT_TRUE(fails(accumulate(job, stale, &value, 8, Scale::of(1.0)), Code::closed));
    EXPECT_TRUE(fails(fetch_add<std::int64_t>(job, stale, 1), Code::closed));
    EXPECT_TRUE(fails(put_async(job, stale, &value, 8).wait(), Code::closed));
    EXPECT_TRUE(fails(LocalAccess::begin(region), Code::closed, {"freed"}));
    EXPECT_EQ(region.local(), nullptr);
    EXPECT_EQ(region.raw_pointer(neighbour(job)), nullptr);
    EXPECT_EQ(region.direct(neighbour(job)), nullptr);
    EXPECT_EQ(get_value<double>(job, next.at(neighbour(job))).value(), 0.0);
  });
}

TEST(Region, AddressesThatWereNeverSetReachNoRank) {
  // Regions are created and freed until each entry of the lookup table has been used.
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    for (int i = 0; i < 150; ++i) {
      Region region = Region::allocate(job.world(), 64).value();
      ASSERT_TRUE(ok(region.free()));
    }
    EXPECT_TRUE(fails(put_value(job, RemoteAddress{}, 1.0), Code::closed));
    EXPECT_TRUE(fails(get_value<double>(job, RemoteAddress{}), Code::closed));
    EXPECT_TRUE(fails(fetch_add<std::int64_t>(job, RemoteAddress{}, 1), Code::closed));
  });
}

TEST(Region, MovesAsAValue) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job));
    Region moved = std::move(region);
    EXPECT_TRUE(ok(put_value(job, at, 1.0)));
    ASSERT_TRUE(ok(job.barrier()));
    moved = Region::allocate(job.world(), 64).value();
    EXPECT_TRUE(fails(put_value(job, at, 1.0), Code::closed));
    EXPECT_TRUE(ok(put_value(job, moved.at(neighbour(job)), 1.0)));
  });
}

TEST(Region, OfMemoryThatTheProgramHas) {
  if (test::transport_name() == "toy") {
    on_ranks([](Job& job) {
      std::vector<double> mine(4);
      EXPECT_TRUE(fails(Region::attach(job.world(), mine.data(), 32), Code::unsupported));
      EXPECT_TRUE(ok(job.barrier()));
    });
    return;
  }
  on_ranks([](Job& job) {
    std::vector<std::int64_t> mine(3000 + static_cast<std::size_t>(job.rank().value), -1);
    Region region = Region::attach(job.world(), mine.data(), mine.size() * 8).value();
    EXPECT_EQ(region.local(), reinterpret_cast<std::byte*>(mine.data()));
    const RemoteAddress at = region.at(neighbour(job));
    const Status first = put_value(job, at, std::int64_t{job.rank().value});
    if (first.code() == Code::unsupported) {
      GTEST_SKIP() << first.message();
    }
    ASSERT_TRUE(ok(first));
    std::vector<std::int64_t> rows(600);
    std::iota(rows.begin(), rows.end(), 0);
    ASSERT_TRUE(ok(put(job, at + 8, rows.data(), CopyShape::rows(16, 300, 16, 32))));
    ASSERT_TRUE(ok(job.barrier()));
    const std::int64_t ten = 10;
    ASSERT_TRUE(ok(accumulate(job, region.at(TeamRank{0}), &ten, 8, Scale::of(ten))));
    ASSERT_TRUE(ok(job.barrier()));
    ASSERT_TRUE(ok(fetch_add<std::int64_t>(job, region.at(TeamRank{0}), 1)));
    std::vector<std::int64_t> back(600);
    ASSERT_TRUE(ok(get(job, at + 8, back.data(), CopyShape::rows(16, 300, 16, 32))));
    EXPECT_EQ(back, rows);
    ASSERT_TRUE(ok(job.barrier()));
    const std::int32_t writer = (job.rank().value + job.size() - 1) % job.size();
    EXPECT_EQ(mine[0], writer + (job.rank().value == 0 ? 101 * job.size() : 0));
    EXPECT_EQ(mine[3], -1);
    EXPECT_EQ(mine[5], 2);
    EXPECT_TRUE(fails(Region::attach(job.world(), nullptr, 8), Code::invalid_argument,
                      {"the memory to attach is null"}));
    EXPECT_TRUE(ok(Region::attach(job.world(), nullptr, 0)));
  });
}

// Some MPI libraries round such addresses: see running-on-mpi-windows.md.
TEST(Region, OfMemoryThatTheProgramHasBeginsAtAnyWord) {
  if (test::transport_name() == "toy") {
    GTEST_SKIP() << "nothing can be attached";
  }
  on_ranks([](Job& job) {
    constexpr std::size_t words = 64;
    for (std::size_t first = 1; first < 12; ++first) {
      std::vector<std::int64_t> mine(first + words + 1, -1);
      const std::size_t skipped = first + static_cast<std::size_t>(job.rank().value) % 2;
      Region region = Region::attach(job.world(), mine.data() + skipped, (words - 1) * 8).value();
      std::uint64_t own = 0;
      for (const TeamRank to : {neighbour(job), TeamRank{job.rank().value}}) {
        const Status put = put_value(job, region.at(to) + own, std::int64_t{5});
        if (put.code() == Code::unsupported) {
          GTEST_SKIP() << put.message();
        }
        ASSERT_TRUE(ok(put));
        const std::int64_t ten = 10;
        ASSERT_TRUE(ok(accumulate(job, region.at(to) + own + 8, &ten, 8, Scale::of(ten))));
        EXPECT_EQ(fetch_add<std::int64_t>(job, region.at(to) + own + 16, 7).value(), -1);
        EXPECT_EQ(get_value<std::int64_t>(job, region.at(to) + own + 16).value(), 6);
        own += 24;
      }
      ASSERT_TRUE(ok(job.barrier()));
      const std::vector<std::int64_t> expected{-1, 5, 99, 6, 5, 99, 6, -1};
      const auto before = mine.begin() + static_cast<std::ptrdiff_t>(skipped) - 1;
      const std::vector<std::int64_t> came(before, before + std::ssize(expected));
      EXPECT_EQ(came, expected) << skipped << " skipped";
      ASSERT_TRUE(ok(job.barrier()));
    }
  });
}

// Even if the slices before it end at any address.
TEST(Region, IsAlignedForEveryType) {
  on_ranks([](Job& job) {
    for (const std::size_t bytes : {100U, 4104U, 300'008U, 700'001U}) {
      Region region = Region::allocate(job.world(), bytes).value();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.local()) % alignof(std::max_align_t), 0)
          << bytes;
      const std::uint64_t last = bytes - sizeof(std::int64_t);
      const std::vector<std::int64_t> sent{job.rank().value + 1, 17};
      ASSERT_TRUE(ok(put(job, region.at(neighbour(job)), sent.data(), 8)));
      ASSERT_TRUE(ok(put(job, region.at(neighbour(job)) + last, sent.data() + 1, 8)));
      ASSERT_TRUE(ok(fetch_add<std::int64_t>(job, region.at(neighbour(job)) + 8, 3)));
      ASSERT_TRUE(ok(job.barrier()));
      std::array<std::int64_t, 3> came{};
      std::memcpy(came.data(), region.local(), 16);
      std::memcpy(came.data() + 2, region.local() + last, 8);
      const std::int64_t writer = (job.rank().value + job.size() - 1) % job.size();
      EXPECT_EQ(came, (std::array<std::int64_t, 3>{writer + 1, 3, 17})) << bytes;
      ASSERT_TRUE(ok(job.barrier()));
    }
  });
}

// Transfers of any length, although no transport between nodes writes directly to this memory.
TEST(Region, OfMemoryThatTheProgramHasTakesLongTransfers) {
  if (test::transport_name() == "toy") {
    GTEST_SKIP() << "nothing can be attached";
  }
  on_ranks([](Job& job) {
    constexpr std::size_t mib = std::size_t{1} << 20U;
    std::vector<std::byte> mine(11 * mib);
    Region region = Region::attach(job.world(), mine.data(), mine.size()).value();
    const RemoteAddress there = region.at(neighbour(job));
    std::vector<std::byte> sent(9 * mib);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      sent[i] = static_cast<std::byte>(i / 7 + static_cast<std::size_t>(job.rank().value));
    }
    const Status first = put(job, there, sent.data(), mib + 8);
    if (first.code() == Code::unsupported) {
      GTEST_SKIP() << first.message();
    }
    ASSERT_TRUE(ok(first));
    std::vector<std::byte> back(sent.size());
    ASSERT_TRUE(ok(put(job, there, sent.data(), sent.size())));
    ASSERT_TRUE(ok(get(job, there, back.data(), back.size())));
    EXPECT_TRUE(back == sent);
    // Transfers rows, and a list of long pieces.
    const CopyShape rows = CopyShape::rows(mib, 4, 2 * static_cast<std::int64_t>(mib),
                                           2 * static_cast<std::int64_t>(mib));
    std::fill(back.begin(), back.end(), std::byte{0});
    ASSERT_TRUE(ok(put(job, there + mib, sent.data(), rows)));
    ASSERT_TRUE(ok(get(job, there + mib, back.data(), rows)));
    const auto at = [&](std::size_t row) { return static_cast<std::ptrdiff_t>(2 * row * mib); };
    for (std::size_t row = 0; row < 4; ++row) {
      EXPECT_TRUE(
          std::equal(back.begin() + at(row), back.begin() + at(row) + mib, sent.begin() + at(row)));
    }
    const std::vector<Fragment> pieces{{sent.data(), 3 * mib, 2 * mib},
                                       {sent.data() + 2 * mib, 0, 3 * mib}};
    ASSERT_TRUE(ok(put(job, there, pieces)));
    ASSERT_TRUE(ok(get(job, there, back.data(), 5 * mib)));
    EXPECT_TRUE(std::equal(back.begin(), back.begin() + 3 * mib, sent.begin() + 2 * mib));
    EXPECT_TRUE(std::equal(back.begin() + 3 * mib, back.begin() + 5 * mib, sent.begin()));
    // Accumulates, exactly once for each element.
    const std::vector<std::int64_t> ones(3 * mib / 8, 1);
    std::vector<std::int64_t> words(ones.size(), 4);
    ASSERT_TRUE(ok(put(job, there, words.data(), 3 * mib)));
    ASSERT_TRUE(ok(accumulate(job, there, ones.data(), 3 * mib, Scale::of(std::int64_t{2}))));
    ASSERT_TRUE(ok(job.fence_all()));
    ASSERT_TRUE(ok(get(job, there, words.data(), 3 * mib)));
    EXPECT_EQ(words, std::vector<std::int64_t>(ones.size(), 6));
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(Region, MayBeSparseAndLargerThanTwoGibibytes) {
  if (test::transport_name() != "shm") {
    GTEST_SKIP() << test::transport_name() << " has no sparse memory";
  }
  on_ranks([](Job& job) {
    constexpr std::uint64_t gib = 1ULL << 30;
    constexpr std::size_t bytes = 5 * gib + 4096;
    auto allocated = Region::allocate(job.world(), bytes, {.sparse = true});
    if (allocated.status().code() == Code::limit_exceeded) {
      GTEST_SKIP() << allocated.status().message();
    }
    Region region = std::move(allocated).value();
    const RemoteAddress at = region.at(neighbour(job));
    // Three rows 2.5 GiB apart, first in ascending and then in descending order of addresses.
    const std::vector<std::int64_t> rows{11, 22, 33};
    constexpr auto stride = static_cast<std::int64_t>(5 * gib / 2);
    ASSERT_TRUE(ok(put(job, at + 8, rows.data(), CopyShape::rows(8, 3, 8, stride))));
    std::vector<std::int64_t> back(3);
    ASSERT_TRUE(ok(get(job, at + (5 * gib + 8), back.data(), CopyShape::rows(8, 3, 8, -stride))));
    EXPECT_EQ(back, (std::vector<std::int64_t>{33, 22, 11}));
    EXPECT_EQ(get_value<std::int64_t>(job, at + (5 * gib / 2 + 8)).value(), 22);
    const std::int64_t one = 1;
    ASSERT_TRUE(
        ok(accumulate(job, at + 8, &one, CopyShape::rows(8, 3, 0, stride), Scale::of(one))));
    EXPECT_EQ(fetch_add<std::int64_t>(job, at + (5 * gib + 8), 1).value(), 34);
    std::int64_t last = 5;
    const std::vector<Fragment> list{{&last, bytes - 8, 8}};
    EXPECT_TRUE(ok(put(job, at, list)));
    EXPECT_EQ(get_value<std::int64_t>(job, at + (bytes - 8)).value(), 5);
    EXPECT_TRUE(fails(put_value(job, at + (bytes - 7), last), Code::out_of_range));
  });
}

TEST(Region, AsksForHugePages) {
  on_ranks([](Job& job) {
    constexpr std::size_t huge_page_bytes = 2 << 20;
    constexpr std::size_t bytes = 3 << 20;
    Region region = Region::allocate(job.world(), bytes, {.huge_pages = true}).value();
    if (job.transport_to(job.rank()).value() == "shm") {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.local()) % huge_page_bytes, 0U);
    }
    EXPECT_TRUE(ok(put_value(job, region.at(neighbour(job), bytes - 8), 4.0)));
  });
}

TEST(RawPointers, OfAllSlicesAreUniqueAndTranslateBack) {
  on_ranks([](Job& job) {
    Region even = Region::allocate(job.world(), 100'000).value();
    Region uneven =
        Region::allocate(job.world(), 70'000 * static_cast<std::size_t>(job.rank().value + 1))
            .value();
    std::set<void*> pointers;
    for (Region* region : {&even, &uneven}) {
      for (std::int32_t rank = 0; rank < job.size(); ++rank) {
        auto* const pointer = static_cast<std::byte*>(region->raw_pointer(TeamRank{rank}));
        ASSERT_NE(pointer, nullptr);
        EXPECT_TRUE(pointers.insert(pointer).second);
        const std::size_t bytes = region->bytes(TeamRank{rank});
        for (const std::size_t offset : {std::size_t{0}, std::size_t{65'537}, bytes - 1}) {
          EXPECT_EQ(job.translate(WorldRank{rank}, pointer + offset).value(),
                    region->at(TeamRank{rank}, offset));
        }
        EXPECT_TRUE(fails(job.translate(WorldRank{rank}, pointer + bytes), Code::out_of_range));
      }
    }
    EXPECT_EQ(even.raw_pointer(job.world().rank()), even.local());
    int outside = 0;
    EXPECT_TRUE(
        fails(job.translate(job.rank(), &outside), Code::out_of_range, {"lies in no region"}));
    EXPECT_TRUE(fails(job.translate(job.rank(), nullptr), Code::out_of_range));
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(RawPointers, OfAFreedRegionNoLongerTranslate) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 1000).value();
    std::vector<void*> pointers;
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      pointers.push_back(region.raw_pointer(TeamRank{rank}));
    }
    ASSERT_TRUE(ok(region.free()));
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      EXPECT_TRUE(fails(job.translate(WorldRank{rank}, pointers[static_cast<std::size_t>(rank)]),
                        Code::out_of_range));
    }
  });
}

TEST(RawPointers, OfTheSameNodeMayBeLoadedFromAndStoredTo) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const TeamRank next = neighbour(job);
    auto* const direct = reinterpret_cast<std::int64_t*>(region.direct(next));
    const bool is_mapped =
        test::transport_name() == "shm" && job.shares_node(job.world().world_rank(next));
    EXPECT_TRUE(direct != nullptr || !is_mapped);
    if (direct != nullptr) {
      EXPECT_EQ(region.raw_pointer(next), direct);
      *direct = job.rank().value;
    }
    ASSERT_TRUE(ok(job.barrier()));
    const WorldRank before{(job.rank().value + job.size() - 1) % job.size()};
    if (test::transport_name() == "shm" && job.shares_node(before)) {
      EXPECT_EQ(*reinterpret_cast<std::int64_t*>(region.local()), before.value);
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(LocalMemory, IsGivenAndTakenBack) {
  on_ranks([](Job& job) {
    auto* const memory = static_cast<std::byte*>(job.allocate_local(100'000).value());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 65'536, 0U);
    EXPECT_TRUE(
        std::all_of(memory, memory + 100'000, [](std::byte byte) { return byte == std::byte{0}; }));
    std::memset(memory, 1, 100'000);
    Region region = Region::allocate(job.world(), 100'000).value();
    EXPECT_TRUE(ok(put(job, region.at(neighbour(job)), memory, 100'000)));
    EXPECT_TRUE(fails(job.free_local(memory + 8), Code::invalid_argument,
                      {"is not memory from allocate_local"}));
    EXPECT_TRUE(ok(job.free_local(memory)));
    EXPECT_TRUE(fails(job.free_local(memory), Code::invalid_argument));
    EXPECT_TRUE(ok(job.free_local(nullptr)));
  });
}

TEST(AccessMode, RefusesWhatItExcludes) {
  on_ranks([](Job& job) {
    double value = 1;
    Region constant =
        Region::allocate(job.world(), 64, {.access_mode = AccessMode::read_only}).value();
    const RemoteAddress read = constant.at(neighbour(job));
    EXPECT_TRUE(
        fails(put_value(job, read, value), Code::invalid_argument, {"put on region", "read_only"}));
    EXPECT_TRUE(fails(accumulate(job, read, &value, 8, Scale::of(1.0)), Code::invalid_argument));
    EXPECT_TRUE(fails(fetch_add<std::int64_t>(job, read, 1), Code::invalid_argument));
    EXPECT_TRUE(ok(get(job, read, &value, 8)));
    EXPECT_EQ(value, 0);
    Region sums =
        Region::allocate(job.world(), 64, {.access_mode = AccessMode::accumulate_only}).value();
    value = 3;
    const RemoteAddress add = sums.at(neighbour(job));
    EXPECT_TRUE(fails(put_value(job, add, value), Code::invalid_argument, {"accumulate_only"}));
    EXPECT_TRUE(fails(get_value<double>(job, add), Code::invalid_argument));
    EXPECT_TRUE(ok(accumulate(job, add, &value, 8, Scale::of(2.0))));
    Region remote =
        Region::allocate(job.world(), 64, {.access_mode = AccessMode::no_local_access}).value();
    EXPECT_TRUE(fails(LocalAccess::begin(remote), Code::invalid_argument, {"no_local_access"}));
    EXPECT_TRUE(ok(put_value(job, remote.at(neighbour(job)), value)));
    EXPECT_EQ(fetch_add<std::int64_t>(job, remote.at(neighbour(job), 8), 4).value(), 0);
    EXPECT_EQ(get_value<double>(job, remote.at(neighbour(job))).value(), 3);
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(Region, IsListedUntilItIsFreed) {
  on_ranks([](Job& job) {
    const std::size_t before = bytes_in_regions(job);
    const auto named = [&] {
      std::vector<RegionSummary> regions = list_regions(job);
      std::erase_if(regions, [](const RegionSummary& region) {
        return region.name != "mine" && region.name != "the program's";
      });
      return regions;
    };
    std::vector<std::byte> memory(3000);
    Region mine =
        Region::allocate(job.world(), 1000 + 8 * static_cast<std::size_t>(job.rank().value),
                         {.name = "mine"})
            .value();
    auto theirs =
        Region::attach(job.world(), memory.data(), memory.size(), {.name = "the program's"});
    if (theirs.status().code() == Code::unsupported) {
      GTEST_SKIP() << theirs.status().message();
    }
    const Region borrowed = mine.borrow();
    const std::vector<RegionSummary> both = named();
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].id, mine.id());
    EXPECT_EQ(both[0].members, job.size());
    EXPECT_EQ(both[0].bytes, mine.bytes(TeamRank{job.rank().value}));
    EXPECT_FALSE(both[0].is_attached);
    EXPECT_EQ(both[1].bytes, 3000U);
    EXPECT_TRUE(both[1].is_attached);
    EXPECT_EQ(bytes_in_regions(job), before + both[0].bytes);
    const std::string table = to_string(std::span(both));
    EXPECT_NE(table.find("region  name           members  bytes here\n"), std::string::npos)
        << table;
    EXPECT_NE(table.find("the program's"), std::string::npos) << table;
    EXPECT_NE(table.find("3000, attached\n"), std::string::npos) << table;
    EXPECT_TRUE(ok(theirs->free()));
    EXPECT_TRUE(ok(mine.free()));
    EXPECT_TRUE(named().empty());
    EXPECT_EQ(bytes_in_regions(job), before);
  });
}

// The kernel's placement policy for the page at an address; negative if the kernel cannot be asked.
int placement_of(const void* at) {
  int policy = -1;
  const auto of_address = static_cast<unsigned long>(MPOL_F_ADDR);
  return syscall(SYS_get_mempolicy, &policy, nullptr, 0UL, at, of_address) == 0 ? policy : -1;
}

TEST(AccessModes, MemoryThatNoRankIsNearToLiesOnAllNumaNodes) {
  on_ranks([](Job& job) {
    const std::string transport = test::transport_name();
    if (transport == "loopback" || transport == "toy") {
      GTEST_SKIP() << "SKIPPED: memory of " << transport << " is the process's own";
    }
    const int usual = placement_of(&job);
    if (usual < 0) {
      GTEST_SKIP() << "SKIPPED: this kernel does not report the placement of pages";
    }
    for (int round = 0; round < 2; ++round) {
      Region spread =
          Region::allocate(job.world(), 1 << 20, {.access_mode = AccessMode::no_local_access})
              .value();
      EXPECT_EQ(placement_of(spread.local()), MPOL_INTERLEAVE);
      ASSERT_TRUE(ok(spread.free()));
      // Most likely at the same addresses.
      Region near = Region::allocate(job.world(), 1 << 20).value();
      EXPECT_EQ(placement_of(near.local()), usual);
      ASSERT_TRUE(ok(near.free()));
    }
  });
}

}  // namespace
}  // namespace tessera::rma
