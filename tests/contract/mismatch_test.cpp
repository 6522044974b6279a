// SPDX-License-Identifier: BSD-3-Clause
//
// Members call different collectives, or the same one with different arguments: all members get an
// error, and the team works afterwards.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "rma/job.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::ok;
using test::on_ranks;

using Collective = std::function<Status(Team&)>;

Status broadcast_of(Team& team, std::size_t bytes, std::int32_t root) {
  std::vector<std::byte> data(bytes);
  return team.broadcast(data, TeamRank{root});
}

Status allgather_of(Team& team, std::size_t bytes) {
  std::vector<std::byte> all(bytes * static_cast<std::size_t>(team.size()));
  return team.allgather(std::vector<std::byte>(bytes), all);
}

Status allreduce_of(Team& team, std::int64_t count, ElementType type, Reduction reduction) {
  std::vector<std::byte> data(static_cast<std::size_t>(count) * size_of(type));
  return team.allreduce(data.data(), count, type, reduction);
}

// One member calls `odd`, the others call `usual`; afterwards all collectives of the team work.
void mismatch(Job& job, const Collective& usual, const Collective& odd,
              std::initializer_list<std::string_view> words) {
  if (job.size() == 1) {
    return;
  }
  Team& team = job.world();
  for (std::int32_t odd_rank = 0; odd_rank < job.size(); odd_rank += job.size() - 1) {
    const Status status = job.rank().value == odd_rank ? odd(team) : usual(team);
    EXPECT_TRUE(fails(status, Code::invalid_argument, words));
    ASSERT_TRUE(ok(team.barrier()));
    ASSERT_EQ(team.allreduce(1, Reduction::sum).value(), job.size());
    std::int32_t value = job.rank().value;
    ASSERT_TRUE(ok(team.broadcast_value(value, TeamRank{0})));
    ASSERT_EQ(value, 0);
    ASSERT_TRUE(ok(broadcast_of(team, 100'000, 0)));
  }
}

Status plain_barrier(Team& team) {
  return team.barrier();
}

// Each round has another order of arrival and another odd member.
TEST(MismatchedCollectives, AreDescribedInFullHoweverTheirMembersMeet) {
  on_ranks([](Job& job) {
    if (job.size() == 1) {
      return;
    }
    for (int round = 0; round < 300; ++round) {
      const Status status = job.rank().value == round % job.size()
                                ? broadcast_of(job.world(), 1000, 0)
                                : job.barrier();
      ASSERT_TRUE(fails(status, Code::invalid_argument,
                        {"called barrier", "called broadcast of 1000 bytes from member 0"}))
          << round;
    }
  });
}

TEST(MismatchedCollectives, OfDifferentKindsAreReportedToAll) {
  on_ranks([](Job& job) {
    mismatch(job, plain_barrier, [](Team& team) { return broadcast_of(team, 8, 0); },
             {"called different collectives", "barrier", "broadcast of 8 bytes from member 0"});
    mismatch(job, [](Team& team) { return allgather_of(team, 12); }, plain_barrier,
             {"barrier", "allgather of 12 bytes"});
    mismatch(
        job, [](Team& team) { return team.agree(Status()); },
        [](Team& team) { return allgather_of(team, 12); },
        {"called agree", "allgather of 12 bytes"});
  });
}

TEST(MismatchedCollectives, OfDifferentSizesAreReportedToAll) {
  on_ranks([](Job& job) {
    mismatch(
        job, [](Team& team) { return broadcast_of(team, 8, 0); },
        [](Team& team) { return broadcast_of(team, 9, 0); },
        {"broadcast of 8 bytes", "broadcast of 9 bytes"});
    mismatch(
        job, [](Team& team) { return broadcast_of(team, 1'000'000, 0); },
        [](Team& team) { return broadcast_of(team, 40, 0); }, {"broadcast of 1000000 bytes"});
    mismatch(
        job, [](Team& team) { return allgather_of(team, 0); },
        [](Team& team) { return allgather_of(team, 33'000); },
        {"allgather of 0 bytes", "allgather of 33000 bytes"});
  });
}

TEST(MismatchedCollectives, OfDifferentRootsTypesAndReductionsAreReportedToAll) {
  on_ranks([](Job& job) {
    mismatch(
        job, [](Team& team) { return broadcast_of(team, 8, 0); },
        [](Team& team) { return broadcast_of(team, 8, 1); }, {"member 0", "member 1"});
    mismatch(
        job, [](Team& team) { return allreduce_of(team, 4, ElementType::f64, Reduction::sum); },
        [](Team& team) { return allreduce_of(team, 4, ElementType::i64, Reduction::sum); },
        {"allreduce of 32 bytes of"});
    mismatch(
        job, [](Team& team) { return allreduce_of(team, 4, ElementType::f64, Reduction::sum); },
        [](Team& team) { return allreduce_of(team, 4, ElementType::f64, Reduction::max); },
        {"allreduce of 32 bytes of"});
  });
}

// If the arguments of one member are refused, the other members get the error too: otherwise they
// would wait for that member.
TEST(MismatchedCollectives, WithAMemberThatIsRefusedAreReportedToAll) {
  on_ranks([](Job& job) {
    mismatch(
        job, [](Team& team) { return broadcast_of(team, 8, 0); },
        [](Team& team) { return broadcast_of(team, 8, team.size()); }, {"member"});
    mismatch(
        job, [](Team& team) { return allgather_of(team, 8); },
        [](Team& team) {
          std::vector<std::byte> small(8);
          return team.allgather(std::vector<std::byte>(8), small);
        },
        {});
    mismatch(
        job, [](Team& team) { return allreduce_of(team, 4, ElementType::f64, Reduction::sum); },
        [](Team& team) { return team.allreduce(nullptr, 4, ElementType::f64, Reduction::sum); },
        {});
    mismatch(
        job, [](Team& team) { return allreduce_of(team, 4, ElementType::f64, Reduction::sum); },
        [](Team& team) { return allreduce_of(team, 4, ElementType::c64, Reduction::max); }, {});
  });
}

TEST(ACollective, ThatIsRefusedOnAllMembersChangesNothing) {
  on_ranks([](Job& job) {
    Team& team = job.world();
    EXPECT_TRUE(
        fails(broadcast_of(team, 8, -1), Code::invalid_argument, {"member -1 cannot be the root"}));
    double value = 2;
    EXPECT_TRUE(fails(team.allreduce(&value, -1, ElementType::f64, Reduction::sum),
                      Code::invalid_argument, {"-1 elements cannot be reduced"}));
    EXPECT_TRUE(fails(team.allreduce(&value, INT64_MAX, ElementType::f64, Reduction::sum),
                      Code::invalid_argument));
    EXPECT_TRUE(
        fails(team.reduce(&value, 1, ElementType::f64, Reduction::sum, TeamRank{job.size()}),
              Code::invalid_argument));
    EXPECT_EQ(value, 2);
    EXPECT_EQ(team.allreduce(value, Reduction::sum).value(), 2 * job.size());
  });
}

TEST(MismatchedCollectives, ReachAllocationsToo) {
  on_ranks([](Job& job) {
    if (job.size() == 1) {
      return;
    }
    const bool odd = job.rank().value == job.size() - 1;
    const Status first = odd ? job.world().barrier() : Region::allocate(job.world(), 64).status();
    EXPECT_TRUE(fails(first, Code::invalid_argument, {"different collectives"}));
    const RegionOptions options{.atomics = odd ? Atomics::strict : Atomics::separate};
    EXPECT_TRUE(fails(Region::allocate(job.world(), 64, options), Code::invalid_argument,
                      {"gave other region options than rank 0"}));
    EXPECT_TRUE(ok(Region::allocate(job.world(), 64)));
  });
}

}  // namespace
}  // namespace tessera::rma
