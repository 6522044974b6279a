// SPDX-License-Identifier: BSD-3-Clause
//
// Job: this process's (or thread's) membership of the parallel run. It starts, owns and stops
// everything; there is no other root, so two jobs can live in one process. Of global state there is
// but a list of the process's jobs, for its end and for children made by fork().
//
//     auto job = tessera::rma::Job::start().value();
//     fmt::print("rank {} of {}\n", job.rank().value, job.size());
//
// Threads: one-sided operations from any thread; start, stop and collectives from one at a time.
// Ownership: a Job is a handle; copies share one membership, which stops with the last of them, or
// when stop() is called on any. Teams, regions, handles and locks are of no use after that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rma/bootstrap.hpp"
#include "rma/counters.hpp"
#include "rma/log.hpp"
#include "rma/order_observer.hpp"
#include "rma/rank.hpp"
#include "rma/region.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"
#include "rma/transport.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma {

namespace detail {
class JobState;
class Membership;
}  // namespace detail

struct JobOptions {
  std::shared_ptr<Bootstrap> bootstrap = {};      ///< null: chosen by choose_bootstrap()
  std::optional<Settings> settings = {};          ///< none: Settings::from_environment()
  std::vector<TransportFactory> transports = {};  ///< besides those of the library
};

class Job {
 public:
  /// Collective over all ranks. Works alone, under tessera-run, mpirun and srun, and with
  /// ThreadGroup::member. Errors: invalid_argument (settings, unknown transport), timed_out and
  /// peer_lost (other ranks did not come), unreachable (no transport to some rank), no_memory;
  /// limit_exceeded (descriptors, or address space), unsupported (a bootstrap that was not built),
  /// protocol (a launcher's or a peer's message that makes no sense).
  static Result<Job> start(JobOptions options = {});

  /// Completes this rank's operations and leaves the job, for all handles; peers that wait for this
  /// rank in a collective are told. Regions that other ranks still use stay valid for them.
  /// Idempotent. Errors: those of the last fence. With TESSERA_PROFILE it waits for the others to
  /// stop, too, for TESSERA_PROFILE_WAIT_MS at most (docs/profile.md).
  Status stop();

  [[nodiscard]] WorldRank rank() const noexcept;
  /// An error as one of this rank's calls, where the job has several ranks (Status::failing_rank).
  [[nodiscard]] Status name_rank(Status status) const noexcept;
  [[nodiscard]] std::int32_t size() const noexcept;
  /// The team of all ranks, in rank order.
  [[nodiscard]] Team& world() const noexcept;

  /// Nodes are numbered from 0 in the order of their lowest ranks.
  [[nodiscard]] std::int32_t node_count() const noexcept;
  /// Requires: 0 ≤ rank < size().
  [[nodiscard]] NodeId node_of(WorldRank rank) const noexcept;
  /// The ranks that share this rank's memory, itself among them, ascending.
  [[nodiscard]] const std::vector<WorldRank>& node_ranks() const noexcept;
  [[nodiscard]] bool shares_node(WorldRank rank) const noexcept;
  /// How many processors this node's ranks may run on, all of them together: fewer than it has
  /// where they are bound to some, or where a control group's quota gives less time; at least 1.
  [[nodiscard]] std::int32_t node_processors() const noexcept;
  /// As node_processors(), but of processors that other nodes use as well only this node's equal
  /// part, rounded down: emulated nodes, and containers, share the processors of one kernel, and
  /// may share a quota.
  [[nodiscard]] std::int32_t node_processor_share() const noexcept;
  /// True while the rank has neither left nor died, as far as this node can tell.
  [[nodiscard]] bool is_present(WorldRank rank) const;

  /// The name of the transport that carries operations to `rank`.
  [[nodiscard]] Result<std::string_view> transport_to(WorldRank rank);

  /// One-sided. Waits for local completion of detached operations: all, or those to one rank.
  Status wait_all();
  Status wait_rank(WorldRank rank);

  /// One-sided. Returns when all operations of this rank, detached ones too, are complete at their
  /// targets: everywhere, or at one rank. Reports errors of dropped handles.
  Status fence_all();
  Status fence(WorldRank rank);

  /// Collective over all ranks. fence_all() and then a barrier.
  Status barrier();

  /// Local. Moves on what this rank has under way, and does a turn of what the node's agent has to
  /// do for other nodes, where that runs in this process and may be helped. Never waits, and is
  /// never needed: for programs that compute long and want to give what they know is idle time.
  /// Returns how many answers or messages came.
  int progress();

  /// What (rank, pointer) stands for; see Region::raw_pointer. O(1).
  /// Errors: out_of_range when it lies in no region of that rank, invalid_argument (no such rank).
  [[nodiscard]] Result<RemoteAddress> translate(WorldRank rank, const void* pointer) const;
  /// The pointer that stands for `at` here; see Region::raw_pointer. Errors: closed (no such region
  /// here), invalid_argument (the rank has no slice of it).
  [[nodiscard]] Result<void*> raw_pointer(const RemoteAddress& at) const;

  /// Local. Memory from the node's shared arena, which transports can use without copying or
  /// registering; 64 KiB aligned, zeroed. Errors: no_memory.
  Result<void*> allocate_local(std::size_t bytes);
  /// Local. Errors: invalid_argument for a pointer that allocate_local did not give.
  Status free_local(void* memory);

  /// Local. What this rank has done so far.
  [[nodiscard]] Traffic traffic() const;

  [[nodiscard]] const Settings& settings() const noexcept;
  [[nodiscard]] Log& log() const noexcept;
  [[nodiscard]] Bootstrap& bootstrap() const noexcept;

  /// Local. For the library itself. The job's observer, or null.
  [[nodiscard]] OrderObserver* order_observer() const noexcept;
  /// Local. For the library itself. Gives the job an observer and returns it; the one that it has
  /// already where it has one.
  OrderObserver& observe_order(std::unique_ptr<OrderObserver> observer);

  /// Local. For the library itself: a non-owning Job, whose end doesn't stop the job.
  static Job unowned(detail::JobState& state);

  [[nodiscard]] detail::JobState& state() const noexcept { return *state_; }
  [[nodiscard]] const std::shared_ptr<detail::JobState>& shared_state() const noexcept {
    return state_;
  }

 private:
  explicit Job(std::shared_ptr<detail::JobState> state);
  Job() = default;
  std::shared_ptr<detail::JobState> state_;
  std::shared_ptr<detail::Membership> membership_;  ///< stops the job when the last one goes
};

/// Local. The names of the library's own transports, for messages and tools.
std::vector<std::string> transport_names();

/// Local. For each transport that needs hardware: the device that it would use on this machine, or
/// why it can't be used.
struct TransportDescription {
  std::string name;
  std::string text;
};
std::vector<TransportDescription> describe_transports(const Settings& settings);

struct ThreadRunOptions {
  std::optional<Settings> settings = {};
  std::vector<TransportFactory> transports = {};
};

/// Local. Whether this process may have so many ranks as threads. Errors: invalid_argument (fewer
/// than one); limit_exceeded for more than the tightest of the system's limits, which it names.
Status check_thread_count(std::int64_t ranks);

/// Local. Runs `body` on `ranks` threads, each with a Job of its own in one common run, and waits
/// for them. Returns the first error of starting or of a body. Errors: also those of
/// check_thread_count(), before anything is started.
Status run_on_threads(std::int32_t ranks, const std::function<Status(Job&)>& body,
                      const ThreadRunOptions& options = {});

}  // namespace tessera::rma
