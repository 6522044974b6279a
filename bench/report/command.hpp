// SPDX-License-Identifier: BSD-3-Clause
//
// tessera-bench report: the command line of the report.
#pragma once

#include <string>

#include "bench/support/record.hpp"

namespace tessera::bench::report {

/// `report FILE… -o FILE`; argv[0] is "report". Returns the exit code: 0, or 2 for wrong usage, for
/// files that can't be read or that tessera-bench didn't write, and for a page that can't be
/// written; then it prints why.
int run_command(int argc, const char* const* argv);

/// The page of a run that has just ended.
std::string page_of(const Report& report);

}  // namespace tessera::bench::report
