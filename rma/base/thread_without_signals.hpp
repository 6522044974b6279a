// SPDX-License-Identifier: BSD-3-Clause
//
// The library's own threads receive no signals: those are for the program's threads. They also trap
// no floating-point exceptions, even if the thread that starts them does.
#pragma once

#include <fmt/format.h>
#include <pthread.h>

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "rma/base/floating_point_guard.hpp"
#include "rma/base/result.hpp"
#include "rma/base/thread_limit.hpp"

namespace tessera::rma::detail {

/// Starts `body` in a thread in which all signals are blocked. The caller's signal mask is restored
/// in every case. Errors: limit_exceeded if the system refuses another thread.
template <class Body>
Result<std::thread> start_thread_with_signals_blocked(Body&& body) {
  struct SignalMaskGuard {
    SignalMaskGuard() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~SignalMaskGuard() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    SignalMaskGuard(const SignalMaskGuard&) = delete;
    SignalMaskGuard& operator=(const SignalMaskGuard&) = delete;
    sigset_t before;
  };
  const SignalMaskGuard signals;
  const FloatingPointGuard untrapped;
  try {
    return std::thread(std::forward<Body>(body));
  } catch (const std::system_error& error) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("cannot start one of Tessera's own threads: {}; {}",
                                     error.code().message(), thread_limit().reason))
        .hint("raise ulimit -u, ulimit -v or the control group's pids limit");
  }
}

}  // namespace tessera::rma::detail
