// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. How a function of the C interface does its work: no exception leaves it, and every
// error is kept in one way, for tessera_last_error().
#pragma once

#include <cstdint>
#include <exception>
#include <new>

#include "rma/status.hpp"

namespace tessera::capi {

/// The rank of the job that this thread's call is on, for the front of errors' texts. −1: the job
/// has one rank, which is not named.
void note_caller(std::int32_t rank) noexcept;

/// The code of `status`; keeps its text as this thread's last error unless it is ok.
int finish(const char* function, const rma::Status& status) noexcept;
/// The same where there is no memory left, nor for a Status; and for exceptions of others'.
int finish_without_memory(const char* function) noexcept;
int finish_thrown(const char* function, const char* what) noexcept;

/// Lets `act`, which returns a Status, do the work.
template <class Act>
int call(const char* function, const Act& act) noexcept {
  try {
    return finish(function, act());
  } catch (const std::bad_alloc&) {
    return finish_without_memory(function);
  } catch (const std::exception& error) {
    return finish_thrown(function, error.what());
  }
}

}  // namespace tessera::capi
