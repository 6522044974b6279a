// SPDX-License-Identifier: BSD-3-Clause
//
// What the exit codes of all programs mean; 0 is good.
#pragma once

namespace tessera::apps {

/// The results are wrong, or there are none.
inline constexpr int exit_failed = 1;
/// What was typed, or a file that it names, can't be used.
inline constexpr int exit_usage = 2;

}  // namespace tessera::apps
