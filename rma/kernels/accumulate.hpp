// SPDX-License-Identifier: BSD-3-Clause
//
// Accumulate kernels: target[i] += scale * source[i], for the six element types. No locking; the
// caller holds whatever makes them atomic.
#pragma once

#include <cstddef>

#include "rma/element.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::kernels {

/// target[i] += scale * source[i] for bytes / size_of(scale.type()) elements.
/// Requires: `bytes` is a multiple of the element size; the two runs are equal or don't overlap.
/// Neither side needs to be aligned.
void accumulate_run(void* target, const void* source, std::size_t bytes,
                    const Scale& scale) noexcept;

}  // namespace tessera::rma::kernels
