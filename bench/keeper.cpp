// SPDX-License-Identifier: BSD-3-Clause
#include "bench/keeper.hpp"

#include <exception>

#include <fmt/format.h>

#include "apps/common/output.hpp"
#include "bench/report/command.hpp"

namespace tessera::bench {

bool Keeper::open(RankGroup& crew, const SuiteOptions& options, const std::string& page) {
  return files_.open(crew, options) && crew.share(crew.rank() != 0 || html_.open(page));
}

bool Keeper::write_all() {
  is_written_ = true;
  if (html_.is_wanted()) {
    html_.stream() << report::page_of(report_);
  }
  const bool has_html = html_.close();
  return files_.write(report_) && has_html;
}

bool Keeper::write() {
  const std::lock_guard lock(mutex_);
  return is_written_ || write_all();
}

void Keeper::write_unfinished(const std::string& why) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (is_written_ || !has_output_files()) {
      return;
    }
    if (!report_.has_records()) {
      apps::complain("tessera-bench",
                     "the run ended before anything was measured; no file is written");
      return;
    }
    report_.set_unfinished(why);
    if (write_all()) {
      apps::complain("tessera-bench", "the run ended early; the files hold the results until then");
    }
  } catch (const std::exception& error) {
    apps::complain("tessera-bench", error.what());
  }
}

}  // namespace tessera::bench
