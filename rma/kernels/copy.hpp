// SPDX-License-Identifier: BSD-3-Clause
//
// Copy kernels: the loops that move bytes between two pieces of mapped memory. No communication, no
// checks.
//
// Specialised by run length ([CLUSTERS02] figure 2 shows why): an out-of-line memcpy costs more
// than a short run itself. Aligned runs of 1, 2, 4 and 8 bytes are moved by one load and one store,
// so that they never tear. The memory model guarantees that.
#pragma once

#include <cstddef>
#include <cstring>

#include "rma/kernels/stream.hpp"
#include "rma/kernels/words.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::kernels {

/// Which side of a CopyShape is written.
enum class Direction : bool {
  to_remote,    ///< put: local strides are the source's
  from_remote,  ///< get: remote strides are the source's
};

/// True if the two runs of `bytes` share any byte.
inline bool do_overlap(const void* a, const void* b, std::size_t bytes) noexcept {
  const std::uintptr_t distance = address_of(a) - address_of(b);
  return distance < bytes || std::uintptr_t{0} - distance < bytes;
}

/// Copies one run. Never tears for aligned 1, 2, 4 and 8 bytes. Requires: no overlap.
inline void copy_run(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes <= short_run_bytes) {
    copy_short(to, from, bytes);
  } else if (bytes <= 2 * short_run_bytes) {
    copy_ends<short_run_bytes>(static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                               bytes);
  } else if (bytes < stream_from_bytes) {
    std::memcpy(to, from, bytes);
  } else {
    stream_run(to, from, bytes);
  }
}

/// As copy_run, for runs that may overlap (memmove).
void move_run(void* to, const void* from, std::size_t bytes) noexcept;

/// As copy_run, for paths on which a call is expensive: 8 and 4 bytes are moved inline.
inline void copy_small(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == 8) {
    copy_word<8>(to, from);
  } else if (bytes == 4) {
    copy_word<4>(to, from);
  } else {
    copy_run(to, from, bytes);
  }
}

/// As copy_small, for runs that may overlap.
inline void move_small(void* to, const void* from, std::size_t bytes) noexcept {
  // For these lengths copy_run loads all bytes before it stores any.
  if (bytes > 2 * short_run_bytes && do_overlap(to, from, bytes)) [[unlikely]] {
    move_run(to, from, bytes);
  } else {
    copy_small(to, from, bytes);
  }
}

/// Copies what `shape` describes between `local` and `remote`. Requires: shape.check() is ok and
/// shape is normalised (else it is slower); the two sides don't overlap.
void copy_shape(std::byte* local, std::byte* remote, const CopyShape& shape,
                Direction direction) noexcept;

/// As copy_shape, but the two sides may overlap: the result is as if all of the source were read
/// first. Cost: if they overlap, memory for the whole transfer.
void move_shape(std::byte* local, std::byte* remote, const CopyShape& shape, Direction direction);

}  // namespace tessera::rma::kernels
