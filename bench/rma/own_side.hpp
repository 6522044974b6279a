// SPDX-License-Identifier: BSD-3-Clause
//
// OwnSide: Tessera's way to do a Case, to be measured beside the floors.
//
// A region of one slice a rank, a local buffer, and one lock a rank. Rank 0 is the origin;
// rank 1 the target, or rank 0 itself where it is alone, unless another is given. Statuses are
// looked at, as a user's would be.
//
// Ownership: outlives its candidates. Creation and destruction are collective.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "bench/floors/floor.hpp"
#include "bench/floors/memory_floor.hpp"
#include "bench/session.hpp"
#include "bench/support/candidate.hpp"
#include "bench/support/case.hpp"
#include "bench/support/clock.hpp"
#include "bench/support/overlap.hpp"
#include "bench/support/transfer.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/region.hpp"

namespace tessera::bench {

/// What the local buffer is made of.
enum class LocalMemory {
  ordinary,   ///< private, as a user's that has not heard of allocate_local
  allocated,  ///< of Job::allocate_local
  slice,      ///< this rank's slice of another region
};

class OwnSide {
 public:
  /// Collective. Throws rma::Error when there is no memory.
  OwnSide(rma::Job& job, const FloorOptions& options);
  /// The same with another target than rank 1.
  OwnSide(rma::Job& job, const FloorOptions& options, rma::TeamRank target,
          LocalMemory memory = LocalMemory::ordinary);

  /// The transport that carries operations to the target: "shm". Of transport mpi "tessera", for
  /// MPI itself stands beside it.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] rma::TeamRank target() const { return target_; }
  [[nodiscard]] rma::Region& region() { return region_; }
  /// Why there are no locks among these ranks; ok when there are.
  [[nodiscard]] const rma::Status& lock_problem() const { return locks_.status(); }
  [[nodiscard]] std::span<std::byte> local() const { return local_; }

  /// None when the buffers are too small, or there are no locks.
  [[nodiscard]] std::optional<Candidate> candidate(const Case& c);
  /// `messages` puts or gets of `bytes` each side by side, all outstanding, and one wait for all;
  /// behind puts also a fence, unless they complete here. None when the buffers are too small.
  [[nodiscard]] std::optional<Candidate> stream(Operation operation, std::size_t bytes,
                                                std::int64_t messages,
                                                Completes completes = Completes::at_target);
  /// A put or get of `bytes` that is started and waited for; a put then is complete here. None when
  /// the buffers are too small.
  [[nodiscard]] std::optional<Started> started(Operation operation, std::size_t bytes);
  /// A put of `bytes` out of memory, or a get into memory, that is mapped for it, and unmapped
  /// behind it, while `clock` stands still. Requires: `clock` times it and outlives it. None when
  /// the buffers are too small.
  [[nodiscard]] std::optional<Candidate> with_new_memory(Operation operation, std::size_t bytes,
                                                         PausableClock& clock);
  /// Locks and unlocks the lock of `owner`; all ranks do when `cooperative`.
  /// Requires: lock_problem() is ok.
  [[nodiscard]] Candidate lock_unlock(rma::TeamRank owner, bool cooperative);
  void lock(rma::TeamRank owner) { rma::require(locks_->lock(owner, 0)); }
  void unlock(rma::TeamRank owner) { rma::require(locks_->unlock(owner, 0)); }

  /// A memory floor between these very buffers where the target's is mapped, else on its own.
  [[nodiscard]] std::unique_ptr<Floor> make_memory_floor();

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
  FloorOptions options_;
  rma::TeamRank target_;
  std::string name_;
  std::shared_ptr<const void> local_owner_;
  std::span<std::byte> local_;
  std::unique_ptr<Mapping> attached_;  ///< the region's memory, where it is the user's
  rma::Region region_;
  rma::Result<rma::LockSet> locks_;
};

}  // namespace tessera::bench
