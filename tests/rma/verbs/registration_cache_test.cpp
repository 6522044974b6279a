// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/registration_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/effort.hpp"

namespace tessera::rma::verbs {
namespace {

// Random operations on the cache alone, without a device. The kept regions are found by a walk over
// all regions.
class CacheChecker {
 public:
  explicit CacheChecker(unsigned seed) : random_(seed) {}

  void step() {
    switch (random_() % 4) {
      case 0:
      case 1:
        find_some();
        break;
      case 2:
        give_back();
        break;
      default:
        change();
    }
    forget_unused();
    check();
  }

 private:
  static constexpr CacheLimits limits{.bytes = 60, .regions = 7};

  PageRange some_range() {
    const std::uintptr_t begin = 1 + random_() % 60;
    return {begin, begin + 1 + random_() % 16};
  }

  void find_some() {
    const PageRange range = some_range();
    const bool is_kept = std::any_of(known_.begin(), known_.end(), [&](RegionHandle region) {
      return region->is_kept && region->range.contains(range);
    });
    const auto found = cache_.find(range, 0);
    ASSERT_EQ(found.has_value(), is_kept);
    if (found) {
      ASSERT_TRUE((*found)->range.contains(range));
      users_.push_back(*found);
    } else {
      add(cache_.grown(range), range);
    }
  }

  void add(PageRange grown, PageRange range) {
    ASSERT_TRUE(grown.contains(range));
    ASSERT_LE(grown.bytes(), 2 * range.bytes());
    const RegionHandle region = cache_.begin(grown);
    if (random_() % 8 == 0) {
      cache_.cancel(region, leaving_);
      return;
    }
    if (random_() % 8 == 0) {
      change();
    }
    const bool is_stale = region->is_stale;
    cache_.finish(region, true, leaving_);
    ASSERT_FALSE(is_stale && region->is_kept);
    known_.push_back(region);
    users_.push_back(region);
  }

  void give_back() {
    if (!users_.empty()) {
      std::swap(users_.at(random_() % users_.size()), users_.back());
      cache_.give_back(users_.back(), leaving_);
      users_.pop_back();
    }
  }

  void change() {
    const PageRange range = some_range();
    cache_.invalidate({.range = range, .is_gone = false, .moved_to = {}}, leaving_);
    for (const RegionHandle region : known_) {
      ASSERT_FALSE(region->is_kept && region->range.overlaps(range));
    }
  }

  void forget_unused() {
    for (auto region = leaving_.unused.begin(); region != leaving_.unused.end(); ++region) {
      ASSERT_EQ(std::count(users_.begin(), users_.end(), region), 0);
      ASSERT_EQ(std::count(known_.begin(), known_.end(), region), 1);
      known_.erase(std::find(known_.begin(), known_.end(), region));
    }
    leaving_.unused.clear();
  }

  void check() {
    std::size_t bytes = 0;
    std::size_t regions = 0;
    for (const RegionHandle region : known_) {
      ASSERT_EQ(region->users,
                static_cast<std::size_t>(std::count(users_.begin(), users_.end(), region)));
      bytes += region->is_kept ? region->range.bytes() : 0U;
      regions += region->is_kept ? 1U : 0U;
    }
    ASSERT_EQ(cache_.counters().kept_bytes, bytes);
    ASSERT_EQ(cache_.counters().kept_regions, regions);
    ASSERT_LE(bytes, limits.bytes);
    ASSERT_LE(regions, limits.regions);
    check_unneeded();
  }

  // Page by page: a page is unneeded if no kept region covers it.
  void check_unneeded() {
    const PageRange range = some_range();
    const auto parts = cache_.unneeded(range, {});
    for (std::uintptr_t page = range.begin; page < range.end; ++page) {
      const auto covers = [&](PageRange part) { return part.contains({page, page + 1}); };
      const bool is_kept = std::any_of(known_.begin(), known_.end(), [&](RegionHandle region) {
        return region->is_kept && covers(region->range);
      });
      ASSERT_EQ(std::any_of(parts.begin(), parts.end(), covers), !is_kept);
    }
  }

  std::mt19937 random_;
  RegistrationCache cache_{limits};
  Leaving leaving_;
  std::vector<RegionHandle> known_;
  std::vector<RegionHandle> users_;  // each region once for every user
};

TEST(RegistrationCache, FindsExactlyWhatItKeeps) {
  const auto seed = static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed());
  for (unsigned i = 0; i < tessera::test::rounds(12U); ++i) {
    SCOPED_TRACE(testing::Message() << "--gtest_random_seed=" << seed << ", book " << i);
    CacheChecker books(1000 * seed + i);
    for (int step = 0; step < 500 && !testing::Test::HasFatalFailure(); ++step) {
      books.step();
    }
  }
}

TEST(RegistrationCache, FreedOrPendingRegionsAreNotEvicted) {
  RegistrationCache cache({.bytes = 100, .regions = 10});
  Leaving leaving;
  cache.finish(cache.begin({10, 20}), true, leaving);
  cache.begin({30, 40});
  MappingChanges changes;
  changes.add({.range = {50, 60}, .is_gone = true, .moved_to = {}});
  changes.add({.range = {70, 80}, .is_gone = false, .moved_to = {}});
  const std::vector<PageRange> expected{{0, 10}, {20, 30}, {40, 50}, {60, 90}};
  EXPECT_EQ(cache.unneeded({0, 90}, changes), expected);
}

}  // namespace
}  // namespace tessera::rma::verbs
