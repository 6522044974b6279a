// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the body of an armci.h function with the session, and reports every error in one way.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "rma/armci/session.hpp"
#include "rma/base/result.hpp"
#include "rma/base/status.hpp"

namespace tessera::rma::armci {

/// Returns the code of an error of `function`. By default it prints the error and ends the job
/// instead.
int fail(const char* function, Status error);

/// 0 for success, else as fail().
inline int finish(const char* function, Status status) {
  return status.ok() ? 0 : fail(function, std::move(status));
}

/// "ARMCI is not running".
Status not_running();

/// Calls `act` with the session. No exception leaves a C function.
template <class Act>
int call(const char* function, const Act& act) {
  Session* const session = Session::current();
  if (session == nullptr) [[unlikely]] {
    return fail(function, not_running());
  }
  try {
    return finish(function, act(*session));
  } catch (const std::bad_alloc&) {
    return fail(function, Status::error(Code::no_memory, "this process has no memory left"));
  } catch (const std::exception& error) {
    return fail(function, Status::error(Code::internal, error.what()));
  }
}

/// The same for functions that return a value; they return `otherwise` for an error.
template <class T, class Act>
T call_for(const char* function, T otherwise, const Act& act) {
  call(function, [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(otherwise, act(session));
    return {};
  });
  return otherwise;
}

}  // namespace tessera::rma::armci
