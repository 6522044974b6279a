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

/// to_remote: the destination belongs to the other process; from_remote: the source does.
enum class TransferDirection : bool { to_remote, from_remote };

// Errors of all functions: invalid_argument.

Status check_process(const Job& job, int proc);
/// The error for a negative number of bytes.
Status negative_bytes(int bytes);
inline Status check_bytes(int bytes) {
  return bytes >= 0 ? Status() : negative_bytes(bytes);
}
inline std::size_t as_size(int bytes) noexcept {
  return static_cast<std::size_t>(bytes);
}
/// The factor of an accumulate, of the element type that `optype` (ARMCI_ACC_…) names.
Result<Scale> scale_of(int optype, const void* factor);
/// The same for ARMCI_ACC_DBL, the most frequent type. Requires: `factor` is not null.
inline Scale double_scale(const void* factor) noexcept {
  double value = 0;
  std::memcpy(&value, factor, sizeof value);
  return Scale::of(value);
}

/// Converts ARMCI's description of a strided transfer. Strides are in bytes, count[0] too; `levels`
/// is the number of strides, and `count` has one number more. Stride arrays may be null if levels
/// is 0.
Result<CopyShape> shape_of(TransferDirection direction, const int source_strides[],
                           const int target_strides[], const int count[], int levels);

/// The same for a transfer between a contiguous local buffer and strided memory, which is taken as
/// the remote side.
Result<CopyShape> packed_shape_of(const int strides[], const int count[], int levels);

/// Converts the sets of an I/O vector. The result refers to the arrays of pointers in `sets`, which
/// must outlive it.
Result<std::vector<RunList>> lists_of(TransferDirection direction, const armci_giov_t sets[],
                                      int count);

}  // namespace tessera::rma::armci
