// SPDX-License-Identifier: BSD-3-Clause
//
// alltoallv, alltoall, gatherv, scatterv, allgatherv and scans, compared with what a serial program
// computes; and their wrong arguments.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "rma/collectives.hpp"
#include "rma/job.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::ok;
using test::on_ranks;
using test::on_team;

using Counts = std::vector<std::int64_t>;
// How many elements member `from` sends to member `to`.
using CountOf = std::function<std::int64_t(std::int64_t from, std::int64_t to)>;

// Element `i` of what member `from` sends to member `to`.
std::int64_t element(std::int64_t from, std::int64_t to, std::int64_t i) {
  return ((from * 1009 + to) << 32U) + i;
}

// The blocks of all members in one buffer, in an order and with gaps that depend on `step`: 0 means
// in team order without gaps.
struct Layout {
  Counts counts;
  Counts offsets;
  std::int64_t elements = 0;

  Layout(Counts of_members, std::int64_t step) : counts(std::move(of_members)) {
    const auto members = static_cast<std::int64_t>(counts.size());
    offsets.resize(counts.size());
    for (std::int64_t i = 0; i < members; ++i) {
      const auto member = static_cast<std::size_t>(step == 0 ? i : members - 1 - i);
      offsets[member] = elements + step;
      elements = offsets[member] + counts[member];
    }
  }
  [[nodiscard]] MemberBlocks blocks() const { return {counts, offsets}; }
};

void exchange(Team& team, const CountOf& count_of, std::int64_t step) {
  const std::int64_t self = team.rank().value;
  Counts sent;
  Counts received;
  for (std::int64_t member = 0; member < team.size(); ++member) {
    sent.push_back(count_of(self, member));
    received.push_back(count_of(member, self));
  }
  const Layout from(sent, step);
  const Layout to(received, 2 * step);
  std::vector<std::int64_t> send(static_cast<std::size_t>(from.elements), -1);
  std::vector<std::int64_t> receive(static_cast<std::size_t>(to.elements), -2);
  std::vector<std::int64_t> expected = receive;
  for (std::int64_t member = 0; member < team.size(); ++member) {
    const auto m = static_cast<std::size_t>(member);
    for (std::int64_t i = 0; i < from.counts[m]; ++i) {
      send[static_cast<std::size_t>(from.offsets[m] + i)] = element(self, member, i);
    }
    for (std::int64_t i = 0; i < to.counts[m]; ++i) {
      expected[static_cast<std::size_t>(to.offsets[m] + i)] = element(member, self, i);
    }
  }
  ASSERT_TRUE(ok(alltoallv(team, send, from.blocks(), receive, to.blocks())));
  ASSERT_TRUE(receive == expected) << "member " << self;
}

TEST(Alltoallv, MovesBlocksOfAnySizes) {
  on_team([](Job&, Team& team) {
    for (const std::int64_t step : {0, 3}) {
      exchange(
          team, [](auto from, auto to) { return (from * 7 + to * 3) % 5; }, step);
      exchange(
          team, [](auto, auto) { return std::int64_t{0}; }, step);
      exchange(
          team, [](auto from, auto to) { return from == to ? std::int64_t{9} : 0; }, step);
      exchange(
          team, [](auto from, auto to) { return from < to ? std::int64_t{777} : 1; }, step);
    }
  });
}

// Longer than the memory in which members leave data for each other, so they take several rounds.
TEST(Alltoallv, MovesBlocksLongerThanItsMemory) {
  on_team([](Job&, Team& team) {
    const std::int64_t much = tessera::test::is_sanitized ? 40'003 : 200'003;
    exchange(
        team, [&](auto from, auto to) { return much / (1 + from + to); }, 0);
    // One pair has nearly everything.
    const std::int64_t last = team.size() - 1;
    exchange(
        team, [&](auto from, auto to) { return from == 0 && to == last ? much : (from + to) % 2; },
        1);
    // One member receives from all.
    exchange(
        team, [&](auto, auto to) { return to == last ? much / 4 : 0; }, 0);
  });
}

TEST(Alltoallv, MovesElementsOfAnyType) {
  struct Particle {
    std::array<double, 3> position;
    std::int8_t kind;
    bool operator==(const Particle&) const = default;
  };
  on_ranks([](Job& job) {
    const auto ranks = static_cast<std::size_t>(job.size());
    const auto particle = [](std::int32_t from, std::size_t to) {
      return Particle{{1.0 * from, 0.5, 1.0 * static_cast<double>(to)}, 7};
    };
    std::vector<Particle> leaving;
    for (std::size_t to = 0; to < ranks; ++to) {
      leaving.push_back(particle(job.rank().value, to));
    }
    std::vector<Particle> arriving(ranks);
    ASSERT_TRUE(ok(alltoall(job.world(), leaving, arriving)));
    for (std::size_t from = 0; from < ranks; ++from) {
      ASSERT_EQ(arriving[from].position, particle(static_cast<std::int32_t>(from),
                                                  static_cast<std::size_t>(job.rank().value))
                                             .position);
      ASSERT_EQ(arriving[from].kind, 7);
    }
    std::vector<char> letters(3 * ranks, static_cast<char>('a' + job.rank().value));
    std::vector<char> received(3 * ranks);
    ASSERT_TRUE(ok(alltoall(job.world(), letters, received)));
    for (std::size_t i = 0; i < received.size(); ++i) {
      ASSERT_EQ(received[i], static_cast<char>('a' + i / 3));
    }
  });
}

TEST(Alltoallv, WorksInManyTeamsAtOnceAndAfterwards) {
  on_ranks([](Job& job) {
    const CountOf some = [](auto from, auto to) { return 1 + (from + 2 * to) % 4; };
    for (int round = 0; round < 3; ++round) {
      Team half = job.world().split(job.rank().value % 2, 0).value();
      Team reversed = job.world().split(0, -job.rank().value).value();
      exchange(half, some, 0);
      exchange(reversed, some, round);
      exchange(job.world(), some, 0);
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

void gather_and_scatter(Team& team, const std::function<std::int64_t(std::int64_t)>& count_of,
                        std::int64_t step) {
  const std::int64_t self = team.rank().value;
  Counts counts;
  for (std::int64_t member = 0; member < team.size(); ++member) {
    counts.push_back(count_of(member));
  }
  const Layout layout(counts, step);
  std::vector<std::int64_t> whole(static_cast<std::size_t>(layout.elements), -1);
  std::vector<std::int64_t> own;
  for (std::int64_t member = 0; member < team.size(); ++member) {
    const auto m = static_cast<std::size_t>(member);
    for (std::int64_t i = 0; i < counts[m]; ++i) {
      whole[static_cast<std::size_t>(layout.offsets[m] + i)] = element(member, 0, i);
    }
  }
  for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(self)]; ++i) {
    own.push_back(element(self, 0, i));
  }
  std::vector<std::int64_t> all(whole.size(), -1);
  ASSERT_TRUE(ok(allgatherv(team, own, all, layout.blocks())));
  ASSERT_TRUE(all == whole);
  for (std::int32_t root = 0; root < team.size(); ++root) {
    const bool is_root = self == root;
    std::vector<std::int64_t> gathered(is_root ? whole.size() : 0, -1);
    const MemberBlocks blocks = is_root ? layout.blocks() : MemberBlocks{};
    ASSERT_TRUE(ok(gatherv(team, own, gathered, blocks, TeamRank{root})));
    ASSERT_TRUE(!is_root || gathered == whole);
    std::vector<std::int64_t> scattered(own.size(), -3);
    const std::vector<std::int64_t> source = is_root ? whole : std::vector<std::int64_t>();
    ASSERT_TRUE(ok(scatterv(team, source, blocks, scattered, TeamRank{root})));
    ASSERT_TRUE(scattered == own);
  }
}

TEST(Gatherv, AndScattervAndAllgathervMoveBlocksOfAnySizes) {
  on_team([](Job&, Team& team) {
    for (const std::int64_t step : {0, 2}) {
      gather_and_scatter(
          team, [](auto member) { return (member * 3 + 1) % 4; }, step);
      gather_and_scatter(
          team, [](auto) { return std::int64_t{0}; }, step);
      gather_and_scatter(
          team, [](auto member) { return member == 1 ? std::int64_t{50'001} : 0; }, step);
      gather_and_scatter(
          team, [](auto member) { return 9000 + member; }, step);
    }
  });
}

// Errors of one member are reported to all, and the team works afterwards.
void refused(Job& job, const std::function<Status(Team&)>& wrong,
             const std::function<Status(Team&)>& right,
             std::initializer_list<std::string_view> words) {
  Team& team = job.world();
  for (const std::int32_t odd : {0, job.size() - 1}) {
    EXPECT_TRUE(
        fails(job.rank().value == odd ? wrong(team) : right(team), Code::invalid_argument, words));
    exchange(
        team, [](auto from, auto to) { return from + to; }, 0);
  }
}

Status exchange_counts(Team& team, const Counts& sent, const Counts& received, std::size_t room) {
  const std::vector<double> send(room);
  std::vector<double> receive(room);
  return alltoallv(team, send, {.counts = sent}, receive, {.counts = received});
}

TEST(Alltoallv, RefusesWrongArguments) {
  on_ranks([](Job& job) {
    const auto ranks = static_cast<std::size_t>(job.size());
    const Counts ones(ranks, 1);
    const auto right = [&](Team& team) { return exchange_counts(team, ones, ones, ranks); };
    refused(job,
            [&](Team& team) { return exchange_counts(team, Counts(ranks + 1, 1), ones, ranks); },
            right, {"counts were given for the send buffer of a team with"});
    Counts negative = ones;
    negative.back() = -1;
    refused(job, [&](Team& team) { return exchange_counts(team, ones, negative, ranks); }, right,
            {"the count of member", "in the receive buffer is -1"});
    refused(job, [&](Team& team) { return exchange_counts(team, ones, ones, ranks - 1); }, right,
            {"(1 elements from element", "lies outside the send buffer of"});
    Counts huge = ones;
    huge.back() = std::numeric_limits<std::int64_t>::max();
    refused(job, [&](Team& team) { return exchange_counts(team, huge, ones, ranks); }, right,
            {"lies outside the send buffer"});
    std::vector<double> both(ranks);
    refused(
        job,
        [&](Team& team) { return alltoallv(team, both, {.counts = ones}, both, {.counts = ones}); },
        right, {"the send buffer and the receive buffer overlap"});
    if (ranks > 1) {
      const Counts same(ranks, 0);
      const std::vector<double> send(ranks);
      refused(job,
              [&](Team& team) {
                std::vector<double> receive(ranks);
                return alltoallv(team, send, {.counts = ones}, receive,
                                 {.counts = ones, .offsets = same});
              },
              right, {"the blocks of members 0 and 1 overlap in the receive buffer"});
    }
  });
}

TEST(Alltoallv, ReportsCountsThatDiffer) {
  on_ranks([](Job& job) {
    const auto ranks = static_cast<std::size_t>(job.size());
    const auto name = [](std::size_t rank) { return "rank " + std::to_string(rank); };
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{3}, std::int64_t{70'000}}) {
      const Counts sent(ranks, count);
      Counts received = sent;
      const bool is_last = job.rank().value == job.size() - 1;
      received[0] += is_last ? 1 : 0;
      EXPECT_TRUE(fails(
          exchange_counts(job.world(), sent, received, ranks * static_cast<std::size_t>(count) + 1),
          Code::invalid_argument,
          {name(0) + " sends " + std::to_string(count) + " elements to " + name(ranks - 1) +
               ", which expects " + std::to_string(count + 1),
           "exchange the counts first"}));
      exchange(
          job.world(), [](auto from, auto to) { return from + to; }, 0);
    }
  });
}

TEST(BlockCollectives, RefuseWrongRootsAndSizes) {
  on_ranks([](Job& job) {
    Team& team = job.world();
    const auto ranks = static_cast<std::size_t>(job.size());
    const Counts ones(ranks, 1);
    const std::vector<int> one(1);
    std::vector<int> all(ranks);
    EXPECT_TRUE(fails(gatherv(team, one, all, {.counts = ones}, TeamRank{job.size()}),
                      Code::invalid_argument, {"cannot be the root"}));
    EXPECT_TRUE(fails(scatterv(team, all, {.counts = ones}, std::vector<int>(1), TeamRank{-1}),
                      Code::invalid_argument, {"member -1 cannot be the root"}));
    EXPECT_TRUE(fails(allgatherv(team, std::vector<int>(2), all, {.counts = ones}),
                      Code::invalid_argument, {"2 elements were given for a block of 1"}));
    EXPECT_TRUE(fails(alltoall(team, std::vector<int>(ranks), std::vector<int>(2 * ranks)),
                      Code::invalid_argument, {"are not the same number for each of"}));
    EXPECT_TRUE(fails(alltoallv(team, std::span<const std::byte>(), {.counts = Counts(ranks, 0)},
                                std::span<std::byte>(), {.counts = Counts(ranks, 0)}, 0),
                      Code::invalid_argument, {"elements of 0 bytes"}));
    exchange(
        team, [](auto from, auto to) { return from + to; }, 0);
  });
}

// All get the names of both calls.
TEST(BlockCollectives, NameBothCallsIfTheyDiffer) {
  on_ranks([](Job& job) {
    if (job.size() == 1) {
      return;
    }
    Team& team = job.world();
    const auto ranks = static_cast<std::size_t>(job.size());
    const Counts ones(ranks, 1);
    const auto exchange_of = [&](auto value) {
      const std::vector<decltype(value)> send(ranks);
      std::vector<decltype(value)> receive(ranks);
      return alltoallv(team, send, {.counts = ones}, receive, {.counts = ones});
    };
    const bool is_odd = job.rank().value == job.size() - 1;
    EXPECT_TRUE(fails(is_odd ? team.barrier() : exchange_of(1.0), Code::invalid_argument,
                      {"called barrier", "called alltoallv"}));
    EXPECT_TRUE(fails(is_odd ? scan(team, 1, Reduction::sum).status() : exchange_of(1.0),
                      Code::invalid_argument, {"called scan", "called alltoallv"}));
    EXPECT_TRUE(fails(is_odd ? exchange_of(std::int16_t{1}) : exchange_of(1.0),
                      Code::invalid_argument, {"called alltoallv with other arguments than rank"}));
    EXPECT_TRUE(fails(scan(team, 1, is_odd ? Reduction::sum : Reduction::max),
                      Code::invalid_argument, {"called scan with other arguments than rank"}));
    const std::vector<int> one(1);
    std::vector<int> all(ranks);
    EXPECT_TRUE(fails(gatherv(team, one, all, {.counts = ones}, TeamRank{is_odd ? 1 : 0}),
                      Code::invalid_argument, {"called gatherv with other arguments than rank"}));
    exchange(
        team, [](auto from, auto to) { return from + to; }, 0);
  });
}

// --- Scans.

template <class T>
T combined(T a, T b, Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return static_cast<T>(a + b);
    case Reduction::product:
      return static_cast<T>(a * b);
    case Reduction::min:
      return std::min(a, b);
    case Reduction::max:
      return std::max(a, b);
    case Reduction::abs_max:
      return std::max(static_cast<T>(std::abs(a)), static_cast<T>(std::abs(b)));
    case Reduction::logical_or:
      return static_cast<T>(a != 0 || b != 0);
    default:
      return T{};
  }
}

// Of member `member`; small integers of both signs, so that all results are exact.
template <class T>
T operand(std::int32_t member, std::size_t i) {
  return static_cast<T>(static_cast<int>((static_cast<std::size_t>(member) * 5 + i * 3) % 7) - 3);
}

template <class T>
void scan_all(Team& team, Reduction reduction, T neutral, std::size_t count) {
  std::vector<T> inclusive(count);
  for (std::size_t i = 0; i < count; ++i) {
    inclusive[i] = operand<T>(team.rank().value, i);
  }
  std::vector<T> exclusive = inclusive;
  ASSERT_TRUE(ok(scan(team, std::span(inclusive), reduction)));
  ASSERT_TRUE(ok(exclusive_scan(team, std::span(exclusive), reduction)));
  for (std::size_t i = 0; i < count; ++i) {
    T before = neutral;
    for (std::int32_t member = 0; member < team.rank().value; ++member) {
      before = combined(before, operand<T>(member, i), reduction);
    }
    ASSERT_EQ(exclusive[i], before) << to_string(reduction) << " " << i;
    ASSERT_EQ(inclusive[i], combined(before, operand<T>(team.rank().value, i), reduction))
        << to_string(reduction) << " " << i;
  }
}

template <class T>
void scan_by_all(Team& team, T largest, T lowest) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}}) {
    scan_all<T>(team, Reduction::sum, T{0}, count);
    scan_all<T>(team, Reduction::product, T{1}, count);
    scan_all<T>(team, Reduction::min, largest, count);
    scan_all<T>(team, Reduction::max, lowest, count);
    scan_all<T>(team, Reduction::abs_max, T{0}, count);
    scan_all<T>(team, Reduction::logical_or, T{0}, count);
  }
}

TEST(Scan, CombinesTheMembersBeforeInTeamOrder) {
  on_team([](Job&, Team& team) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    scan_by_all<double>(team, infinity, -infinity);
    using Limits = std::numeric_limits<std::int32_t>;
    scan_by_all<std::int32_t>(team, Limits::max(), Limits::lowest());
    scan_all<std::int64_t>(team, Reduction::sum, 0, tessera::test::is_sanitized ? 20'001 : 200'001);
  });
}

TEST(Scan, HasNeutralElementsOnTheFirstMember) {
  on_ranks([](Job& job) {
    Team& team = job.world();
    const bool is_first = job.rank().value == 0;
    EXPECT_EQ(exclusive_scan(team, std::int32_t{-5}, Reduction::abs_min).value(),
              is_first ? std::numeric_limits<std::int32_t>::max() : 5);
    EXPECT_EQ(exclusive_scan(team, std::uint8_t{6}, Reduction::bit_and).value(),
              is_first ? 255 : 6);
    EXPECT_EQ(exclusive_scan(team, std::int16_t{6}, Reduction::bit_or).value(), is_first ? 0 : 6);
    EXPECT_EQ(exclusive_scan(team, 4.0F, Reduction::logical_and).value(), 1.0F);
    const std::complex<double> i(0, 1);
    EXPECT_EQ(exclusive_scan(team, i, Reduction::sum).value(), i * (1.0 * job.rank().value));
    EXPECT_EQ(scan(team, std::int32_t{-5}, Reduction::abs_min).value(), 5);
    EXPECT_EQ(scan(team, std::int64_t{8}, Reduction::logical_and).value(), 1);
  });
}

TEST(Scan, RefusesWrongArguments) {
  on_ranks([](Job& job) {
    Team& team = job.world();
    double value = 1;
    EXPECT_TRUE(fails(scan(team, &value, -1, ElementType::f64, Reduction::sum),
                      Code::invalid_argument, {"-1 elements cannot be scanned"}));
    EXPECT_TRUE(fails(scan(team, nullptr, 1, ElementType::f64, Reduction::sum),
                      Code::invalid_argument, {"null pointer"}));
    EXPECT_TRUE(fails(exclusive_scan(team, value, Reduction::bit_or), Code::invalid_argument,
                      {"reduction bit_or is not defined for float64"}));
    EXPECT_EQ(scan(team, 1, Reduction::sum).value(), job.rank().value + 1);
  });
}

}  // namespace
}  // namespace tessera::rma
