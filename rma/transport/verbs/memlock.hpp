// SPDX-License-Identifier: BSD-3-Clause
//
// The limit on locked memory, RLIMIT_MEMLOCK, which limits the memory that is registered with a
// device. It is the most frequent reason for a failed registration, and Debian's default of 8 MiB
// is far too small. So the message explains how to raise it.
#pragma once

#include <cstddef>
#include <optional>

#include "rma/base/status.hpp"

namespace tessera::rma::verbs {

struct MemlockLimit {
  /// What this process may lock; nothing if there is no limit.
  std::optional<std::size_t> bytes;
  /// It may nevertheless lock more: it has CAP_IPC_LOCK.
  bool may_exceed = false;
};

/// Raises this process's soft limit to the hard limit, and returns the limit that then applies.
MemlockLimit raise_memlock_limit();

/// Why the device did not register `bytes` bytes, from errno and the amount that this process has
/// registered already. limit_exceeded for ENOMEM, else unsupported: such memory has to be copied.
Status cannot_register(std::size_t bytes, int error, std::size_t registered_bytes,
                       const MemlockLimit& limit);

}  // namespace tessera::rma::verbs
