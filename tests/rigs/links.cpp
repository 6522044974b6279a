// SPDX-License-Identifier: BSD-3-Clause
//
// Tests a job while a cable is pulled out and its ranks put, get, add and synchronise.
//
//     namespaces/run -- rig_links lost h2   The cable of h2 stays out. The ranks of the other hosts
//                                           get an error for the agent host of h2's node, and
//                                           continue among themselves; those of h2 do the same.
//     namespaces/run -- rig_links waits h2  The same, with ranks that wait for a notification, or
//                                           for a lock of a holder beyond the lost link.
//     namespaces/run -- rig_links back h2   The cable is put back after a few seconds: no rank gets
//                                           an error, and no data are missing.
//
// Exits with 1 if a rank finds a difference; a rank that hangs is ended by its alarm.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"
#include "tests/rigs/exchange.hpp"

namespace tessera::rma {
namespace {

using Clock = std::chrono::steady_clock;

// Several times the longest time to detect a dead link.
constexpr unsigned alarm_seconds = 100;
// Shorter than the silence after which a machine counts as lost, and longer than a few of TCP's
// retransmission attempts.
constexpr std::chrono::seconds outage{5};
constexpr std::int64_t rounds_before = 10;
constexpr std::int64_t rounds_after = 10;

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Makes the rig take a host's cable out, or put it back.
void change_cable(std::string_view change, std::string_view host) {
  const char* const pipe = std::getenv("RIG_CABLES");
  std::ofstream(pipe == nullptr ? "" : pipe) << change << ' ' << host << std::endl;
}

// The ranks on the host whose cable is pulled, and the others.
struct Sides {
  bool is_cut_off = false;         ///< this rank
  std::vector<WorldRank> cut_off;  ///< ascending
  std::vector<WorldRank> elsewhere;
  [[nodiscard]] const std::vector<WorldRank>& own() const {
    return is_cut_off ? cut_off : elsewhere;
  }
  [[nodiscard]] const std::vector<WorldRank>& other() const {
    return is_cut_off ? elsewhere : cut_off;
  }
};

Result<Sides> find_partition(Job& job, std::string_view host) {
  Sides sides{.is_cut_off = host_name() == host, .cut_off = {}, .elsewhere = {}};
  TESSERA_ASSIGN_OR_RETURN(const auto all,
                           job.world().allgather_value(std::int32_t{sides.is_cut_off ? 1 : 0}));
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    const bool is_on_host = all[static_cast<std::size_t>(rank)] != 0;
    (is_on_host ? sides.cut_off : sides.elsewhere).push_back(WorldRank{rank});
  }
  TESSERA_RETURN_IF_ERROR(expect(!sides.cut_off.empty() && !sides.elsewhere.empty(),
                                 "that host and other hosts have ranks"));
  TESSERA_RETURN_IF_ERROR(expect(!job.shares_node(sides.other().front()), "hosts are nodes"));
  return sides;
}

// The first rank of a node is its agent host.
bool is_agent_host(const Job& job, WorldRank rank) {
  for (std::int32_t each = 0; each < rank.value; ++each) {
    if (job.node_of(WorldRank{each}) == job.node_of(rank)) {
      return false;
    }
  }
  return true;
}

// Checks that `loss` names a rank of the other side.
Status check_loss(const Job& job, const Sides& sides, std::string_view where, const Status& loss) {
  fmt::print("rank {} on {} got from {}: {}\n", job.rank().value, host_name(), where,
             loss.describe());
  TESSERA_RETURN_IF_ERROR(expect(loss.code() == Code::peer_lost, "the loss is a peer_lost"));
  TESSERA_RETURN_IF_ERROR(expect(loss.rank().has_value(), "the loss names a rank"));
  const std::vector<WorldRank>& others = sides.other();
  TESSERA_RETURN_IF_ERROR(expect(std::count(others.begin(), others.end(), *loss.rank()) == 1,
                                 "the named rank is lost"));
  return expect(!job.is_present(*loss.rank()), "a lost rank is not present");
}

// The same for an operation that only the node itself can answer.
Status check_loss_of_node(const Job& job, const Sides& sides, std::string_view where,
                          const Status& loss) {
  TESSERA_RETURN_IF_ERROR(check_loss(job, sides, where, loss));
  return expect(is_agent_host(job, *loss.rank()), "the named rank was its node's agent host");
}

Status go_on(Job& job, const Sides& sides) {
  TESSERA_ASSIGN_OR_RETURN(Team team, Team::create(job, sides.own()));
  TESSERA_ASSIGN_OR_RETURN(Exchange exchange, Exchange::create(job, team));
  TESSERA_RETURN_IF_ERROR(exchange.run_rounds(rounds_after));
  fmt::print("rank {} on {} continued in a team of {}\n", job.rank().value, host_name(),
             team.size());
  return {};
}

// Plays until that fails. The first rank of each node plays full rounds with the others' first
// ranks. Its mates only write and fence, so that no collective reports the loss to them.
Status run_until_loss(Job& job, Exchange& with_all, std::string_view host) {
  const bool is_first = is_agent_host(job, job.rank());
  TESSERA_ASSIGN_OR_RETURN(Team firsts, job.world().split(is_first ? 0 : -1, job.rank().value));
  TESSERA_ASSIGN_OR_RETURN(Exchange among_firsts, Exchange::create(job, firsts));
  if (job.rank().value == 0) {
    change_cable("down", host);
  }
  while (true) {
    TESSERA_RETURN_IF_ERROR(is_first ? among_firsts.run_round() : with_all.write_to_all());
  }
}

Status lose(Job& job, const Sides& sides, std::string_view host) {
  TESSERA_ASSIGN_OR_RETURN(Exchange exchange, Exchange::create(job, job.world()));
  TESSERA_RETURN_IF_ERROR(exchange.run_rounds(rounds_before));
  const std::string_view where = is_agent_host(job, job.rank()) ? "a round" : "a fence";
  TESSERA_RETURN_IF_ERROR(
      check_loss_of_node(job, sides, where, run_until_loss(job, exchange, host)));
  TESSERA_RETURN_IF_ERROR(check_loss_of_node(job, sides, "a barrier of all", job.barrier()));
  return go_on(job, sides);
}

// Operations that wait while the cable is out, on three nodes of two ranks. They use lock 0 of each
// rank.
class Waits {
 public:
  static Result<Waits> create(Job& job, const Sides& sides) {
    TESSERA_RETURN_IF_ERROR(expect(sides.cut_off.size() == 2 && sides.elsewhere.size() == 4,
                                   "two of six ranks are on that host"));
    TESSERA_ASSIGN_OR_RETURN(Region region, Region::allocate(job.world(), sizeof(std::int32_t)));
    TESSERA_ASSIGN_OR_RETURN(LockSet locks, LockSet::create(job.world(), 1));
    return Waits(job, sides, std::move(region), std::move(locks));
  }

  Status take_locks() {
    TESSERA_RETURN_IF_ERROR(is(lost_[0]) ? lock(near_[0]) : Status());
    TESSERA_RETURN_IF_ERROR(is(lost_[1]) ? lock(lost_[0]) : Status());
    TESSERA_RETURN_IF_ERROR(is(far_[1]) ? lock(far_[0]) : Status());
    return contact_owners();
  }

  // None of these can complete.
  Status wait() {
    if (is(near_[0])) {
      return wait_for_notifications(job_, lost_[1], 1).status();
    }
    if (is(near_[1])) {
      return lock(near_[0]);  // on this node; the holder is lost
    }
    if (is(far_[0])) {
      return lock(lost_[0]);
    }
    if (is(far_[1])) {
      return wait_for_flag(job_, region_.at(member(far_[1])), 1, lost_[1]);
    }
    return is(lost_[0]) ? wait_for_notifications(job_, near_[1], 1).status() : lock(far_[0]);
  }

  // A lock of a lost holder is free after the loss was reported. A lost waiter is skipped; or it
  // gets the lock before its agent detects the loss, and is then its holder.
  Status use_locks() {
    if (is(far_[1])) {
      TESSERA_RETURN_IF_ERROR(locks_.unlock(member(far_[0]), 0));
    }
    return is(near_[1]) || is(far_[0]) ? lock_and_unlock(is(near_[1]) ? near_[0] : far_[0])
                                       : Status();
  }

 private:
  using Pair = std::array<WorldRank, 2>;

  Waits(Job& job, const Sides& sides, Region region, LockSet locks)
      : job_(job),
        region_(std::move(region)),
        locks_(std::move(locks)),
        near_{sides.elsewhere[0], sides.elsewhere[1]},
        far_{sides.elsewhere[2], sides.elsewhere[3]},
        lost_{sides.cut_off[0], sides.cut_off[1]} {}

  // The first request to a node that is cut off returns that it is unreachable.
  Status contact_owners() {
    const WorldRank owner = is(far_[0]) ? lost_[0] : is(lost_[1]) ? far_[0] : job_.rank();
    return get_value<std::int32_t>(job_, region_.at(member(owner))).status();
  }
  [[nodiscard]] bool is(WorldRank rank) const { return job_.rank() == rank; }
  // In the world's team, members are in the order of their ranks.
  [[nodiscard]] static TeamRank member(WorldRank rank) { return TeamRank{rank.value}; }
  Status lock(WorldRank owner) { return locks_.lock(member(owner), 0); }
  Status lock_and_unlock(WorldRank owner) {
    Status locked = lock(owner);
    if (locked.code() == Code::peer_lost && is(far_[0]) && locked.rank() == lost_[1]) {
      locked = lock(owner);
    }
    TESSERA_RETURN_IF_ERROR(std::move(locked));
    return locks_.unlock(member(owner), 0);
  }

  Job& job_;
  Region region_;
  LockSet locks_;
  Pair near_;
  Pair far_;
  Pair lost_;
};

Status wait_without_result(Job& job, const Sides& sides, std::string_view host) {
  TESSERA_ASSIGN_OR_RETURN(Waits waits, Waits::create(job, sides));
  TESSERA_RETURN_IF_ERROR(waits.take_locks());
  TESSERA_RETURN_IF_ERROR(job.barrier());
  if (job.rank().value == 0) {
    change_cable("down", host);
  }
  TESSERA_RETURN_IF_ERROR(check_loss(job, sides, "a wait", waits.wait()));
  TESSERA_RETURN_IF_ERROR(sides.is_cut_off ? Status() : waits.use_locks());
  return go_on(job, sides);
}

// Watches this host's cable from its own thread: a rank can't do that during a transfer.
class CableWatch {
 public:
  CableWatch() : thread_([this] { watch(); }) {}
  ~CableWatch() {
    is_over_ = true;
    thread_.join();
  }
  CableWatch(const CableWatch&) = delete;
  CableWatch& operator=(const CableWatch&) = delete;
  [[nodiscard]] bool came_back() const noexcept { return came_back_; }

 private:
  static bool is_in() {
    int carrier = 1;
    std::ifstream("/sys/class/net/eth0/carrier") >> carrier;
    return carrier != 0;
  }
  void watch() {
    bool was_out = false;
    while (!is_over_) {
      was_out = was_out || !is_in();
      came_back_ = was_out && is_in();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  std::atomic<bool> is_over_{false};
  std::atomic<bool> came_back_{false};
  std::thread thread_;
};

// Takes the cable out, and puts it back.
void interrupt(std::string_view host) {
  change_cable("down", host);
  std::this_thread::sleep_for(outage);
  change_cable("up", host);
}

// All wait for the first rank, with which most have not communicated before: to check whether it is
// alive, they must connect while the cable is out.
Status wait_for_first(Job& job, std::string_view host) {
  if (job.rank().value != 0) {
    return wait_for_notifications(job, WorldRank{0}, 1).status();
  }
  interrupt(host);
  for (std::int32_t rank = 1; rank < job.size(); ++rank) {
    TESSERA_RETURN_IF_ERROR(notify(job, WorldRank{rank}).status());
  }
  return {};
}

// Rounds until the ranks on that host have seen the cable come back, and some more.
Status run_through(Job& job, const Sides& sides, std::string_view host) {
  TESSERA_ASSIGN_OR_RETURN(Exchange exchange, Exchange::create(job, job.world()));
  CableWatch watch;
  TESSERA_RETURN_IF_ERROR(exchange.run_rounds(rounds_before));
  std::thread puller([&] { job.rank().value == 0 ? interrupt(host) : void(); });
  Status status;
  for (std::int32_t all = 0; status.ok() && all == 0;) {
    status = exchange.run_round();
    const bool has_seen = sides.is_cut_off && watch.came_back();
    const auto seen = job.world().allreduce(std::int32_t{has_seen ? 1 : 0}, Reduction::max);
    status = status.ok() ? seen.status() : status;
    all = seen.ok() ? *seen : 0;
  }
  puller.join();
  TESSERA_RETURN_IF_ERROR(status);
  TESSERA_RETURN_IF_ERROR(exchange.run_rounds(rounds_after));
  fmt::print("rank {} on {}: nothing was missing in {} rounds\n", job.rank().value, host_name(),
             exchange.rounds());
  return {};
}

Status come_back(Job& job, const Sides& sides, std::string_view host) {
  TESSERA_RETURN_IF_ERROR(wait_for_first(job, host));
  return run_through(job, sides, host);
}

Status run(Job& job, std::string_view scenario, std::string_view host) {
  TESSERA_ASSIGN_OR_RETURN(const Sides sides, find_partition(job, host));
  return scenario == "lost"    ? lose(job, sides, host)
         : scenario == "waits" ? wait_without_result(job, sides, host)
                               : come_back(job, sides, host);
}

// An operation to a lost node that was under way also makes stop() return an error; it stops
// nevertheless.
Status stop(Job& job, std::string_view scenario) {
  Status stopped = job.stop();
  return scenario != "back" && stopped.code() == Code::peer_lost ? Status() : stopped;
}

int run(std::string_view scenario, std::string_view host) {
  alarm(alarm_seconds);
  auto job = Job::start();
  Status status = job.status();
  if (job.ok()) {
    const int rank = job->rank().value;
    status = run(*job, scenario, host);
    status = status.ok() ? stop(*job, scenario) : status;
    if (!status.ok()) {
      fmt::print("rank {} on {}: {}\n", rank, host_name(), status.describe());
    }
  }
  return status.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace tessera::rma

int main(int argc, char** argv) {
  const std::string_view scenario = argc == 3 ? argv[1] : "";
  if (scenario != "lost" && scenario != "waits" && scenario != "back") {
    fmt::print(stderr, "usage: rig_links lost|waits|back HOST\n");
    return 2;
  }
  return tessera::rma::run(scenario, argv[2]);
}
