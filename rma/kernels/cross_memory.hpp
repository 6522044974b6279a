// SPDX-License-Identifier: BSD-3-Clause
//
// Copies between this process's memory and private memory of another process on the same machine,
// through the kernel (process_vm_readv and process_vm_writev). One copy, and one system call for up
// to hundreds of runs. Containers and hardened kernels may not permit it.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "rma/base/status.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::kernels {

/// Copies what `shape` describes between `local` here and `remote` in `process`.
/// Errors: peer_lost (no such process), unsupported (the kernel refuses), out_of_range (nothing is
/// mapped there; some bytes may have been copied).
Status copy_across(pid_t process, std::byte* local, std::byte* remote, const CopyShape& shape,
                   Direction direction);

}  // namespace tessera::rma::kernels
