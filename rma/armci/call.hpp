// SPDX-License-Identifier: BSD-3-Clause
//
// How a function of armci.h does its work: with the session, and with every error reported in one
// way.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "rma/armci/session.hpp"
#include "rma/result.hpp"
#include "rma/status.hpp"

namespace tessera::rma::armci {

/// The code that `function` returns for an error. By default prints it and ends the job instead.
int fail(const char* function, Status error);

/// 0 for success, else as fail().
inline int finish(const char* function, Status status) {
  return status.ok() ? 0 : fail(function, std::move(status));
}

/// "ARMCI is not running".
Status not_running();

/// Lets `act` do the work with the session. No exception leaves a function of C's.
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

/// The same for functions that return a value; `otherwise` where an error is returned.
template <class T, class Act>
T call_for(const char* function, T otherwise, const Act& act) {
  call(function, [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(otherwise, act(session));
    return {};
  });
  return otherwise;
}

}  // namespace tessera::rma::armci
