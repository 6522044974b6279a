// SPDX-License-Identifier: BSD-3-Clause
//
// Threads of the library's own take no signals: those are for the program's threads. They trap no
// floating-point exceptions either, as the thread that starts them may.
#pragma once

#include <fmt/format.h>
#include <pthread.h>

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "rma/engine/thread_limit.hpp"
#include "rma/floating_point_guard.hpp"
#include "rma/result.hpp"

namespace tessera::rma::server {

/// Starts `body` in a thread in which all signals are blocked. Those of the caller are as before,
/// whatever comes of it. Errors: limit_exceeded where the system gives no more threads.
template <class Body>
Result<std::thread> start_deaf(Body&& body) {
  struct SignalsKept {
    SignalsKept() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~SignalsKept() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    SignalsKept(const SignalsKept&) = delete;
    SignalsKept& operator=(const SignalsKept&) = delete;
    sigset_t before;
  };
  const SignalsKept signals;
  const FloatingPointGuard untrapped;
  try {
    return std::thread(std::forward<Body>(body));
  } catch (const std::system_error& error) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("cannot start a thread of Tessera's: {}; {}",
                                     error.code().message(), detail::thread_limit().reason))
        .hint("threads are limited by ulimit -u, ulimit -v and the control group's pids");
  }
}

}  // namespace tessera::rma::server
