// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "rma/engine/job_state.hpp"
#include "rma/job.hpp"
#include "rma/notify.hpp"
#include "rma/profile/job_profile.hpp"
#include "rma/profile/output.hpp"
#include "rma/profile/trace.hpp"
#include "rma/transfer.hpp"
#include "rma/transport/control_channel.hpp"

namespace tessera::rma::detail {
namespace {

// The beginning of each rank's slice of the control region. On rank 0 two arrays of flags follow.
// The first has a flag for each rank, which raises it when it stops. The second has one for each
// node, whose first rank raises it to request the time.
struct Control {
  std::int32_t verdict = 0;
  std::int32_t reply = 0;
  std::int64_t time_ns = 0;  ///< rank 0's reply, written before `reply`
};
constexpr std::size_t flag_bytes = sizeof(std::int32_t);
constexpr std::int32_t pings_per_measurement = 16;

// The first rank of the job, to which all others report.
constexpr WorldRank root{0};

TeamRank member(WorldRank rank) noexcept {
  return TeamRank{rank.value};
}

std::string absolute_file(const Settings& settings) {
  const std::string named = !settings.profile_file.empty() ? settings.profile_file
                            : settings.profile == "trace"  ? "tessera-trace.json"
                                                           : "tessera-profile.json";
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(named, error);
  return error ? named : absolute.string();
}

std::size_t max_events_of(const Settings& settings) {
  return settings.profile == "trace" ? static_cast<std::size_t>(settings.profile_events) : 0;
}

WorldRank first_of(const JobState& job, std::int32_t node) {
  return job.nodes().ranks_of(NodeId{node}).front();
}

// A rank that left after stop() has printed its profile itself.
bool has_died(const JobState& job, WorldRank rank) {
  if (const int place = job.node().local_rank_of(rank); place >= 0) {
    return job.node().is_gone(place) && !job.node().has_left(place);
  }
  if (job.link() == nullptr) {
    return false;
  }
  const Result<PeerState> fate = job.link()->peer_state_of(rank);
  return fate.ok() ? *fate == PeerState::died : !is_local_resource_error(fate.status());
}

std::vector<std::int32_t> nodes_by_rank(const Job& job) {
  std::vector<std::int32_t> nodes;
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    nodes.push_back(job.node_of(WorldRank{rank}).value);
  }
  return nodes;
}

}  // namespace

ProfileSession::ProfileSession(const JobState& job, Region control)
    : mode_(job.settings().profile),
      file_(absolute_file(job.settings())),
      wait_ms_(job.settings().profile_wait_ms),
      rank_(job.rank()),
      job_ranks_(job.size()),
      recorder_(max_events_of(job.settings())),
      control_(std::move(control)) {}

Status ProfileSession::start(JobState& job) {
  const std::size_t flags =
      job.rank() == root ? static_cast<std::size_t>(job.size() + job.nodes().count()) : 0;
  TESSERA_ASSIGN_OR_RETURN(
      Region control,
      Region::allocate(job.world(), sizeof(Control) + flags * flag_bytes, {.name = "profile"}));
  std::unique_ptr<ProfileSession> session(new ProfileSession(job, std::move(control)));
  if (session->is_root() && session->mode_ != "summary") {
    if (const Status status = check_writable(session->file_); !status.ok()) {
      job.log().warning(status.message() + "; the run continues, and its table will be printed");
    } else {
      // A later reader would take it for this job's profile, however this job ends.
      remove_plain_file(session->file_);
    }
  }
  if (session->is_trace()) {
    Job handle = Job::unowned(job);
    session->measure_clock(handle, session->clock_at_start_);
  }
  // Rank 0 starts before the others, since their times count from its start.
  session->start_ns_ = steady_clock_ns();
  TESSERA_RETURN_IF_ERROR(job.world().barrier());
  if (!session->is_root()) {
    session->start_ns_ = steady_clock_ns();
  }
  ProfileSession& started = *session;
  job.set_profile(std::move(session));
  started.exit_hook_ = ExitHook::install(job.weak_from_this().lock(), started);
  return {};
}

void ProfileSession::release() {
  control_.free().ignore("a stopped job frees the memory without a collective");
  control_ = Region();
}

RemoteAddress ProfileSession::arrival_of(WorldRank rank) const noexcept {
  return control_.at(member(root),
                     sizeof(Control) + static_cast<std::size_t>(rank.value) * flag_bytes);
}

RemoteAddress ProfileSession::ping_of(std::int32_t node) const noexcept {
  return control_.at(member(root),
                     sizeof(Control) + static_cast<std::size_t>(job_ranks_ + node) * flag_bytes);
}

// Requires: `at` is in this rank's slice.
std::atomic_ref<std::int32_t> ProfileSession::own_flag(const RemoteAddress& at) const noexcept {
  return std::atomic_ref<std::int32_t>(
      *reinterpret_cast<std::int32_t*>(control_.local() + at.offset));
}

// --- the clocks of nodes ------------------------------------------------------------------------

// Collective. Rank 0 serves one node after the other. The collectives that follow notice a rank
// that is gone.
void ProfileSession::measure_clock(Job& job, ClockSample& sample) {
  const std::int32_t first = std::exchange(pings_, pings_ + pings_per_measurement) + 1;
  for (std::int32_t node = 1; node < job.node_count(); ++node) {
    const WorldRank leader = first_of(job.state(), node);
    if (is_root() || leader == rank_) {
      const Status status =
          is_root() ? answer_pings(job, leader, first) : send_pings(job, first, sample);
      if (!status.ok()) {
        job.log().info("comparing clocks: " + status.message());
      }
    }
  }
}

Status ProfileSession::answer_pings(Job& job, WorldRank leader, std::int32_t first) {
  const RemoteAddress ping = ping_of(job.node_of(leader).value);
  const RemoteAddress there = control_.at(member(leader));
  for (std::int32_t number = first; number < first + pings_per_measurement; ++number) {
    TESSERA_RETURN_IF_ERROR(wait_for_flag(job, ping, number, leader));
    const std::int64_t now = steady_clock_ns();
    TESSERA_RETURN_IF_ERROR(put_with_flag(job, there + offsetof(Control, time_ns), &now,
                                          CopyShape::contiguous(sizeof now),
                                          there + offsetof(Control, reply), number));
  }
  return {};
}

// Cristian's method: rank 0 read its clock between the ping and the reply. The shortest round trip
// is the most accurate.
Status ProfileSession::send_pings(Job& job, std::int32_t first, ClockSample& sample) {
  const RemoteAddress ping = ping_of(job.node_of(rank_).value);
  const RemoteAddress reply = control_.at(member(rank_), offsetof(Control, reply));
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (std::int32_t number = first; number < first + pings_per_measurement; ++number) {
    const std::int64_t before = steady_clock_ns();
    TESSERA_RETURN_IF_ERROR(raise_flag(job, ping, number));
    TESSERA_RETURN_IF_ERROR(wait_for_flag(job, reply, number, root));
    const std::int64_t after = steady_clock_ns();
    std::int64_t there = 0;
    std::memcpy(&there, control_.local() + offsetof(Control, time_ns), sizeof there);
    if (after - before < shortest) {
      shortest = after - before;
      const std::int64_t middle = before + shortest / 2;
      sample = {.at_ns = middle, .ahead_ns = there - middle, .error_ns = shortest / 2 + 1};
    }
  }
  return {};
}

// --- the end ------------------------------------------------------------------------------------

void ProfileSession::finish(JobState& state) {
  if (exit_hook_ == nullptr || exit_hook_->claim()) {
    finish_once(state, true);
  }
}

// If ranks are threads of one process, one of them ends the process and can't wait for the others.
void ProfileSession::finish_at_exit(JobState& state, bool is_success) {
  flush_counts();
  recorder_.close();
  const bool can_wait = job_ranks_ == 1 || (is_success && !state.bootstrap().is_one_process());
  if (is_root() || !can_wait) {
    state.log().warning(
        "the program ends without stopping its job; its profile is written at the exit. Stop the "
        "job: job.stop() in C++, tessera_job_stop in C, call job%stop() in Fortran");
  }
  missing_ = can_wait ? "" : "the program exited without stopping its job";
  finish_once(state, can_wait);
}

void ProfileSession::finish_once(JobState& state, bool can_wait) {
  Job job = Job::unowned(state);
  RankProfile own = record(job);
  bool is_done = false;
  if (can_wait && wait_for_all(job)) {
    const Status status = finish_together(job, own);
    is_done = status.ok();
    missing_ = is_done ? "" : status.message();
  }
  if (!is_done) {
    finish_alone(job, std::move(own));
  } else if (mode_ != "summary") {
    remove_plain_file(own_file());  // of an earlier job, which ended badly
  }
}

RankProfile ProfileSession::record(const Job& job) {
  RankProfile own;
  own.rank = rank_.value;
  own.node = job.node_of(rank_).value;
  own.start_ns = start_ns_;
  own.stop_ns = steady_clock_ns();
  own.dropped_events = recorder_.dropped_events();
  job.state().phases()->close();  // at an exit without a stop, some may be open
  own.waits = recorder_.tallies();
  own.labels = recorder_.labelled();
  own.peers = job.traffic().peers;
  own.regions = job.state().slices().counters().regions()->entries();
  std::vector<std::string> names;
  for (const RegionCounts::Entry& each : own.regions) {
    names.push_back(each.name);
  }
  own.phases = job.state().phases()->totals(recorder_.scale(), names);
  own.events = recorder_.take_events();
  return own;
}

// Whether all ranks have arrived; all return the same. No rank waits long for another, which may be
// waiting for it.
bool ProfileSession::wait_for_all(Job& job) {
  if (is_root()) {
    const bool all_arrived = wait_for_arrivals(job);
    send_verdict(job, all_arrived ? Verdict::together : Verdict::alone);
    return all_arrived;
  }
  if (const Status status = raise_flag(job, arrival_of(rank_), 1); !status.ok()) {
    missing_ = status.message();
    return false;
  }
  return wait_for_verdict(job);
}

bool ProfileSession::wait_for_arrivals(Job& job) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms_);
  for (std::int32_t number = 1; number < job_ranks_; ++number) {
    const WorldRank rank{number};
    const auto flag = own_flag(arrival_of(rank));
    bool is_gone = false;
    const bool has_arrived = job.state().node().listen_until(
        [&] { return flag.load(std::memory_order_acquire) != 0; },
        [&] {
          is_gone = !job.is_present(rank);
          return is_gone || std::chrono::steady_clock::now() > deadline;
        });
    if (!has_arrived) {
      missing_ = is_gone ? fmt::format("rank {} is gone", number)
                         : fmt::format("rank {} did not stop within {} ms", number, wait_ms_);
      return false;
    }
  }
  return true;
}

// Sends the verdict to all ranks; one that is gone does not need it.
void ProfileSession::send_verdict(Job& job, Verdict verdict) {
  for (std::int32_t rank = 1; rank < job_ranks_; ++rank) {
    raise_flag(job, control_.at(TeamRank{rank}, offsetof(Control, verdict)),
               static_cast<std::int32_t>(verdict))
        .ignore("the rank is gone, which the others notice by themselves");
  }
}

bool ProfileSession::wait_for_verdict(Job& job) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms_);
  const auto flag = own_flag(control_.at(member(rank_), offsetof(Control, verdict)));
  const bool has_arrived = job.state().node().listen_until(
      [&] { return flag.load(std::memory_order_acquire) != 0; },
      [&] { return !job.is_present(root) || std::chrono::steady_clock::now() > deadline; });
  const auto verdict = static_cast<Verdict>(flag.load());
  missing_ = !has_arrived ? fmt::format("rank 0 is gone, or did not answer within {} ms", wait_ms_)
             : verdict == Verdict::alone ? "a rank is gone, or did not stop in time"
                                         : "";
  return verdict == Verdict::together;
}

// Collective.
Status ProfileSession::finish_together(Job& job, const RankProfile& own) {
  RankProfile with_clocks = own;
  if (is_trace()) {
    measure_clock(job, clock_at_stop_);
    with_clocks.clock_at_start = clock_at_start_;
    with_clocks.clock_at_stop = clock_at_stop_;
  }
  const std::vector<std::byte> packed = is_root() ? std::vector<std::byte>() : with_clocks.pack();
  TESSERA_ASSIGN_OR_RETURN(Region records,
                           Region::allocate(job.world(), packed.size(), {.name = "profile"}));
  if (!packed.empty()) {
    std::memcpy(records.local(), packed.data(), packed.size());
  }
  TESSERA_RETURN_IF_ERROR(job.barrier());
  Status written = is_root() ? write_all(job, records, with_clocks) : Status();
  records.free().ignore("the records were already read");
  return written;
}

// Calls `action` for all ranks, ascending; keeps one other rank's record in memory at a time.
Status ProfileSession::for_each_rank(Job& job, const Region& records, const RankProfile& own,
                                     const Action& action) const {
  action(own);
  for (std::int32_t rank = 1; rank < job_ranks_; ++rank) {
    std::vector<std::byte> bytes(records.bytes(TeamRank{rank}));
    TESSERA_RETURN_IF_ERROR(get(job, records.at(TeamRank{rank}), bytes.data(), bytes.size()));
    TESSERA_ASSIGN_OR_RETURN(const RankProfile profile, RankProfile::unpack(bytes));
    action(profile);
  }
  return {};
}

// On rank 0. Prints the table if the file can't be written. Errors: those of reading the other
// ranks' records.
Status ProfileSession::write_all(Job& job, const Region& records, const RankProfile& own) {
  Status written;
  if (is_trace()) {
    written = write_trace(job, records, own);
    if (written.ok() || written.code() != Code::invalid_argument) {
      return written;
    }
  }
  JobProfile all{.job_ranks = job_ranks_,
                 .job_nodes = job.node_count(),
                 .missing = {},
                 .node_of = nodes_by_rank(job),
                 .ranks = {}};
  TESSERA_RETURN_IF_ERROR(for_each_rank(job, records, own, [&](const RankProfile& each) {
    all.ranks.push_back(each);
    all.ranks.back().events.clear();
  }));
  if (mode_ == "json") {
    written = write_file(file_, all.json());
  }
  if (!written.ok()) {
    job.log().warning("the profile: " + written.message());
  }
  if (!written.ok() || mode_ == "summary") {
    job.log().report(all.table());
  }
  return {};
}

Status ProfileSession::write_trace(Job& job, const Region& records, const RankProfile& own) const {
  TraceFile file;
  TESSERA_RETURN_IF_ERROR(file.open(file_));
  // Only a node's first rank has its clock samples; it comes before the others of its node.
  std::vector<std::pair<ClockSample, ClockSample>> clocks(
      static_cast<std::size_t>(job.node_count()));
  TESSERA_RETURN_IF_ERROR(for_each_rank(job, records, own, [&](const RankProfile& each) {
    auto& [at_start, at_stop] = clocks[static_cast<std::size_t>(each.node)];
    if (each.clock_at_start.error_ns >= 0) {
      at_start = each.clock_at_start;
      at_stop = each.clock_at_stop;
    }
    file.add(each, at_start, at_stop, start_ns_);
  }));
  return file.finish(job_ranks_, {});
}

Status ProfileSession::write_own_trace(const RankProfile& own, const std::string& file) const {
  TraceFile trace;
  TESSERA_RETURN_IF_ERROR(trace.open(file));
  // By its own clock: no other rank's events are in this file.
  trace.add(own, {}, {}, start_ns_);
  return trace.finish(job_ranks_, missing_);
}

std::string ProfileSession::own_file() const {
  return fmt::format("{}.rank{}", file_, rank_.value);
}

// A rank is gone or late, so each rank writes its own profile.
void ProfileSession::finish_alone(Job& job, RankProfile own) {
  const JobProfile alone{.job_ranks = job_ranks_,
                         .job_nodes = job.node_count(),
                         .missing = missing_,
                         .node_of = nodes_by_rank(job),
                         .ranks = {std::move(own)}};
  if (mode_ == "summary") {
    bool is_first = true;
    for (std::int32_t rank = 0; rank < rank_.value; ++rank) {
      is_first = is_first && has_died(job.state(), WorldRank{rank});
    }
    if (is_first) {
      job.log().report(alone.table());
    }
    return;
  }
  const std::string file = own_file();
  const Status status =
      is_trace() ? write_own_trace(alone.ranks.front(), file) : write_file(file, alone.json());
  job.log().warning(fmt::format("the profile of this rank alone {} {}: {}",
                                status.ok() ? "is in" : "could not be written to", file,
                                status.ok() ? missing_ : status.message()));
}

}  // namespace tessera::rma::detail
