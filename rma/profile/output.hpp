// SPDX-License-Identifier: BSD-3-Clause
//
// Output: the files that profiles write. Errors name the file and why it can't be written.
#pragma once

#include <string>

#include "rma/status.hpp"

namespace tessera::rma::detail {

/// The error for a system call's number.
[[nodiscard]] Status cannot_write(const std::string& path, int error);

/// Whether write_file() can be expected to work; leaves nothing behind. Errors: invalid_argument.
[[nodiscard]] Status check_writable(const std::string& path);

/// Local. A file at `path` goes, if there is one; devices and links stay.
void remove_plain_file(const std::string& path);

/// Errors: invalid_argument; what was written until then is removed as by remove_plain_file().
[[nodiscard]] Status write_file(const std::string& path, const std::string& text);

}  // namespace tessera::rma::detail
