// SPDX-License-Identifier: BSD-3-Clause
//
// Members of teams over several nodes that die at any point: the errors that the others get.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "tests/rma/cluster_rig.hpp"
#include "tests/support/effort.hpp"

namespace tessera::rma::detail {
namespace {

using Shape = std::vector<std::uint64_t>;  // the node of each rank

constexpr std::int64_t slot_bytes = 256;

// The outcome of a forked rank, in shared memory.
struct Outcome {
  std::atomic<std::uint32_t> code{0xffff};
  std::atomic<std::int32_t> rank{-1};
};

// Kills a rank at any instruction except those that an agent of another node would execute: it
// continues until it has left the other node's memory. It runs longer each time, because on a
// busy machine a short time passes before it is scheduled at all. Returns false if it never left.
bool end_on_own_node(ForkedRank& rank, const std::atomic<bool>& is_on_other_node) {
  const auto deadline = std::chrono::steady_clock::now() + rig_time_limit;
  std::chrono::microseconds run_time(50);
  kill(rank.pid(), SIGSTOP);
  int state = 0;
  waitpid(rank.pid(), &state, WUNTRACED);
  while (is_on_other_node && std::chrono::steady_clock::now() < deadline) {
    kill(rank.pid(), SIGCONT);
    std::this_thread::sleep_for(run_time);
    run_time = std::min(2 * run_time, std::chrono::microseconds(100'000));
    kill(rank.pid(), SIGSTOP);
    waitpid(rank.pid(), &state, WUNTRACED);
  }
  const bool is_on_own_node = !is_on_other_node;
  rank.end();
  return is_on_own_node;
}

constexpr int when_killed = 1 << 30;  // more collectives than any rank reaches

using Call = std::function<Status(Team&)>;

Status barrier(Team& team) {
  return team.barrier();
}

// Collectives on long data of several parts, with each rank as root.
Status long_collectives(Team& team) {
  for (std::int32_t root = 0; root < team.size(); ++root) {
    std::vector<std::byte> data(40'000);
    TESSERA_RETURN_IF_ERROR(team.broadcast(data, TeamRank{root}));
    std::vector<double> numbers(4500);
    TESSERA_RETURN_IF_ERROR(team.allreduce(std::span(numbers), Reduction::sum));
    std::vector<std::byte> all(data.size() * static_cast<std::size_t>(team.size()));
    TESSERA_RETURN_IF_ERROR(team.allgather(data, all));
  }
  return {};
}

// One rank dies after `calls` collectives, or is killed after some time. Checks that the next
// collective of all others returns peer_lost with that rank.
void die_in_team(const Shape& shape, std::int32_t victim, int calls,
                 std::chrono::microseconds kill_after = {}, const Call& call = barrier) {
  Cluster cluster(shape);
  auto* const outcomes = static_cast<Outcome*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<std::unique_ptr<ForkedRank>> ranks;
  for (std::int32_t rank = 0; rank < cluster.size(); ++rank) {
    Outcome* const outcome = new (outcomes + rank) Outcome;
    ranks.push_back(std::make_unique<ForkedRank>([&, rank, outcome] {
      const auto job = cluster.start(WorldRank{rank}, false, slot_bytes);
      if (rank == victim && calls < 0) {
        ::raise(SIGKILL);
      }
      auto world = world_of(*job);
      Status status = world.status();
      for (int round = 0; status.ok(); ++round) {
        if (rank == victim && round == calls) {
          ::raise(SIGKILL);
        }
        status = call(*world);
      }
      outcome->rank.store(status.rank() ? status.rank()->value : -1);
      outcome->code.store(static_cast<std::uint32_t>(status.code()));
      // No rank leaves before all have their error, since a rank that leaves would also cause one.
      while (!std::all_of(outcomes, outcomes + cluster.size(), [&](const Outcome& each) {
        return &each == outcomes + victim || each.code.load() != 0xffff;
      })) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }));
  }
  if (calls == when_killed) {
    const auto node = cluster.node_of(WorldRank{victim}, false);
    const RankRecord& record = node->memory().record(node->local_rank());
    ASSERT_TRUE(eventually([&] { return record.presence.load() != 0; }));
    std::this_thread::sleep_for(kill_after);
    ASSERT_TRUE(
        end_on_own_node(*ranks[static_cast<std::size_t>(victim)],
                        cluster.shared_state().is_on_other_node[static_cast<std::size_t>(victim)]))
        << "victim " << victim << " stays in another node's memory";
  }
  for (std::int32_t rank = 0; rank < cluster.size(); ++rank) {
    if (rank == victim) {
      continue;
    }
    const Outcome& outcome = outcomes[rank];
    ASSERT_TRUE(eventually([&] { return outcome.code.load() != 0xffff; }))
        << "rank " << rank << " hangs, victim " << victim << " after " << calls;
    EXPECT_EQ(outcome.code.load(), static_cast<std::uint32_t>(Code::peer_lost));
    EXPECT_EQ(outcome.rank.load(), victim);
    const auto state = ranks[static_cast<std::size_t>(rank)]->wait_in_time();
    ASSERT_TRUE(state.has_value())
        << "rank " << rank << " does not end, victim " << victim << " after " << calls;
    EXPECT_EQ(*state, 0);
  }
  munmap(outcomes, 4096);
}

TEST(ADeadRank, OfATeamOverNodesIsReportedToAllOthers) {
  for (const Shape& shape : {Shape{0, 1}, Shape{0, 0, 1, 1}, Shape{0, 0, 1, 1, 2},
                             Shape{0, 1, 2, 0, 1, 2}, Shape{0, 1, 2, 3, 4}}) {
    for (std::int32_t victim = 0; victim < static_cast<std::int32_t>(shape.size()); ++victim) {
      for (const int barriers : {-1, 0, 1, 17}) {
        die_in_team(shape, victim, barriers);
      }
    }
  }
}

TEST(ADeadRank, MayDieAtAnyTime) {
  std::minstd_rand random(11);
  for (int round = 0; round < tessera::test::rounds(60); ++round) {
    const Shape shape = round % 2 == 0 ? Shape{0, 1, 0, 1} : Shape{0, 1, 2, 2, 1};
    const auto victim = static_cast<std::int32_t>(random() % shape.size());
    die_in_team(shape, victim, when_killed, std::chrono::microseconds(random() % 5000));
  }
}

TEST(ADeadRank, MayDieDuringLongTransfers) {
  std::minstd_rand random(13);
  for (int round = 0; round < tessera::test::rounds(60); ++round) {
    const Shape shape = round % 3 == 0   ? Shape{0, 1, 2}
                        : round % 3 == 1 ? Shape{0, 1, 0, 1}
                                         : Shape{0, 1, 2, 3, 4};
    const auto victim = static_cast<std::int32_t>(random() % shape.size());
    die_in_team(shape, victim, when_killed, std::chrono::microseconds(random() % 20'000),
                long_collectives);
  }
}

}  // namespace
}  // namespace tessera::rma::detail
