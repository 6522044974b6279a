// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/node_barrier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "rma/engine/job_state.hpp"
#include "rma/interruption.hpp"

namespace tessera::rma::detail {

NodeBarrier::NodeBarrier(JobState& job, const TeamMembers& members, const TeamMemory& memory,
                         TeamLiveness& liveness, const CallChecker& checker) noexcept
    : job_(job),
      members_(members),
      memory_(memory),
      liveness_(liveness),
      checker_(checker),
      count_(static_cast<std::uint32_t>(members.count_on_node())) {}

void NodeBarrier::arrive_for_leader() const noexcept {
  // Sequentially consistent, like what the leader does before it sleeps: one sees the other.
  const std::uint32_t arrived = control().arrived.fetch_add(1) + 1;
  if (arrived + 1 == count_ && control().leader_sleeps.load() != 0) {
    futex_wake_all(control().arrived);
  }
}

Status NodeBarrier::wait_for_end(std::uint32_t generation) {
  TeamControl& control = this->control();
  const auto over = [&] {
    return control.generation.load(std::memory_order_acquire) != generation;
  };
  Waiter waiter = job_.node().waiter();
  if (!waiter.spin(over)) {
    LongWait long_wait = begin_to_wait(generation);
    control.sleepers.fetch_add(1);
    waiter.sleep(OnWord(control.generation), over, [&] {
      check_long_wait(long_wait, generation);
      return false;
    });
    control.sleepers.fetch_sub(1);
  }
  // A later step may have been given up meanwhile, but not before this member reached it.
  const bool is_given_up = control.generation.load(std::memory_order_acquire) ==
                           (generation | TeamControl::given_up_bit);
  return is_given_up ? broken() : Status();
}

bool NodeBarrier::wait_for_arrivals(std::uint32_t generation) {
  TeamControl& control = this->control();
  const auto over = [&] {
    return control.arrived.load() == count_ - 1 || !is_under_way(generation);
  };
  Waiter waiter = job_.node().waiter();
  if (!waiter.spin(over)) {
    LongWait long_wait = begin_to_wait(generation);
    control.leader_sleeps.store(1);
    waiter.sleep(OnWord(control.arrived), over, [&] {
      check_long_wait(long_wait, generation);
      return false;
    });
    control.leader_sleeps.store(0);
  }
  return is_under_way(generation);
}

LongWait NodeBarrier::begin_to_wait(std::uint32_t generation) const noexcept {
  memory_.mark_of(members_.own_order()).store(generation + 1, std::memory_order_relaxed);
  return LongWait(job_.settings());
}

// Members of other nodes matter only until all members of this node have arrived. After that, a
// rank that is gone may have received all it needed from this node, and the step may succeed. The
// same holds for this node's agent host: what the leader needs may have arrived before it died.
void NodeBarrier::check_members_alive(std::uint32_t generation) {
  const auto has_entered = [&] {
    return control().entered.load() == TeamControl::after(generation);
  };
  std::uint32_t word = Interruption::is_requested()
                           ? TeamControl::interrupted(members_.own_world_rank())
                           : liveness_.check_own_node();
  if (word == 0 && members_.has_other_nodes() && !has_entered()) {
    const std::uint32_t cut_off = liveness_.check_agent_host();
    const std::uint32_t elsewhere = cut_off != 0 ? cut_off : liveness_.check_next_node();
    word = has_entered() ? 0 : elsewhere;
  }
  if (word != 0) {
    control().give_up(generation, word);
  }
}

std::vector<std::int32_t> NodeBarrier::missing_here(std::uint32_t generation) const {
  std::vector<std::int32_t> missing;
  for (const WorldRank member : members_.ranks()) {
    const std::int32_t order = members_.order_of(member);
    if (order >= 0 && memory_.mark_of(order).load(std::memory_order_relaxed) != generation + 1) {
      missing.push_back(member.value);
    }
  }
  return missing;
}

void NodeBarrier::check_long_wait(LongWait& wait, std::uint32_t generation, std::int32_t sender) {
  check_members_alive(generation);
  report_if_long(wait, job_.log(), [&] {
    const std::vector<std::int32_t> missing = missing_here(generation);
    const std::string whom = !missing.empty() ? fmt::format("rank {} on this node has not arrived",
                                                            fmt::join(missing, ", "))
                             : sender >= 0 ? fmt::format("nothing has arrived from rank {}'s node",
                                                         members_.nodes().leader(sender).value)
                                           : std::string("all ranks on this node have arrived");
    return fmt::format("in {} of a team of {}: {}",
                       checker_.describe(control().check[generation % 2]), members_.size(), whom);
  });
}

}  // namespace tessera::rma::detail
