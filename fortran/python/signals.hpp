// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Handlers of signals that run during a wait of the library. Python runs them in the main
// thread. The exception of a handler ends the wait. It is raised in place of the error that the
// call then returns, or after the call if that succeeds.
//
// All functions need the GIL.
#pragma once

namespace tessera::python {

/// Whether this thread runs handlers. Needs no GIL.
bool is_main_thread() noexcept;

/// Runs the handlers of the signals that came. Returns whether one raised an exception, and keeps
/// that.
bool run_signal_handlers() noexcept;

/// In the main thread: sets the exception that was kept as Python's current one. False if there is
/// none.
bool raise_kept_exception() noexcept;

/// Throws InvalidArgument in a handler that a wait of the library runs: the job is in use.
void refuse_in_handler();

}  // namespace tessera::python
