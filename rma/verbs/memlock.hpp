// SPDX-License-Identifier: BSD-3-Clause
//
// The limit on locked memory, RLIMIT_MEMLOCK, against which the kernel counts what is registered
// with a device. It is the commonest reason why a registration fails, and Debian's default of
// 8 MiB is far too little; so the message says all that is needed to have it raised.
#pragma once

#include <cstddef>
#include <optional>

#include "rma/status.hpp"

namespace tessera::rma::verbs {

struct MemlockLimit {
  /// What this process may lock; nothing when there is no limit.
  std::optional<std::size_t> bytes;
  /// It may lock more all the same: it has CAP_IPC_LOCK.
  bool may_exceed = false;
};

/// Raises this process's soft limit to the hard one, and tells what holds then.
MemlockLimit raise_memlock_limit();

/// Why the device did not register `bytes` bytes: what errno was, and how much is registered by
/// us already. limit_exceeded for ENOMEM, else unsupported: such memory has to be copied.
Status cannot_register(std::size_t bytes, int error, std::size_t registered_bytes,
                       const MemlockLimit& limit);

}  // namespace tessera::rma::verbs
