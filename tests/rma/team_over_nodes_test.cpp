// SPDX-License-Identifier: BSD-3-Clause
//
// Teams whose members are on several nodes, over a link that copies memory (cluster_rig.hpp): all
// collectives for many shapes of clusters, and the errors after mismatched calls and after members
// have left.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "rma/engine/reduce.hpp"
#include "rma/engine/region_numbers.hpp"
#include "rma/shm/segment.hpp"
#include "tests/rma/cluster_rig.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"

namespace tessera::rma::detail {
namespace {

using test::fails;
using test::ok;

using Shape = std::vector<std::uint64_t>;  // the node of each rank

constexpr std::int64_t slot = 256;
// Sizes around one slot, and around two slots, the limit of short data. A piece of long data is 16
// slots; a lane and a part hold 4 pieces.
constexpr std::array<std::size_t, 15> sizes{0,    1,    255,  256,  257,    512,    513,   1025,
                                            3000, 4095, 4096, 4097, 16'384, 16'385, 50'001};

class OverNodes : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, OverNodes,
                         testing::Values(Shape{0, 1}, Shape{0, 0, 1}, Shape{0, 1, 1, 1},
                                         Shape{0, 0, 1, 1}, Shape{0, 1, 0, 1, 0, 1},
                                         Shape{0, 0, 0, 1, 1, 1, 1}, Shape{0, 1, 2},
                                         Shape{0, 1, 2, 1}, Shape{0, 0, 0, 1, 1, 2},
                                         Shape{0, 1, 2, 0, 1, 2}, Shape{0, 1, 1, 2, 2, 2, 0},
                                         Shape{0, 1, 2, 3}, Shape{0, 1, 0, 2, 3, 1, 4},
                                         Shape{0, 1, 2, 3, 4, 5, 6}),
                         [](const testing::TestParamInfo<Shape>& each) {
                           std::string name = "Nodes";
                           for (const std::uint64_t node : each.param) {
                             name += "_" + std::to_string(node);
                           }
                           return name;
                         });

// The largest size for teams other than the world's: under a sanitizer they skip the longest data.
constexpr std::size_t most_of_others = tessera::test::is_sanitized ? 4097 : sizes.back();

std::vector<std::byte> pattern(std::size_t bytes, std::int32_t rank) {
  std::vector<std::byte> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    result[i] = static_cast<std::byte>(i * 13 + static_cast<std::size_t>(rank) * 101 + 7);
  }
  return result;
}

void broadcast_all(Team& team, std::size_t most = sizes.back()) {
  for (const std::size_t bytes : sizes) {
    if (bytes > most) {
      break;
    }
    for (std::int32_t root = 0; root < team.size(); ++root) {
      const bool is_root = team.rank().value == root;
      std::vector<std::byte> data = is_root ? pattern(bytes, root) : std::vector<std::byte>(bytes);
      ASSERT_TRUE(ok(team.broadcast(data, TeamRank{root})));
      ASSERT_EQ(data, pattern(bytes, root)) << bytes << " bytes from " << root;
    }
  }
}

void allgather_all(Team& team, std::size_t most = sizes.back()) {
  for (const std::size_t bytes : sizes) {
    if (bytes > most) {
      break;
    }
    std::vector<std::byte> all(bytes * static_cast<std::size_t>(team.size()));
    ASSERT_TRUE(ok(team.allgather(pattern(bytes, team.rank().value), all)));
    for (std::int32_t member = 0; member < team.size(); ++member) {
      const auto expected = pattern(bytes, member);
      const std::size_t at = static_cast<std::size_t>(member) * bytes;
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), all.data() + at))
          << bytes << " bytes of " << member;
    }
  }
}

TEST_P(OverNodes, BroadcastCopiesAnySizeFromAnyRoot) {
  Cluster cluster(GetParam());
  on_cluster(cluster, slot, [](JobState&, Team& team) { broadcast_all(team); });
}

TEST_P(OverNodes, AllgatherGathersAnySizeInTeamOrder) {
  Cluster cluster(GetParam());
  on_cluster(cluster, slot, [](JobState&, Team& team) { allgather_all(team); });
}

TEST_P(OverNodes, BarrierHoldsUntilAllHaveCome) {
  Cluster cluster(GetParam());
  std::vector<std::atomic<int>> rounds_of(GetParam().size());
  on_cluster(cluster, slot, [&](JobState& job, Team& team) {
    for (int round = 1; round <= 100; ++round) {
      rounds_of[static_cast<std::size_t>(job.rank().value)].store(round);
      ASSERT_TRUE(ok(team.barrier()));
      for (const auto& each : rounds_of) {
        ASSERT_GE(each.load(), round);
      }
      ASSERT_TRUE(ok(team.barrier()));
    }
  });
}

// Elements whose sums depend on the order of summation, as bytes.
std::vector<std::byte> numbers(ElementType type, std::size_t count, std::int32_t rank) {
  std::vector<std::byte> bytes(count * size_of(type));
  dispatch(type, [&]<class T>(Tag<T>) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto mixed =
          static_cast<std::int32_t>((i * 7919 + static_cast<std::size_t>(rank) * 31) % 1009) - 500;
      T value{};
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(mixed % 5);
      } else if constexpr (std::is_floating_point_v<T>) {
        value = static_cast<T>(mixed) / static_cast<T>(3);
      } else {
        using Part = typename T::value_type;
        value = T(static_cast<Part>(mixed) / Part{7}, static_cast<Part>(rank) / Part{3});
      }
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof value);
    }
  });
  return bytes;
}

// Combines the nodes' results: short data one by one, long data as a tree over the nodes' numbers.
// The tree first folds the nodes beyond the largest power of two, then halves.
std::vector<std::byte> combine_nodes(std::vector<std::vector<std::byte>> parts, ElementType type,
                                     Reduction reduction) {
  const auto add = [&](std::size_t into, std::size_t from) {
    combine(parts[into].data(), parts[from].data(), parts[from].size(), type, reduction);
  };
  const std::size_t bytes = parts.front().size();
  if (bytes <= 2 * slot) {
    for (std::size_t node = 1; node < parts.size(); ++node) {
      add(0, node);
    }
    return parts.front();
  }
  const std::size_t power = std::bit_floor(parts.size());
  for (std::size_t node = power; node < parts.size(); ++node) {
    add(node - power, node);
  }
  for (std::size_t half = power / 2; half > 0; half /= 2) {
    for (std::size_t node = 0; node < half; ++node) {
      add(node, node + half);
    }
  }
  return parts.front();
}

// The documented order: nodes by their lowest member, and the members of a node in team order.
std::vector<std::byte> reference(const Cluster& cluster, const Team& team, ElementType type,
                                 Reduction reduction, std::size_t count) {
  std::vector<WorldRank> sorted(team.members().begin(), team.members().end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<NodeId> nodes;
  for (const WorldRank rank : sorted) {
    const NodeId node = cluster.map().node_of(rank);
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
      nodes.push_back(node);
    }
  }
  std::vector<std::vector<std::byte>> parts;
  for (const NodeId node : nodes) {
    std::vector<std::byte>& part = parts.emplace_back();
    for (const WorldRank member : team.members()) {
      if (cluster.map().node_of(member) != node) {
        continue;
      }
      const auto next = numbers(type, count, member.value);
      part.empty() ? void(part = next)
                   : combine(part.data(), next.data(), next.size(), type, reduction);
    }
  }
  return nodes.size() == 1 ? parts.front() : combine_nodes(std::move(parts), type, reduction);
}

void reduce_all(const Cluster& cluster, Team& team) {
  const WorldRank self = team.world_rank(team.rank());
  for (int tag = 0; tag < element_type_count; ++tag) {
    const auto type = static_cast<ElementType>(tag);
    for (const Reduction reduction :
         {Reduction::sum, Reduction::product, Reduction::min, Reduction::max}) {
      if (!is_defined(type, reduction)) {
        continue;
      }
      for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 64U, 65U, 700U, 2100U}) {
        const auto expected = reference(cluster, team, type, reduction, count);
        auto mine = numbers(type, count, self.value);
        ASSERT_TRUE(
            ok(team.allreduce(mine.data(), static_cast<std::int64_t>(count), type, reduction)));
        ASSERT_TRUE(mine == expected) << count << " elements of type " << tag;
        const TeamRank root{team.size() - 1};
        mine = numbers(type, count, self.value);
        ASSERT_TRUE(
            ok(team.reduce(mine.data(), static_cast<std::int64_t>(count), type, reduction, root)));
        ASSERT_EQ(mine, team.rank() == root ? expected : numbers(type, count, self.value));
      }
    }
  }
}

TEST_P(OverNodes, AllreduceGivesTheSameBitsEverywhere) {
  Cluster cluster(GetParam());
  on_cluster(cluster, slot, [&](JobState&, Team& team) { reduce_all(cluster, team); });
}

TEST_P(OverNodes, AgreeGivesTheErrorOfTheLowestFailingMemberToAll) {
  Cluster cluster(GetParam());
  on_cluster(cluster, slot, [&](JobState& job, Team& team) {
    for (std::int32_t lowest = 0; lowest < team.size(); ++lowest) {
      const std::string said = "sentence of " + std::to_string(job.rank().value);
      const Status mine =
          job.rank().value < lowest ? Status() : Status::error(Code::limit_exceeded, said);
      const Status agreed = team.agree(mine);
      const std::string expected =
          "on rank " + std::to_string(lowest) + ": sentence of " + std::to_string(lowest);
      ASSERT_TRUE(fails(agreed, Code::limit_exceeded, {expected}));
      ASSERT_EQ(agreed.rank(), WorldRank{lowest});
      ASSERT_TRUE(ok(team.agree(Status())));
    }
    const Status mine = Status::error_at(WorldRank{1}, Code::no_memory, std::string(5000, 'x'));
    ASSERT_TRUE(fails(team.agree(mine), Code::no_memory, {"on rank 0: xxx"}));
    ASSERT_TRUE(ok(team.barrier()));
  });
}

TEST_P(OverNodes, AgreeTellsAllWhereTwoWereAskedForDifferentThings) {
  Cluster cluster(GetParam());
  on_cluster(cluster, slot, [&](JobState& job, Team& team) {
    ASSERT_TRUE(ok(team.agree(Status(), {7})));
    for (std::int32_t odd = 1; odd < team.size(); ++odd) {
      const Status agreed = team.agree(Status(), {job.rank().value < odd ? 7U : 8U});
      ASSERT_TRUE(fails(
          agreed, Code::invalid_argument,
          {"rank " + std::to_string(odd) + " called agree with other arguments than rank 0"}));
      // A member's own error takes precedence over different arguments of another member.
      const bool fails_here = job.rank().value == odd;
      ASSERT_TRUE(fails(team.agree(fails_here ? Status::error(Code::closed, "gone") : Status(),
                                   Asked{fails_here ? 0U : 7U}),
                        Code::closed, {"on rank " + std::to_string(odd) + ": gone"}));
    }
    ASSERT_TRUE(ok(team.agree(Status(), {1})));
  });
}

TEST_P(OverNodes, CollectivesOfManyKindsMayFollowEachOther) {
  Cluster cluster(GetParam());
  on_cluster(cluster, slot, [](JobState& job, Team& team) {
    for (std::int32_t round = 0; round < 60; ++round) {
      std::int64_t value = job.rank().value == round % job.size() ? round : -1;
      ASSERT_TRUE(ok(team.broadcast_value(value, TeamRank{round % job.size()})));
      ASSERT_EQ(value, round);
      ASSERT_EQ(team.allreduce(value, Reduction::sum).value(), std::int64_t{round} * job.size());
      const auto all = team.allgather_value(job.rank().value * 2).value();
      ASSERT_EQ(all.back(), 2 * (job.size() - 1));
      if (round % 3 == 0) {
        ASSERT_TRUE(ok(team.barrier()));
      }
      std::vector<double> many(static_cast<std::size_t>(100 + round), 1.0);
      ASSERT_TRUE(ok(team.allreduce(std::span(many), Reduction::sum)));
      ASSERT_EQ(many.back(), job.size());
      ASSERT_TRUE(ok(team.agree(Status())));
    }
  });
}

Result<Team> team_of(JobState& job, std::vector<WorldRank> members) {
  TESSERA_ASSIGN_OR_RETURN(auto state,
                           TeamState::create(job, job.weak_from_this().lock(), std::move(members)));
  return Team(std::move(state));
}

TEST_P(OverNodes, TeamsOfAnyMembersInAnyOrderWork) {
  Cluster cluster(GetParam());
  on_cluster(cluster, slot, [&](JobState& job, Team& world) {
    std::vector<std::vector<WorldRank>> lists;
    std::vector<WorldRank> reversed(world.members().rbegin(), world.members().rend());
    lists.push_back(reversed);
    std::rotate(reversed.begin(), reversed.begin() + 1, reversed.end());
    lists.push_back(reversed);
    for (std::int32_t step = 2; step <= 3; ++step) {
      for (std::int32_t first = 0; first < step; ++first) {
        std::vector<WorldRank> list;
        for (std::int32_t rank = first; rank < job.size(); rank += step) {
          list.push_back(WorldRank{rank});
        }
        lists.push_back(list);
      }
    }
    for (const auto& list : lists) {
      if (std::find(list.begin(), list.end(), job.rank()) == list.end()) {
        continue;
      }
      Team team = team_of(job, list).value();
      broadcast_all(team, most_of_others);
      allgather_all(team, most_of_others);
      auto mine = numbers(ElementType::f64, 100, job.rank().value);
      ASSERT_TRUE(ok(team.allreduce(mine.data(), 100, ElementType::f64, Reduction::sum)));
      ASSERT_TRUE(mine == reference(cluster, team, ElementType::f64, Reduction::sum, 100));
    }
  });
}

TEST_P(OverNodes, ManyTeamsLiveAtOnceAndAreMadeAnew) {
  Cluster cluster(GetParam());
  on_cluster(cluster, slot, [](JobState& job, Team& world) {
    for (int round = 0; round < 5; ++round) {
      std::vector<Team> teams;
      for (int i = 0; i < 5; ++i) {
        teams.push_back(team_of(job, {world.members().begin(), world.members().end()}).value());
        teams.push_back(world.split(job.rank().value % (1 + i % 2), -job.rank().value).value());
      }
      for (int use = 0; use < 5; ++use) {
        for (std::size_t i = 0; i < teams.size(); ++i) {
          const auto mine = static_cast<std::int64_t>(i);
          ASSERT_EQ(teams[i].allreduce(mine, Reduction::sum).value(), mine * teams[i].size());
        }
      }
    }
  });
}

TEST_P(OverNodes, TeamsOfDifferingSlotsUseTheLeast) {
  Cluster cluster(GetParam());
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < cluster.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const auto job = cluster.start(WorldRank{rank}, true, 256 + 320 * (rank % 3));
      auto world = world_of(*job);
      ASSERT_TRUE(ok(world));
      broadcast_all(*world);
      allgather_all(*world);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(cluster.board().refused.load(), 0);
}

Status broadcast_of(Team& team, std::size_t bytes, std::int32_t root) {
  std::vector<std::byte> data(bytes);
  return team.broadcast(data, TeamRank{root});
}

// One rank calls `odd`, the others `usual`. All get the same error, and the team remains usable.
void mismatch(const Shape& shape, const std::function<Status(Team&)>& usual,
              const std::function<Status(Team&)>& odd, std::vector<std::string> words) {
  Cluster cluster(shape);
  std::mutex mutex;
  std::vector<std::vector<std::string>> told(shape.size());
  on_cluster(cluster, slot, [&](JobState& job, Team& team) {
    for (std::int32_t odd_rank = 0; odd_rank < job.size(); ++odd_rank) {
      const Status status = job.rank().value == odd_rank ? odd(team) : usual(team);
      EXPECT_TRUE(fails(status, Code::invalid_argument, {"called different collectives"}));
      for (const std::string& word : words) {
        EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
      }
      {
        const std::lock_guard guard(mutex);
        told[static_cast<std::size_t>(odd_rank)].push_back(status.message());
      }
      ASSERT_TRUE(ok(team.barrier()));
      // From here on the team has memory for long data.
      ASSERT_TRUE(ok(broadcast_of(team, 3000, 0)));
      ASSERT_EQ(team.allreduce(1, Reduction::sum).value(), job.size());
      const auto all = team.allgather_value(job.rank().value).value();
      ASSERT_EQ(all.back(), job.size() - 1);
    }
  });
  for (const auto& each : told) {
    EXPECT_EQ(std::count(each.begin(), each.end(), each.front()),
              static_cast<std::ptrdiff_t>(shape.size()));
  }
}

Status allgather_of(Team& team, std::size_t bytes) {
  std::vector<std::byte> all(bytes * static_cast<std::size_t>(team.size()));
  return team.allgather(std::vector<std::byte>(bytes), all);
}

TEST_P(OverNodes, MismatchedCollectivesAreToldToAllInTheSameWords) {
  const auto barrier = [](Team& team) { return team.barrier(); };
  mismatch(GetParam(), barrier, [](Team& team) { return broadcast_of(team, 8, 0); },
           {"barrier", "broadcast of 8 bytes from member 0"});
  mismatch(GetParam(), [](Team& team) { return allgather_of(team, 1000); }, barrier,
           {"barrier", "allgather of 1000 bytes"});
  mismatch(
      GetParam(), [](Team& team) { return allgather_of(team, 9001); },
      [](Team& team) { return allgather_of(team, 9002); },
      {"allgather of 9001 bytes", "allgather of 9002 bytes"});
  mismatch(
      GetParam(), [](Team& team) { return broadcast_of(team, 1000, 0); },
      [](Team& team) { return broadcast_of(team, 8, 1); },
      {"broadcast of 1000 bytes from member 0", "broadcast of 8 bytes from member 1"});
  mismatch(
      GetParam(), [](Team& team) { return team.agree(Status()); },
      [](Team& team) { return allgather_of(team, 12); }, {"called agree", "allgather of 12 bytes"});
  mismatch(
      GetParam(), [](Team& team) { return team.allreduce(1.0, Reduction::sum).status(); },
      [](Team& team) { return team.allreduce(1, Reduction::sum).status(); },
      {"allreduce of 8 bytes of", "allreduce of 4 bytes of"});
}

TEST_P(OverNodes, ListsOfDifferingOrdersAreRefusedByAll) {
  Cluster cluster(GetParam());
  on_cluster(cluster, slot, [&](JobState& job, Team& world) {
    std::vector<WorldRank> list(world.members().begin(), world.members().end());
    if (job.rank().value == job.size() - 1) {
      std::reverse(list.begin(), list.end());
    }
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(fails(team_of(job, list), Code::invalid_argument,
                        {"gave the ranks of a team in another order"}));
      ASSERT_TRUE(ok(world.barrier()));
    }
  });
}

TEST_P(OverNodes, AMemberThatLeftEndsAllCollectives) {
  for (std::int32_t leaver = 0; leaver < static_cast<std::int32_t>(GetParam().size()); ++leaver) {
    Cluster cluster(GetParam());
    on_cluster(cluster, slot, [&](JobState& job, Team& team) {
      ASSERT_TRUE(ok(team.barrier()));
      if (job.rank().value == leaver) {
        return;
      }
      for (int round = 0; round < 2; ++round) {
        const Status status = team.barrier();
        EXPECT_TRUE(fails(status, Code::closed, {"has left the job"}));
        // The error may also name a rank that left after its own error.
        EXPECT_TRUE(status.rank().has_value());
      }
    });
  }
}

TEST_P(OverNodes, ANodeWithoutMemoryFailsAllAndTheNextTeamIsMade) {
  for (std::int32_t poor = 0; poor < 2; ++poor) {
    Cluster cluster(GetParam());
    const WorldRank leader = cluster.ranks_of(poor).front();
    on_cluster(cluster, slot, [&](JobState& job, Team& world) {
      std::vector<std::uint64_t> taken;
      if (job.rank() == leader) {
        while (auto offset = job.node().arena().allocate(granule_bytes)) {
          taken.push_back(*offset);
        }
      }
      ASSERT_TRUE(ok(world.barrier()));
      const std::vector<WorldRank> list(world.members().begin(), world.members().end());
      const auto failed = team_of(job, list);
      EXPECT_FALSE(failed.ok());
      if (job.rank() != leader) {
        const std::string words =
            "rank " + std::to_string(leader.value) + " found no memory for the team";
        EXPECT_TRUE(fails(failed, Code::no_memory, {words}));
      }
      ASSERT_TRUE(ok(world.barrier()));
      for (const std::uint64_t offset : taken) {
        job.node().arena().free(offset, granule_bytes);
      }
      ASSERT_TRUE(ok(world.barrier()));
      ASSERT_TRUE(ok(team_of(job, list)));
      ASSERT_TRUE(ok(world.barrier()));
    });
  }
}

TEST_P(OverNodes, ANodeWithoutMemoryForLongDataSendsItSlotBySlot) {
  for (std::int32_t poor = 0; poor < 2; ++poor) {
    Cluster cluster(GetParam());
    const WorldRank leader = cluster.ranks_of(poor).front();
    on_cluster(cluster, slot, [&](JobState& job, Team& team) {
      std::vector<std::uint64_t> taken;
      if (job.rank() == leader) {
        while (auto offset = job.node().arena().allocate(granule_bytes)) {
          taken.push_back(*offset);
        }
      }
      const int published = cluster.published();
      ASSERT_TRUE(ok(team.barrier()));
      // Beyond all limits between algorithms. More bytes would only need more slots, and each slot
      // is a step of the whole team.
      constexpr std::size_t most = 16'385;
      broadcast_all(team, std::min(most, most_of_others));
      allgather_all(team, most);
      ASSERT_TRUE(ok(team.barrier()));
      // The nodes that had memory have freed it.
      EXPECT_EQ(cluster.published(), published);
      for (const std::uint64_t offset : taken) {
        job.node().arena().free(offset, granule_bytes);
      }
      ASSERT_TRUE(ok(team.barrier()));
    });
  }
}

TEST_P(OverNodes, SegmentsHaveTheSlicesOfEachNodeInItsArena) {
  Cluster cluster(GetParam());
  on_cluster(cluster, slot, [](JobState& job, Team& team) {
    for (const std::size_t unequal : {0U, 3U << 20U}) {
      const auto bytes_of = [&](WorldRank rank) {
        return rank.value == 1 ? 1000 + unequal : 1000 * static_cast<std::size_t>(rank.value % 3);
      };
      auto made = shm::ArenaSegment::create(job.node(), team, bytes_of(job.rank()), {});
      ASSERT_TRUE(ok(made));
      Segment& segment = **made;
      const DirectMap map = segment.direct();
      std::fill_n(segment.local(), bytes_of(job.rank()), static_cast<std::byte>(job.rank().value));
      ASSERT_TRUE(ok(team.barrier()));
      for (const WorldRank rank : job.node().ranks()) {
        const auto order = static_cast<std::size_t>(team.state().order_of(rank));
        const std::byte* const slice =
            map.base + (map.offsets.empty() ? order * map.stride : map.offsets[order]);
        for (std::size_t i = 0; i < bytes_of(rank); i += 499) {
          ASSERT_EQ(slice[i], static_cast<std::byte>(rank.value));
        }
      }
      ASSERT_TRUE(ok(team.barrier()));
      ASSERT_TRUE(ok(segment.free()));
    }
    // More than one node's arena: an error on all ranks, which names the rank that found it.
    const bool is_greedy = job.rank().value == job.size() - 1;
    EXPECT_TRUE(fails(
        shm::ArenaSegment::create(job.node(), team, is_greedy ? std::size_t{1} << 40U : 64, {}),
        Code::no_memory, {"is more than the node's arena"}));
    ASSERT_TRUE(ok(team.barrier()));
  });
}

TEST_P(OverNodes, NumbersOfRegionsAreDrawnOnce) {
  Cluster cluster(GetParam());
  std::mutex mutex;
  std::vector<std::uint32_t> drawn;
  on_cluster(cluster, slot, [&](JobState& job, Team&) {
    for (int i = 0; i < 50; ++i) {
      const RegionId id = draw_region_id(job);
      const std::lock_guard guard(mutex);
      drawn.push_back(id.value);
    }
  });
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(std::unique(drawn.begin(), drawn.end()), drawn.end());
  EXPECT_GT(drawn.front(), 0U);
}

TEST(ATeamOverNodes, NeedsALink) {
  Cluster cluster({0, 1});
  const auto job = cluster.start(WorldRank{0}, true, slot);
  job->transports().set_link(nullptr);
  EXPECT_TRUE(
      fails(world_of(*job), Code::unreachable, {"on several nodes", "'shm,verbs,mpi,tcp'"}));
}

TEST(AStep, IsSummarisedTheSameInWhateverOrderNodesAreJoined) {
  std::minstd_rand dice(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<StepSummary> each(1 + dice() % 6);
    for (std::size_t node = 0; node < each.size(); ++node) {
      const auto rank = static_cast<std::int32_t>(node);
      const auto order = static_cast<std::uint32_t>(2 * node);
      each[node].first = {.call = 1 + dice() % 2, .fingerprint = 8, .rank = rank, .order = order};
      if (dice() % 4 == 0) {
        each[node].odd = {.call = each[node].first.call % 2 + 1,
                          .fingerprint = 8,
                          .rank = rank + 100,
                          .order = order + 1};
      }
      each[node].slot_bytes = 64 * (1 + dice() % 9);
    }
    StepSummary in_order;
    for (const StepSummary& one : each) {
      in_order.join(one);
    }
    StepSummary shuffled;
    for (int i = 0; i < 3; ++i) {  // each summary joins several times
      std::shuffle(each.begin(), each.end(), dice);
      for (const StepSummary& one : each) {
        shuffled.join(one);
      }
    }
    ASSERT_EQ(std::memcmp(&in_order, &shuffled, sizeof in_order), 0);
  }
}

TEST(TeamNodes, BringEachBlockToEachNodeOnceIntoMailboxesThatDoNotOverlap) {
  for (std::size_t nodes = 2; nodes <= 17; ++nodes) {
    Shape shape;
    for (std::size_t rank = 0; rank < 3 * nodes; ++rank) {
      shape.push_back(rank < nodes ? rank : rank * rank % nodes);
    }
    const NodeMap map(shape, 0);
    std::vector<WorldRank> members;
    for (std::size_t rank = 0; rank < shape.size(); ++rank) {
      members.push_back(WorldRank{static_cast<std::int32_t>(rank)});
    }
    for (std::size_t node = 0; node < nodes; ++node) {
      const TeamNodes team(members, map, members[node]);
      ASSERT_EQ(team.count(), static_cast<std::int32_t>(nodes));
      std::int32_t got = 1;
      std::uint64_t end = 0;
      for (const auto set : {TeamNodes::Set::forming, TeamNodes::Set::even, TeamNodes::Set::odd}) {
        const std::uint64_t each = set == TeamNodes::Set::forming ? 0 : 128;
        for (int round = 0; round < team.rounds(); ++round) {
          ASSERT_EQ(team.mail_offset(team.own(), set, round, 128), end);
          const std::int32_t first = 1 << round;
          const auto room = static_cast<std::uint64_t>(
              team.members_within(first + team.blocks_in(round)) - team.members_within(first));
          end += sizeof(TeamMailbox) + room * each;
          got += each == 0 ? team.blocks_in(round) : 0;
          const TeamNodes other(members, map, team.leader(team.receiver(round)));
          ASSERT_EQ(other.sender(round), team.own());
        }
      }
      ASSERT_EQ(got, team.count());
      ASSERT_EQ(team.mail_bytes(team.own(), 128), end);
      ASSERT_EQ(team.members_within(team.count()), static_cast<std::int32_t>(members.size()));
    }
  }
}

}  // namespace
}  // namespace tessera::rma::detail
