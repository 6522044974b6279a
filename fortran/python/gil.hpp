// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Calls of the library that may wait release Python's global interpreter lock (GIL), so
// that other threads of the program run meanwhile. Waits that may last without end run the handlers
// of signals; if one raises an exception, the wait is given up (rma/interruption.hpp).
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>

#include <type_traits>
#include <utility>

#include "fortran/python/errors.hpp"
#include "fortran/python/signals.hpp"
#include "rma/base/status.hpp"
#include "rma/interruption.hpp"

namespace tessera::python {

/// For threads that Python would end by pthread_exit() because the process ends: destructors of
/// ours would not survive that.
[[noreturn]] void stay_until_exit() noexcept;

/// As PyEval_RestoreThread(); does not return if Python ends this thread.
void take_gil(PyThreadState* thread) noexcept;

/// As PyObject_Call() without keywords; does not return if Python ends this thread. For calls that
/// have objects of C++ around them, whose destructors would need the GIL.
PyObject* call_python(PyObject* function, PyObject* arguments);

/// While it exists, this thread does not have the GIL, and is in a call (active_calls.hpp). The
/// constructor and the destructor do not return if another thread ends the process.
class ReleasedGil final : public rma::Interruption {
 public:
  ReleasedGil() noexcept;
  ~ReleasedGil() override;

 private:
  bool ask() noexcept override;

  PyThreadState* thread_ = nullptr;
  bool was_ended_ = false;  ///< a wait was given up since the process ends
};

/// Calls act() without the GIL and returns its result. act() must not touch Python objects.
template <class Act>
decltype(auto) without_gil(Act&& act) {
  refuse_in_handler();
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

/// Within without_gil(): calls act() with the GIL and returns its result.
template <class Act>
auto with_gil(Act&& act) {
  try {
    const py::gil_scoped_acquire held;
    try {
      return std::forward<Act>(act)();
    } catch (const abi::__forced_unwind&) {
      stay_until_exit();
    }
  } catch (const abi::__forced_unwind&) {
    stay_until_exit();
  }
}

}  // namespace tessera::python
