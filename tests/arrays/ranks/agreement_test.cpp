// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of arrays agree: an error that only one rank finds fails the call on all, and no rank
// is left waiting. The one rank is the last.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/counter.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/matrix.hpp"
#include "arrays/print.hpp"
#include "arrays/random.hpp"
#include "arrays/reductions.hpp"
#include "arrays/reshape.hpp"
#include "arrays/scan.hpp"
#include "arrays/steps.hpp"
#include "arrays/transform.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::TeamRank;
using rma::test::fails;
using rma::test::is_last;
using rma::test::ok;
using rma::test::on_team;

// Rank numbers as in messages.
std::string first_rank(const Team& team) {
  return std::to_string(team.members().front().value);
}
std::string last_rank(const Team& team) {
  return std::to_string(team.members().back().value);
}

// An error that the next fence of the last rank finds.
void leave_an_error(const Array<double>& array) {
  if (is_last(array.team())) {
    const double value = 1;
    array.put_async(Box({0}, {1}), std::span(&value, 1)).detach();
  }
}

// `collective` fails on all ranks with the last one's error, and succeeds when called again.
template <class Collective>
void expect_agreement(const Array<double>& array, Collective&& collective) {
  leave_an_error(array);
  EXPECT_TRUE(fails(collective(), Code::invalid_argument,
                    {"on rank " + last_rank(array.team()), "box [0,1) has 1 dimension"}));
  EXPECT_TRUE(ok(collective()));
}

TEST(Agreement, SyncFailsOnAllRanksWithTheErrorOfADetachedPut) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {8, 8}, {.name = "A", .team = team}).value();
    expect_agreement(array, [&] { return array.sync(); });
  });
}

TEST(Agreement, ElementwiseOperationsFailOnAllRanks) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {8, 8}, {.name = "a", .team = team}).value();
    auto b = Array<double>::create(job, {8, 8}, {.name = "b", .team = team}).value();
    expect_agreement(a, [&] { return fill(a, 1.0); });
    expect_agreement(a, [&] { return copy(a, b); });
    expect_agreement(a, [&] { return dot(a, b); });
    expect_agreement(a, [&] { return norm2(a); });
  });
}

TEST(Agreement, ResettingACounterFailsOnAllRanks) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {8, 8}, {.name = "A", .team = team}).value();
    auto counter = Counter::create(job, team).value();
    expect_agreement(array, [&] { return counter.reset(5); });
    EXPECT_GE(counter.next().value(), 5);
    EXPECT_TRUE(ok(team.barrier()));
  });
}

// An operand with a box outside the array on the last member.
template <class T>
Subarray<T> partly_outside(const Array<T>& array) {
  Box box = array.box();
  if (is_last(array.team())) {
    box.set(0, 1, array.extents()[0] + 1);
  }
  return part(array, box);
}

// All members get the error of the last one.
template <class Outcome>
void expect_notified(const Team& team, const Outcome& outcome, const std::string& verb) {
  EXPECT_TRUE(fails(outcome, Code::out_of_range,
                    {"on rank " + last_rank(team) + ": " + verb + ": array", "exceeds by 1"}))
      << verb;
}

TEST(Agreement, ABoxThatIsWrongOnOneRankFailsOnAll) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {8, 8}, {.name = "a", .team = team}).value();
    auto b = Array<double>::create(job, {8, 8}, {.name = "b", .team = team}).value();
    const auto wrong = partly_outside(a);
    expect_notified(team, fill(wrong, 1.0), "fill");
    expect_notified(team, scale(wrong, 1.0), "scale");
    expect_notified(team, copy(wrong, b), "copy");
    expect_notified(team, copy_row_major(wrong, b), "copy_in_order");
    expect_notified(team, add(1.0, a, 1.0, wrong, b), "add");
    expect_notified(team, for_each_element(wrong, [](const Index&, double&) {}),
                    "for_each_element");
    expect_notified(team, fill_random(wrong, 1), "fill_random");
    expect_notified(team, dot(wrong, b), "dot");
    expect_notified(team, norm2(wrong), "norm2");
    expect_notified(team, norm1(wrong), "norm1");
    expect_notified(team, norm1(wrong, {.reproducible = true}), "norm1");
    expect_notified(team, select_max(wrong), "select_max");
    expect_notified(team, step_max(wrong, b), "reduce");
    std::ostringstream text;
    EXPECT_TRUE(fails(print(wrong, text), Code::out_of_range,
                      {"print: on rank " + last_rank(team) + ": array 'a'"}));
    EXPECT_TRUE(ok(fill(a, 1.0))) << "no rank is left waiting";
  });
}

// The last member's arguments are valid, but the others give different ones.
template <class Outcome>
void expect_differs(const Team& team, const Outcome& outcome, const std::string& verb) {
  EXPECT_TRUE(fails(outcome, Code::invalid_argument,
                    {verb + " of ", "array 'a'", "rank " + last_rank(team) + " called " + verb,
                     "rank " + first_rank(team)}))
      << verb;
}

TEST(Agreement, BoxesAndArraysThatDifferAmongMembersFailOnAll) {
  on_team([](Job& job, Team& team) {
    if (team.size() == 1) {
      return;
    }
    auto a = Array<double>::create(job, {8, 8}, {.name = "a", .team = team}).value();
    auto b = Array<double>::create(job, {8, 8}, {.name = "b", .team = team}).value();
    auto c = Array<double>::create(job, {8, 8}, {.name = "c", .team = team}).value();
    auto v = Array<double>::create(job, {8}, {.name = "v", .team = team}).value();
    const Subarray<double> rows =
        part(a, is_last(team) ? Box({0, 0}, {4, 8}) : Box({4, 0}, {8, 8}));
    const Array<double>& other = is_last(team) ? b : c;
    ASSERT_TRUE(ok(fill(a, 1.0)));
    ASSERT_TRUE(ok(fill(b, 2.0)));
    ASSERT_TRUE(ok(fill(c, 3.0)));
    expect_differs(team, fill(rows, 5.0), "fill");
    expect_differs(team, scale(rows, 5.0), "scale");
    expect_differs(team, copy(other, a), "copy");
    expect_differs(team, add(1.0, a, 1.0, other, a), "add");
    expect_differs(team, dot(a, other), "dot");
    expect_differs(team, norm2(rows), "norm2");
    expect_differs(team, select_max(rows), "select_max");
    expect_differs(team, for_each_element(rows, [](const Index&, double& x) { x = 9; }),
                   "for_each_element");
    expect_differs(team,
                   reduce(
                       0.0, rma::Reduction::sum, [](double s, double x) { return s + x; }, rows),
                   "reduce");
    EXPECT_TRUE(fails(is_last(team) ? scale_rows(a, v) : scale_columns(a, v),
                      Code::invalid_argument,
                      {"rank " + last_rank(team) + " called scale_rows of array 'a' where rank " +
                       first_rank(team) + " called scale_columns of array 'a'"}));
    auto w = Array<double>::create(job, {8}, {.name = "w", .team = team}).value();
    auto flags = Array<std::int8_t>::create(job, {8}, {.name = "flags", .team = team}).value();
    auto others = Array<std::int8_t>::create(job, {8}, {.name = "others", .team = team}).value();
    ASSERT_TRUE(ok(fill(w, 4.0)));
    expect_differs(team, copy_row_major(other, a), "copy_in_order");
    const Array<double>& vector = is_last(team) ? v : w;
    expect_differs(team, add_diagonal(a, vector), "add_diagonal");
    expect_differs(team, get_diagonal(a, vector), "get_diagonal");
    auto packed = Array<double>::create(job, {8}, {.name = "a", .team = team}).value();
    const Array<std::int8_t>& mask = is_last(team) ? flags : others;
    expect_differs(team, pack(v, mask, packed), "pack");
    expect_differs(team, unpack(part(v, Box({0}, {is_last(team) ? 8 : 7})), flags, packed),
                   "unpack");
    const double untouched = static_cast<double>(a.box().volume());
    EXPECT_EQ(dot(a, a).value(), untouched) << "nothing was written";
  });
}

// Each collective is called with a scalar, seed or option that differs on the last member.
TEST(Agreement, ScalarsThatDifferAmongMembersFailOnAll) {
  on_team([](Job& job, Team& team) {
    if (team.size() == 1) {
      return;
    }
    auto a = Array<double>::create(job, {8, 8}, {.name = "a", .team = team}).value();
    auto b = Array<double>::create(job, {8, 8}, {.name = "b", .team = team}).value();
    const double mine = is_last(team) ? 2 : 3;
    ASSERT_TRUE(ok(fill(a, 1.0)));
    expect_differs(team, fill(a, mine), "fill");
    expect_differs(team, fill(a, is_last(team) ? -0.0 : 0.0), "fill");
    expect_differs(team, scale(a, mine), "scale");
    expect_differs(team, add_constant(a, mine), "add_constant");
    expect_differs(team, add(mine, a, 1.0, b, a), "add");
    expect_differs(team, add(1.0, a, mine, b, a), "add");
    expect_differs(team, shift_diagonal(a, mine), "shift_diagonal");
    expect_differs(team, fill_diagonal(a, mine), "fill_diagonal");
    expect_differs(team, fill_random(a, is_last(team) ? 1 : 2), "fill_random");
    expect_differs(team, fill_random(a, 1, {.low = mine, .high = 9}), "fill_random");
    expect_differs(team, fill_random(a, 1, {.low = 0, .high = mine}), "fill_random");
    const auto larger = [](double s, double x) { return std::max(s, x); };
    expect_differs(team, reduce(mine, rma::Reduction::max, larger, a), "reduce");
    expect_differs(
        team, reduce(0.0, is_last(team) ? rma::Reduction::max : rma::Reduction::min, larger, a),
        "reduce");
    EXPECT_EQ(dot(a, a).value(), 64) << "nothing was written";
  });
}

TEST(Agreement, OptionsThatDifferAmongMembersFailOnAll) {
  on_team([](Job& job, Team& team) {
    if (team.size() == 1) {
      return;
    }
    auto a = Array<double>::create(job, {8, 8}, {.name = "a", .team = team}).value();
    auto v = Array<double>::create(job, {8}, {.name = "array 'a'", .team = team}).value();
    auto w = Array<double>::create(job, {8}, {.name = "array 'a'", .team = team}).value();
    auto flags = Array<std::int8_t>::create(job, {8}, {.name = "flags", .team = team}).value();
    ASSERT_TRUE(ok(fill(a, 1.0)));
    const ReduceOptions mine{.reproducible = is_last(team)};
    expect_differs(team, sum(a, mine), "sum");
    expect_differs(team, dot(a, a, mine), "dot");
    expect_differs(team, norm1(a, mine), "norm1");
    expect_differs(team, norm2(a, mine), "norm2");
    expect_differs(team, norm_infinity(a, mine), "norm_infinity");
    expect_differs(team, norm1(v, mine), "norm1");
    expect_differs(team,
                   scan_add(v, flags, w, is_last(team) ? ScanKind::inclusive : ScanKind::exclusive),
                   "scan_add");
    expect_differs(team, enumerate(v, is_last(team) ? 1.0 : 2.0, 1.0), "enumerate");
    expect_differs(team, enumerate(v, 1.0, is_last(team) ? 1.0 : 2.0), "enumerate");
    std::ostringstream text;
    EXPECT_TRUE(fails(
        print(a, text, {.root = TeamRank{is_last(team) ? 1 : 0}}), Code::invalid_argument,
        {"print: rank " + last_rank(team) + " called print of array 'a' with other arguments"}));
    EXPECT_EQ(text.str(), "");
    auto counter = Counter::create(job, team).value();
    EXPECT_TRUE(fails(counter.reset(is_last(team) ? 1 : 2), Code::invalid_argument,
                      {"called reset of a counter with other arguments", "scalars"}));
    EXPECT_EQ(sum(a).value(), 64) << "no rank is left waiting";
  });
}

TEST(Agreement, ScalarsWithTheSameBitsAreTheSame) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {8, 8}, {.name = "a", .team = team}).value();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(ok(fill(a, nan)));
    EXPECT_TRUE(std::isnan(sum(a).value()));
    EXPECT_TRUE(ok(fill(a, -0.0)));
    EXPECT_TRUE(ok(scale(a, std::numeric_limits<double>::infinity())));
  });
}

// Members that call different operations get the names of these operations.
TEST(Agreement, OperationsThatDifferAmongMembersAreNamed) {
  on_team([](Job& job, Team& team) {
    if (team.size() == 1) {
      return;
    }
    auto a = Array<double>::create(job, {8, 8}, {.name = "a", .team = team}).value();
    auto b = Array<double>::create(job, {8, 8}, {.name = "b", .team = team}).value();
    const auto expect_named = [&](const rma::Status& status, const std::string& last,
                                  const std::string& first) {
      EXPECT_TRUE(fails(status, Code::invalid_argument,
                        {"rank " + last_rank(team) + " called " + last + " where rank " +
                             first_rank(team) + " called " + first,
                         "same order"}));
    };
    expect_named(is_last(team) ? fill(a, 1.0) : sum(a).status(), "fill of array 'a'",
                 "sum of array 'a'");
    expect_named(is_last(team) ? norm2(a).status() : norm1(a).status(), "norm2 of array 'a'",
                 "norm1 of array 'a'");
    expect_named(is_last(team) ? select_max(a).status() : select_min(a).status(),
                 "select_max of array 'a'", "select_min of array 'a'");
    expect_named(is_last(team) ? copy(a, b) : a.sync(), "copy of array 'b'", "sync of array 'a'");
    expect_named(is_last(team) ? transform(
                                     b, [](double x) { return x; }, a)
                               : symmetrize(b),
                 "transform of array 'b'", "symmetrize of array 'b'");
    EXPECT_TRUE(ok(a.sync()));
  });
}

// Errors about collectives that don't match have words that users know.
TEST(Agreement, OtherCollectivesAreToldFromOperationsOnArrays) {
  on_team([](Job& job, Team& team) {
    if (team.size() == 1) {
      return;
    }
    auto a = Array<double>::create(job, {8, 8}, {.name = "a", .team = team}).value();
    EXPECT_TRUE(fails(is_last(team) ? team.barrier() : a.sync(), Code::invalid_argument,
                      {"called barrier", "called sync of array 'a'"}));
    const auto reduction = is_last(team) ? rma::Reduction::max : rma::Reduction::sum;
    EXPECT_TRUE(fails(team.allreduce(1.0, reduction), Code::invalid_argument,
                      {"float64 by sum", "float64 by max"}));
    EXPECT_TRUE(ok(a.sync()));
  });
}

TEST(Agreement, AMatrixThatIsWrongOnOneRankFailsOnAll) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {8, 8}, {.name = "a", .team = team}).value();
    auto v = Array<double>::create(job, {8}, {.name = "v", .team = team}).value();
    const auto wrong = partly_outside(a);
    const auto wrong_vector = partly_outside(v);
    expect_notified(team, set_diagonal(wrong, v), "set_diagonal");
    expect_notified(team, get_diagonal(a, wrong_vector), "get_diagonal");
    expect_notified(team, shift_diagonal(wrong, 1.0), "shift_diagonal");
    expect_notified(team, scale_rows(a, wrong_vector), "scale_rows");
    expect_notified(team, symmetrize(wrong), "symmetrize");
    const Subarray<double> other = is_last(team) ? part(a, Box({0, 0}, {8, 7})) : part(a);
    EXPECT_TRUE(fails(symmetrize(other), Code::invalid_argument,
                      {"on rank " + last_rank(team) + ": symmetrize of [0,8) x [0,7)"}));
    EXPECT_TRUE(ok(fill(a, 1.0)));
  });
}

TEST(Agreement, AVectorThatIsWrongOnOneRankFailsOnAll) {
  on_team([](Job& job, Team& team) {
    auto from = Array<double>::create(job, {8}, {.name = "from", .team = team}).value();
    auto to = Array<double>::create(job, {8}, {.name = "to", .team = team}).value();
    auto mask = Array<std::int8_t>::create(job, {8}, {.name = "mask", .team = team}).value();
    auto matrix = Array<double>::create(job, {2, 4}, {.name = "matrix", .team = team}).value();
    const auto wrong = partly_outside(from);
    expect_notified(team, enumerate(wrong, 0.0, 1.0), "enumerate");
    expect_notified(team, scan_copy(wrong, mask, to), "scan_copy");
    expect_notified(team, scan_add(wrong, mask, to), "scan_add");
    expect_notified(team, pack(wrong, mask, to), "pack");
    expect_notified(team, unpack(to, mask, wrong), "unpack");
    const Array<double>& other = is_last(team) ? matrix : from;
    EXPECT_TRUE(
        fails(scan_add(other, mask, to), Code::invalid_argument,
              {"on rank " + last_rank(team) + ": scan_add: array 'matrix'", "2 dimensions"}));
    EXPECT_TRUE(ok(fill(from, 1.0)));
  });
}

// The last rank's arguments differ from those of the others.
void expect_difference(Job& job, const Team& team, const Distribution& others,
                       const Distribution& last) {
  const auto array =
      Array<double>::create(job, is_last(team) ? last : others, {.name = "differs", .team = team});
  EXPECT_TRUE(fails(
      array, Code::invalid_argument,
      {"creating array 'differs'", "gave another array than rank " + first_rank(team), "hint:"}))
      << to_string(others) << " and " << to_string(last);
}

TEST(Agreement, CreationSeesOtherBoundsOwnersOrdersAndGrids) {
  on_team([](Job& job, Team& team) {
    const std::int64_t ranks = team.size();
    if (ranks == 1) {
      return;
    }
    using Starts = std::vector<std::vector<std::int64_t>>;
    expect_difference(job, team, *Distribution::irregular({8}, Starts{{0, 3}}, ranks),
                      *Distribution::irregular({8}, Starts{{0, 2}}, ranks));

    const std::vector<BlockPartition1D> two{*BlockPartition1D::even(8, 2)};
    const std::vector<TeamRank> up{{0}, {1}};
    const std::vector<TeamRank> down{{1}, {0}};
    expect_difference(job, team, *Distribution::create(two, *BlockMap::table({2}, up, ranks)),
                      *Distribution::create(two, *BlockMap::table({2}, down, ranks)));

    const std::vector<BlockPartition1D> many{*BlockPartition1D::by_size(8, 1),
                                             *BlockPartition1D::by_size(8, 1)};
    expect_difference(job, team, *Distribution::create(many, *BlockMap::round_robin({8, 8}, ranks)),
                      *Distribution::create(
                          many, *BlockMap::round_robin({8, 8}, ranks, MemoryOrder::column_major)));
  });
}

TEST(Agreement, CreationSeesOtherNodeGrids) {
  on_team([](Job& job, Team& team) {
    if (team.size() < 4) {
      return;
    }
    const std::vector<BlockPartition1D> partitions{*BlockPartition1D::even(8, 2),
                                                   *BlockPartition1D::even(8, 2)};
    expect_difference(job, team,
                      *Distribution::create(partitions, *BlockMap::grid({2, 2}, team.size())),
                      *Distribution::create(
                          partitions, *BlockMap::grid({2, 2}, team.size(), {.node_grid = {2, 1}})));
  });
}

TEST(Agreement, CreationSeesOtherElementTypesOfTheSameSize) {
  on_team([](Job& job, Team& team) {
    const rma::Status status =
        is_last(team) ? Array<std::int64_t>::create(job, {8}, {.name = "A", .team = team}).status()
                      : Array<double>::create(job, {8}, {.name = "A", .team = team}).status();
    if (team.size() > 1) {
      EXPECT_TRUE(fails(status, Code::invalid_argument,
                        {"gave another array than rank " + first_rank(team)}));
    }
  });
}

TEST(Agreement, ACounterHasOneOwner) {
  on_team([](Job& job, Team& team) {
    const auto counter = Counter::create(job, team, TeamRank{is_last(team) ? 0 : 1});
    if (team.size() > 1) {
      EXPECT_TRUE(fails(counter, Code::invalid_argument,
                        {"rank " + first_rank(team) + " requested a counter on member 1",
                         "rank " + last_rank(team) + " requested one on member 0"}));
    }
  });
}

TEST(Agreement, OperandsMayBeOnTeamsInAnotherOrder) {
  on_team([](Job& job, Team& team) {
    auto backwards = team.split(0, -team.rank().value);
    ASSERT_TRUE(ok(backwards));
    auto a = Array<double>::create(job, {8, 8}, {.name = "a", .team = team}).value();
    auto b = Array<double>::create(job, {8, 8}, {.name = "b", .team = *backwards}).value();
    EXPECT_TRUE(ok(fill(a, 2.0)));
    EXPECT_TRUE(ok(copy(a, b)));
    EXPECT_EQ(b.get_element({7, 7}).value(), 2.0);
    EXPECT_EQ(dot(a, b).value(), 256.0);
    EXPECT_TRUE(ok(a.sync()));
  });
}

TEST(Agreement, OperandsMustBeInReachOfAllWhoWork) {
  on_team([](Job& job, Team& team) {
    auto alone = team.split(-1, 0);
    ASSERT_TRUE(ok(alone));
    auto a = Array<double>::create(job, {8, 8}, {.name = "a", .team = team}).value();
    auto mine = Array<double>::create(job, {8, 8}, {.name = "mine", .team = *alone}).value();
    EXPECT_TRUE(ok(fill(mine, 2.0)));
    if (team.size() > 1) {
      EXPECT_TRUE(fails(copy(mine, a), Code::invalid_argument,
                        {"copy: array 'a' (float64, 8 x 8) and array 'mine' (float64, 8 x 8) are "
                         "on different teams: rank",
                         "is not in the second's"}));
    }
    EXPECT_TRUE(ok(fill(a, 3.0)));
    EXPECT_TRUE(ok(copy(a, mine))) << "each rank for itself";
    EXPECT_EQ(sum(mine).value(), 192.0);
    EXPECT_TRUE(ok(a.sync()));
  });
}

}  // namespace
}  // namespace tessera::arrays
