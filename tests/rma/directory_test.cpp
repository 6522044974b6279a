// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/directory.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tests/rma/node_rig.hpp"

namespace tessera::rma::detail {
namespace {

class DirectoryTest : public testing::Test {
 protected:
  std::shared_ptr<NodeMemory> memory_ = rig_memory(2);
  std::unique_ptr<Node> node_ = rig_node(memory_, 0, true);
  Directory directory_{node_->arena(), node_->lock_context()};
};

DirectorySlice slice_of(std::int32_t owner, std::uint64_t location) {
  return {.owner = WorldRank{owner}, .location = location, .bytes = location + 1};
}

TEST_F(DirectoryTest, KnowsNothingAtFirst) {
  EXPECT_FALSE(directory_.find(RegionId{1}, WorldRank{0}).has_value());
  EXPECT_FALSE(directory_.find(RegionId{0}, WorldRank{0}).has_value());
  EXPECT_FALSE(directory_.find(RegionId{1}, WorldRank{-1}).has_value());
  directory_.remove(RegionId{1}, std::vector{slice_of(0, 0)});
}

TEST_F(DirectoryTest, FindsEachOwnersSlice) {
  DirectorySlice attached = slice_of(7, 0x7f00'1234'5678);
  attached.process = 4711;
  attached.strict = true;
  attached.access_mode = AccessMode::read_only;
  const std::vector slices{slice_of(3, 65536), attached};
  ASSERT_TRUE(directory_.insert(RegionId{5}, slices).ok());
  EXPECT_EQ(directory_.find(RegionId{5}, WorldRank{3}), slices[0]);
  EXPECT_EQ(directory_.find(RegionId{5}, WorldRank{7}), slices[1]);
  EXPECT_FALSE(directory_.find(RegionId{5}, WorldRank{4}).has_value());
  EXPECT_FALSE(directory_.find(RegionId{6}, WorldRank{3}).has_value());
  directory_.remove(RegionId{5}, slices);
  EXPECT_FALSE(directory_.find(RegionId{5}, WorldRank{3}).has_value());
}

TEST_F(DirectoryTest, ChangesASliceInPlace) {
  const std::vector slices{slice_of(3, 65536), slice_of(4, 131072)};
  ASSERT_TRUE(directory_.insert(RegionId{5}, slices).ok());
  EXPECT_TRUE(directory_.change(RegionId{5}, WorldRank{4}, [](DirectorySlice& slice) {
    slice.access_mode = AccessMode::accumulate_only;
    slice.in_use = 77;
  }));
  DirectorySlice changed = slices[1];
  changed.access_mode = AccessMode::accumulate_only;
  changed.in_use = 77;
  EXPECT_EQ(directory_.find(RegionId{5}, WorldRank{4}), changed);
  EXPECT_EQ(directory_.find(RegionId{5}, WorldRank{3}), slices[0]);
  directory_.remove(RegionId{5}, slices);
  bool was_called = false;
  EXPECT_FALSE(
      directory_.change(RegionId{5}, WorldRank{4}, [&](DirectorySlice&) { was_called = true; }));
  EXPECT_FALSE(was_called);
}

TEST_F(DirectoryTest, AgreesWithAModelWhileRegionsComeAndGo) {
  std::mt19937 random(17);
  std::map<std::pair<std::uint32_t, std::int32_t>, DirectorySlice> model;
  std::uint32_t last = 0;
  for (int round = 0; round < 20000; ++round) {
    if (model.empty() || random() % 8 < (round < 10000 ? 5 : 3)) {
      ++last;
      const auto owner = static_cast<std::int32_t>(random() % 5);
      const DirectorySlice slice = slice_of(owner, random());
      ASSERT_TRUE(directory_.insert(RegionId{last}, std::vector{slice}).ok());
      model[{last, owner}] = slice;
    } else {
      const auto victim = std::next(model.begin(), static_cast<int>(random() % model.size()));
      directory_.remove(RegionId{victim->first.first}, std::vector{victim->second});
      EXPECT_FALSE(
          directory_.find(RegionId{victim->first.first}, victim->second.owner).has_value());
      model.erase(victim);
    }
  }
  for (const auto& [key, slice] : model) {
    EXPECT_EQ(directory_.find(RegionId{key.first}, WorldRank{key.second}), slice);
  }
}

TEST_F(DirectoryTest, IsSeenByAnotherProcess) {
  ForkedRank peer([&] {
    const auto theirs = rig_node(memory_, 1, false);
    Directory directory(theirs->arena(), theirs->lock_context());
    static_cast<void>(directory.insert(RegionId{9}, std::vector{slice_of(1, 123)}));
  });
  peer.wait();
  EXPECT_EQ(directory_.find(RegionId{9}, WorldRank{1}), slice_of(1, 123));
}

TEST_F(DirectoryTest, RefusesWhatDoesNotFitTheArenaAndContinues) {
  std::vector<std::uint64_t> taken;
  for (auto more = node_->arena().allocate(granule_bytes); more.ok();
       more = node_->arena().allocate(granule_bytes)) {
    taken.push_back(*more);
  }
  const Status refused = directory_.insert(RegionId{1}, std::vector{slice_of(0, 0)});
  EXPECT_EQ(refused.code(), Code::limit_exceeded);
  for (const std::uint64_t offset : taken) {
    node_->arena().free(offset, granule_bytes);
  }
  EXPECT_TRUE(directory_.insert(RegionId{1}, std::vector{slice_of(0, 0)}).ok());
}

// A rank may die at any instruction. If a table had more entries than its count, it could become
// full, and a search for a missing entry would never end.
TEST(DirectorySteps, NeverCountFewerEntriesThanTheTableHas) {
  const auto memory = rig_memory(2);
  const auto node = rig_node(memory, 0, false);
  Directory directory(node->arena(), node->lock_context());
  const DirectoryHeader& header = memory->header().directory;
  // Fills the table with removed entries, so that the next insertion makes a new table without
  // them.
  constexpr std::uint32_t most = 512;
  for (std::uint32_t region = 1; region <= most; ++region) {
    ASSERT_TRUE(directory.insert(RegionId{region}, std::vector{slice_of(0, 0)}).ok());
    directory.remove(RegionId{region}, std::vector{slice_of(0, 0)});
  }
  ASSERT_EQ(header.used, most);
  const std::uint64_t first_table = header.offset;
  std::unique_ptr<Node> theirs;
  SteppedRank rank(
      [&] { theirs = rig_node(memory, 1, false); },
      [&] {
        Directory other(theirs->arena(), theirs->lock_context());
        static_cast<void>(other.insert(RegionId{most + 1}, std::vector{slice_of(1, 0)}));
      });
  if (!rank.is_possible()) {
    GTEST_SKIP() << SteppedRank::impossible;
  }
  while (rank.step(1)) {
    ASSERT_TRUE(header.offset != first_table || header.used >= most) << header.used;
  }
  EXPECT_NE(header.offset, first_table);
  EXPECT_EQ(header.used, 1U);
  rank.end();
}

}  // namespace
}  // namespace tessera::rma::detail
