// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that products keep for the next product.
//
// gemm, contract and operations that use them copy parts of matrices into buffers. A thread keeps
// its large buffers for its next operation, but no more than its largest operation used at once. To
// get them again from the system would take up to a tenth of the time of a 4000 × 4000 product.
//
// Threads: all functions may be called from any thread; each thread has its own buffers.
#pragma once

#include "rma/base/cxx20.hpp"

namespace tessera::linalg {

/// Local. Returns the calling thread's buffers to the system, as the end of the thread does.
void release_buffers() noexcept;

}  // namespace tessera::linalg
