// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Handles of what was started without waiting: transfers and collectives.
#pragma once

#include <memory>
#include <utility>

#include "fortran/detail/handles.hpp"
#include "rma/base/status.hpp"
#include "rma/handle.hpp"

namespace tessera::capi {

inline rma::Status check_pending(const tessera_handle* handle) {
  // A handle of another kind may have a use number in its upper bits, and is not an address then.
  const bool is_address = TaggedShellAddress::use_of(handle) < shell_bytes;
  return is_address && handle->mark == HandleKind::transfers ? rma::Status()
                                                             : explain_other(HandleKind::transfers);
}

/// Adds `started` to the handle, which is made if it is null.
inline void add_pending(const rma::Job& job, rma::Handle started, tessera_handle** handle) {
  if (*handle == nullptr) {
    *handle = std::make_unique<tessera_handle>(tessera_handle{.job = job}).release();
  }
  (*handle)->transfers.collect(std::move(started));
}

/// Errors: a pointer to something other than a handle of transfers.
inline rma::Status check_transfers_handle(tessera_handle** handle) {
  return handle == nullptr || *handle == nullptr ? rma::Status() : check_pending(*handle);
}

/// Waits for the transfer if `handle` is null, otherwise adds it to that handle.
inline rma::Status wait_or_add(const rma::Job& job, rma::Handle started, tessera_handle** handle) {
  if (handle == nullptr) {
    return started.wait();
  }
  add_pending(job, std::move(started), handle);
  return {};
}

}  // namespace tessera::capi
