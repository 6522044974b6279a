// SPDX-License-Identifier: BSD-3-Clause
//
// How far a long run has come, for somebody who looks at a terminal.
#pragma once

#include <chrono>
#include <string_view>

#include "rma/job.hpp"

namespace tessera::apps {

/// Local. Whether this rank should tell: the first one, to a terminal, unless the program is quiet.
bool shows_progress(const rma::Job& job, bool is_quiet);

/// Prints lines about a run, not more than one a second, none in the first.
class Progress {
 public:
  explicit Progress(bool is_shown) : is_shown_(is_shown) {}

  /// Local. Whether it is time to tell() again. Cost where nothing is shown: none.
  [[nodiscard]] bool is_due();
  void tell(std::string_view line) const;

 private:
  bool is_shown_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace tessera::apps
