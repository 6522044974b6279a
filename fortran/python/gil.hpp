// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Calls of the library that may wait release Python's global interpreter lock (GIL), so
// that other threads of the program run meanwhile.
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <type_traits>
#include <utility>

#include "fortran/python/errors.hpp"
#include "rma/base/status.hpp"

namespace tessera::python {

/// Sleeps until the process ends. When Python exits, it ends a thread that waits for the GIL by
/// pthread_exit(). Its forced unwinding must not leave a destructor, which would end the process.
[[noreturn]] inline void stay_until_exit() noexcept {
  for (;;) {
    ::pause();
  }
}

/// While it exists, this thread does not have the GIL.
class ReleasedGil {
 public:
  ReleasedGil() noexcept : thread_(PyEval_SaveThread()) {}
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;
  ~ReleasedGil() {
    try {
      PyEval_RestoreThread(thread_);
    } catch (const abi::__forced_unwind&) {
      stay_until_exit();
    }
  }

 private:
  PyThreadState* thread_;
};

/// Calls act() without the GIL and returns its result. act() must not touch Python objects.
template <class Act>
decltype(auto) without_gil(Act&& act) {
  const ReleasedGil released;
  return std::forward<Act>(act)();
}

/// The same for an act() that returns a Status or a Result: throws its error, or returns its value.
template <class Act>
auto checked_without_gil(Act&& act) {
  auto outcome = without_gil(std::forward<Act>(act));
  if constexpr (std::is_same_v<decltype(outcome), rma::Status>) {
    check(std::move(outcome));
  } else {
    return take(std::move(outcome));
  }
}

}  // namespace tessera::python
