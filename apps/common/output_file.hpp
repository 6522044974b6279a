// SPDX-License-Identifier: BSD-3-Clause
//
// Files that programs write when their work is done, and try before they begin it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rma/status.hpp"

namespace tessera::apps {

/// Whether this name stands for standard output.
constexpr bool goes_to_output(std::string_view path) noexcept {
  return path == "-";
}

/// Local. Whether a file of this name can be written, tried without changing any: one that is there
/// keeps its contents, and where there is none there is none afterwards.
/// Errors: invalid_argument, as "cannot write PATH: the system's reason".
rma::Status try_output_file(const std::string& path);

/// Local. Whether a file that will be written is none of the others that a program was given, by
/// whatever name. Empty names are none. Errors: invalid_argument.
rma::Status check_not_overwritten(const std::string& path, const std::vector<std::string>& others);

/// Local. Writes the file, or replaces it as a whole: a regular one keeps what it had until all is
/// written, beside it, unless its folder can't be written or it has other names.
/// Errors: unreachable, in the same words; also for a disk without space.
rma::Status write_output_file(const std::string& path, std::string_view contents);

}  // namespace tessera::apps
