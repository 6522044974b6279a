// SPDX-License-Identifier: BSD-3-Clause
//
// Threads of the library's own take no signals: those are for the program's threads.
#pragma once

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

namespace tessera::rma::server {

/// Starts `body` in a thread in which all signals are blocked.
template <class Body>
std::thread start_deaf(Body&& body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::forward<Body>(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace tessera::rma::server
