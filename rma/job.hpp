// SPDX-License-Identifier: BSD-3-Clause
//
// Job: the membership of this process (or thread) in the parallel run. It starts, owns and stops
// everything. There is no other root object, so two jobs can live in one process. The only global
// state is a list of the process's jobs, used at its end and for children made by fork().
//
//     auto job = tessera::rma::Job::start().value();
//     fmt::print("rank {} of {}\n", job.rank().value, job.size());
//
// Threads: one-sided operations from any thread; start, stop and collectives from one thread at a
// time.
// Ownership: a Job is a handle. Copies share one membership. It stops when the last copy is
// destroyed or when stop() is called on any copy. Do not use its teams, regions, handles and locks
// after that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rma/base/log.hpp"
#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/bootstrap.hpp"
#include "rma/counters.hpp"
#include "rma/order_observer.hpp"
#include "rma/phase.hpp"
#include "rma/region.hpp"
#include "rma/team.hpp"
#include "rma/transport/transport.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma {

namespace detail {
class JobState;
class Membership;
}  // namespace detail

struct JobOptions {
  std::shared_ptr<Bootstrap> bootstrap = {};      ///< null: choose_bootstrap() decides
  std::optional<Settings> settings = {};          ///< none: Settings::from_environment()
  std::vector<TransportFactory> transports = {};  ///< in addition to the library's own
};

class Job {
 public:
  /// Collective over all ranks. Starts the job. Works for a single process, under tessera-run,
  /// mpirun and srun, and with ThreadGroup::member.
  /// Errors: invalid_argument (settings, unknown transport); timed_out and peer_lost (other ranks
  /// did not start); unreachable (no transport to some rank); no_memory; limit_exceeded (file
  /// descriptors or address space); unsupported (a bootstrap that was not built); protocol (the
  /// launcher or a peer sent invalid bytes).
  static Result<Job> start(JobOptions options = {});

  /// Completes this rank's operations and leaves the job, for all copies of the handle. Peers that
  /// wait for this rank in a collective get an error. Regions that other ranks still use stay valid
  /// for them. Idempotent. With TESSERA_PROFILE it also waits for the other ranks to stop, for at
  /// most TESSERA_TUNE=profile_wait_ms (docs/profile.md).
  /// Errors: those of the last fence.
  Status stop();

  /// This rank's number, 0 … size() − 1.
  [[nodiscard]] WorldRank rank() const noexcept;
  /// Records in an error that it comes from a call of this rank, if the job has several ranks
  /// (Status::failing_rank).
  [[nodiscard]] Status name_rank(Status status) const noexcept;
  /// The number of ranks in the job.
  [[nodiscard]] std::int32_t size() const noexcept;
  /// The team of all ranks, in rank order.
  [[nodiscard]] Team& world() const noexcept;

  /// The number of nodes. Nodes are numbered from 0 in the order of their lowest ranks.
  [[nodiscard]] std::int32_t node_count() const noexcept;
  /// The node of a rank. Requires: 0 ≤ rank < size().
  [[nodiscard]] NodeId node_of(WorldRank rank) const noexcept;
  /// The ranks on this rank's node, which share its memory, in ascending order; includes this rank.
  [[nodiscard]] const std::vector<WorldRank>& node_ranks() const noexcept;
  /// True if `rank` is on this rank's node.
  [[nodiscard]] bool shares_node(WorldRank rank) const noexcept;
  /// The number of processors that the ranks of this node may use, all ranks together; at least 1.
  /// Less than the machine has if ranks are bound to some processors or a control group has a
  /// quota.
  [[nodiscard]] std::int32_t node_processors() const noexcept;
  /// As node_processors(), but processors that several nodes use are divided equally among these
  /// nodes, rounded down. Emulated nodes and containers share the processors, and maybe the quota,
  /// of one kernel.
  [[nodiscard]] std::int32_t node_processor_share() const noexcept;
  /// False once the rank has left the job or died, as far as this node knows.
  [[nodiscard]] bool is_present(WorldRank rank) const;

  /// The name of the transport that carries operations to `rank`.
  [[nodiscard]] Result<std::string_view> transport_to(WorldRank rank);

  /// One-sided. Waits for local completion of detached operations: all of them, or those to one
  /// rank.
  Status wait_all();
  Status wait_rank(WorldRank rank);

  /// One-sided. Returns when all operations of this rank, also detached ones, are complete at their
  /// targets: at all ranks, or at `rank`. Reports the errors of dropped handles.
  Status fence_all();
  Status fence(WorldRank rank);

  /// Collective over all ranks. Does fence_all(), then a barrier.
  Status barrier();

  /// Local. Makes progress on this rank's operations. If the node's agent runs in this process and
  /// accepts help, also runs one iteration of it. Never waits and is never required; it lets a
  /// program that computes for long use its idle time.
  /// Returns the number of replies and messages that arrived.
  int progress();

  /// The region and offset of (rank, pointer); see Region::raw_pointer. O(1).
  /// Errors: out_of_range if the pointer lies in no region of that rank, invalid_argument (no such
  /// rank).
  [[nodiscard]] Result<RemoteAddress> translate(WorldRank rank, const void* pointer) const;
  /// The pointer that stands for `at` in this process; see Region::raw_pointer.
  /// Errors: closed (no such region here), invalid_argument (the rank has no slice of it).
  [[nodiscard]] Result<void*> raw_pointer(const RemoteAddress& at) const;

  /// Local. Allocates zeroed memory, aligned to 64 KiB, from the node's shared arena. Transports
  /// use this memory without copying or registration.
  /// Errors: no_memory.
  Result<void*> allocate_local(std::size_t bytes);
  /// Local. Frees memory from allocate_local().
  /// Errors: invalid_argument for any other pointer.
  Status free_local(void* memory);

  /// Local. Counts of the operations and bytes of this rank so far.
  [[nodiscard]] Traffic traffic() const;

  /// Local. Begins a phase of this thread, which lasts until the result's end (rma/phase.hpp). Keep
  /// the result: `const auto phase = job.phase("deposit");`.
  [[nodiscard]] Phase phase(std::string_view name) const noexcept { return {phases_, name}; }

  /// The settings of this job.
  [[nodiscard]] const Settings& settings() const noexcept;
  [[nodiscard]] Log& log() const noexcept;
  [[nodiscard]] Bootstrap& bootstrap() const noexcept;

  /// Local. For the library itself: the job's observer, or null.
  [[nodiscard]] OrderObserver* order_observer() const noexcept;
  /// Local. For the library itself: installs `observer` unless the job has one, and returns the
  /// job's observer.
  OrderObserver& observe_order(std::unique_ptr<OrderObserver> observer);

  /// Local. For the library itself: a Job that does not own; its destructor does not stop the job.
  static Job unowned(detail::JobState& state);

  [[nodiscard]] detail::JobState& state() const noexcept { return *state_; }
  [[nodiscard]] const std::shared_ptr<detail::JobState>& shared_state() const noexcept {
    return state_;
  }

 private:
  explicit Job(std::shared_ptr<detail::JobState> state);
  Job() = default;
  std::shared_ptr<detail::JobState> state_;
  std::shared_ptr<detail::Membership> membership_;  ///< stops the job when the last copy is
                                                    ///< destroyed
  std::shared_ptr<detail::PhaseLog> phases_;        ///< null: phases are not recorded
};

/// Local. The names of the library's own transports, for messages and tools.
std::vector<std::string> transport_names();

/// The device that a transport would use on this machine, or why it can't be used.
struct TransportDescription {
  std::string name;
  std::string text;
};
/// Local. One entry for each transport that needs hardware.
std::vector<TransportDescription> describe_transports(const Settings& settings);

struct ThreadRunOptions {
  std::optional<Settings> settings = {};
  std::vector<TransportFactory> transports = {};
};

/// Local. Checks that this process may run `ranks` ranks as threads.
/// Errors: invalid_argument (fewer than one); limit_exceeded if the number exceeds a limit of the
/// system; the message names the tightest one.
Status check_thread_count(std::int64_t ranks);

/// Local. Runs `body` on `ranks` threads, each with its own Job in one common run, and waits for
/// them. Returns the first error of a start or of a body.
/// Errors: also those of check_thread_count(), before any thread starts.
Status run_on_threads(std::int32_t ranks, const std::function<Status(Job&)>& body,
                      const ThreadRunOptions& options = {});

}  // namespace tessera::rma
