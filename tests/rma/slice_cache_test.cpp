// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/slice_cache.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace tessera::rma::detail {
namespace {

constexpr std::size_t slice_bytes = 96;

// Consecutive slices of 100 ranks in `memory_`, which the tests do not access.
class SliceCache : public testing::Test {
 protected:
  static constexpr std::int32_t ranks = 100;

  CachedSlice* find(std::int32_t rank, std::uint32_t id) {
    return find_cached(regions_, WorldRank{rank}, RegionId{id});
  }
  CachedSlice* fill(std::int32_t rank, std::uint32_t id, std::size_t bytes = slice_bytes) {
    std::byte* const start = memory_.data() + static_cast<std::size_t>(rank) * slice_bytes;
    return fill_cached(regions_.shared_epoch(), store_, WorldRank{rank}, RegionId{id},
                       {start, bytes});
  }
  Tally counted(std::int32_t rank, Op op) const {
    for (const PeerTraffic& each : store_->traffic().peers) {
      if (each.peer == WorldRank{rank}) {
        return each.by_op[static_cast<std::size_t>(op)];
      }
    }
    return {};
  }

  std::vector<std::byte> memory_{ranks * slice_bytes};
  RegionTable regions_;
  std::shared_ptr<CounterStore> store_ = std::make_shared<CounterStore>();
};

TEST_F(SliceCache, FindsFilledEntriesAndNothingElse) {
  EXPECT_EQ(find(3, 1), nullptr);
  CachedSlice* const line = fill(3, 1);
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(find(3, 1), line);
  EXPECT_EQ(line->start, memory_.data() + 3 * slice_bytes);
  EXPECT_EQ(find(4, 1), nullptr);
  EXPECT_EQ(find(3, 2), nullptr);
  EXPECT_EQ(find(3 + static_cast<std::int32_t>(cached_slices), 1), nullptr)
      << "the same cache entry";
}

TEST_F(SliceCache, GivesOnlyBytesThatTheSliceHas) {
  const CachedSlice& line = *fill(0, 1);
  EXPECT_EQ(line.start_for(Op::put, 0, slice_bytes), memory_.data());
  EXPECT_EQ(line.start_for(Op::put, slice_bytes, 0), memory_.data());
  EXPECT_EQ(line.start_for(Op::put, 1, slice_bytes), nullptr);
  EXPECT_EQ(line.start_for(Op::put, slice_bytes + 1, 0), nullptr);
  EXPECT_EQ(line.start_for(Op::put, ~std::uint64_t{0}, 2), nullptr);
  EXPECT_EQ(line.start_for(Op::put, 2, ~std::size_t{0}), nullptr);
  EXPECT_EQ(line.word_offsets, slice_bytes - 7);
  EXPECT_EQ(fill(0, 2, 7)->word_offsets, 0U);
}

TEST_F(SliceCache, ForgetsAllSlicesWhenARegionIsRemoved) {
  RegionState* const anything = reinterpret_cast<RegionState*>(memory_.data());
  regions_.insert(RegionId{1}, *anything);
  fill(0, 1);
  fill(0, 2);
  regions_.insert(RegionId{3}, *anything);
  EXPECT_NE(find(0, 2), nullptr) << "a new region changes nothing";
  regions_.remove(RegionId{1});
  EXPECT_EQ(find(0, 1), nullptr);
  EXPECT_EQ(find(0, 2), nullptr);
  fill(0, 2);
  regions_.clear();
  EXPECT_EQ(find(0, 2), nullptr);
}

TEST_F(SliceCache, BelongsToTheEpochOfItsLookup) {
  RegionState* const anything = reinterpret_cast<RegionState*>(memory_.data());
  regions_.insert(RegionId{1}, *anything);
  auto before = regions_.shared_epoch();
  regions_.remove(RegionId{1});
  fill_cached(before, store_, WorldRank{0}, RegionId{1}, {memory_.data(), slice_bytes});
  EXPECT_EQ(find(0, 1), nullptr);
}

TEST_F(SliceCache, RetargetsAnEntryOnlyToAnotherSliceOfTheSameRankAndTime) {
  // Region numbers with this distance share a cache entry.
  constexpr std::uint32_t alike = cached_slices;
  CachedSlice* const line = fill(3, 1);
  EXPECT_EQ(find_to_retarget(regions_, WorldRank{3}, RegionId{1 + alike}), line);
  EXPECT_EQ(find_to_retarget(regions_, WorldRank{3 + cached_slices}, RegionId{1}), nullptr);
  EXPECT_EQ(find_to_retarget(regions_, WorldRank{3}, RegionId{2}), nullptr) << "an empty entry";
  const RegionTable other;
  EXPECT_EQ(find_to_retarget(other, WorldRank{3}, RegionId{1 + alike}), nullptr);
  RegionState* const anything = reinterpret_cast<RegionState*>(memory_.data());
  regions_.insert(RegionId{9}, *anything);
  regions_.remove(RegionId{9});
  EXPECT_EQ(find_to_retarget(regions_, WorldRank{3}, RegionId{1 + alike}), nullptr) << "of before";
}

TEST_F(SliceCache, ContinuesItsCountsWhenAnEntryIsRetargeted) {
  constexpr std::uint32_t alike = cached_slices;
  CachedSlice* const line = fill(3, 1);
  line->count(Op::put, 8);
  line->retarget(RegionId{1 + alike}, {.start = memory_.data(), .bytes = 20, .raw = nullptr});
  EXPECT_EQ(find(3, 1), nullptr);
  EXPECT_EQ(find(3, 1 + alike), line);
  EXPECT_EQ(line->start_for(Op::put, 4, 16), memory_.data());
  EXPECT_EQ(line->start_for(Op::put, 4, 17), nullptr);
  EXPECT_EQ(line->word_offsets, 13U);
  line->count(Op::put, 8);
  flush_counts();
  EXPECT_EQ(counted(3, Op::put).operations, 2U);
}

TEST_F(SliceCache, FindsReadOnlySlicesForGetsOnly) {
  CachedSlice* const line = fill(3, 1);
  line->retarget(RegionId{1}, {.bytes = 20, .readable = memory_.data()});
  EXPECT_EQ(line->start_for(Op::get, 4, 16), memory_.data());
  EXPECT_EQ(line->start_for(Op::get, 4, 17), nullptr);
  EXPECT_EQ(line->word_offsets, 13U);
  for (const Op op : {Op::put, Op::accumulate, Op::atomic}) {
    EXPECT_EQ(line->start_for(op, 4, 16), nullptr);
  }
}

TEST_F(SliceCache, KeepsTheTablesOfJobsApart) {
  fill(0, 1);
  const RegionTable other;
  EXPECT_EQ(find_cached(other, WorldRank{0}, RegionId{1}), nullptr);
}

TEST_F(SliceCache, CountsOfNoRegionHaveNoMemory) {
  const CachedSlice* const line =
      fill_cached(regions_.shared_epoch(), store_, WorldRank{9}, no_region, {});
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->start_for(Op::put, 0, 0), nullptr);
  EXPECT_EQ(line->word_offsets, 0U);
}

TEST_F(SliceCache, LosesNoCountsWhenSlicesEvictEachOther) {
  constexpr std::uint64_t rounds = 5;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      for (const std::uint32_t id : {1U, 2U}) {
        CachedSlice* line = find(rank, id);
        line = line == nullptr ? fill(rank, id) : line;
        line->count(Op::put, static_cast<std::size_t>(rank), 2);
      }
    }
  }
  flush_counts();
  flush_counts();
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(counted(rank, Op::put).operations, rounds * 2 * 2) << rank;
    EXPECT_EQ(counted(rank, Op::put).bytes, rounds * 2 * static_cast<std::uint64_t>(rank)) << rank;
    EXPECT_EQ(counted(rank, Op::get).operations, 0U);
  }
}

TEST_F(SliceCache, HandsOverWhenItsThreadEnds) {
  std::thread([this] { fill(7, 1)->count(Op::accumulate, 24); }).join();
  EXPECT_EQ(counted(7, Op::accumulate).operations, 1U);
  EXPECT_EQ(counted(7, Op::accumulate).bytes, 24U);
  EXPECT_EQ(find(7, 1), nullptr) << "another thread's";
}

TEST_F(SliceCache, IsEmptyForObjectsThatOutliveIt) {
  // Destroyed after the cache, which is created later.
  struct Late {
    std::function<void()> act;
    ~Late() { act(); }
  };
  bool is_gone = false;
  std::thread([&] {
    static thread_local Late late;
    late.act = [&] {
      is_gone = find(0, 1) == nullptr && fill(0, 1) == nullptr;
      flush_counts();
    };
    fill(0, 1)->count(Op::get, 8);
  }).join();
  EXPECT_TRUE(is_gone);
  EXPECT_EQ(counted(0, Op::get).operations, 1U);
}

}  // namespace
}  // namespace tessera::rma::detail
