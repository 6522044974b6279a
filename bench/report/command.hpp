// SPDX-License-Identifier: BSD-3-Clause
//
// tessera-bench report: the command line of the report.
#pragma once

#include <string>

#include "bench/support/record.hpp"

namespace tessera::bench::report {

/// `report FILE… -o FILE`; argv[0] is "report". Returns the exit code: 0, or 2 for bad usage and
/// for files that can't be read, are none of ours, or can't be written, after saying so.
int run_command(int argc, const char* const* argv);

/// The page of a run that has just ended.
std::string page_of(const Report& report);

}  // namespace tessera::bench::report
