// SPDX-License-Identifier: BSD-3-Clause
//
// Checks ARMCI's arguments and converts them to rma's types.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "rma/armci/armci.h"
#include "rma/base/result.hpp"
#include "rma/element.hpp"
#include "rma/job.hpp"
#include "rma/raw_transfer.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::armci {

/// Whether the source or the destination is at the other process.
enum class Way : bool { to_remote, from_remote };

/// Errors, of all: invalid_argument.
Status check_process(const Job& job, int proc);
Status negative_bytes(int bytes);
inline Status check_bytes(int bytes) {
  return bytes >= 0 ? Status() : negative_bytes(bytes);
}
inline std::size_t as_size(int bytes) noexcept {
  return static_cast<std::size_t>(bytes);
}
Result<Scale> scale_of(int optype, const void* factor);
/// The factor for the most frequent type. Requires: it isn't null.
inline Scale double_scale(const void* factor) noexcept {
  double value = 0;
  std::memcpy(&value, factor, sizeof value);
  return Scale::of(value);
}

/// A strided transfer as rma describes it. Stride arrays may be null if there are no levels.
Result<CopyShape> shape_of(Way way, const int source_strides[], const int target_strides[],
                           const int count[], int levels);

/// The same between strided memory, as the remote side, and a contiguous buffer.
Result<CopyShape> packed_shape_of(const int strides[], const int count[], int levels);

/// The sets of an I/O vector. The result refers to their arrays.
Result<std::vector<RunList>> lists_of(Way way, const armci_giov_t sets[], int count);

}  // namespace tessera::rma::armci
