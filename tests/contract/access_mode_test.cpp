// SPDX-License-Identifier: BSD-3-Clause
//
// Access modes that change from phase to phase. Operations that a mode forbids are refused, also if
// the same slice was used before; operations that it allows give right results. Operations that
// began before a mode are complete when the mode begins.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
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

constexpr std::size_t words = 4096;
constexpr std::size_t mode_slice_bytes = words * sizeof(std::int64_t);

// One operation of each kind and form. Errors are found before any data is moved.
struct Attempts {
  Attempts(Job& job, const Region& region) : job_(job), at_(region.at(neighbour(job))) {}

  std::vector<Status> puts() {
    return {put(job_, at_, values_.data(), 8), put(job_, at_ + 1, values_.data(), 3),
            put(job_, at_, values_.data(), CopyShape::rows(8, 4, 16, 16)), put(job_, at_, list()),
            put_async(job_, at_, values_.data(), 8).wait()};
  }
  std::vector<Status> gets() {
    return {get(job_, at_, values_.data(), 8),
            get(job_, at_, values_.data(), CopyShape::rows(8, 4, 16, 16)), get(job_, at_, list()),
            get_async(job_, at_, values_.data(), 64).wait()};
  }
  std::vector<Status> accumulates() {
    const Scale one = Scale::of(std::int64_t{1});
    return {accumulate(job_, at_, values_.data(), 8, one),
            accumulate(job_, at_, values_.data(), CopyShape::rows(8, 4, 16, 16), one),
            accumulate(job_, at_, list(), one)};
  }
  std::vector<Status> atomics() {
    return {fetch_add<std::int64_t>(job_, at_, 1).status(),
            swap<std::int32_t>(job_, at_, 1).status()};
  }

 private:
  Fragments list() {
    fragments_ = {{{&values_[0], 0, 8}, {&values_[1], 80, 8}}};
    return fragments_;
  }
  Job& job_;
  RemoteAddress at_;
  std::array<std::int64_t, 16> values_{};
  std::array<Fragment, 2> fragments_;
};

void expect_allowed(const std::vector<Status>& all) {
  for (const Status& each : all) {
    EXPECT_TRUE(ok(each));
  }
}

void expect_refused(const std::vector<Status>& all, const std::string& mode) {
  for (const Status& each : all) {
    EXPECT_TRUE(fails(each, Code::invalid_argument,
                      {"array 'rho' (region", "whose access mode is " + mode,
                       "set another mode first, on all members: Region::set_access_mode"}));
  }
}

TEST(AccessModePhases, RefuseWhatTheyForbidEvenIfItWasAllowedBefore) {
  on_ranks([](Job& job) {
    Region region =
        Region::allocate(job.world(), mode_slice_bytes, {.name = "rho", .kind = "array"}).value();
    Attempts attempts(job, region);
    for (int round = 0; round < 3; ++round) {
      expect_allowed(attempts.puts());
      expect_allowed(attempts.gets());
      expect_allowed(attempts.accumulates());
      expect_allowed(attempts.atomics());
      ASSERT_TRUE(ok(region.set_access_mode(AccessMode::read_only)));
      EXPECT_EQ(region.options().access_mode, AccessMode::read_only);
      expect_refused(attempts.puts(), "read_only");
      expect_refused(attempts.accumulates(), "read_only");
      expect_refused(attempts.atomics(), "read_only");
      expect_allowed(attempts.gets());
      EXPECT_TRUE(ok(LocalAccess::begin(region).status()));
      ASSERT_TRUE(ok(region.set_access_mode(AccessMode::accumulate_only)));
      expect_refused(attempts.puts(), "accumulate_only");
      expect_refused(attempts.gets(), "accumulate_only");
      expect_refused(attempts.atomics(), "accumulate_only");
      expect_allowed(attempts.accumulates());
      ASSERT_TRUE(ok(region.set_access_mode(AccessMode::no_local_access, Conflicts::none)));
      EXPECT_TRUE(fails(LocalAccess::begin(region), Code::invalid_argument,
                        {"local access to array 'rho' (region", "no_local_access"}));
      expect_allowed(attempts.gets());
      ASSERT_TRUE(ok(region.set_access_mode(AccessMode::any)));
      EXPECT_EQ(region.options().conflicts, Conflicts::possible);
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

// No rank calls a fence: the start of the mode completes the puts before it.
TEST(AccessModePhases, BeginAfterAllEarlierOperations) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), mode_slice_bytes).value();
    const TeamRank next = neighbour(job);
    for (std::int64_t round = 1; round < 20; ++round) {
      std::vector<std::int64_t> mine(words, 1000 * round + job.rank().value);
      Handle started = put_async(job, region.at(next), mine.data(), mode_slice_bytes);
      ASSERT_TRUE(ok(started.wait()));
      ASSERT_TRUE(ok(region.set_access_mode(AccessMode::read_only)));
      for (std::int32_t rank = 0; rank < job.size(); ++rank) {
        std::vector<std::int64_t> seen(words);
        ASSERT_TRUE(ok(get(job, region.at(TeamRank{rank}), seen.data(), mode_slice_bytes)));
        const std::int32_t writer = (rank + job.size() - 1) % job.size();
        ASSERT_EQ(seen, std::vector<std::int64_t>(words, 1000 * round + writer));
      }
      ASSERT_TRUE(ok(region.set_access_mode(AccessMode::any)));
    }
  });
}

// All ranks add to all slices. In an accumulate_only phase they add to the same elements; in a
// phase without conflicts each rank has its own part of every slice.
std::vector<std::int64_t> sums_in_phase(Job& job, AccessMode mode, Conflicts conflicts) {
  Region region = Region::allocate(job.world(), mode_slice_bytes).value();
  EXPECT_TRUE(ok(region.set_access_mode(mode, conflicts)));
  const std::size_t part = words / static_cast<std::size_t>(job.size());
  const bool is_apart = conflicts == Conflicts::none;
  const std::size_t first = is_apart ? part * static_cast<std::size_t>(job.rank().value) : 0;
  const std::size_t count = is_apart ? part : words;
  std::vector<std::int64_t> terms(count);
  for (std::size_t i = 0; i < count; ++i) {
    terms[i] = static_cast<std::int64_t>(i) + job.rank().value + 1;
  }
  const Scale two = Scale::of(std::int64_t{2});
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    const RemoteAddress at = region.at(TeamRank{rank}, 8 * first);
    EXPECT_TRUE(ok(accumulate(job, at, terms.data(), 8 * count, two)));
    EXPECT_TRUE(
        ok(accumulate(job, at, terms.data(),
                      CopyShape::rows(8, static_cast<std::int64_t>(count / 2), 16, 16), two)));
    EXPECT_TRUE(ok(accumulate(job, at, terms.data(), 8, two)));
    std::vector<Fragment> list;
    for (std::size_t i = 0; i < count; i += 3) {
      list.push_back({&terms[i], 8 * i, 8});
    }
    EXPECT_TRUE(ok(accumulate(job, at, list, two)));
  }
  EXPECT_TRUE(ok(region.set_access_mode(AccessMode::any)));
  std::vector<std::int64_t> sums(words);
  EXPECT_TRUE(ok(get(job, region.at(neighbour(job)), sums.data(), mode_slice_bytes)));
  EXPECT_TRUE(ok(job.barrier()));
  return sums;
}

std::int64_t expected_sum(const Job& job, std::size_t element, Conflicts conflicts) {
  const std::size_t part = words / static_cast<std::size_t>(job.size());
  std::int64_t sum = 0;
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    const bool is_apart = conflicts == Conflicts::none;
    const std::size_t first = is_apart ? part * static_cast<std::size_t>(rank) : 0;
    const std::size_t count = is_apart ? part : words;
    if (element < first || element >= first + count) {
      continue;
    }
    const std::size_t i = element - first;
    const std::int64_t term = static_cast<std::int64_t>(i) + rank + 1;
    const int times =
        1 + (i % 2 == 0 && i / 2 < count / 2 ? 1 : 0) + (i == 0 ? 1 : 0) + (i % 3 == 0 ? 1 : 0);
    sum += 2 * term * times;
  }
  return sum;
}

TEST(AccessModePhases, OfSumsAreExact) {
  on_ranks([](Job& job) {
    for (const AccessMode mode : {AccessMode::any, AccessMode::accumulate_only}) {
      for (const Conflicts conflicts : {Conflicts::possible, Conflicts::none}) {
        const std::vector<std::int64_t> sums = sums_in_phase(job, mode, conflicts);
        for (std::size_t i = 0; i < words; ++i) {
          ASSERT_EQ(sums[i], expected_sum(job, i, conflicts)) << "element " << i;
        }
      }
    }
  });
}

TEST(AccessModePhases, AreTheSameOnAllMembers) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), mode_slice_bytes, {.name = "rho"}).value();
    const auto none = static_cast<AccessMode>(17);
    const bool is_last = job.rank().value == job.size() - 1;
    EXPECT_TRUE(fails(region.set_access_mode(is_last ? none : AccessMode::read_only),
                      Code::invalid_argument, {"there is no access mode 17"}));
    if (job.size() > 1) {
      EXPECT_TRUE(fails(
          region.set_access_mode(is_last ? AccessMode::any : AccessMode::read_only),
          Code::invalid_argument,
          {"rank " + std::to_string(job.size() - 1) + " gave another access mode for region 'rho'",
           "than rank 0", "all members must give the same"}));
      EXPECT_TRUE(fails(
          region.set_access_mode(AccessMode::any, is_last ? Conflicts::none : Conflicts::possible),
          Code::invalid_argument, {"gave another access mode"}));
    }
    EXPECT_EQ(region.options().access_mode, AccessMode::any) << "a refused call changed the mode";
    const std::int64_t value = 5;
    EXPECT_TRUE(ok(put(job, region.at(neighbour(job)), &value, 8)));
    ASSERT_TRUE(ok(region.free()));
    EXPECT_TRUE(fails(region.set_access_mode(AccessMode::any), Code::closed, {"was freed"}));
  });
}

// Other regions of the same ranks keep their mode: threads look up again the routes that they had
// cached.
TEST(AccessModePhases, ApplyToOneRegionOnly) {
  on_ranks([](Job& job) {
    Region one = Region::allocate(job.world(), mode_slice_bytes).value();
    Region other = Region::allocate(job.world(), mode_slice_bytes).value();
    const TeamRank next = neighbour(job);
    for (std::int64_t round = 0; round < 50; ++round) {
      ASSERT_TRUE(ok(one.set_access_mode(round % 2 == 0 ? AccessMode::read_only
                                                        : AccessMode::accumulate_only)));
      const std::int64_t sent = 100 * round + job.rank().value;
      ASSERT_TRUE(ok(put(job, other.at(next, 8), &sent, 8)));
      std::int64_t back = 0;
      ASSERT_TRUE(ok(get(job, other.at(next, 8), &back, 8)));
      ASSERT_EQ(back, sent);
      ASSERT_FALSE(put(job, one.at(next), &sent, 8).ok());
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
