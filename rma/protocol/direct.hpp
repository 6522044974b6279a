// SPDX-License-Identifier: BSD-3-Clause
//
// Protocol "direct": operations on slices that are mapped in this process, by load and store
// ([ARMCI06] §5).
//
// Nothing is ever under way afterwards: locally complete at return, and complete at the target
// after the processor's own fence.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/element.hpp"
#include "rma/engine/stripes.hpp"
#include "rma/kernels/accumulate.hpp"
#include "rma/shape.hpp"
#include "rma/transport.hpp"

namespace tessera::rma::detail {

/// accumulate_direct() of one run that may lie in several stripes.
void accumulate_long_run(std::byte* slice, std::uint64_t offset, const std::byte* source,
                         std::uint64_t bytes, const Scale& scale,
                         const StripeLocks::Slice& stripes);

/// accumulate_direct() of one run of `bytes`. Here, since calls are a third of what adding one
/// double costs beside the lock.
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

/// slice[offset …] += scale × source, under the slice's stripe locks where it has some.
/// Requires: shape is checked, normalised and of whole elements; all of it lies in the slice.
/// Where another rank works on a stripe, the others are done first.
void accumulate_direct(std::byte* slice, std::uint64_t offset, const std::byte* source,
                       const CopyShape& shape, const Scale& scale,
                       const StripeLocks::Slice& stripes);

/// accumulate_run_direct() of all of them; those that meet in an element in their order. Of long
/// lists, those of one stripe come together, so that its lock is taken once for many.
void accumulate_fragments_direct(std::byte* slice, std::uint64_t offset, Fragments fragments,
                                 const Scale& scale, const StripeLocks::Slice& stripes);

/// The read-modify-write itself, with the processor's atomic instructions.
/// Requires: `word` is aligned to request.bytes.
std::int64_t atomic_direct(std::byte* word, const AtomicRequest& request) noexcept;

}  // namespace tessera::rma::detail
