// SPDX-License-Identifier: BSD-3-Clause
//
// Aggregate: many small operations sent as few messages (explicit and implicit aggregation of
// [ARMCI06] §3.2.3; ARMCI's aggregate handles).
//
//     Aggregate gather(job);
//     for (...) gather.get(elements.at(owner, offset), &values[i], sizeof(double));
//     gather.wait();
//
// Takes any number of contiguous, strided and scattered operations of one kind to one rank, and
// sends them as lists. They are unordered among themselves, as non-blocking operations are, and
// must not overlap in the ways that a list must not (rma/transfer.hpp), except with
// Overlap::in_order.
// Complete: locally after wait() of the handle that start() returns, and only then. Local memory
// must stay unchanged until then.
//
// Threads: one at a time. Ownership: move-only. The destructor starts the remaining operations and
// waits; the job's next fence reports their error. Must not outlive its Job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rma/base/status.hpp"
#include "rma/counters.hpp"
#include "rma/element.hpp"
#include "rma/handle.hpp"
#include "rma/region.hpp"
#include "rma/shape.hpp"

namespace tessera::rma {

class Job;

class Aggregate {
 public:
  /// How operations that write overlapping bytes are handled.
  enum class Overlap : std::uint8_t {
    refused,   ///< the handle returns invalid_argument
    in_order,  ///< written one after another, so that the last one's bytes remain; start() waits
               ///< for the earlier ones
  };
  explicit Aggregate(Job& job, Overlap overlap = Overlap::refused) noexcept;
  ~Aggregate();
  Aggregate(Aggregate&&) noexcept;
  Aggregate& operator=(Aggregate&&) noexcept;

  /// Adds an operation. All operations that are added before start() must have the kind, target
  /// rank and scale of the first.
  /// Errors: invalid_argument (another kind, rank or scale than the first; an invalid shape),
  /// out_of_range (before the slice's start), no_memory; nothing is added then. The handle reports
  /// all other errors.
  /// Cost: O(runs) of memory, up to max_pieces runs; these are then sent at once.
  Status put(RemoteAddress to, const void* from, std::size_t bytes);
  Status put(RemoteAddress to, const void* from, const CopyShape& shape);
  Status put(RemoteAddress to, Fragments fragments);
  Status get(RemoteAddress from, void* to, std::size_t bytes);
  Status get(RemoteAddress from, void* to, const CopyShape& shape);
  Status get(RemoteAddress from, Fragments fragments);
  Status accumulate(RemoteAddress to, const void* from, std::size_t bytes, const Scale& scale);
  Status accumulate(RemoteAddress to, const void* from, const CopyShape& shape, const Scale& scale);
  Status accumulate(RemoteAddress to, Fragments fragments, const Scale& scale);

  /// Sends what was added; the handle covers all of it. Afterwards the aggregate is empty and
  /// accepts any kind and rank.
  Handle start();
  /// start(), then waits for the handle.
  Status wait() { return start().wait(); }

  /// The number of runs that were added and not yet sent.
  [[nodiscard]] std::size_t pieces() const noexcept;
  static constexpr std::size_t max_pieces = std::size_t{1} << 16U;

 private:
  struct Added;
  template <class... What>
  Status try_to_add(Op op, const Scale* scale, const RemoteAddress& at, const What&... what);
  template <class... What>
  Status add(Op op, const Scale* scale, const RemoteAddress& at, const What&... what);

  Job* job_;
  Overlap overlap_;
  std::unique_ptr<Added> added_;  ///< null until the first operation
};

}  // namespace tessera::rma
