// SPDX-License-Identifier: BSD-3-Clause
//
// Aggregate: many small operations sent as few (explicit and implicit aggregation of [ARMCI06]
// §3.2.3; ARMCI's aggregate handles).
//
//     Aggregate gather(job);
//     for (...) gather.get(elements.at(owner, offset), &values[i], sizeof(double));
//     gather.wait();
//
// It takes any number of contiguous, strided and scattered operations of one kind to one rank, and
// sends them as lists. They are unordered among themselves, as non-blocking operations are, and
// must not overlap where a list must not (rma/transfer.hpp), unless it is made for that. Complete:
// locally after the wait() of the handle that start() gives, and only then; local memory stays as
// it is until then.
//
// Threads: one at a time. Ownership: move-only; the destructor starts what is left and waits, and
// the job's next fence reports an error of that. Must not outlive its Job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rma/counters.hpp"
#include "rma/element.hpp"
#include "rma/handle.hpp"
#include "rma/region.hpp"
#include "rma/shape.hpp"
#include "rma/status.hpp"

namespace tessera::rma {

class Job;

class Aggregate {
 public:
  /// What is done about operations that overlap where they are written.
  enum class Overlap : std::uint8_t {
    refused,   ///< invalid_argument, from the handle
    in_order,  ///< they are written one after another, so that the last one's bytes stay; start()
               ///< waits for those before
  };
  explicit Aggregate(Job& job, Overlap overlap = Overlap::refused) noexcept;
  ~Aggregate();
  Aggregate(Aggregate&&) noexcept;
  Aggregate& operator=(Aggregate&&) noexcept;

  /// Adds an operation. All that are added until start() have the kind, target rank and scale of
  /// the first. Errors: invalid_argument (another kind, rank or scale than the first; a shape
  /// that makes no sense), out_of_range (before the slice's start), no_memory; nothing is added
  /// then. What else may be wrong is told by the handle.
  /// Cost: O(runs) of memory, until most_pieces are there, which are sent at once.
  Status put(RemoteAddress to, const void* from, std::size_t bytes);
  Status put(RemoteAddress to, const void* from, const CopyShape& shape);
  Status put(RemoteAddress to, Fragments fragments);
  Status get(RemoteAddress from, void* to, std::size_t bytes);
  Status get(RemoteAddress from, void* to, const CopyShape& shape);
  Status get(RemoteAddress from, Fragments fragments);
  Status accumulate(RemoteAddress to, const void* from, std::size_t bytes, const Scale& scale);
  Status accumulate(RemoteAddress to, const void* from, const CopyShape& shape, const Scale& scale);
  Status accumulate(RemoteAddress to, Fragments fragments, const Scale& scale);

  /// Sends what was added; the handle is for all of it. The aggregate is empty then, and takes any
  /// kind and rank.
  Handle start();
  /// start() and wait for it.
  Status wait() { return start().wait(); }

  /// Runs that were added and not yet sent.
  [[nodiscard]] std::size_t pieces() const noexcept;
  static constexpr std::size_t most_pieces = std::size_t{1} << 16U;

 private:
  struct Added;
  template <class... What>
  Status try_to_add(Op op, const Scale* scale, const RemoteAddress& at, const What&... what);
  template <class... What>
  Status add(Op op, const Scale* scale, const RemoteAddress& at, const What&... what);

  Job* job_;
  Overlap overlap_;
  std::unique_ptr<Added> added_;  ///< null before the first
};

}  // namespace tessera::rma
