// SPDX-License-Identifier: BSD-3-Clause
//
// Files that programs write at their end, and test at their start.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rma/base/status.hpp"

namespace tessera::apps {

/// Whether this name means standard output.
constexpr bool goes_to_output(std::string_view path) noexcept {
  return path == "-";
}

/// Local. Tests whether the file can be written, without changing it: an existing file keeps its
/// contents, and a missing one stays missing.
/// Errors: invalid_argument, as "cannot write PATH: the system's reason".
rma::Status try_output_file(const std::string& path);

/// Local. Checks that an output file is not one of the program's other files, under any name. Empty
/// names are ignored. Errors: invalid_argument.
rma::Status check_not_overwritten(const std::string& path, const std::vector<std::string>& others);

/// Local. Writes the file, or replaces it as a whole: a regular file keeps its old contents until
/// the new ones are written beside it. Exceptions: its folder cannot be written, or it has other
/// names.
/// Errors: unreachable, in the same words; also for a disk without space.
rma::Status write_output_file(const std::string& path, std::string_view contents);

}  // namespace tessera::apps
