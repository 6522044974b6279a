// SPDX-License-Identifier: BSD-3-Clause
//
// Progress of a long run, on a terminal.
#pragma once

#include <chrono>
#include <string_view>

#include "rma/job.hpp"

namespace tessera::apps {

/// Local. Whether this rank prints: rank 0 on a terminal, unless the program is quiet.
bool shows_progress(const rma::Job& job, bool is_quiet);

/// Prints lines about a run, at most one a second, none in the first second.
class Progress {
 public:
  explicit Progress(bool is_shown) : is_shown_(is_shown) {}

  /// Local. Whether the next line is due. Costs nothing if nothing is shown.
  [[nodiscard]] bool is_due();
  void print(std::string_view line) const;

 private:
  bool is_shown_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace tessera::apps
