// SPDX-License-Identifier: BSD-3-Clause
//
// Output: the files that profiles write. Errors name the file and why it can't be written.
#pragma once

#include <string>

#include "rma/base/status.hpp"

namespace tessera::rma::detail {

/// The error for a system call's errno.
[[nodiscard]] Status cannot_write(const std::string& path, int error);

/// Checks whether write_file() would work; leaves no file. Errors: invalid_argument.
[[nodiscard]] Status check_writable(const std::string& path);

/// Local. Removes a regular file at `path`, if there is one; devices and links stay.
void remove_plain_file(const std::string& path);

/// Errors: invalid_argument. Then what was written is removed as by remove_plain_file().
[[nodiscard]] Status write_file(const std::string& path, const std::string& text);

}  // namespace tessera::rma::detail
