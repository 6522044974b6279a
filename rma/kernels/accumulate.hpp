// SPDX-License-Identifier: BSD-3-Clause
//
// Accumulate kernels: target[i] += scale * source[i], for all element types, and the operations
// other than sums (combine.hpp). They don't lock; the caller makes them atomic.
//
// Integers wrap around. Complex products are computed by parts, (a + ib)(c + id) = (ac − bd) + i(ad
// + bc), without the recovery of infinities that C's complex multiplication has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "rma/element.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::kernels {

/// target[i] += scale * source[i], or what scale.op() does, for bytes / size_of(scale.type())
/// elements.
/// Requires: `bytes` is a multiple of the element size; the two runs are equal or don't overlap.
/// Neither side needs to be aligned.
void accumulate_run(void* target, const void* source, std::size_t bytes,
                    const Scale& scale) noexcept;

/// As accumulate_run, for paths on which a call is expensive: one double is added inline.
inline void accumulate_small(void* target, const void* source, std::size_t bytes,
                             const Scale& scale) noexcept {
  if (bytes == sizeof(double) && scale.type() == ElementType::f64) {
    double sum = 0;
    double term = 0;
    std::memcpy(&sum, target, sizeof sum);
    std::memcpy(&term, source, sizeof term);
    if (scale.is_plain_sum()) {
      sum += term;
    } else if (scale.is_sum()) {
      sum += scale.as<double>() * term;
    } else {
      accumulate_run(target, source, bytes, scale);
      return;
    }
    std::memcpy(target, &sum, sizeof sum);
  } else {
    accumulate_run(target, source, bytes, scale);
  }
}

/// accumulate_run() for some fragments of a list, in the order of `numbers`: each adds to target +
/// its remote_offset. Chooses a kernel once for all of them.
/// Requires: each has whole elements.
void accumulate_listed(std::byte* target, const Fragment* fragments,
                       std::span<const std::uint16_t> numbers, const Scale& scale) noexcept;

/// accumulate_run() for every run of `shape`: the remote strides are the target's, the local ones
/// the source's. Runs may contain the same target element repeatedly; each adds to it.
/// Requires: shape.check() is ok and shape is normalised (else it is slower); shape.run_bytes is a
/// multiple of the element size.
void accumulate_shape(std::byte* target, const std::byte* source, const CopyShape& shape,
                      const Scale& scale) noexcept;

/// accumulate_run() for line.count runs of `run_bytes`, strides as in accumulate_shape().
using AccumulateLine = void (*)(std::byte* target, const std::byte* source,
                                const CopyShape::Level& line, std::size_t run_bytes,
                                const Scale& scale) noexcept;

/// The kernel for lines of runs of `run_bytes`, for callers that split lines at the limits of their
/// locks. Choose it once per transfer; call it for every part with the same `run_bytes` and
/// `scale`.
AccumulateLine accumulate_line_kernel(std::size_t run_bytes, const Scale& scale) noexcept;

}  // namespace tessera::rma::kernels
