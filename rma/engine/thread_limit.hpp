// SPDX-License-Identifier: BSD-3-Clause
//
// How many threads this process may have, and how many processes it may start, so that too many are
// refused before any is there.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::rma::detail {

struct ThreadLimit {
  std::uint64_t most = 0;  ///< more than these certainly can't be started
  std::string reason;      ///< which limit it is, with its numbers
  std::string hint;
};

/// Local. The tightest of the system's limits on threads. Reads files of /proc and /sys, which are
/// below `root`: "" but in tests.
ThreadLimit thread_limit(const std::string& root = "");
/// Local. The same for processes.
ThreadLimit process_limit(const std::string& root = "");

}  // namespace tessera::rma::detail
