// SPDX-License-Identifier: BSD-3-Clause
//
// Copy kernels: the loops that move bytes between two mapped places. No communication, no checks.
//
// Specialised by run length (seed 001 figure 2 shows why it matters): an out-of-line memcpy costs
// more than a short run itself. Aligned runs of 1, 2, 4 and 8 bytes are moved by one load and one
// store, so that they never tear; the contract promises that.
#pragma once

#include <cstddef>

#include "rma/kernels/words.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::kernels {

/// Which side of a CopyShape is written.
enum class Direction : bool {
  to_remote,    ///< put: local strides are the source's
  from_remote,  ///< get: remote strides are the source's
};

/// Copies one run. Never tears for aligned 1, 2, 4 and 8 bytes. Requires: no overlap.
void copy_run(void* to, const void* from, std::size_t bytes) noexcept;

/// As copy_run, for runs that may overlap (memmove).
void move_run(void* to, const void* from, std::size_t bytes) noexcept;

/// As copy_run, for paths where a call counts: 8 and 4 bytes are moved right here.
inline void copy_small(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == 8) {
    copy_word<8>(to, from);
  } else if (bytes == 4) {
    copy_word<4>(to, from);
  } else {
    copy_run(to, from, bytes);
  }
}

/// Copies what `shape` describes between `local` and `remote`. Requires: shape.check() is ok and
/// shape is normalised (else it is slower); the two sides don't overlap.
void copy_shape(std::byte* local, std::byte* remote, const CopyShape& shape,
                Direction direction) noexcept;

}  // namespace tessera::rma::kernels
