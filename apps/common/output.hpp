// SPDX-License-Identifier: BSD-3-Clause
//
// What programs print. Nothing here throws: on a disk that is full a program still ends by its own
// exit code, and says what was lost.
#pragma once

#include <string_view>

namespace tessera::apps {

/// Local. Prints to standard output, at once. finish_output() tells when that failed.
void tell(std::string_view text);

/// Local. Prints "PROGRAM: message" to standard error. Where that can't be, nobody is to be told.
void complain(std::string_view program, std::string_view message);

/// Local. For main(): from now on a write beyond the limit on file sizes (ulimit -f) fails with
/// EFBIG, where the system would end the program without a message.
void report_file_size_limit();

/// Local. For output that somebody else has lost, with the system's error.
void note_lost_output(int error);

/// Local. The last of main(): completes standard output, also what others have printed there, and
/// returns the exit code: `code`, or that of a failure where output was lost. Where the address
/// space is limited and OpenBLAS is loaded, ends the program by that code itself.
int finish_output(std::string_view program, int code);

}  // namespace tessera::apps
