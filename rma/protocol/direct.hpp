// SPDX-License-Identifier: BSD-3-Clause
//
// Protocol "direct": operations on slices that are mapped in this process, by load and store
// (seed 000 §5; reference: technique 1).
//
// Nothing is ever under way afterwards: locally complete at return, and complete at the target
// after the processor's own fence.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/element.hpp"
#include "rma/engine/stripes.hpp"
#include "rma/shape.hpp"
#include "rma/transport.hpp"

namespace tessera::rma::detail {

/// accumulate_direct() of one run of `bytes`.
void accumulate_run_direct(std::byte* slice, std::uint64_t offset, const std::byte* source,
                           std::size_t bytes, const Scale& scale,
                           const StripeLocks::Slice& stripes);

/// slice[offset …] += scale × source, under the slice's stripe locks.
/// Requires: shape is checked, normalised and of whole elements; all of it lies in the slice.
/// Where another rank works on a stripe, the others are done first.
void accumulate_direct(std::byte* slice, std::uint64_t offset, const std::byte* source,
                       const CopyShape& shape, const Scale& scale,
                       const StripeLocks::Slice& stripes);

/// The read-modify-write itself, with the processor's atomic instructions.
/// Requires: `word` is aligned to request.bytes.
std::int64_t atomic_direct(std::byte* word, const AtomicRequest& request) noexcept;

/// What a read-modify-write makes of a word that was `previous`.
std::int64_t atomic_result(const AtomicRequest& request, std::int64_t previous) noexcept;

}  // namespace tessera::rma::detail
