// SPDX-License-Identifier: BSD-3-Clause
//
// Scenarios in which the first rank of a node, which runs its agent, dies or stops: three nodes of
// two ranks, over tcp. The victim is rank 2, and rank 3 shares its node. Another scenario has rank
// 3 alone on one of seven nodes.
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "rma/notify.hpp"
#include "rma/transfer.hpp"
#include "tests/fault/stage.hpp"

namespace tessera::fault {
namespace {

using rma::Status;
using rma::TeamRank;
using rma::WorldRank;

constexpr WorldRank agent_host{2};
constexpr WorldRank node_peer{3};
// Not the first ranks of their nodes: they connect to a node only when they operate on it.
constexpr WorldRank connected{1};
constexpr WorldRank unconnected{5};
constexpr WorldRank peer_of_unconnected{4};

constexpr std::uint64_t outgoing_offset = 128;
constexpr double outgoing_value = 3.5;

Status put_and_fence(rma::Job& job, rma::Region& region) {
  TESSERA_RETURN_IF_ERROR(put_value(job, region.at(TeamRank{node_peer.value}, 64), 2.5));
  return job.fence(node_peer);
}

// Survivors make a team and use it.
Status use_new_team(rma::Job& job, const std::vector<WorldRank>& members) {
  TESSERA_ASSIGN_OR_RETURN(rma::Team team, rma::Team::create(job, members));
  TESSERA_ASSIGN_OR_RETURN(rma::Region region, rma::Region::allocate(team, 4096));
  const TeamRank next{(team.rank().value + 1) % team.size()};
  TESSERA_RETURN_IF_ERROR(put_value(job, region.at(next, 8), 1.5));
  TESSERA_RETURN_IF_ERROR(region.fence());
  TESSERA_RETURN_IF_ERROR(team.barrier());
  TESSERA_ASSIGN_OR_RETURN(const double own,
                           rma::get_value<double>(job, region.at(team.rank(), 8)));
  if (own != 1.5) {
    return Status::error(rma::Code::internal, "a put between survivors did not arrive");
  }
  return region.free();
}

// Operates on the dead rank's node peer until that fails. The unconnected rank operates for the
// first time after that.
Status use_lost_node(rma::Job& job, rma::Region& region) {
  if (job.rank() == unconnected) {
    TESSERA_RETURN_IF_ERROR(rma::wait_for_notifications(job, peer_of_unconnected, 1).status());
    return put_and_fence(job, region);
  }
  Status status;
  while (status.ok()) {
    status = put_and_fence(job, region);
  }
  if (job.rank() == peer_of_unconnected) {
    TESSERA_RETURN_IF_ERROR(rma::notify(job, unconnected).status());
  }
  return status;
}

// Waits until the node peer's put has arrived, for 20 s at most, so that the region is not freed
// before.
void wait_for_node_peer(rma::Job& job, const rma::Region& region) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (rma::get_value<double>(job, region.at(TeamRank{0}, outgoing_offset)).value() !=
             outgoing_value &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void agent_host_dies(rma::Job& job, const Line& line, rma::Region& region) {
  if (job.rank() == agent_host) {
    line.ready();
    wait_for_the_end();
  }
  if (job.rank() == node_peer) {
    // Requests of other nodes no longer reach this rank, but its own requests still reach them.
    line.report("outcome", job.barrier());
    Status outgoing = put_value(job, region.at(TeamRank{0}, outgoing_offset), outgoing_value);
    line.report("outgoing", outgoing.ok() ? job.fence(WorldRank{0}) : outgoing);
    return;
  }
  line.report("outcome", use_lost_node(job, region));
  line.report("carry_on",
              use_new_team(job, {WorldRank{0}, connected, peer_of_unconnected, unconnected}));
  if (job.rank().value == 0) {
    wait_for_node_peer(job, region);
  }
}

void agent_host_stops(rma::Job& job, const Line& line, rma::Region& region) {
  if (job.rank() == agent_host) {
    line.report("left", job.stop());
    return;
  }
  while (job.is_present(agent_host)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // The stopped rank's agent still serves its node peer, even for ranks that connect only now.
  line.report("outcome", put_and_fence(job, region));
  line.report("node_peer",
              job.is_present(node_peer)
                  ? Status()
                  : Status::error(rma::Code::internal, "the peer on its node counts as lost"));
  line.report("carry_on", use_new_team(job, {WorldRank{0}, connected, node_peer,
                                             peer_of_unconnected, unconnected}));
}

// All other ranks see that the only rank of a node has left, even those that never connected to its
// node.
void only_rank_stops(rma::Job& job, const Line& line) {
  if (job.rank() == node_peer) {
    line.report("left", job.stop());
    return;
  }
  while (job.is_present(node_peer)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  line.report("outcome", job.barrier());
  std::vector<WorldRank> others;
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    if (rank != node_peer.value) {
      others.push_back(WorldRank{rank});
    }
  }
  line.report("carry_on", use_new_team(job, others));
}

// The first message of a rank to rank 0 is a flag for memory that rank 0 has already freed: after a
// rank has left, free() does not wait for all members. Rank 0 stays until the sender has seen the
// result.
Status flag_comes_too_late(rma::Job& job, const Line& line, rma::Region& region) {
  if (job.rank() == agent_host) {
    return job.stop();
  }
  while (job.is_present(agent_host)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (job.rank() != unconnected) {
    region.free().ignore("a member has left");
    if (job.rank().value != 0) {
      return {};
    }
    TESSERA_RETURN_IF_ERROR(rma::notify(job, unconnected).status());
    return rma::wait_for_notifications(job, unconnected, 1).status();
  }
  TESSERA_RETURN_IF_ERROR(rma::wait_for_notifications(job, WorldRank{0}, 1).status());
  TESSERA_RETURN_IF_ERROR(rma::raise_flag(job, region.at(TeamRank{0}), 1));
  line.report("outcome", job.fence_all());
  line.report("later", job.fence_all());
  return rma::notify(job, WorldRank{0}).status();
}

// Everything for which the agent host's node peer waits comes from live ranks of other nodes, but
// no agent receives it.
struct PendingWaits {
  rma::Job& job;
  const Line& line;
  rma::Region& region;
  rma::LockSet& locks;
  rma::Team& pair;  // of the node peer and rank 0
};

rma::Result<rma::Team> make_pair(rma::Job& job) {
  return rma::Team::create(job, std::vector<WorldRank>{WorldRank{0}, node_peer});
}

void wait_without_agent_host(PendingWaits& all) {
  const WorldRank first{0};
  all.line.report("lock", all.locks.lock(TeamRank{node_peer.value}, 0));
  all.line.report("lock_again", all.locks.lock(TeamRank{node_peer.value}, 0));
  all.line.report("flag",
                  rma::wait_for_flag(all.job, all.region.at(TeamRank{node_peer.value}), 1, first));
  all.line.report("notice", rma::wait_for_notifications(all.job, first, 1).status());
  all.line.report("barrier", all.pair.barrier());
  all.line.report("team", make_pair(all.job).status());
}

Status node_peer_is_unreachable(rma::Job& job, const Line& line, rma::Region& region) {
  TESSERA_ASSIGN_OR_RETURN(rma::LockSet locks, rma::LockSet::create(job.world(), 1));
  const bool is_of_pair = job.rank() == node_peer || job.rank().value == 0;
  std::optional<rma::Team> pair;
  if (is_of_pair) {
    TESSERA_ASSIGN_OR_RETURN(pair, make_pair(job));
  }
  if (job.rank().value == 0) {
    TESSERA_RETURN_IF_ERROR(locks.lock(TeamRank{node_peer.value}, 0));
  }
  TESSERA_RETURN_IF_ERROR(job.barrier());
  if (job.rank() == agent_host) {
    line.ready();
    wait_for_the_end();
  }
  if (job.rank() == node_peer) {
    PendingWaits all{job, line, region, locks, *pair};
    wait_without_agent_host(all);
    TESSERA_RETURN_IF_ERROR(
        put_value(job, region.at(TeamRank{0}, outgoing_offset), outgoing_value));
    return job.fence(WorldRank{0});
  }
  if (job.rank().value == 0) {
    wait_for_node_peer(job, region);
  }
  return {};
}

// The agent host is stopped while the last step of its node peer with rank 0 is under way; rank 0,
// which already has all it needs, frees the team.
Status team_is_freed_early(rma::Job& job, const Line& line) {
  constexpr std::chrono::milliseconds until_stopped{300};
  std::optional<rma::Team> pair;
  if (job.rank() == node_peer || job.rank().value == 0) {
    TESSERA_ASSIGN_OR_RETURN(pair, make_pair(job));
    TESSERA_RETURN_IF_ERROR(pair->barrier());
  }
  TESSERA_RETURN_IF_ERROR(job.barrier());
  if (job.rank() == agent_host) {
    line.ready();
  }
  std::this_thread::sleep_for(until_stopped);
  if (pair) {
    line.report("outcome", pair->barrier());
    pair.reset();
  }
  return job.barrier();
}

// --- six nodes of one rank, in two clusters of three: node 3 forwards the requests of rank 0 to
// ranks 4 and 5, and its rank dies

constexpr WorldRank passed_to[] = {WorldRank{4}, WorldRank{5}};
constexpr WorldRank intermediary{3};

Status put_get_and_fence(rma::Job& job, rma::Region& region, WorldRank rank, double value) {
  const rma::RemoteAddress word =
      region.at(TeamRank{rank.value}, 64 + 8 * static_cast<std::uint64_t>(job.rank().value));
  TESSERA_RETURN_IF_ERROR(put_value(job, word, value).context("in put"));
  const auto got = rma::get_value<double>(job, word);
  if (!got.ok()) {
    return Status(got.status()).context("in get");
  }
  const double there = *got;
  if (there != value) {
    return Status::error(rma::Code::internal, "a get doesn't see the put before it");
  }
  return job.fence(rank).context("in fence");
}

// The puts under way are lost; all later ones take a route around the dead node.
void use_other_routes(rma::Job& job, const Line& line, rma::Region& region) {
  Status under_way;
  for (double value = 1; under_way.ok(); ++value) {
    under_way = put_get_and_fence(job, region, passed_to[1], value);
  }
  line.report("outcome", under_way);
  job.fence_all().ignore("what was passed on and lost was reported, or is now");
  Status round;
  for (int i = 0; i < 100 && round.ok(); ++i) {
    round = put_get_and_fence(job, region, passed_to[i % 2], i);
  }
  line.report("round", round);
}

void intermediary_dies(rma::Job& job, const Line& line, rma::Region& region) {
  if (job.rank() == intermediary) {
    line.ready();
    wait_for_the_end();
  }
  if (job.rank().value == 0) {
    use_other_routes(job, line, region);
  } else if (job.rank().value < intermediary.value) {
    // Other nodes forward the requests of these ranks, including those to the dead rank.
    Status to_the_dead;
    Status to_others;
    for (double value = 1; to_the_dead.ok() && to_others.ok(); ++value) {
      to_others = put_get_and_fence(job, region, passed_to[job.rank().value - 1], value);
      to_the_dead = put_get_and_fence(job, region, intermediary, value);
    }
    line.report("outcome", to_the_dead);
    line.report("round", to_others);
  } else {
    Status round;
    while (job.is_present(intermediary) && round.ok()) {
      round = put_get_and_fence(job, region, WorldRank{0}, 1.0);
    }
    line.report("round", round);
  }
  job.fence_all().ignore("what was under way to the dead");
  line.report("victim", put_get_and_fence(job, region, intermediary, 1.0));
  job.fence_all().ignore("what was under way to the dead, again");
  line.report("carry_on", use_new_team(job, {WorldRank{0}, WorldRank{1}, WorldRank{2}, passed_to[0],
                                             passed_to[1]}));
}

}  // namespace

Status play_on_nodes(std::string_view name, rma::Job& job, const Line& line) {
  TESSERA_ASSIGN_OR_RETURN(rma::Region region,
                           rma::Region::allocate(job.world(), Stage::slice_bytes));
  if (job.rank() == connected) {
    TESSERA_RETURN_IF_ERROR(put_and_fence(job, region));
  }
  TESSERA_RETURN_IF_ERROR(job.barrier());
  if (name == "node:intermediary_dies") {
    intermediary_dies(job, line, region);
    return {};
  }
  if (name == "node:only_rank_stops") {
    only_rank_stops(job, line);
  } else if (name == "node:flag_comes_too_late") {
    return flag_comes_too_late(job, line, region);
  } else if (name == "node:node_peer_is_unreachable") {
    return node_peer_is_unreachable(job, line, region);
  } else if (name == "node:team_is_freed_early") {
    return team_is_freed_early(job, line);
  } else if (name == "node:agent_host_dies") {
    agent_host_dies(job, line, region);
  } else {
    agent_host_stops(job, line, region);
  }
  return {};
}

}  // namespace tessera::fault
