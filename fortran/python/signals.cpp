// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/signals.hpp"

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <utility>

#include "fortran/python/errors.hpp"

namespace tessera::python {
namespace {

/// An exception with its class and where it was raised.
struct RaisedException {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;

  static RaisedException take() noexcept {
    RaisedException taken;
    PyErr_Fetch(&taken.type, &taken.value, &taken.trace);
    return taken;
  }
  void give_back() const noexcept { PyErr_Restore(type, value, trace); }
};

/// Of the main thread.
struct HandlersOfProcess {
  RaisedException kept;
  bool are_running = false;
};
HandlersOfProcess handlers;

int raise_after_call(void* /*unused*/) noexcept {
  return raise_kept_exception() ? -1 : 0;
}

void keep_exception() noexcept {
  const RaisedException raised = RaisedException::take();
  if (raise_kept_exception()) {  // of an earlier handler; the newer exception replaces it
    PyErr_Clear();
  }
  handlers.kept = raised;
  if (Py_AddPendingCall(&raise_after_call, nullptr) != 0) {
    PyErr_SetInterrupt();  // too many calls are pending: at least KeyboardInterrupt is raised
  }
}

}  // namespace

bool is_main_thread() noexcept {
  return ::gettid() == ::getpid();
}

bool run_signal_handlers() noexcept {
  const RaisedException before = RaisedException::take();  // if a destructor waits during one
  handlers.are_running = true;
  const bool has_raised = PyErr_CheckSignals() != 0;
  handlers.are_running = false;
  if (has_raised) {
    keep_exception();
  }
  before.give_back();
  return has_raised;
}

bool raise_kept_exception() noexcept {
  if (handlers.kept.type == nullptr || !is_main_thread()) [[likely]] {
    return false;
  }
  std::exchange(handlers.kept, {}).give_back();
  return true;
}

void refuse_in_handler() {
  if (handlers.are_running && is_main_thread()) [[unlikely]] {
    refuse("the handler of a signal interrupts a call of the library, so it cannot use the library",
           "raise an exception in the handler, or set a flag that the program reads");
  }
}

}  // namespace tessera::python
