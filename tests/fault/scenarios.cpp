// SPDX-License-Identifier: BSD-3-Clause
//
// Scenarios: the operations in which a rank dies while the job runs, and those of the survivors
// meanwhile.
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/halo.hpp"
#include "rma/armci/mailbox.hpp"
#include "rma/atomic.hpp"
#include "rma/collectives.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/notify.hpp"
#include "rma/transfer.hpp"
#include "tests/fault/stage.hpp"

namespace tessera::fault {
namespace {

using rma::Status;
using rma::TeamRank;
using rma::WorldRank;

void stand_still(Stage& stage) {
  stage.line.ready();
  wait_for_the_end();
}

// ---- Ghost cells ------------------------------------------------------------------------------

// Each rank updates ghost cells with its neighbours until that fails. In a ring of four, the rank
// opposite the victim is not its neighbour.
Status exchange_ghosts(Stage& stage) {
  const std::int64_t extent = std::int64_t{1000} * stage.job.size();
  TESSERA_ASSIGN_OR_RETURN(auto array,
                           arrays::Array<double>::create(stage.job, {extent}, {.ghosts = {10}}));
  TESSERA_ASSIGN_OR_RETURN(auto halo,
                           arrays::Halo::create(array, {.periodic = arrays::PeriodicDims().set()}));
  if (stage.rank() == stage.victim) {
    stage.line.ready();
  }
  while (true) {
    TESSERA_RETURN_IF_ERROR(halo.update());
  }
}

void exchange_ghosts_to_the_end(Stage& stage) {
  exchange_ghosts(stage).ignore("the director ends this rank");
  wait_for_the_end();
}

// ---- Collectives -------------------------------------------------------------------------------

Status in_barrier(Stage& stage) {
  return stage.job.barrier();
}

Status in_broadcast(Stage& stage) {
  std::vector<double> values(10'000, stage.rank());
  return stage.job.world().broadcast(std::as_writable_bytes(std::span(values)),
                                     TeamRank{stage.victim});
}

Status in_allreduce(Stage& stage) {
  std::vector<double> values(10'000, 1.0);
  return stage.job.world().allreduce(std::span<double>(values), rma::Reduction::sum);
}

Status in_allgather(Stage& stage) {
  return stage.job.world().allgather_value(stage.rank()).status();
}

// Each rank sends a block of 300 KiB to each, which takes several rounds.
Status in_alltoallv(Stage& stage) {
  constexpr std::int64_t each = 40'000;
  const auto ranks = static_cast<std::size_t>(stage.job.size());
  const std::vector<std::int64_t> counts(ranks, each);
  const std::vector<double> sent(ranks * each, 1.0);
  std::vector<double> received(sent.size());
  return alltoallv(stage.job.world(), sent, {.counts = counts}, received, {.counts = counts});
}

Status in_scan(Stage& stage) {
  return scan(stage.job.world(), 1.0, rma::Reduction::sum).status();
}

Status in_allreduce_async(Stage& stage) {
  std::vector<double> values(10'000, 1.0);
  rma::Handle sum =
      allreduce_async(stage.job.world(), std::span<double>(values), rma::Reduction::sum);
  return sum.wait();
}

Status in_split(Stage& stage) {
  return stage.job.world().split(0, stage.rank()).status();
}

Status in_team_creation(Stage& stage) {
  std::vector<WorldRank> all_ranks;
  for (std::int32_t rank = 0; rank < stage.job.size(); ++rank) {
    all_ranks.push_back(WorldRank{rank});
  }
  return rma::Team::create(stage.job, all_ranks).status();
}

Status in_lock_set_creation(Stage& stage) {
  return rma::LockSet::create(stage.job.world(), 3).status();
}

template <Status (*Step)(Stage&)>
void repeat(Stage& stage) {
  stage.line.ready();
  while (Step(stage).ok()) {
  }
  wait_for_the_end();
}

template <Status (*Step)(Stage&)>
Status repeat_until_it_fails(Stage& stage) {
  while (true) {
    TESSERA_RETURN_IF_ERROR(Step(stage));
  }
}

Status mixed_collectives(Stage& stage) {
  TESSERA_RETURN_IF_ERROR(in_barrier(stage));
  TESSERA_RETURN_IF_ERROR(in_allreduce(stage));
  TESSERA_RETURN_IF_ERROR(in_broadcast(stage));
  TESSERA_RETURN_IF_ERROR(in_split(stage));
  return in_allgather(stage);
}

Status block_and_async_collectives(Stage& stage) {
  TESSERA_RETURN_IF_ERROR(in_alltoallv(stage));
  TESSERA_RETURN_IF_ERROR(in_scan(stage));
  return in_allreduce_async(stage);
}

Status allocate_and_free(Stage& stage) {
  TESSERA_ASSIGN_OR_RETURN(rma::Region region,
                           rma::Region::allocate(stage.job.world(), Stage::slice_bytes));
  return region.free();
}

Status allocate(Stage& stage) {
  return rma::Region::allocate(stage.job.world(), Stage::slice_bytes).status();
}

Status attach(Stage& stage) {
  std::vector<double> memory(1000);
  return rma::Region::attach(stage.job.world(), memory.data(), 8000).status();
}

Status free_region(Stage& stage) {
  return stage.region.free();
}

Status free_locks(Stage& stage) {
  return stage.locks.free();
}

// ---- Streams -----------------------------------------------------------------------------------

constexpr std::size_t piece = std::size_t{32} << 10;

Status put_piece(Stage& stage, TeamRank to) {
  const std::vector<std::byte> bytes(piece, std::byte{7});
  return put(stage.job, stage.region.at(to, 4096), bytes.data(), piece);
}

Status get_piece(Stage& stage, TeamRank from) {
  std::vector<std::byte> bytes(piece);
  return get(stage.job, stage.region.at(from, 4096), bytes.data(), piece);
}

Status accumulate_piece(Stage& stage, TeamRank to) {
  const std::vector<double> ones(piece / sizeof(double), 1.0);
  return accumulate(stage.job, stage.region.at(to, 4096), ones.data(), piece, rma::Scale::of(2.0));
}

Status count_up(Stage& stage, TeamRank at) {
  return rma::fetch_add<std::int64_t>(stage.job, stage.region.at(at, 8), 1).status();
}

template <Status (*Move)(Stage&, TeamRank)>
void stream_as_victim(Stage& stage) {
  stage.line.ready();
  for (int i = 0;; ++i) {
    Move(stage, TeamRank{i % stage.job.size()}).ignore("the victim reports nothing");
  }
}

// Shared memory outlives its rank, so transfers to and from it continue; the next barrier reports
// the death.
template <Status (*Move)(Stage&, TeamRank)>
Status stream(Stage& stage) {
  int left = 50;
  for (int i = 0; left > 0; ++i) {
    if (Status status = Move(stage, TeamRank{i % stage.job.size()}); !status.ok()) {
      return std::move(status).context("streaming");
    }
    left -= stage.victim_lives() ? 0 : 1;
  }
  return stage.job.barrier();
}

// Attached memory belongs to its process and is lost with it.
Status stream_to_attached(Stage& stage) {
  std::vector<std::byte> memory(piece, std::byte{1});
  TESSERA_ASSIGN_OR_RETURN(rma::Region region,
                           rma::Region::attach(stage.job.world(), memory.data(), piece));
  if (stage.rank() == stage.victim) {
    stand_still(stage);
  }
  std::vector<std::byte> copy(piece);
  for (int i = 0;; i = (i + 1) % stage.job.size()) {
    TESSERA_RETURN_IF_ERROR(put(stage.job, region.at(TeamRank{i}), copy.data(), piece));
  }
}

void attach_and_stand_still(Stage& stage) {
  stream_to_attached(stage).ignore("the victim never returns");
}

// ---- Locks of users ----------------------------------------------------------------------------

void hold_lock(Stage& stage) {
  if (stage.locks.lock(TeamRank{0}, 1).ok()) {
    stand_still(stage);
  }
}

// One survivor gets the error; all get the lock after that.
Status take_lock_of_the_dead(Stage& stage) {
  stage.wait_for_the_death();
  Status result = stage.locks.lock(TeamRank{0}, 1);
  if (!result.ok()) {
    stage.line.report("notified", result);
    TESSERA_RETURN_IF_ERROR(stage.locks.lock(TeamRank{0}, 1));
  }
  TESSERA_RETURN_IF_ERROR(stage.locks.unlock(TeamRank{0}, 1));
  return stage.job.barrier();
}

// The holder dies while the others already wait.
Status wait_for_lock_of_the_dying(Stage& stage) {
  Status result = stage.locks.lock(TeamRank{0}, 1);
  while (result.ok() && stage.victim_lives()) {
    TESSERA_RETURN_IF_ERROR(stage.locks.unlock(TeamRank{0}, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    result = stage.locks.lock(TeamRank{0}, 1);
  }
  if (!result.ok()) {
    stage.line.report("notified", result);
    TESSERA_RETURN_IF_ERROR(stage.locks.lock(TeamRank{0}, 1));
  }
  TESSERA_RETURN_IF_ERROR(stage.locks.unlock(TeamRank{0}, 1));
  return stage.job.barrier();
}

// The first survivor holds the lock until a rank that waits for it has died.
void wait_for_lock(Stage& stage) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  stage.line.ready();
  stage.locks.lock(TeamRank{0}, 0).ignore("the victim dies before");
  wait_for_the_end();
}

Status hold_lock_until_the_death(Stage& stage) {
  if (stage.rank() == stage.first_survivor()) {
    TESSERA_RETURN_IF_ERROR(stage.locks.lock(TeamRank{0}, 0));
    stage.wait_for_the_death();
    TESSERA_RETURN_IF_ERROR(stage.locks.unlock(TeamRank{0}, 0));
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    TESSERA_RETURN_IF_ERROR(stage.locks.lock(TeamRank{0}, 0));
    TESSERA_RETURN_IF_ERROR(stage.locks.unlock(TeamRank{0}, 0));
  }
  return stage.job.barrier();
}

// All ranks compete for one lock; the victim dies at any point of locking or unlocking.
Status lock_and_unlock(Stage& stage) {
  TESSERA_RETURN_IF_ERROR(stage.locks.lock(TeamRank{0}, 0));
  return stage.locks.unlock(TeamRank{0}, 0);
}

Status fight_for_lock(Stage& stage) {
  int left = 100;
  while (left > 0) {
    Status status = lock_and_unlock(stage);
    if (!status.ok()) {
      if (status.code() != rma::Code::peer_lost) {
        return std::move(status).context("fighting for the lock");
      }
      stage.line.report("notified", status);
    }
    left -= stage.victim_lives() ? 0 : 1;
  }
  return stage.job.barrier();
}

// ---- Locks of the library ----------------------------------------------------------------------

rma::detail::Node& node(Stage& stage) {
  return stage.job.state().node();
}

void hold_stripes(Stage& stage) {
  rma::detail::JobState& state = stage.job.state();
  for (std::int32_t rank = 0; rank < stage.job.size(); ++rank) {
    const auto slice = state.slices().stripes().slice(stage.region.id(), WorldRank{rank});
    slice.of(0).lock(slice.context());
    slice.of(rma::detail::StripeLocks::stripe_bytes).lock(slice.context());
  }
  stand_still(stage);
}

Status accumulate_into_held_stripes(Stage& stage) {
  stage.wait_for_the_death();
  for (std::int32_t rank = 0; rank < stage.job.size(); ++rank) {
    TESSERA_RETURN_IF_ERROR(accumulate_piece(stage, TeamRank{rank}));
  }
  return stage.job.barrier();
}

// The survivors' carry_on() takes these two locks.
void hold_bitmap(Stage& stage) {
  node(stage).memory().header().bitmap_lock.lock(node(stage).lock_context());
  stand_still(stage);
}

void hold_inboxes(Stage& stage) {
  for (int local_rank = 0; local_rank < node(stage).size(); ++local_rank) {
    node(stage).memory().record(local_rank).inbox_lock.lock(node(stage).lock_context());
  }
  stand_still(stage);
}

Status take_local_memory(Stage& stage) {
  TESSERA_ASSIGN_OR_RETURN(void* const memory, stage.job.allocate_local(100'000));
  TESSERA_RETURN_IF_ERROR(stage.job.free_local(memory));
  return stage.job.barrier();
}

void take_local_memory_for_ever(Stage& stage) {
  stage.line.ready();
  while (true) {
    const auto memory = stage.job.allocate_local(100'000);
    if (memory.ok()) {
      stage.job.free_local(*memory).ignore("the victim reports nothing");
    }
  }
}

// ---- Flags and notifications -------------------------------------------------------------------

Status flag(Stage& stage) {
  return wait_for_flag(stage.job, stage.region.at(TeamRank{stage.rank()}, 0), 17,
                       WorldRank{stage.victim});
}

Status notification(Stage& stage) {
  return wait_for_notifications(stage.job, WorldRank{stage.victim}, 1).status();
}

// One survivor is woken all the time by messages of the others, and must still make its liveness
// checks of the victim.
Status notification_among_others(Stage& stage) {
  if (stage.rank() != stage.first_survivor()) {
    const int noisy = stage.first_survivor();
    const auto quiet = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < quiet) {
      // The last wake comes from the flag in this rank's own slice, which the waiting rank raises
      // when it has finished.
      TESSERA_RETURN_IF_ERROR(notify(stage.job, WorldRank{noisy}).status());
      TESSERA_ASSIGN_OR_RETURN(
          const auto done,
          rma::get_value<std::int32_t>(stage.job, stage.region.at(TeamRank{stage.rank()}, 16)));
      if (done != 0) {
        return stage.job.barrier();
      }
    }
    return stage.job.barrier();
  }
  Status result = notification(stage);
  for (std::int32_t rank = 0; rank < stage.job.size(); ++rank) {
    TESSERA_RETURN_IF_ERROR(
        put_value(stage.job, stage.region.at(TeamRank{rank}, 16), std::int32_t{1}));
  }
  stage.line.report("notified", result);
  return stage.job.barrier();
}

Status notify_the_dead(Stage& stage) {
  stage.wait_for_the_death();
  return notify(stage.job, WorldRank{stage.victim}).status();
}

// A rank that finds out about the death in another operation may never enter a collective. The
// other ranks wait for that rank, not for the dead one, and must nevertheless get the error.
Status in_deserted_barrier(Stage& stage) {
  const std::int32_t deserter = (stage.victim + 2) % stage.job.size();
  return stage.rank() == deserter ? notify_the_dead(stage) : stage.job.barrier();
}

Status in_deserted_team_creation(Stage& stage) {
  const std::int32_t deserter = (stage.victim + 2) % stage.job.size();
  return stage.rank() == deserter ? notify_the_dead(stage) : in_team_creation(stage);
}

// ---- Messages ----------------------------------------------------------------------------------

using rma::armci::Mailbox;

constexpr std::size_t long_message = 1'000'000;

// Each survivor performs `Exchange` with the victim, which stands still.
template <Status (*Exchange)(Stage&, Mailbox&)>
Status with_mailbox(Stage& stage) {
  TESSERA_ASSIGN_OR_RETURN(Mailbox mailbox, Mailbox::create(stage.job));
  if (stage.rank() == stage.victim) {
    stand_still(stage);
  }
  return Exchange(stage, mailbox);
}

template <Status (*Exchange)(Stage&, Mailbox&)>
void with_mailbox_to_the_end(Stage& stage) {
  with_mailbox<Exchange>(stage).ignore("the victim never returns");
}

Status receive_message(Stage& stage, Mailbox& mailbox) {
  std::vector<std::byte> buffer(long_message);
  return mailbox.receive(1, buffer, WorldRank{stage.victim}).status();
}

Status receive_message_from_any(Stage& /*stage*/, Mailbox& mailbox) {
  std::vector<std::byte> buffer(long_message);
  return mailbox.receive_any(1, buffer).status();
}

Status send_long_message(Stage& stage, Mailbox& mailbox) {
  return mailbox.send(1, std::vector<std::byte>(long_message), WorldRank{stage.victim});
}

Status send_many_messages(Stage& stage, Mailbox& mailbox) {
  while (true) {
    TESSERA_RETURN_IF_ERROR(mailbox.send(1, std::vector<std::byte>(8), WorldRank{stage.victim}));
  }
}

// One survivor is woken all the time by messages of the others, and must still make its liveness
// checks of the victim.
Status receive_message_among_others(Stage& stage, Mailbox& mailbox) {
  constexpr std::uint64_t done_at = 16;
  if (stage.rank() == stage.first_survivor()) {
    Status result = receive_message(stage, mailbox);
    stage.line.report("notified", result);
    const std::int32_t done = 1;
    for (const WorldRank rank : stage.survivors()) {
      TESSERA_RETURN_IF_ERROR(
          put_value(stage.job, stage.region.at(TeamRank{rank.value}, done_at), done));
    }
    // Receives what the others send until they have seen that this rank has finished.
    for (const WorldRank rank : stage.survivors()) {
      if (rank.value != stage.rank()) {
        TESSERA_RETURN_IF_ERROR(mailbox.receive(3, {}, rank).status());
      }
    }
    return result;
  }
  while (true) {
    TESSERA_RETURN_IF_ERROR(
        mailbox.send(2, std::vector<std::byte>(8), WorldRank{stage.first_survivor()}));
    TESSERA_ASSIGN_OR_RETURN(
        const auto done,
        rma::get_value<std::int32_t>(stage.job, stage.region.at(TeamRank{stage.rank()}, done_at)));
    if (done != 0) {
      TESSERA_RETURN_IF_ERROR(mailbox.send(3, {}, WorldRank{stage.first_survivor()}));
      return stage.job.barrier();
    }
  }
}

// All survivors and the victim exchange short and long messages without end.
Status exchange_with_victim(Stage& stage, Mailbox& mailbox) {
  std::vector<std::byte> buffer(long_message);
  const bool is_victim = stage.rank() == stage.victim;
  const std::vector<WorldRank> peers =
      is_victim ? stage.survivors() : std::vector<WorldRank>{WorldRank{stage.victim}};
  while (true) {
    for (const WorldRank peer : peers) {
      TESSERA_RETURN_IF_ERROR(mailbox.send(1, std::span(buffer).first(100), peer));
      if (is_victim) {
        TESSERA_RETURN_IF_ERROR(mailbox.send(2, buffer, peer));
      }
      TESSERA_RETURN_IF_ERROR(mailbox.receive(1, buffer, peer).status());
      TESSERA_RETURN_IF_ERROR(mailbox.receive(2, buffer, peer).status());
      if (!is_victim) {
        TESSERA_RETURN_IF_ERROR(mailbox.send(2, buffer, peer));
      }
    }
  }
}

Status exchange_messages(Stage& stage) {
  TESSERA_ASSIGN_OR_RETURN(Mailbox mailbox, Mailbox::create(stage.job));
  if (stage.rank() == stage.victim) {
    stage.line.ready();
  }
  return exchange_with_victim(stage, mailbox);
}

void exchange_messages_to_the_end(Stage& stage) {
  exchange_messages(stage).ignore("the director ends this rank");
  wait_for_the_end();
}

// ---- Memory ------------------------------------------------------------------------------------

// The number of bytes that the node's memory file holds.
std::int64_t backed_bytes(Stage& stage) {
  struct stat file {};
  fstat(node(stage).memory().file(), &file);
  return std::int64_t{file.st_blocks} * 512;
}

// Regions and teams with a dead member are freed when the last of the other members frees them.
Status use_much_memory(Stage& stage) {
  const std::int64_t before = backed_bytes(stage);
  TESSERA_RETURN_IF_ERROR(stage.job.barrier());
  constexpr std::size_t much = 4 << 20;
  TESSERA_ASSIGN_OR_RETURN(rma::Region region, rma::Region::allocate(stage.job.world(), much));
  std::vector<rma::Team> teams;
  for (int i = 0; i < 20; ++i) {
    TESSERA_ASSIGN_OR_RETURN(rma::Team team, stage.job.world().split(0, stage.rank()));
    teams.push_back(std::move(team));
  }
  TESSERA_RETURN_IF_ERROR(stage.job.barrier());
  if (stage.rank() == stage.victim) {
    stand_still(stage);
  }
  stage.wait_for_the_death();
  Status result = region.free();
  teams.clear();
  TESSERA_ASSIGN_OR_RETURN(rma::Team team, rma::Team::create(stage.job, stage.survivors()));
  TESSERA_RETURN_IF_ERROR(team.barrier());
  if (const std::int64_t more = backed_bytes(stage) - before; more > (1 << 20)) {
    return Status::error(rma::Code::internal, std::to_string(more) + " bytes did not come back");
  }
  TESSERA_RETURN_IF_ERROR(team.barrier());
  return result;
}

void use_much_memory_and_die(Stage& stage) {
  use_much_memory(stage).ignore("the victim never returns");
}

// ---- Leaving, and standing still ---------------------------------------------------------------

void leave(Stage& stage) {
  stage.line.report("left", stage.job.stop());
}

// The victim is stopped by SIGSTOP, stays alive, and continues after SIGCONT.
void pause_and_go_on(Stage& stage) {
  stage.line.ready();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  stage.line.report("outcome", in_barrier(stage));
}

constexpr std::array all{
    Scenario{"absent_from_barrier", stand_still, in_barrier},
    Scenario{"absent_from_broadcast", stand_still, in_broadcast},
    Scenario{"absent_from_allreduce", stand_still, in_allreduce},
    Scenario{"absent_from_allgather", stand_still, in_allgather},
    Scenario{"absent_from_alltoallv", stand_still, in_alltoallv},
    Scenario{"absent_from_scan", stand_still, in_scan},
    Scenario{"absent_from_allreduce_async", stand_still, in_allreduce_async},
    Scenario{"inside_block_and_async_collectives", repeat<block_and_async_collectives>,
             repeat_until_it_fails<block_and_async_collectives>},
    Scenario{"absent_from_split", stand_still, in_split},
    Scenario{"absent_from_team_creation", stand_still, in_team_creation},
    Scenario{"absent_from_lock_set_creation", stand_still, in_lock_set_creation},
    Scenario{"absent_from_allocation", stand_still, allocate},
    Scenario{"absent_from_attach", stand_still, attach},
    Scenario{"absent_from_free", stand_still, free_region},
    Scenario{"absent_from_lock_set_free", stand_still, free_locks},
    Scenario{"deserted_barrier", stand_still, in_deserted_barrier},
    Scenario{"deserted_team_creation", stand_still, in_deserted_team_creation},
    Scenario{"inside_barriers", repeat<in_barrier>, repeat_until_it_fails<in_barrier>},
    Scenario{"inside_collectives", repeat<mixed_collectives>,
             repeat_until_it_fails<mixed_collectives>},
    Scenario{"inside_allocations", repeat<allocate_and_free>,
             repeat_until_it_fails<allocate_and_free>},
    Scenario{"inside_halo_updates", exchange_ghosts_to_the_end, exchange_ghosts},
    Scenario{"inside_output_appends", append_steps_to_the_end, append_steps},
    Scenario{"streaming_puts", stream_as_victim<put_piece>, stream<put_piece>},
    Scenario{"streaming_gets", stream_as_victim<get_piece>, stream<get_piece>},
    Scenario{"streaming_accumulates", stream_as_victim<accumulate_piece>, stream<accumulate_piece>},
    Scenario{"streaming_fetch_adds", stream_as_victim<count_up>, stream<count_up>},
    Scenario{"attached_memory", attach_and_stand_still, stream_to_attached},
    Scenario{"holds_lock", hold_lock, take_lock_of_the_dead},
    Scenario{"holds_contended_lock", hold_lock, wait_for_lock_of_the_dying},
    Scenario{"waits_for_lock", wait_for_lock, hold_lock_until_the_death},
    Scenario{"fights_for_lock", repeat<lock_and_unlock>, fight_for_lock},
    Scenario{"holds_stripes", hold_stripes, accumulate_into_held_stripes},
    Scenario{"holds_bitmap", hold_bitmap, take_local_memory},
    Scenario{"holds_inboxes", hold_inboxes, in_team_creation},
    Scenario{"inside_arena", take_local_memory_for_ever, take_local_memory},
    Scenario{"waits_for_flag", stand_still, flag},
    Scenario{"waits_for_notification", stand_still, notification},
    Scenario{"waits_for_notification_among_others", stand_still, notification_among_others},
    Scenario{"notified", stand_still, notify_the_dead},
    Scenario{"waits_for_message", with_mailbox_to_the_end<receive_message>,
             with_mailbox<receive_message>},
    Scenario{"waits_for_message_from_any", with_mailbox_to_the_end<receive_message_from_any>,
             with_mailbox<receive_message_from_any>},
    Scenario{"waits_for_message_among_others",
             with_mailbox_to_the_end<receive_message_among_others>,
             with_mailbox<receive_message_among_others>},
    Scenario{"waits_for_receive", with_mailbox_to_the_end<send_long_message>,
             with_mailbox<send_long_message>},
    Scenario{"waits_for_receives", with_mailbox_to_the_end<send_many_messages>,
             with_mailbox<send_many_messages>},
    Scenario{"exchanges_messages", exchange_messages_to_the_end, exchange_messages},
    Scenario{"uses_much_memory", use_much_memory_and_die, use_much_memory},
    Scenario{"leaves", leave, in_barrier},
    Scenario{"pauses", pause_and_go_on, in_barrier},
};

}  // namespace

const Scenario* find_scenario(std::string_view name) {
  for (const Scenario& each : all) {
    if (each.name == name) {
      return &each;
    }
  }
  return nullptr;
}

}  // namespace tessera::fault
