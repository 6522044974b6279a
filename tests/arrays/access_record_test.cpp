// SPDX-License-Identifier: BSD-3-Clause
//
// The records of the race check: boxes that overlap, order, and bounded memory.
#include "arrays/detail/access_record.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <utility>

#include "arrays/box.hpp"
#include "arrays/index.hpp"

namespace tessera::arrays::detail {
namespace {

using enum AccessKind;

AccessRecord make_record(AccessKind kind, const Box& box) {
  return {.box = box, .end_byte = 8, .kind = kind};
}

bool has(const AccessRecord& access, std::int64_t i, std::int64_t j) {
  const auto is_step = [&](int dim, std::int64_t at) {
    return access.steps.is_empty() || (at - access.box.lo(dim)) % access.steps[dim] == 0;
  };
  return access.box.contains(Index{i, j}) && is_step(0, i) && is_step(1, j);
}

TEST(AccessRecord, SectionsMeetWhereTheirElementsDo) {
  std::minstd_rand random(1);
  const auto below = [&](unsigned limit) { return static_cast<std::int64_t>(random() % limit); };
  for (int round = 0; round < 2000; ++round) {
    const auto section = [&] {
      const Index lo{below(8), below(8)};
      AccessRecord one = make_record(put, Box(lo, {lo[0] + 1 + below(8), lo[1] + 1 + below(8)}));
      if (below(4) != 0) {
        one.steps = {1 + below(5), 1 + below(5)};
      }
      return one;
    };
    const AccessRecord a = section();
    const AccessRecord b = section();
    bool meet = false;
    for (std::int64_t i = 0; i < 16; ++i) {
      for (std::int64_t j = 0; j < 16; ++j) {
        meet = meet || (has(a, i, j) && has(b, i, j));
      }
    }
    const auto common = overlap(a, b);
    ASSERT_EQ(common.has_value(), meet);
    if (common) {
      EXPECT_TRUE(has(a, common->lo(0), common->lo(1)) && has(b, common->lo(0), common->lo(1)));
    }
  }
}

TEST(AccessRecord, FieldsMeetWhereTheirBytesDo) {
  AccessRecord low = make_record(put, Box({0}, {4}));
  AccessRecord high = low;
  low.end_byte = 4;
  high.first_byte = 4;
  EXPECT_FALSE(overlap(low, high));
  high.first_byte = 3;
  EXPECT_TRUE(overlap(low, high));
}

TEST(AccessRecord, KindsConflictUnlessTheyGoTogether) {
  const std::set<std::pair<AccessKind, AccessKind>> conflicts{
      {put, put},         {put, get},           {put, accumulate},
      {put, atomic},      {put, local_read},    {get, accumulate},
      {get, local_write}, {accumulate, atomic}, {accumulate, local_read},
      {put, halo},        {accumulate, halo},   {local_write, halo}};
  for (std::uint8_t a = 0; a < access_kinds; ++a) {
    for (std::uint8_t b = a; b < access_kinds; ++b) {
      const auto one = static_cast<AccessKind>(a);
      const auto other = static_cast<AccessKind>(b);
      const bool is_there = conflicts.contains({one, other});
      EXPECT_EQ(conflict(one, other, false), is_there);
      EXPECT_EQ(conflict(other, one, false), is_there);
      const bool goes_together = one == accumulate && other == atomic;
      EXPECT_EQ(conflict(one, other, true), is_there && !goes_together);
    }
  }
}

TEST(AccessRecord, MayBeOrderedByACallAfterTheOneAndBeforeTheOther) {
  AccessRecord a = make_record(put, Box({0}, {4}));
  AccessRecord b = a;
  a.first_ns = a.last_ns = 10;
  b.first_ns = b.last_ns = 20;
  EXPECT_FALSE(may_be_ordered(a, b, false));
  a.released = true;
  EXPECT_FALSE(may_be_ordered(a, b, false));
  b.acquired = true;
  EXPECT_TRUE(may_be_ordered(a, b, false));
  EXPECT_TRUE(may_be_ordered(b, a, true));
  // Not if its time is known to be later.
  a.first_ns = a.last_ns = 30;
  EXPECT_FALSE(may_be_ordered(a, b, true));
  EXPECT_TRUE(may_be_ordered(a, b, false));
}

TEST(AccessList, MakesRowsOneBoxAndKeepsOthersApart) {
  AccessList list;
  for (std::int64_t plane = 0; plane < 5; ++plane) {
    for (std::int64_t row = 0; row < 6; ++row) {
      EXPECT_TRUE(list.add(make_record(put, Box({plane, row, 0}, {plane + 1, row + 1, 7}))));
    }
  }
  ASSERT_EQ(list.records().size(), 1U);
  EXPECT_EQ(list.records()[0].box, Box({0, 0, 0}, {5, 6, 7}));
  EXPECT_TRUE(list.add(make_record(get, Box({0, 0, 0}, {5, 6, 7}))));
  EXPECT_TRUE(list.add(make_record(put, Box({6, 0, 0}, {7, 6, 7}))));
  EXPECT_EQ(list.records().size(), 3U);
}

TEST(AccessList, HasExactlyTheElementsThatWereAdded) {
  std::minstd_rand random(2);
  const auto below = [&](unsigned limit) { return static_cast<std::int64_t>(random() % limit); };
  for (int round = 0; round < 50; ++round) {
    AccessList list;
    std::set<std::pair<std::int64_t, std::int64_t>> added;
    for (int k = 0; k < 40; ++k) {
      const Index lo{below(12), below(12)};
      const Box box(lo, {lo[0] + 1 + below(3), lo[1] + 1 + below(3)});
      ASSERT_TRUE(list.add(make_record(put, box)));
      for (std::int64_t i = box.lo(0); i < box.hi(0); ++i) {
        for (std::int64_t j = box.lo(1); j < box.hi(1); ++j) {
          added.insert({i, j});
        }
      }
    }
    for (std::int64_t i = 0; i < 16; ++i) {
      for (std::int64_t j = 0; j < 16; ++j) {
        bool is_there = false;
        for (const AccessRecord& each : list.records()) {
          is_there = is_there || has(each, i, j);
        }
        ASSERT_EQ(is_there, added.contains({i, j}));
      }
    }
  }
}

TEST(AccessList, IsBoundedAndMakesRoomByMergingWhatCallsHaveParted) {
  AccessList list;
  for (std::uint64_t orders = 0; orders < 3 * AccessList::max_records; ++orders) {
    AccessRecord row = make_record(
        get, Box({static_cast<std::int64_t>(orders)}, {static_cast<std::int64_t>(orders) + 1}));
    row.orders = orders;
    ASSERT_TRUE(list.add(row));
  }
  EXPECT_LE(list.records().size(), AccessList::max_records);
  AccessList full;
  for (std::int64_t i = 0; i < 3 * static_cast<std::int64_t>(AccessList::max_records); ++i) {
    EXPECT_EQ(full.add(make_record(put, Box({2 * i}, {2 * i + 1}))),
              i < static_cast<std::int64_t>(AccessList::max_records));
  }
  EXPECT_EQ(full.records().size(), AccessList::max_records);
}

}  // namespace
}  // namespace tessera::arrays::detail
