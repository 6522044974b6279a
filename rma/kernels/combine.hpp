// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels of accumulates that are not sums: minimum, maximum and the bitwise operations. For
// accumulate.cpp, whose kernels call them. They don't lock.
#pragma once

#include <cstddef>

#include "rma/element.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::kernels {

/// target[i] = target[i] op source[i] for bytes / size_of(scale.type()) elements. Neither side
/// needs to be aligned. Requires: is_defined(scale.type(), scale.op()), and the operation is not a
/// sum; `bytes` is a multiple of the element size; the two runs are equal or don't overlap.
void combine_run(std::byte* target, const std::byte* source, std::size_t bytes,
                 const Scale& scale) noexcept;

/// combine_run() for line.count runs of `run_bytes`; an AccumulateLine.
void combine_line(std::byte* target, const std::byte* source, const CopyShape::Level& line,
                  std::size_t run_bytes, const Scale& scale) noexcept;

}  // namespace tessera::rma::kernels
