// SPDX-License-Identifier: BSD-3-Clause
//
// TesseraCandidate: Tessera's way to do a Case, which is compared with the baselines.
//
// It has a region with one slice per rank, a local buffer, and one lock per rank. Rank 0 is the
// origin. Rank 1 is the target, or rank 0 itself if it is alone, unless another target is given. It
// checks all statuses, as a user would.
//
// Ownership: must outlive its candidates. Creation and destruction are collective.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/baselines/baseline.hpp"
#include "bench/baselines/memory_baseline.hpp"
#include "bench/session.hpp"
#include "bench/support/candidate.hpp"
#include "bench/support/job_group.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/statistics.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/region.hpp"

namespace tessera::bench {

/// The memory of the local buffer.
enum class LocalMemory {
  ordinary,   ///< private, as a user's that was not allocated by allocate_local
  allocated,  ///< by Job::allocate_local
  slice,      ///< this rank's slice of another region
};

class TesseraCandidate {
 public:
  /// Collective. Throws rma::Error if there is no memory.
  TesseraCandidate(rma::Job& job, const BaselineOptions& options);
  /// The same with a target other than rank 1.
  TesseraCandidate(rma::Job& job, const BaselineOptions& options, rma::TeamRank target,
                   LocalMemory memory = LocalMemory::ordinary);

  /// The transport that carries operations to the target: "shm". For transport mpi it is "tessera",
  /// because MPI itself is another candidate.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] rma::TeamRank target() const { return target_; }
  [[nodiscard]] rma::Region& region() { return region_; }
  /// Why there are no locks among these ranks; ok if there are.
  [[nodiscard]] const rma::Status& lock_problem() const { return locks_.status(); }
  [[nodiscard]] std::span<std::byte> local() const { return local_; }

  /// Empty if the buffers are too small, or if there are no locks.
  [[nodiscard]] std::optional<Candidate> candidate(const Case& c);
  /// `messages` adjacent puts or gets of `bytes` each, all outstanding, and one wait for all; after
  /// puts also a fence, unless they need only local completion. Empty if the buffers are too small.
  [[nodiscard]] std::optional<Candidate> stream(Operation operation, std::size_t bytes,
                                                std::int64_t messages,
                                                Completes completes = Completes::at_target);
  /// A put or get of `bytes` with separate start and wait; a put then is locally complete. Empty if
  /// the buffers are too small.
  [[nodiscard]] std::optional<Started> started(Operation operation, std::size_t bytes);
  /// A put of `bytes` from memory, or a get into memory, that is mapped before and unmapped after
  /// each operation. `clock` is paused meanwhile. Requires: `clock` times it and outlives it. Empty
  /// if the buffers are too small.
  [[nodiscard]] std::optional<Candidate> with_new_memory(Operation operation, std::size_t bytes,
                                                         PausableClock& clock);
  /// Locks and unlocks the lock of `owner`; if `cooperative`, all ranks do.
  /// Requires: lock_problem() is ok.
  [[nodiscard]] Candidate lock_unlock(rma::TeamRank owner, bool cooperative);
  void lock(rma::TeamRank owner) { rma::require(locks_->lock(owner, 0)); }
  void unlock(rma::TeamRank owner) { rma::require(locks_->unlock(owner, 0)); }

  /// A memory baseline that uses these buffers if the target's is mapped, otherwise its own.
  [[nodiscard]] std::unique_ptr<Baseline> make_memory_baseline();

 private:
  [[nodiscard]] Workspace workspace();
  template <class Once>
  [[nodiscard]] Candidate make(const Case& c, Once once);
  [[nodiscard]] Candidate contiguous(const Case& c);
  [[nodiscard]] Candidate strided(const Case& c);
  [[nodiscard]] Candidate vector(const Case& c);
  [[nodiscard]] Candidate separate(const Case& c);
  template <class Start>
  [[nodiscard]] Candidate each_run(const Case& c, Start start);
  [[nodiscard]] Candidate aggregate(const Case& c);
  [[nodiscard]] Candidate atomic(const Case& c);

  rma::Job& job_;
  BaselineOptions options_;
  rma::TeamRank target_;
  std::string name_;
  std::shared_ptr<const void> local_owner_;
  std::span<std::byte> local_;
  std::unique_ptr<Mapping> attached_;  ///< the region's memory, if it is the user's
  rma::Region region_;
  rma::Result<rma::LockSet> locks_;
};

/// Tessera in a job of its own, with its own settings, as candidates of a name.
class TesseraWithSettings {
 public:
  /// Collective over the ranks of `first`, which must outlive this.
  TesseraWithSettings(std::string name, rma::Job& first, const rma::Settings& settings,
                      const BaselineOptions& options)
      : name_(std::move(name)),
        job_(start_job_on_same_ranks(first, settings)),
        own_(job_, options) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Candidate candidate(const Case& c) {
    Candidate found = *own_.candidate(c);
    found.name = name_;
    return found;
  }

 private:
  std::string name_;
  rma::Job job_;
  TesseraCandidate own_;
};
using AllSettings = std::vector<std::unique_ptr<TesseraWithSettings>>;

}  // namespace tessera::bench
