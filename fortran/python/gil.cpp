// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/gil.hpp"

#include <unistd.h>

#include "fortran/python/active_calls.hpp"

namespace tessera::python {

void stay_until_exit() noexcept {
  for (;;) {
    ::pause();
  }
}

void take_gil(PyThreadState* thread) noexcept {
  try {
    PyEval_RestoreThread(thread);
  } catch (const abi::__forced_unwind&) {
    stay_until_exit();
  }
}

PyObject* call_python(PyObject* function, PyObject* arguments) {
  try {
    return PyObject_Call(function, arguments, nullptr);
  } catch (const abi::__forced_unwind&) {
    stay_until_exit();
  }
}

ReleasedGil::ReleasedGil() noexcept {
  ActiveCalls::of_process().begin();
  thread_ = PyEval_SaveThread();
}

ReleasedGil::~ReleasedGil() {
  take_gil(thread_);
  ActiveCalls::of_process().end();
  if (was_ended_ && !ActiveCalls::is_in_call()) [[unlikely]] {
    PyEval_SaveThread();
    stay_until_exit();
  }
}

bool ReleasedGil::ask() noexcept {
  if (ActiveCalls::of_process().must_end()) {
    was_ended_ = true;
    return true;
  }
  if (!is_main_thread()) {
    return false;
  }
  take_gil(thread_);
  const bool has_raised = run_signal_handlers();
  PyEval_SaveThread();
  return has_raised;
}

}  // namespace tessera::python
