// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "apps/common/output.hpp"

namespace tessera::apps {

bool shows_progress(const rma::Job& job, bool is_quiet) {
  return job.rank().value == 0 && !is_quiet && isatty(STDOUT_FILENO) != 0;
}

bool Progress::is_due() {
  if (!is_shown_) {
    return false;
  }
  const auto now = std::chrono::steady_clock::now();
  const bool is_due = now - last_ >= std::chrono::seconds(1);
  if (is_due) {
    last_ = now;
  }
  return is_due;
}

void Progress::print(std::string_view line) const {
  apps::print_text(fmt::format("  {}\n", line));
}

}  // namespace tessera::apps
