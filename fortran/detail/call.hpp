// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The frame of every function of the C interface: no exception leaves it, and every error
// is kept for tessera_last_error().
#pragma once

#include <cstdint>
#include <exception>
#include <new>

#include "rma/base/status.hpp"

namespace tessera::capi {

/// Stores the rank of the job that this thread's call is about, which messages begin with. -1: the
/// job has one rank, and messages do not name it.
void set_caller_rank(std::int32_t rank) noexcept;

/// Returns the code of `status`; if it is an error, keeps its text as this thread's last error.
int finish(const char* function, const rma::Status& status) noexcept;
/// The same if memory is exhausted even for a Status, and for exceptions of other libraries.
int finish_no_memory(const char* function) noexcept;
int finish_exception(const char* function, const char* what) noexcept;

/// Runs `act`, which returns a Status.
template <class Act>
int call(const char* function, const Act& act) noexcept {
  try {
    return finish(function, act());
  } catch (const std::bad_alloc&) {
    return finish_no_memory(function);
  } catch (const std::exception& error) {
    return finish_exception(function, error.what());
  }
}

}  // namespace tessera::capi
