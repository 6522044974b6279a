// SPDX-License-Identifier: BSD-3-Clause
//
// Exit codes of all programs; 0 means success.
#pragma once

namespace tessera::apps {

/// The results are wrong or missing.
inline constexpr int exit_failed = 1;
/// The command line, or a file that it names, cannot be used.
inline constexpr int exit_usage = 2;

}  // namespace tessera::apps
