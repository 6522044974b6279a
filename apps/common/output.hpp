// SPDX-License-Identifier: BSD-3-Clause
//
// Output of programs. Nothing here throws: if a disk is full, a program still ends with its own
// exit code, and reports what was lost.
#pragma once

#include <string_view>

namespace tessera::apps {

/// Local. Prints to standard output and flushes it. finish_output() reports a failure.
void print_text(std::string_view text);

/// Local. Prints "PROGRAM: message" to standard error; a failure is ignored.
void print_error(std::string_view program, std::string_view message);

/// Local. For main(): ignores SIGXFSZ, so that a write beyond the limit on file sizes (ulimit -f)
/// fails with EFBIG. Otherwise the system would end the program without a message.
void ignore_file_size_signal();

/// Local. Records that other code could not write its output; `error` is the system's.
void record_output_error(int error);

/// Local. The last call of main(): flushes standard output, also of other code, and returns the
/// exit code: `code`, or exit_failed if output was lost. If the address space is limited and
/// OpenBLAS is loaded, it ends the program itself with that code.
int finish_output(std::string_view program, int code);

}  // namespace tessera::apps
