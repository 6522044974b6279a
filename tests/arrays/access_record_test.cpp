// SPDX-License-Identifier: BSD-3-Clause
//
// The records of the race check: boxes that overlap, order, and bounded memory.
#include "arrays/detail/access_record.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "arrays/box.hpp"
#include "arrays/detail/access_digest.hpp"
#include "arrays/detail/call_site_table.hpp"
#include "arrays/detail/packed_access.hpp"
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
  a.first_time = a.last_time = 10;
  b.first_time = b.last_time = 20;
  EXPECT_FALSE(may_be_ordered(a, b, false));
  a.released = true;
  EXPECT_FALSE(may_be_ordered(a, b, false));
  b.acquired = true;
  EXPECT_TRUE(may_be_ordered(a, b, false));
  EXPECT_TRUE(may_be_ordered(b, a, true));
  // Not if its time is known to be later.
  a.first_time = a.last_time = 30;
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

TEST(AccessList, KeepsBoxesOfTwoStreamsFewByMergingThemAlongBothDimensions) {
  AccessList list;
  for (std::int64_t row = 0; row < 3 * static_cast<std::int64_t>(AccessList::max_records); ++row) {
    ASSERT_TRUE(list.add(make_record(put, Box({row, 0}, {row + 1, 1}))));
    ASSERT_TRUE(list.add(make_record(put, Box({row, 5}, {row + 1, 6}))));
  }
  EXPECT_LE(list.records().size(), AccessList::max_records);
}

TEST(AccessList, MarksTheAccessesOfAnEpochAlsoAfterItMadeRoom) {
  AccessList list;
  const auto add = [&](std::uint32_t epoch, std::int64_t at) {
    AccessRecord one = make_record(put, Box({at}, {at + 1}));
    one.epoch = epoch;
    return list.add(one);
  };
  for (std::int64_t at = 0; at < 100; ++at) {
    ASSERT_TRUE(add(0, 2 * at));
  }
  list.begin_epoch();
  EXPECT_TRUE(list.records_of_epoch().empty());
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(AccessList::max_records); ++at) {
    ASSERT_TRUE(add(1, 7 * at % 4096));
  }
  ASSERT_EQ(list.records().size() - list.records_of_epoch().size(), 100U);
  for (const AccessRecord& each : list.records_of_epoch()) {
    EXPECT_EQ(each.epoch, 1U);
  }
  const std::size_t kept = list.records().size();
  std::vector<AccessRecord> taken = list.take();
  EXPECT_EQ(taken.size(), kept);
  EXPECT_TRUE(list.records().empty() && list.records_of_epoch().empty());
  const AccessRecord* const memory = taken.data();
  list.give_back(std::move(taken));
  ASSERT_TRUE(add(2, 0));
  EXPECT_TRUE(list.take().size() == 1 && list.records().empty());
  ASSERT_TRUE(add(2, 0));
  EXPECT_EQ(list.records().data(), memory);
}

TEST(PackedAccess, GivesWhatWasPacked) {
  std::minstd_rand random(3);
  for (int round = 0; round < 500; ++round) {
    PackedAccess form;
    std::vector<LoggedAccess> all(3);
    for (LoggedAccess& each : all) {
      each = {.array = random(), .is_strict = random() % 2 == 0, .access = {}, .age = random()};
      AccessRecord& access = each.access;
      const int ndims = 1 + static_cast<int>(random() % max_dims);
      access.box = Box::none(ndims);
      access.steps = random() % 2 == 0 ? Extents() : Extents::filled(ndims, 3);
      for (int dim = 0; dim < ndims; ++dim) {
        access.box.set(dim, -static_cast<std::int64_t>(random()),
                       static_cast<std::int64_t>(random()));
      }
      access.first_byte = static_cast<std::uint32_t>(random());
      access.end_byte = static_cast<std::uint32_t>(random());
      access.kind = static_cast<AccessKind>(random() % access_kinds);
      access.acquired = random() % 2 == 0;
      access.released = random() % 2 == 0;
      access.has_other_sites = random() % 2 == 0;
      access.site = static_cast<std::uint32_t>(random());
      access.epoch = static_cast<std::uint32_t>(random());
      access.phase = static_cast<std::uint32_t>(random());
      access.orders = random();
      access.last_orders = random();
      access.first_time = -static_cast<std::int64_t>(random());
      access.last_time = static_cast<std::int64_t>(random());
      form.add(access);
    }
    for (const LoggedAccess& each : all) {
      std::vector<std::byte> bytes(form.bytes());
      form.pack(each, bytes.data());
      EXPECT_EQ(form.unpack(bytes.data()), each);
    }
  }
}

// False only if no two accesses conflict.
TEST(AccessDigest, MissesNoConflict) {
  std::minstd_rand random(4);
  const auto below = [&](unsigned limit) { return static_cast<std::int64_t>(random() % limit); };
  int apart = 0;
  for (int round = 0; round < 5000; ++round) {
    const int ndims = 1 + static_cast<int>(random() % 3);
    std::vector<std::vector<std::pair<std::uint64_t, AccessRecord>>> members(2);
    std::vector<AccessDigest> digests(2);
    for (std::size_t member = 0; member < 2; ++member) {
      for (int k = 0; k < 2; ++k) {
        AccessRecord one = make_record(static_cast<AccessKind>(random() % access_kinds), {});
        one.box = Box::none(ndims);
        for (int dim = 0; dim < ndims; ++dim) {
          const std::int64_t lo = below(8);
          one.box.set(dim, lo, lo + 1 + below(3));
        }
        const std::uint64_t array = random() % 7;
        members[member].emplace_back(array, one);
        digests[member].add(array, std::span(&one, 1));
      }
      digests[member].finish();
    }
    bool do_conflict = false;
    for (const auto& [array, mine] : members[0]) {
      for (const auto& [other, theirs] : members[1]) {
        do_conflict = do_conflict || (array == other && conflict(mine.kind, theirs.kind, false) &&
                                      overlap(mine, theirs));
      }
    }
    EXPECT_TRUE(!do_conflict || digests[0].may_conflict(digests[1]));
    EXPECT_EQ(digests[0].may_conflict(digests[1]), digests[1].may_conflict(digests[0]));
    apart += digests[0].may_conflict(digests[1]) ? 0 : 1;
  }
  EXPECT_GT(apart, 1000);
}

TEST(CallSiteTable, NumbersSitesAndIsBounded) {
  CallSiteTable table;
  const auto site = [](std::uint64_t at) {
    CallSite made;
    made.returns[0] = at;
    made.hash = at;
    return made;
  };
  EXPECT_EQ(table.number_of({}), 0U);
  for (std::uint64_t at = 1; at <= 2 * CallSiteTable::max_sites; ++at) {
    EXPECT_EQ(table.number_of(site(at)), at <= CallSiteTable::max_sites ? at : 0);
  }
  EXPECT_EQ(table.number_of({}), 0U);
  EXPECT_EQ(table.number_of(site(7)), 7U);
  EXPECT_EQ(table.number_of(site(71)), 71U);
  EXPECT_EQ(table.site(71), site(71));
  EXPECT_EQ(table.site(0), CallSite());
}

}  // namespace
}  // namespace tessera::arrays::detail
