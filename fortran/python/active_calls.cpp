// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/active_calls.hpp"

#include <fmt/format.h>

#include <thread>

#include "fortran/python/errors.hpp"
#include "fortran/python/gil.hpp"

namespace tessera::python {
namespace {

/// How many calls this thread is in: a call may run a function of Python that makes another one.
thread_local int depth = 0;

// Other threads need the GIL to end their calls.
void sleep_without_gil(std::chrono::milliseconds period = std::chrono::milliseconds(1)) noexcept {
  PyThreadState* const thread = PyEval_SaveThread();
  std::this_thread::sleep_for(period);
  take_gil(thread);
}

}  // namespace

ActiveCalls& ActiveCalls::of_process() noexcept {
  static ActiveCalls calls;
  static const int is_watching =
      pthread_atfork(nullptr, nullptr, [] { calls.forget_other_threads(); });
  static_cast<void>(is_watching);  // without memory for it, an exit of a child waits for the limit
  return calls;
}

bool ActiveCalls::is_in_call() noexcept {
  return depth > 0;
}

bool ActiveCalls::must_end() const noexcept {
  return is_exiting_ && pthread_equal(closer_, pthread_self()) == 0;
}

bool ActiveCalls::is_closed_to_this_thread() const noexcept {
  return is_closed_ && pthread_equal(closer_, pthread_self()) == 0;
}

void ActiveCalls::begin() noexcept {
  if (depth++ > 0) {
    return;
  }
  while (is_closed_to_this_thread()) {
    if (is_exiting_) {
      PyEval_SaveThread();
      stay_until_exit();
    }
    sleep_without_gil();
  }
  ++threads_;
}

void ActiveCalls::end() noexcept {
  if (--depth == 0) {
    --threads_;
  }
}

// If another thread ends the process meanwhile, this one sleeps until then.
bool ActiveCalls::wait_for_others(Clock::time_point deadline) const {
  const int own = depth > 0 ? 1 : 0;
  while (threads_ > own || is_closed_to_this_thread()) {
    if (Clock::now() > deadline) {
      return false;
    }
    sleep_without_gil();
    if (PyErr_CheckSignals() != 0) {
      return false;
    }
  }
  return true;
}

// Opens now and then: a call may wait for what another thread's next call does, such as an unlock.
void ActiveCalls::close() {
  constexpr std::chrono::milliseconds closed_period{50};
  constexpr std::chrono::milliseconds open_period{5};
  while (true) {
    while (is_closed_to_this_thread()) {  // another job is being stopped, or the process ends
      sleep_without_gil();
    }
    is_closed_ = true;
    closer_ = pthread_self();
    if (wait_for_others(Clock::now() + closed_period)) {
      return;
    }
    open();
    if (PyErr_Occurred() != nullptr) {
      pass_python_error();
    }
    sleep_without_gil(open_period);
  }
}

void ActiveCalls::open() noexcept {
  is_closed_ = is_exiting_;
}

bool ActiveCalls::close_at_exit(std::chrono::milliseconds limit) {
  is_closed_ = true;
  closer_ = pthread_self();
  is_exiting_ = true;
  return wait_for_others(Clock::now() + limit);
}

void ActiveCalls::forget_other_threads() noexcept {
  threads_ = depth > 0 ? 1 : 0;
  if (is_closed_to_this_thread()) {
    is_closed_ = false;
    is_exiting_ = false;
  }
}

OnlyCaller::OnlyCaller(const char* operation) {
  if (ActiveCalls::is_in_call()) {
    refuse(fmt::format("{} in a function that a call of the library runs", operation),
           "a handler of a signal may raise an exception, or set a flag for the program");
  }
  ActiveCalls::of_process().close();
}

}  // namespace tessera::python
