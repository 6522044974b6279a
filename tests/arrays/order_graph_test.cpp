// SPDX-License-Identifier: BSD-3-Clause
//
// OrderGraph against an oracle that follows every chain of single calls.
#include "arrays/detail/order_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace tessera::arrays::detail {
namespace {

using Kind = rma::OrderCall::Kind;
using Calls = std::vector<std::vector<rma::OrderCall>>;  // by member, in order

OrderGraph graph_of(const Calls& calls) {
  std::vector<std::vector<OrderEntry>> entries;
  for (const auto& own : calls) {
    OrderTable table;
    for (std::uint64_t number = 0; number < own.size(); ++number) {
      table.add(own[number], number);
    }
    entries.push_back(table.take());
  }
  return OrderGraph(entries);
}

// Whether some release of `from` from that number on, and some acquisition of the same object
// before `to`, form a chain. Marks what follows, call by call, until nothing changes.
bool is_reachable(const Calls& calls, const CallPosition& from, const CallPosition& to) {
  std::vector<std::vector<bool>> follows;
  for (const auto& own : calls) {
    follows.emplace_back(own.size(), false);
  }
  for (std::uint64_t at = from.number; at < calls[from.member].size(); ++at) {
    follows[from.member][at] = true;
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t a = 0; a < calls.size(); ++a) {
      for (std::size_t i = 0; i < calls[a].size(); ++i) {
        if (!follows[a][i] || calls[a][i].kind == Kind::acquire) {
          continue;
        }
        for (std::size_t b = 0; b < calls.size(); ++b) {
          for (std::size_t k = 0; a != b && k < calls[b].size(); ++k) {
            const bool meets =
                calls[b][k].object == calls[a][i].object && calls[b][k].kind != Kind::release;
            for (std::size_t next = k; meets && next < calls[b].size(); ++next) {
              has_changed = has_changed || !follows[b][next];
              follows[b][next] = true;
            }
          }
        }
      }
    }
  }
  return std::any_of(follows[to.member].begin(),
                     follows[to.member].begin() + static_cast<std::ptrdiff_t>(to.number),
                     [](bool each) { return each; });
}

TEST(OrderGraph, FollowsAChainOverOtherMembers) {
  const Calls calls{
      {{Kind::release, 5}}, {{Kind::acquire, 5}, {Kind::release, 9}}, {{Kind::both, 9}}};
  OrderGraph graph = graph_of(calls);
  EXPECT_TRUE(graph.may_precede({0, 0}, {2, 1}, 0));
  EXPECT_TRUE(graph.may_precede({0, 0}, {1, 1}, 0));
  EXPECT_FALSE(graph.may_precede({0, 1}, {2, 1}, 0)) << "the release came first";
  EXPECT_FALSE(graph.may_precede({0, 0}, {2, 0}, 0)) << "the acquisition came later";
  EXPECT_FALSE(graph.may_precede({2, 0}, {0, 1}, 0));
  EXPECT_FALSE(graph.may_precede({0, 0}, {2, 1}, 1)) << "other calls, before a collective";
}

TEST(OrderGraph, SeesTheOrdersOfAnOracleInRandomCalls) {
  std::minstd_rand random(static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()));
  const auto below = [&](std::size_t limit) { return random() % limit; };
  for (int round = 0; round < 200; ++round) {
    Calls calls(2 + below(4));
    for (auto& own : calls) {
      own.resize(below(6));
      for (rma::OrderCall& each : own) {
        each = {static_cast<Kind>(below(3)), 1 + below(4)};
      }
    }
    OrderGraph graph = graph_of(calls);
    for (std::size_t a = 0; a < calls.size(); ++a) {
      for (std::size_t b = 0; b < calls.size(); ++b) {
        for (std::uint64_t i = 0; a != b && i <= calls[a].size(); ++i) {
          for (std::uint64_t k = 0; k <= calls[b].size(); ++k) {
            EXPECT_EQ(graph.may_precede({a, i}, {b, k}, 0), is_reachable(calls, {a, i}, {b, k}));
          }
        }
      }
    }
  }
}

TEST(OrderTable, KeepsEpochsApartAndEndsEmpty) {
  OrderTable table;
  table.add({Kind::both, 3}, 0);
  table.begin_epoch();
  table.add({Kind::release, 3}, 1);
  table.add({Kind::acquire, 3}, 2);
  const std::vector<OrderEntry> entries = table.take();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].age, 1U);
  EXPECT_EQ(entries[0].first_acquire, 0U);
  EXPECT_EQ(entries[0].release_end, 1U);
  EXPECT_EQ(entries[1].age, 0U);
  EXPECT_EQ(entries[1].first_acquire, 2U);
  EXPECT_EQ(entries[1].release_end, 2U);
  EXPECT_TRUE(table.take().empty());
}

TEST(OrderTable, WithAnUnknownObjectIsIncomplete) {
  OrderTable table;
  table.add({Kind::both, rma::OrderCall::any_object}, 0);
  EXPECT_FALSE(table.is_complete());
}

TEST(OrderTable, OfTooManyObjectsIsIncompleteUntilItIsTaken) {
  OrderTable table;
  for (std::uint64_t object = 1; object <= OrderTable::max_entries + 1; ++object) {
    EXPECT_TRUE(table.is_complete());
    table.add({Kind::both, object}, object);
  }
  EXPECT_FALSE(table.is_complete());
  EXPECT_EQ(table.take().size(), OrderTable::max_entries);
  EXPECT_TRUE(table.is_complete());
}

}  // namespace
}  // namespace tessera::arrays::detail
