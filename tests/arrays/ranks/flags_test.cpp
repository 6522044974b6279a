// SPDX-License-Identifier: BSD-3-Clause
//
// Flags of arrays: a rank that sees a flag sees everything that was put before.
#include "arrays/flags.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::TeamRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_team;

/// `length` elements on each member, and one flag on each.
struct Ring {
  Array<double> data;
  Array<std::int32_t> flags;
  std::int64_t own;
  std::int64_t right;
  TeamRank left;

  static Ring create(Job& job, const Team& team, std::int64_t length) {
    const std::int64_t members = team.size();
    const std::int64_t own = team.rank().value;
    return {Array<double>::create(job, {length * members}, {.name = "data", .team = team}).value(),
            Array<std::int32_t>::create(job, {members}, {.name = "flags", .team = team}).value(),
            own, (own + 1) % members,
            TeamRank{static_cast<std::int32_t>((own + members - 1) % members)}};
  }
};

double value_of(std::int64_t member, std::int32_t round, std::int64_t i) {
  return static_cast<double>(1'000'000 * member + 1000 * round + i % 1000);
}

TEST(Flags, WhoSeesOneSeesTheElementsBehindIt) {
  on_team([](Job& job, Team& team) {
    // One message, or two, since 64 KiB are the limit.
    for (const std::int64_t length : {std::int64_t{1}, std::int64_t{40}, std::int64_t{20'000}}) {
      Ring ring = Ring::create(job, team, length);
      std::vector<double> values(static_cast<std::size_t>(length));
      std::vector<double> seen(values.size());
      for (std::int32_t round = 1; round <= 10; ++round) {
        for (std::int64_t i = 0; i < length; ++i) {
          values[static_cast<std::size_t>(i)] = value_of(ring.own, round, i);
        }
        ASSERT_TRUE(
            ok(put_with_flag(ring.data, Box({ring.right * length}, {(ring.right + 1) * length}),
                             std::span<const double>(values), {ring.flags, {ring.right}}, round)));
        ASSERT_TRUE(ok(wait_for_flag({ring.flags, {ring.own}}, round, ring.left)));
        ASSERT_TRUE(ok(ring.data.get(Box({ring.own * length}, {(ring.own + 1) * length}),
                                     std::span<double>(seen))));
        for (std::int64_t i = 0; i < length; ++i) {
          ASSERT_EQ(seen[static_cast<std::size_t>(i)], value_of(ring.left.value, round, i));
        }
        ASSERT_TRUE(ok(team.barrier()));  // it was read
      }
    }
  });
}

// The box belongs to all members, and the flag to the last: a rank that sees it sees others'
// elements too.
TEST(Flags, ComeBehindWhatWasPutToOthers) {
  on_team([](Job& job, Team& team) {
    constexpr std::int64_t length = 300;
    Ring ring = Ring::create(job, team, length);
    const std::int64_t elements = length * team.size();
    const std::int64_t last = team.size() - 1;
    std::vector<double> values(static_cast<std::size_t>(elements));
    for (std::int32_t round = 1; round <= 10; ++round) {
      values.assign(values.size(), round);
      if (ring.own == 0) {
        ASSERT_TRUE(ok(put_with_flag(ring.data, ring.data.box(), std::span<const double>(values),
                                     {ring.flags, {last}}, round)));
      }
      if (ring.own == last) {
        const auto now = wait_for_flag_change({ring.flags, {last}}, round - 1, TeamRank{0});
        ASSERT_TRUE(ok(now));
        EXPECT_EQ(*now, round);
        std::vector<double> seen(values.size());
        ASSERT_TRUE(ok(ring.data.get(ring.data.box(), std::span<double>(seen))));
        EXPECT_EQ(seen, std::vector<double>(values.size(), round));
      }
      ASSERT_TRUE(ok(team.barrier()));
    }
  });
}

TEST(Flags, RefuseWhatIsNone) {
  on_team([](Job& job, Team& team) {
    Ring ring = Ring::create(job, team, 4);
    const std::vector<double> values(4, 1.0);
    const std::span<const double> few = std::span(values).first(2);
    const Box own({ring.own * 4}, {ring.own * 4 + 4});
    const std::int64_t members = team.size();
    const Flag mine{ring.flags, {ring.own}};
    EXPECT_TRUE(fails(raise_flag({ring.data, {0}}, 1), Code::invalid_argument,
                      {"raising a flag of array 'data'", "its elements can't be flags",
                       "hint: make the array of std::int32_t"}));
    EXPECT_TRUE(fails(raise_flag({ring.flags, {members}}, 1), Code::out_of_range,
                      {"raising a flag of array 'flags'"}));
    EXPECT_TRUE(fails(raise_flag({ring.flags, {0, 0}}, 1), Code::invalid_argument,
                      {"raising a flag of array 'flags'"}));
    EXPECT_TRUE(fails(put_with_flag(ring.data, own, few, mine, 1), Code::invalid_argument,
                      {"put of ", "array 'data'"}));
    EXPECT_TRUE(
        fails(put_with_flag(ring.data, Box({-1}, {3}), std::span<const double>(values), mine, 1),
              Code::out_of_range, {"put of [-1,3) of array 'data'"}));
    EXPECT_TRUE(fails(wait_for_flag(mine, 1, TeamRank{team.size()}), Code::out_of_range,
                      {"waiting for a flag of array 'flags'", "there is no member "}));
    if (members > 1) {
      EXPECT_TRUE(fails(wait_for_flag({ring.flags, {ring.right}}, 1, ring.left),
                        Code::invalid_argument,
                        {"waiting for a flag of array 'flags'", "the flag belongs to member ",
                         "hint: wait only for elements that this rank owns"}));
    }
    EXPECT_TRUE(ok(team.barrier()));
    // Nothing was put, no flag raised.
    EXPECT_EQ(ring.flags.get_element({ring.own}).value(), 0);
    EXPECT_EQ(ring.data.get_element({4 * ring.own}).value(), 0.0);
    EXPECT_TRUE(ok(ring.flags.free()));
    EXPECT_TRUE(fails(raise_flag(mine, 1), Code::closed, {"'flags'", "was freed"}));
    EXPECT_TRUE(fails(wait_for_flag(mine, 1, ring.left), Code::closed, {"was freed"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
