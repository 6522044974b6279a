// SPDX-License-Identifier: BSD-3-Clause
//
// Protocol "direct": operations on slices that are mapped in this process, by load and store
// ([ARMCI06] §5).
//
// Complete locally at return, and complete at the target after a memory fence of the processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/element.hpp"
#include "rma/engine/stripes.hpp"
#include "rma/kernels/accumulate.hpp"
#include "rma/shape.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::detail {

/// accumulate_direct() of one run that may span several stripes.
void accumulate_long_run(std::byte* slice, std::uint64_t offset, const std::byte* source,
                         std::uint64_t bytes, const Scale& scale,
                         const StripeLocks::Slice& stripes);

/// accumulate_direct() of one run of `bytes`. Inline, since a call takes a third of the time of
/// adding one double, besides the lock.
inline void accumulate_run_direct(std::byte* slice, std::uint64_t offset, const std::byte* source,
                                  std::size_t bytes, const Scale& scale,
                                  const StripeLocks::Slice& stripes) {
  if (offset % StripeLocks::stripe_bytes + bytes > StripeLocks::stripe_bytes) {
    accumulate_long_run(slice, offset, source, bytes, scale, stripes);
  } else if (!stripes.has_locks()) [[unlikely]] {
    kernels::accumulate_small(slice + offset, source, bytes, scale);
  } else if (bytes > 0) {
    const RobustGuard guard(stripes.of(offset), stripes.context());
    kernels::accumulate_small(slice + offset, source, bytes, scale);
  }
}

/// slice[offset …] += scale × source, under the slice's stripe locks if it has some. Stripes on
/// which another rank works at the moment are done last.
/// Requires: shape is checked, normalised and of whole elements; all of it lies in the slice.
void accumulate_direct(std::byte* slice, std::uint64_t offset, const std::byte* source,
                       const CopyShape& shape, const Scale& scale,
                       const StripeLocks::Slice& stripes);

/// accumulate_run_direct() of all fragments. Fragments that update the same element are added in
/// list order. Long lists are sorted by stripe, so that a lock is taken once for many fragments.
void accumulate_fragments_direct(std::byte* slice, std::uint64_t offset, Fragments fragments,
                                 const Scale& scale, const StripeLocks::Slice& stripes);

/// The read-modify-write itself, with the processor's atomic instructions.
/// Requires: `word` is aligned to request.bytes.
std::int64_t atomic_direct(std::byte* word, const AtomicRequest& request) noexcept;

}  // namespace tessera::rma::detail
