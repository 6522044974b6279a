// SPDX-License-Identifier: BSD-3-Clause
//
// The memory that products keep from one to the next.
//
// gemm, contract and what is made of them copy parts of matrices into buffers. A thread that has
// computed keeps its large ones for its next operation, no more than its largest one took at once:
// to get them anew from the system costs up to a tenth of a product of 4000 × 4000.
//
// Threads: all functions may be called from any thread; each has buffers of its own.
#pragma once

#include "rma/cxx20.hpp"

namespace tessera::linalg {

/// Local. Gives the calling thread's buffers back to the system, as the end of the thread does.
void release_buffers() noexcept;

}  // namespace tessera::linalg
