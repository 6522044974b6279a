// SPDX-License-Identifier: BSD-3-Clause
//
// How many threads this process may have, and how many processes it may start. Lets callers refuse
// too many before the first one starts.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::rma::detail {

struct ThreadLimit {
  std::uint64_t most = 0;  ///< more than these certainly can't be started
  std::string reason;      ///< which limit it is, with its numbers
  std::string hint;
};

/// Local. The tightest of the system's limits on threads. Reads files in /proc and /sys; `root` is
/// prepended to their paths: "" except in tests.
ThreadLimit thread_limit(const std::string& root = "");
/// Local. The same for processes.
ThreadLimit process_limit(const std::string& root = "");

}  // namespace tessera::rma::detail
