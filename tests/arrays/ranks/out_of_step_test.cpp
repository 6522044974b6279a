// SPDX-License-Identifier: BSD-3-Clause
//
// One rank frees or uses an object while the others call another operation: all get an error that
// names both calls and both objects. The one rank is the last.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "arrays/array.hpp"
#include "arrays/counter.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/halo.hpp"
#include "arrays/mirrored.hpp"
#include "arrays/reductions.hpp"
#include "rma/lock.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Status;
using rma::Team;
using rma::test::fails;
using rma::test::is_last;
using rma::test::ok;
using rma::test::on_team;

Array<double> make(Job& job, Team& team, const std::string& name) {
  return Array<double>::create(job, {8, 8}, {.name = name, .team = team, .ghosts = {1, 1}}).value();
}

// The error says that the last member called `last` while another one called `others`.
testing::AssertionResult differs(const Team& team, const Status& status, std::string_view last,
                                 std::string_view others) {
  return fails(status, Code::invalid_argument,
               {"members of a team called different collectives",
                "rank " + std::to_string(team.members().back().value) + " " + std::string(last) +
                    " where rank ",
                others});
}

// The last member frees `object` while the others call a barrier. Then it calls a barrier while
// they free the object.
template <class Object>
void expect_named(Team& team, Object& object, const std::string& what) {
  const std::string freeing = "was freeing " + what;
  EXPECT_TRUE(
      differs(team, is_last(team) ? object.free() : team.barrier(), freeing, "called barrier"));
  EXPECT_TRUE(
      differs(team, is_last(team) ? team.barrier() : object.free(), "called barrier", freeing));
  EXPECT_TRUE(ok(team.barrier()));
}

void on_several(const std::function<void(Job&, Team&)>& body) {
  on_team([&](Job& job, Team& team) {
    if (team.size() > 1) {
      body(job, team);
    }
  });
}

TEST(OutOfStep, AFreeMeetsABarrier) {
  on_several([](Job& job, Team& team) {
    auto array = make(job, team, "rho");
    expect_named(team, array, "array 'rho'");
    auto counter = Counter::create(job, team).value();
    expect_named(team, counter, "a counter");
    auto region = rma::Region::allocate(team, 100, {.name = "mail"}).value();
    expect_named(team, region, "region 'mail'");
    auto nameless = rma::Region::allocate(team, 100).value();
    expect_named(team, nameless, "a region");
    auto locks = rma::LockSet::create(team, 2).value();
    expect_named(team, locks, "a lock set");
    auto wide = make(job, team, "phi");
    auto halo = Halo::create(wide).value();
    expect_named(team, halo, "halo 'ghost cells of phi'");
    EXPECT_TRUE(ok(wide.free()));
    auto mirrored = Mirrored<double>::create(job, {4}, {.name = "fock", .team = team}).value();
    expect_named(team, mirrored, "mirrored array 'fock'");
    EXPECT_TRUE(ok(mirrored.free()));
  });
}

// A destructor returns no error; the other ranks get one.
TEST(OutOfStep, ADestructorMeetsABarrierOrASync) {
  on_several([](Job& job, Team& team) {
    auto other = make(job, team, "phi");
    for (const bool is_barrier : {true, false}) {
      std::optional<Array<double>> array = make(job, team, "rho");
      if (is_last(team)) {
        array.reset();
        EXPECT_TRUE(ok(team.barrier()));
      } else {
        EXPECT_TRUE(differs(team, is_barrier ? team.barrier() : other.sync(),
                            "was freeing array 'rho'",
                            is_barrier ? "called barrier" : "called sync of array 'phi'"));
        EXPECT_TRUE(ok(team.barrier()));
        EXPECT_TRUE(differs(team, array->free(), "called barrier", "was freeing array 'rho'"));
      }
      if (is_last(team)) {
        EXPECT_TRUE(differs(team, team.barrier(), "called barrier", "was freeing array 'rho'"));
      }
    }
  });
}

TEST(OutOfStep, AnAssignmentFreesWhatItOverwrites) {
  on_several([](Job& job, Team& team) {
    auto old = make(job, team, "old");
    auto next = make(job, team, "new");
    if (is_last(team)) {
      old = std::move(next);
    } else {
      EXPECT_TRUE(differs(team, next.sync(), "was freeing array 'old'", "sync of array 'new'"));
      old = std::move(next);
    }
    if (is_last(team)) {
      EXPECT_TRUE(
          differs(team, old.sync(), "called sync of array 'new'", "was freeing array 'old'"));
    }
    EXPECT_TRUE(ok(old.sync()));
  });
}

// Even if the others free the same array: an exception must not look like a successful end.
TEST(OutOfStep, AnExceptionThatLeavesTheScopeOfAnArrayIsReportedToTheOthers) {
  on_several([](Job& job, Team& team) {
    const std::string_view unwinding = "was freeing array 'rho' because of an exception";
    try {
      auto array = make(job, team, "rho");
      if (is_last(team)) {
        throw std::runtime_error("thrown on purpose");
      }
      EXPECT_TRUE(differs(team, array.free(), unwinding, "was freeing array 'rho'"));
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(is_last(team));
    }
    EXPECT_TRUE(ok(team.barrier()));
    // If all of them throw, there is no difference.
    try {
      auto array = make(job, team, "rho");
      throw std::runtime_error("thrown on purpose");
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(ok(team.barrier()));
    }
  });
}

TEST(OutOfStep, TheSameCallOnTwoArraysNamesBoth) {
  on_several([](Job& job, Team& team) {
    auto a = make(job, team, "a");
    auto b = make(job, team, "b");
    auto& mine = is_last(team) ? b : a;
    EXPECT_TRUE(differs(team, mine.sync(), "called sync of array 'b'", "called sync of array 'a'"));
    EXPECT_TRUE(
        differs(team, fill(mine, 1.0), "called fill of array 'b'", "called fill of array 'a'"));
    EXPECT_TRUE(
        differs(team, sum(mine).status(), "called sum of array 'b'", "called sum of array 'a'"));
    auto& freed = is_last(team) ? b : a;
    EXPECT_TRUE(differs(team, freed.free(), "was freeing array 'b'", "was freeing array 'a'"));
    auto& left = is_last(team) ? a : b;
    EXPECT_TRUE(differs(team, left.free(), "was freeing array 'a'", "was freeing array 'b'"));
    EXPECT_TRUE(ok(team.barrier()));
  });
}

TEST(OutOfStep, ArraysOfOneNameAreDistinguishedByTheirNumbers) {
  on_several([](Job& job, Team& team) {
    auto a = make(job, team, "same");
    auto b = make(job, team, "same");
    const auto text = [](const Array<double>& array) {
      return "called sync of array 'same' (number " + std::to_string(array.region().id().value) +
             ")";
    };
    EXPECT_TRUE(differs(team, (is_last(team) ? b : a).sync(), text(b), text(a)));
  });
}

// Also if the others called another operation.
TEST(OutOfStep, AnErrorOfOneMemberReachesTheOthers) {
  on_several([](Job& job, Team& team) {
    auto a = make(job, team, "a");
    const Status status =
        is_last(team) ? team.agree(Status::error(Code::out_of_range, "too far")) : team.barrier();
    EXPECT_TRUE(differs(team, status, "failed (too far)", "called barrier"));
    EXPECT_TRUE(
        fails(is_last(team) ? team.agree(Status::error(Code::out_of_range, "too far")) : a.sync(),
              Code::out_of_range, {"too far"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
