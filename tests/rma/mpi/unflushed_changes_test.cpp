// SPDX-License-Identifier: BSD-3-Clause
//
// The record of unflushed changes, compared with a list of all changes and the rule that each
// access follows.
#include "rma/transport/mpi/unflushed_changes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/random_shape.hpp"

namespace tessera::rma::mpi {
namespace {

using test::random_in;

// Windows that are only names: the record does not use them.
const Window* window_number(std::size_t number) {
  static const std::array<std::uint64_t, 8> places{};
  return reinterpret_cast<const Window*>(&places[number]);
}

WindowAccess access_to(std::size_t window, std::uint64_t begin, std::uint64_t bytes,
                       const Effect& effect) {
  return {window_number(window), 1, begin, begin + bytes, effect};
}
WindowAccess put_of(std::uint64_t begin, std::uint64_t bytes) {
  return access_to(0, begin, bytes, Effect::write());
}
WindowAccess get_of(std::uint64_t begin, std::uint64_t bytes) {
  return access_to(0, begin, bytes, Effect());
}
WindowAccess sum_of(std::uint64_t begin, std::uint64_t bytes, ElementType type) {
  return access_to(0, begin, bytes, Effect::combine(Scale::one(type)));
}

UnflushedChanges make_record() {
  UnflushedChanges record;
  record.reserve(8);
  return record;
}

// All changes since the last flush, and the rule without a bound.
class AllChanges {
 public:
  [[nodiscard]] bool must_precede(const WindowAccess& access) const {
    return std::any_of(changes_.begin(), changes_.end(), [&](const WindowAccess& change) {
      const bool overlaps =
          change.window == access.window && change.begin < access.end && access.begin < change.end;
      const bool any_order = change.effect.kind == Effect::Kind::combine &&
                             access.effect.kind == Effect::Kind::combine &&
                             change.effect.op == access.effect.op &&
                             change.effect.type == access.effect.type;
      return (overlaps && !any_order) || (is_short_put(access) && !is_short_put(change));
    });
  }
  void add(const WindowAccess& change) { changes_.push_back(change); }
  void clear() { changes_.clear(); }

 private:
  static bool is_short_put(const WindowAccess& access) {
    return access.effect.kind == Effect::Kind::write && access.end - access.begin <= 8;
  }
  std::vector<WindowAccess> changes_;
};

Effect random_effect(std::mt19937_64& random, bool with_sums) {
  switch (random_in(random, 0, with_sums ? 4 : 1)) {
    case 0:
      return {};
    case 1:
      return Effect::write();
    case 2:
      return Effect::combine(Scale::one(ElementType::f64));
    case 3:
      return Effect::combine(Scale::by(AccumulateOp::max, ElementType::f64));
    default:
      return Effect::combine(Scale::one(ElementType::i64));
  }
}

WindowAccess random_access(std::mt19937_64& random, bool with_sums) {
  const auto bytes = random_in(random, 0, 3) == 0 ? random_in(random, 1, 300) : 8;
  return access_to(static_cast<std::size_t>(random_in(random, 0, 3)),
                   static_cast<std::uint64_t>(8 * random_in(random, 0, 1000)),
                   static_cast<std::uint64_t>(bytes), random_effect(random, with_sums));
}

struct Counts {
  int flushes = 0;
  int missing = 0;      // the list requires a flush, and the record does not
  int superfluous = 0;  // the reverse
};

// A random program, which flushes if the record says so.
Counts run_program(std::mt19937_64& random, bool with_sums) {
  UnflushedChanges record = make_record();
  AllChanges all;
  Counts counts;
  for (int i = 0; i < 20'000; ++i) {
    const WindowAccess access = random_access(random, with_sums);
    const bool flushes = record.must_precede(access);
    const bool is_required = all.must_precede(access);
    counts.missing += is_required && !flushes ? 1 : 0;
    counts.superfluous += flushes && !is_required ? 1 : 0;
    if (flushes) {
      ++counts.flushes;
      record.clear();
      all.clear();
    }
    if (access.effect.changes()) {
      record.add(access);
      all.add(access);
    }
  }
  return counts;
}

TEST(UnflushedChanges, RequireAFlushWhereverTheListOfAllDoes) {
  std::mt19937_64 random = test::make_random();
  const Counts counts = run_program(random, true);
  EXPECT_EQ(counts.missing, 0);
  EXPECT_GT(counts.flushes, 100);
  EXPECT_LT(counts.flushes, 15'000);
}

TEST(UnflushedChanges, OfPutsRequireNoOtherFlush) {
  std::mt19937_64 random = test::make_random();
  const Counts counts = run_program(random, false);
  EXPECT_EQ(counts.missing, 0);
  EXPECT_EQ(counts.superfluous, 0);
}

TEST(UnflushedChanges, ForgetAWindowAndKeepTheOthers) {
  UnflushedChanges record = make_record();
  record.add(access_to(1, 0, 8, Effect::write()));
  record.add(access_to(2, 0, 8, Effect::write()));
  record.forget(*window_number(1));
  EXPECT_FALSE(record.must_precede(access_to(1, 0, 8, Effect())));
  EXPECT_TRUE(record.must_precede(access_to(2, 0, 8, Effect())));
  ASSERT_EQ(record.windows().size(), 1U);
  EXPECT_EQ(record.windows().front().window, window_number(2));
  EXPECT_EQ(record.windows().front().rank, 1);
}

TEST(UnflushedChanges, AreComparedByBytes) {
  UnflushedChanges record = make_record();
  record.add(put_of(100, 50));
  EXPECT_FALSE(record.must_precede(get_of(0, 100)));
  EXPECT_FALSE(record.must_precede(get_of(150, 8)));
  EXPECT_TRUE(record.must_precede(get_of(0, 101)));
  EXPECT_TRUE(record.must_precede(get_of(149, 8)));
  EXPECT_TRUE(record.must_precede(get_of(120, 1)));
  EXPECT_FALSE(record.must_precede(put_of(150, 100)));
}

TEST(UnflushedChanges, LetEqualAccumulatesComeInAnyOrder) {
  UnflushedChanges record = make_record();
  record.add(sum_of(0, 64, ElementType::f64));
  EXPECT_FALSE(record.must_precede(sum_of(32, 64, ElementType::f64)));
  EXPECT_TRUE(record.must_precede(sum_of(32, 64, ElementType::i64)));
  EXPECT_TRUE(record.must_precede(
      access_to(0, 0, 8, Effect::combine(Scale::by(AccumulateOp::max, ElementType::f64)))));
  EXPECT_TRUE(record.must_precede(get_of(0, 8)));
  record.add(sum_of(32, 64, ElementType::f64));
  EXPECT_FALSE(record.must_precede(sum_of(0, 96, ElementType::f64)));
  EXPECT_TRUE(record.must_precede(put_of(88, 16)));
}

TEST(UnflushedChanges, PrecedeAShortPutUnlessTheyAreShortPuts) {
  UnflushedChanges record = make_record();
  record.add(put_of(0, 8));
  record.add(put_of(16, 4));
  EXPECT_FALSE(record.must_precede(put_of(800, 8)));
  EXPECT_FALSE(record.must_precede(put_of(800, 9)));
  record.add(access_to(3, 0, 9, Effect::write()));
  EXPECT_TRUE(record.must_precede(put_of(800, 8)));
  EXPECT_FALSE(record.must_precede(put_of(800, 9)));
  EXPECT_FALSE(record.must_precede(get_of(800, 8)));
}

TEST(UnflushedChanges, AreAllFlushedIfTheyAreTooMany) {
  UnflushedChanges record = make_record();
  for (std::uint64_t i = 0; i < UnflushedChanges::max_ranges; ++i) {
    record.add(put_of(1000 - 7 * i, 3));
  }
  EXPECT_FALSE(record.must_precede(get_of(5000, 8)));
  record.add(put_of(4000, 3));
  EXPECT_TRUE(record.must_precede(get_of(5000, 8)));
  record.clear();
  EXPECT_TRUE(record.is_empty());
  EXPECT_FALSE(record.must_precede(get_of(4000, 8)));
  // Adjacent ones count once.
  for (std::uint64_t i = 0; i < 10 * UnflushedChanges::max_ranges; ++i) {
    record.add(put_of(8 * i, 8));
  }
  EXPECT_FALSE(record.must_precede(get_of(80 * UnflushedChanges::max_ranges, 8)));
  EXPECT_TRUE(record.must_precede(get_of(80 * UnflushedChanges::max_ranges - 1, 8)));
}

}  // namespace
}  // namespace tessera::rma::mpi
